package settings

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk records calls.
type fakeDesk struct {
	mu         sync.Mutex
	asked      []string
	connection Connection
	lines      []Line
	settings   []Setting
	sending    Line
	hook       Hook
	allowed    []Allowed
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

func (d *fakeDesk) AnswerOffer(_ context.Context, use bool) error {
	d.set(func() { d.connection.Offer = "" })
	return d.note(fmt.Sprint("offer ", use))
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

func (d *fakeDesk) RemoteState() (string, State)                 { return d.sending.Value, d.sending.State }
func (d *fakeDesk) DataFolder() string                           { return "/data/throng" }
func (d *fakeDesk) MoveData(_ context.Context, dir string) error { return d.note("move", dir) }

func (d *fakeDesk) Allowed(context.Context) ([]Allowed, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.allowed), nil
}

func (d *fakeDesk) Forget(_ context.Context, file string) error {
	err := d.note("forget", file)
	if err == nil {
		d.set(func() { d.allowed = slices.DeleteFunc(d.allowed, func(a Allowed) bool { return a.File == file }) })
	}
	return err
}

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

// shown shows a section of the settings.
func shown(t *testing.T, section string, desk *fakeDesk) *stage {
	s := &stage{Queue: uitest.Start(t), t: t, desk: desk}
	s.win = test.NewTempWindow(t, nil)
	s.screen = New(desk, s.win, Appearance{
		Theme: "dark", SetTheme: func(choice string) { s.looks = append(s.looks, choice) },
		Scale: 1, Smallest: 0.8, Largest: 2, SetScale: func(scale float64) { s.scales = append(s.scales, scale) },
		Silent:    map[view.Occasion]bool{view.OnStall: true},
		SetNotify: func(o view.Occasion, on bool) { s.notify = append(s.notify, fmt.Sprint(o, " ", on)) },
	})
	s.win.SetContent(s.screen.Content())
	s.win.Resize(fyne.NewSize(1130, 800))
	s.screen.Show()
	s.screen.Open(Storage)
	s.until("/data/throng")
	s.screen.Open(section)
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

// confirm taps a button of the open dialog.
func (s *stage) confirm(button string) {
	s.t.Helper()
	s.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	s.Tap(s.win.Canvas().Overlays().Top(), button)
}

const good = "postgres://app@db.example.com:5432/app"
