package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk records what is asked of it.
type fakeDesk struct {
	mu         sync.Mutex
	asked      []string
	connection Connection
	lines      []Line
	settings   []Setting
	sending    Line
	hook       Hook
	err        error         // of all that can fail
	wait       chan struct{} // a test of the connection waits for it; nil does not
}

func (d *fakeDesk) note(parts ...string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, strings.Join(parts, " "))
	return d.err
}

func (d *fakeDesk) has(what string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.asked, what)
}

func (d *fakeDesk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

func (d *fakeDesk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (d *fakeDesk) Connection(context.Context) (Connection, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.connection, nil
}

func (d *fakeDesk) TestConnection(_ context.Context, url, password string) ([]Line, error) {
	d.mu.Lock()
	wait, lines := d.wait, d.lines
	d.mu.Unlock()
	err := d.note("test", url, password)
	if wait != nil {
		<-wait
	}
	if err != nil {
		return nil, err
	}
	return lines, nil
}

func (d *fakeDesk) SaveConnection(_ context.Context, url, password string) error {
	err := d.note("save", url, password)
	if err == nil {
		d.set(func() { d.connection = Connection{URL: url, From: "saved", HasPassword: password != ""} })
		if url == "" {
			d.set(func() { d.connection = Connection{} })
		}
	}
	return err
}

func (d *fakeDesk) ImportCA(_ context.Context, path string) (string, error) {
	if err := d.note("import", path); err != nil {
		return "", err
	}
	d.set(func() { d.connection.CA = "Acme CA, valid until 2030-01-01" })
	return "Acme CA", nil
}

func (d *fakeDesk) RemoveCA(context.Context) error {
	err := d.note("remove CA")
	d.set(func() { d.connection.CA, d.connection.CAProblem = "", "" })
	return err
}

func (d *fakeDesk) RemoteState() (string, State) { return d.sending.Value, d.sending.State }
func (d *fakeDesk) DataFolder() string           { return "/data/throng" }

func (d *fakeDesk) MoveData(_ context.Context, dir string) error { return d.note("move", dir) }

func (d *fakeDesk) Saved(context.Context) ([]Setting, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.settings), nil
}

func (d *fakeDesk) Hook(context.Context) (Hook, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.hook
	h.Kinds = []HookKind{{"json", "JSON"}, {"slack", "Slack"}}
	return h, nil
}

func (d *fakeDesk) TestHook(_ context.Context, kind, url string) (string, error) {
	return "200 OK", d.note("test hook", kind, url)
}

func (d *fakeDesk) SaveHook(_ context.Context, kind, url string) error {
	err := d.note("save hook", kind, url)
	if err == nil {
		d.set(func() {
			d.hook = Hook{}
			if url != "" {
				d.hook = Hook{Kind: "slack", Host: "hooks.slack.com", From: "saved"}
			}
		})
	}
	return err
}

func (d *fakeDesk) LogLevel() (string, []string)                  { return "info", []string{"error", "info", "debug"} }
func (d *fakeDesk) SetLogLevel(_ context.Context, l string) error { return d.note("log", l) }

func (d *fakeDesk) Save(_ context.Context, name, value string) error {
	err := d.note("set", name, value)
	if err == nil {
		d.set(func() {
			for i := range d.settings {
				if d.settings[i].Name == name {
					d.settings[i].Value, d.settings[i].From = value, "saved"
				}
			}
		})
	}
	return err
}

// stage is a screen in a window.
type stage struct {
	*uitest.Queue
	t      *testing.T
	desk   *fakeDesk
	win    fyne.Window
	screen *Screen
	scales []float64
	notify []string
	looks  []string
}

func shown(t *testing.T, desk *fakeDesk) *stage {
	s := &stage{Queue: uitest.Start(t), t: t, desk: desk}
	s.win = test.NewTempWindow(t, nil)
	s.screen = New(desk, s.win, Appearance{
		Theme: "dark", SetTheme: func(choice string) { s.looks = append(s.looks, choice) },
		Scale: 1, Smallest: 0.8, Largest: 2, SetScale: func(scale float64) { s.scales = append(s.scales, scale) },
		Silent:    map[engine.Occasion]bool{engine.OnStall: true},
		SetNotify: func(o engine.Occasion, on bool) { s.notify = append(s.notify, fmt.Sprint(o, " ", on)) },
	})
	s.win.SetContent(s.screen.Content())
	s.win.Resize(fyne.NewSize(1130, 800))
	s.screen.Show()
	s.until("/data/throng")
	return s
}

func (s *stage) shows(text string) bool { return uitest.Shows(s.screen.Content(), text) }

func (s *stage) until(text string) {
	s.t.Helper()
	s.Until("showing "+text, func() bool { return s.shows(text) })
}

func (s *stage) asks(what string) {
	s.t.Helper()
	s.Until("asking "+what, func() bool { return s.desk.has(what) })
}

func (s *stage) tap(button string) {
	s.t.Helper()
	s.Tap(s.screen.Content(), button)
}

// confirm taps a button of the dialog that is open.
func (s *stage) confirm(button string) {
	s.t.Helper()
	s.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	s.Tap(s.win.Canvas().Overlays().Top(), button)
}

const good = "postgres://app@db.example.com:5432/app"

func TestAPasswordInTheAddressIsTakenOut(t *testing.T) {
	s := shown(t, &fakeDesk{})
	d := s.screen.database
	d.url.SetText("postgres://app:secret@db.example.com:5432/app")
	if d.url.Text != good || d.password.Text != "secret" {
		t.Errorf("a pasted address became %q and %q", d.url.Text, d.password.Text)
	}
	s.tap("Save")
	s.asks("save " + good + " secret")
	s.until("Saved.")
	s.Until("kept", func() bool { return d.password.PlaceHolder != "" })
	if d.password.Text != "" || d.url.Text != good {
		t.Errorf("after saving the fields hold %q and %q", d.url.Text, d.password.Text)
	}

	test.Type(d.url, "x") // a letter that is typed is none that was pasted
	d.url.SetText("")
	for _, letter := range "postgres://app:p@ss@db.example.com/app" {
		d.url.TypedRune(letter)
	}
	if d.password.Text != "" {
		t.Errorf("the password %q was taken while it was typed", d.password.Text)
	}
	d.url.FocusLost()
	if d.url.Text != "postgres://app@db.example.com/app" || d.password.Text != "p@ss" {
		t.Errorf("a typed address became %q and %q", d.url.Text, d.password.Text)
	}
}

func TestAWrongAddressIsNotSent(t *testing.T) {
	s := shown(t, &fakeDesk{})
	for text, want := range map[string]string{"": "an address is missing", "db.example.com": "begins with postgres://", "postgres://app:s#x@db/app": "own field"} {
		s.screen.database.url.SetText(text)
		for _, button := range []string{"Test", "Save"} {
			s.tap(button)
			if !s.shows(want) {
				t.Errorf("%s of %q does not show %q", button, text, want)
			}
		}
	}
	if len(s.desk.asked) != 0 {
		t.Errorf("the desk was asked %q", s.desk.asked)
	}
}

func TestTheConnectionIsTested(t *testing.T) {
	desk := &fakeDesk{
		connection: Connection{URL: good, From: "saved", HasPassword: true},
		lines:      []Line{{"Server", "PostgreSQL 15.6", Plain}, {"Round trip", "1.2 ms", Good}, {"Encryption", "none", Bad}},
	}
	s := shown(t, desk)
	s.Until("the address is shown", func() bool { return s.screen.database.url.Text == good })
	s.tap("Test")
	s.asks("test " + good + " ") // the password that is kept
	s.until("PostgreSQL 15.6")
	for _, text := range []string{"Round trip", "1.2 ms", "Encryption", "none"} {
		if !s.shows(text) {
			t.Errorf("the test does not show %q", text)
		}
	}

	desk.set(func() { desk.err = errors.New("no route to host") })
	s.tap("Test")
	s.until("The test failed: no route to host")
	if s.shows("PostgreSQL 15.6") {
		t.Error("the answer of another test is shown")
	}

	late := make(chan struct{})
	desk.set(func() { desk.err, desk.wait = nil, late })
	s.tap("Test")
	if !s.screen.database.test.Disabled() {
		t.Error("the test does not show that it is at work")
	}
	s.Until("asked", func() bool { return desk.count() == 3 })
	s.screen.database.url.SetText(good + "2")
	desk.set(func() { desk.wait, desk.lines = nil, []Line{{"Server", "PostgreSQL 16.1", Plain}} })
	s.tap("Test")
	s.until("PostgreSQL 16.1")
	close(late)
	s.tap("Test")
	s.until("PostgreSQL 16.1")
	if s.shows("PostgreSQL 15.6") {
		t.Error("the answer for an address that was changed is shown")
	}
}

func TestAFailureToSaveIsExplained(t *testing.T) {
	desk := &fakeDesk{err: &engine.FieldError{Field: "database", Problem: "has no such sslmode"}}
	s := shown(t, desk)
	s.screen.database.url.SetText(good)
	s.screen.database.password.SetText("secret")
	s.tap("Save")
	s.until("has no such sslmode")
	if s.screen.database.password.Text != "secret" || s.screen.database.save.Disabled() {
		t.Error("the password is gone, or the button is dead")
	}
	desk.set(func() { desk.err = errors.New("no keychain: the password lasts until the end of the program") })
	s.tap("Save")
	s.until("no keychain")
	if s.shows("sslmode") {
		t.Error("the mistake before is still shown")
	}
}

func TestForgettingAsks(t *testing.T) {
	s := shown(t, &fakeDesk{connection: Connection{URL: good, From: "saved"}})
	s.until("Saved with the settings")
	s.tap("Forget…")
	s.confirm("Cancel")
	s.tap("Forget…")
	s.confirm("Forget")
	s.asks("save  ")
	s.until("Forgotten.")
	s.until("None yet")
	if got := len(s.desk.asked); got != 1 {
		t.Errorf("the desk was asked %d times, want once", got)
	}
	if !s.screen.database.forget.Disabled() || s.screen.database.url.Text != "" {
		t.Error("there is still something to forget")
	}
}

func TestTheEnvironmentGoesFirst(t *testing.T) {
	s := shown(t, &fakeDesk{connection: Connection{URL: good, From: "DATABASE_URL", Keychain: "nothing answers"}})
	s.until("In force is DATABASE_URL of the environment")
	if !s.shows("No password can be kept beyond the end of the program: nothing answers") {
		t.Error("nothing is said of the keychain")
	}
	if !s.screen.database.forget.Disabled() {
		t.Error("what the environment says can be forgotten")
	}
}

// TestThePasswordIsNeededAgain is the start after one that no keychain kept the password of.
func TestThePasswordIsNeededAgain(t *testing.T) {
	s := shown(t, &fakeDesk{connection: Connection{URL: good, From: "saved", Keychain: "nothing answers", Asks: true}})
	s.until("The password is needed again")
	if s.win.Canvas().Focused() != s.screen.database.password {
		t.Errorf("the focus is at %v", s.win.Canvas().Focused())
	}
	s.screen.database.password.SetText("hush")
	s.tap("Save")
	s.until("Saved.")
	s.Until("it is needed no more", func() bool { return !s.shows("The password is needed again") })
}

func TestTheStateOfSendingIsFollowed(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.desk.sending = Line{Value: "12 rows wait", State: Warning}
	s.screen.Tick()
	if !s.shows("12 rows wait") {
		t.Error("the state is not shown")
	}
	s.desk.sending = Line{}
	s.screen.Tick()
	if s.shows("12 rows wait") {
		t.Error("a state that is over is shown")
	}
}

func TestTheLookIsChosen(t *testing.T) {
	s := shown(t, &fakeDesk{})
	var radio *widget.RadioGroup
	uitest.Walk(s.screen.Content(), func(o fyne.CanvasObject) bool {
		if r, ok := o.(*widget.RadioGroup); ok {
			radio = r
		}
		return radio == nil
	})
	if radio == nil || radio.Selected != "Dark" || len(s.looks) != 0 {
		t.Fatalf("the look in force is not shown, or was set again: %v", s.looks)
	}
	radio.SetSelected("System")
	radio.SetSelected("Light")
	if want := []string{"system", "light"}; !slices.Equal(s.looks, want) {
		t.Errorf("chosen were %v, want %v", s.looks, want)
	}
}

func TestAnotherDataFolder(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.screen.data.ask("/other")
	if top := s.win.Canvas().Overlays().Top(); !uitest.Shows(top, "Nothing is moved or deleted") || !uitest.Shows(top, "/data/throng") {
		t.Error("it is not said what another folder means")
	}
	s.confirm("Cancel")
	s.screen.data.ask("/other")
	s.confirm("Change")
	s.asks("move /other")
	s.until("From the next start on: /other")
	if len(s.desk.asked) != 1 {
		t.Errorf("the desk was asked %q", s.desk.asked)
	}
	s.desk.set(func() { s.desk.err = errors.New("it cannot be written") })
	s.screen.data.move("/third")
	s.until("The data folder stays as it is. It cannot be written")
}

// edit taps the pencil beside a setting and returns the editor's row.
func (s *stage) edit(name string) *form.Row {
	s.t.Helper()
	i := slices.IndexFunc(s.screen.defaults.shown, func(o Setting) bool { return o.Name == name })
	line := s.screen.defaults.row(s.screen.defaults.shown[i])
	uitest.Walk(line, func(o fyne.CanvasObject) bool {
		if b, ok := o.(*widget.Button); ok {
			test.Tap(b)
		}
		return true
	})
	s.Drain()
	if s.screen.defaults.editor == nil {
		return nil
	}
	return s.screen.defaults.editor.row
}

func TestDefaultsAreEdited(t *testing.T) {
	desk := &fakeDesk{settings: []Setting{
		{"max-concurrent", "50", "MAX_WORKERS", "sessions in flight, at most"},
		{"cycles", "1", "default", "length of the run"},
		{"seed", "7", "saved", "what draws depend on"},
	}}
	s := shown(t, desk)
	s.until("what draws depend on")
	if !s.shows("MAX_WORKERS (environment)") {
		t.Error("it is not said where the value comes from")
	}
	if s.edit("max-concurrent") != nil {
		t.Error("what the environment says can be changed")
	}

	s.edit("cycles")
	if uitest.Button(s.screen.Content(), "Use the default") != nil {
		t.Error("the default can be replaced by itself")
	}
	if got := s.win.Canvas().Focused(); got != fyne.Focusable(s.screen.defaults.editor.entry) {
		t.Errorf("the keyboard is at %T, want the editor", got)
	}
	for _, e := range []*form.Entry{s.screen.defaults.editor.entry, s.screen.database.url, s.screen.database.password} {
		if e.Page != s.screen.content.(fyne.Scrollable) {
			t.Errorf("the field with %q keeps the wheel", e.Text)
		}
	}
	desk.set(func() { desk.err = &engine.FieldError{Field: "cycles", Problem: `"x" is not a whole number`} })
	s.screen.defaults.editor.entry.SetText("x")
	s.screen.defaults.editor.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	s.asks("set cycles x")
	s.until("not a whole number")

	desk.set(func() { desk.err = nil })
	s.screen.defaults.editor.entry.SetText("48")
	test.Tap(s.screen.defaults.editor.buttons[0])
	s.asks("set cycles 48")
	s.until("48")
	s.Until("closed", func() bool { return s.screen.defaults.editor == nil })

	s.edit("seed")
	s.tap("Cancel")
	if s.screen.defaults.editor != nil {
		t.Error("the editor stays")
	}
	s.edit("seed")
	s.tap("Use the default")
	s.asks("set seed ")
}

// TestDefaultsAreFound by words of their name, their title or their meaning; each stands in its group, and one that the
// window knows nothing of at the end.
func TestDefaultsAreFound(t *testing.T) {
	s := shown(t, &fakeDesk{settings: []Setting{
		{"retries", "5", "default", "attempts at a request"},
		{"cycles", "24", "saved", "length of the run"},
		{"session-timeout", "5m0s", "default", "time that a session may use"},
		{"new-thing", "on", "default", "nobody has named it"},
	}})
	s.until("Time limits and retries")
	texts := uitest.Texts(s.screen.defaults.panel)
	order := []string{"Length and pace", "Length in cycles", "Time limits and retries", "Of a session", "5m", "Attempts at a request", "More", "new-thing"}
	at := -1
	for _, want := range order {
		i := slices.Index(texts, want)
		if i <= at {
			t.Fatalf("%q is not behind what should be before it: %q", want, texts)
		}
		at = i
	}
	s.screen.defaults.look.SetText("session time")
	s.Drain()
	if !s.shows("Of a session") || s.shows("Attempts at a request") || s.shows("Length and pace") {
		t.Errorf("it shows %q", uitest.Texts(s.screen.defaults.panel))
	}
	s.screen.defaults.look.SetText("elephants")
	s.Drain()
	if !s.shows("try fewer") {
		t.Error("nothing is said of what to do")
	}
}

// TestAppearance sets the size of the text and the notifications.
func TestAppearance(t *testing.T) {
	s := shown(t, &fakeDesk{})
	if !s.shows("100 %") {
		t.Error("the size in force is not shown")
	}
	slider := s.screen.looks.scale
	slider.OnChanged(1.4)
	if !s.shows("140 %") || len(s.scales) != 0 {
		t.Errorf("while it is dragged the size is set: %v", s.scales)
	}
	slider.OnChangeEnded(1.4)
	if !slices.Equal(s.scales, []float64{1.4}) {
		t.Errorf("set was %v", s.scales)
	}
	s.screen.Scaled(0.8)
	if !s.shows("80 %") || slider.Value != 0.8 || len(s.scales) != 1 {
		t.Errorf("a size that was chosen elsewhere: %v, set %v", slider.Value, s.scales)
	}
	boxes := map[string]*widget.Check{}
	uitest.Walk(s.screen.Content(), func(o fyne.CanvasObject) bool {
		if c, ok := o.(*widget.Check); ok {
			boxes[c.Text] = c
		}
		return true
	})
	for _, k := range engine.NoticeKinds {
		if box := boxes[k.About]; box == nil || box.Checked == (k.Occasion == engine.OnStall) {
			t.Fatalf("whether %s is told is not shown", k.Occasion)
		}
		test.Tap(boxes[k.About])
	}
	if len(s.notify) != len(engine.NoticeKinds) || s.notify[0] != "ended false" || !slices.Contains(s.notify, "stalled true") {
		t.Errorf("set was %v", s.notify)
	}
}

// TestNotices tries a web hook, keeps it, and forgets it.
func TestNotices(t *testing.T) {
	s := shown(t, &fakeDesk{})
	n := s.screen.notices
	s.until("Nowhere yet")
	if !n.test.Disabled() || !n.save.Disabled() || !n.forget.Disabled() {
		t.Error("nothing can be done with no address")
	}
	test.Type(n.url, "https://hooks.slack.com/x")
	s.tap("Send a test")
	s.until("the server answered 200 OK")
	s.asks("test hook  https://hooks.slack.com/x")
	n.kind.SetSelected("JSON")
	test.Tap(n.save)
	s.asks("save hook json https://hooks.slack.com/x")
	s.until("Notices go to hooks.slack.com (Slack).")
	s.until("Saved. Runs that begin from now on")
	if n.url.Text != "" || n.forget.Disabled() {
		t.Errorf("the address stays: %q", n.url.Text)
	}
	n.kind.SetSelected(byHost)
	test.Tap(n.test)
	s.asks("test hook  ") // the one that is kept
	s.until("the server answered")

	s.desk.set(func() { s.desk.err = &engine.FieldError{Field: "notify", Problem: "is not the address of a web hook"} })
	test.Type(n.url, "x")
	test.Tap(n.save)
	s.until("is not the address of a web hook")
	s.desk.set(func() { s.desk.err = errors.New("hooks.slack.com: it answered 403 Forbidden") })
	test.Tap(n.test)
	s.until("it answered 403 Forbidden")
	s.desk.set(func() { s.desk.err = nil })
	test.Tap(n.forget)
	s.until("Forgotten")
	s.until("Nowhere yet")

	s.desk.set(func() { s.desk.hook = Hook{Kind: "ntfy", Host: "ntfy.sh", From: "THRONG_NOTIFY_URL"} })
	n.load()
	s.until("THRONG_NOTIFY_URL of the environment says so")
	s.desk.set(func() { s.desk.hook = Hook{Kind: "ntfy", Host: "ntfy.sh", From: "saved", Asks: true} })
	n.load()
	s.until("kept only until the program ended")
}

// TestLogLevel chooses how much is logged.
func TestLogLevel(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.Until("the level", func() bool { return s.screen.data.level.Selected == "info" })
	if s.desk.has("log info") {
		t.Error("showing it has set it")
	}
	s.screen.data.level.SetSelected("debug")
	s.asks("log debug")
}
