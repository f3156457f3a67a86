package setup

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestTheFirstScenarioIsReadyToLaunch(t *testing.T) {
	s := shown(t, &fakeDesk{})
	for _, text := range []string{
		"Marketplace shoppers", "A small world", "Staging", "Open file…", "drop a file",
		"About shopping", "How much they like it.", "0 to 10",
		"24 cycles of 1 h, as fast as possible",
		"50 of 372 shoppers concurrently; adjusted automatically from 1 to 100",
		"Results stay on this machine.",
		"372 shoppers, 24 cycles, up to 100 concurrently, 8,928 sessions",
	} {
		if !s.shows(text) {
			t.Errorf("the screen does not show %q", text)
		}
	}
	s.tap("Launch")
	s.Until("launched", func() bool { return s.launched == 1 })

	want := engine.DefaultSettings()
	want.Cycles, want.Mock.Profile = 24, "local"
	got := s.desk.last(&s.desk.launched)
	if got.Scenario != "shopping" || len(got.Given) != 0 || len(got.Allow) != 0 || !reflect.DeepEqual(got.Settings, want) {
		t.Errorf("launched %+v, want the scenario with\n%+v", got, want)
	}
}

func TestEveryFieldGoesIntoTheOrder(t *testing.T) {
	s := shown(t, &fakeDesk{remote: "db.example.com/app"})
	if !s.shows("Also send results to Postgres") || !s.shows("Database: db.example.com/app") {
		t.Error("the database is not offered")
	}
	s.typed("Eagerness", "2.50")
	s.typed("Greeting", "good day")
	field[*widget.Check](s, "Coupons").SetChecked(false)
	field[*widget.Select](s, "Season").SetSelected("summer")
	field[*widget.Select](s, "Length").SetSelected("hours")
	s.typed("Length", "6")
	s.typed("Time scale", "24")
	s.typed("Random seed", "18446744073709551615")
	field[*widget.Select](s, "Mock latency").SetSelected("slow, 0.5 to 2 s")
	s.typed("Starting limit", "20")
	s.typed("Lowest limit", "2")
	s.typed("Highest limit", "40")
	s.typed("shop", "https://staging.example.com")
	s.typed("model", "mock:model")
	uitest.Walk(s.screen.Content(), func(o fyne.CanvasObject) bool {
		if c, ok := o.(*widget.Check); ok && strings.HasPrefix(c.Text, "Also send") {
			c.SetChecked(true)
		}
		return true
	})
	if want := "one cycle every 2 min 30 s; 144 cycles in 6 h"; !s.shows(want) {
		t.Errorf("the screen does not show %q", want)
	}
	s.tap("Launch")
	s.Until("launched", func() bool { return s.launched == 1 })

	got := s.desk.last(&s.desk.launched)
	given := map[string]string{"eagerness": "2.50", "greeting": "good day", "coupons": "false", "season": "summer"}
	if !maps.Equal(got.Given, given) {
		t.Errorf("given is %v, want %v", got.Given, given)
	}
	want := engine.DefaultSettings()
	want.Cycles, want.Hours, want.TimeScale, want.Seed = 0, 6, 24, 1<<64-1
	want.Limit, want.Floor, want.Ceiling = 20, 2, 40
	want.Mock.Profile, want.Remote = "slow", true
	want.Services = map[string]string{"shop": "https://staging.example.com", "model": "mock:model"}
	if !reflect.DeepEqual(got.Settings, want) {
		t.Errorf("the settings are\n%+v, want\n%+v", got.Settings, want)
	}
}

func TestOnlyWhatDiffersIsGiven(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.typed("Eagerness", "1.00")
	s.typed("Shoppers", "")
	s.typed("shop", "")
	s.tap("Launch")
	s.Until("launched", func() bool { return s.launched == 1 })
	if got := s.desk.last(&s.desk.launched); len(got.Given) != 0 || len(got.Settings.Services) != 0 {
		t.Errorf("given are %v and %v, want nothing", got.Given, got.Settings.Services)
	}
}

func TestMistakesAreShownWhileTyping(t *testing.T) {
	s := shown(t, &fakeDesk{})
	for _, c := range []struct{ row, text, problem string }{
		{"Shoppers", "0", "0 is out of range: 1 to 1,000,000"},
		{"Eagerness", "x", `"x" is not a number`},
		{"Length", "0", "0 is out of range"},
		{"Time scale", "1e-9", "is out of range"},
		{"Random seed", "-1", "not a whole number of at least 0"},
		{"Starting limit", "101", "above the highest limit, 100"},
		{"Lowest limit", "51", "below the lowest limit, 51"}, // next to the start
		{"Highest limit", "", "a whole number is missing"},
		{"shop", "staging", "not an address"},
	} {
		before := s.entry(c.row).Text
		s.typed(c.row, c.text)
		if !s.shows(c.problem) {
			t.Errorf("%s %q: the screen does not show %q", c.row, c.text, c.problem)
		}
		if !s.shows("1 mistake: ") {
			t.Errorf("%s %q: the mistake is not counted", c.row, c.text)
		}
		s.typed(c.row, before)
		if s.shows("mistake") {
			t.Errorf("%s %q: the mistake stays", c.row, before)
		}
	}
}

func TestALaunchWithMistakesGoesToTheFirst(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.win.Resize(fyne.NewSize(850, 400))
	s.typed("Highest limit", "many")
	s.typed("model", "nowhere")
	s.tap("Launch")
	if !s.shows("Not launched") || !s.shows("2 mistakes: Highest limit, model") {
		t.Errorf("the screen shows %q", uitest.Texts(s.screen.bar.panel))
	}
	if got := s.win.Canvas().Focused(); got != fyne.Focusable(s.screen.concurrency.ceiling) {
		t.Errorf("the keyboard is at %T, want the ceiling", got)
	}
	if s.screen.scroll.Offset.Y == 0 {
		t.Error("the mistake was not scrolled to")
	}
	if n := s.desk.count(&s.desk.asked) + s.desk.count(&s.desk.launched); n != 0 {
		t.Errorf("the desk was asked %d times", n)
	}
	if s.screen.bar.launch.Disabled() {
		t.Error("the button is disabled")
	}
}

func TestParametersAreReadAgainAfterThePause(t *testing.T) {
	s := shown(t, &fakeDesk{})
	before := s.desk.count(&s.desk.read)
	e := s.entry("Shoppers")
	for _, text := range []string{"5", "50", "500", "5000"} {
		e.SetText(text)
	}
	s.until("5,000 shoppers, 24 cycles, up to 100 concurrently, 120,000 sessions")
	if got := s.desk.count(&s.desk.read) - before; got != 1 {
		t.Errorf("the scenario was read %d times, want once", got)
	}
	if got, want := s.desk.last(&s.desk.read).Given, map[string]string{"agents": "5000"}; !maps.Equal(got, want) {
		t.Errorf("given was %v, want %v", got, want)
	}
	if got := s.entry("Highest limit").Text; got != "100" {
		t.Errorf("the ceiling is %s, want that of the settings", got)
	}
	if e.Text != "5000" || !s.shows("default 372") {
		t.Error("the parameter does not show what was typed and its default")
	}

	s.typed("Eagerness", "x") // an invalid field does not block the others
	s.typed("Shoppers", "600")
	s.until("600 shoppers")
	if !s.shows("1 mistake: Eagerness") || s.entry("Eagerness").Text != "x" {
		t.Error("the mistake is gone")
	}
	s.typed("Highest limit", "60")
	s.tap("Reset to defaults")
	s.until("372 shoppers")
	if got := s.entry("Highest limit").Text; got != "60" {
		t.Errorf("the ceiling is %s, want what was typed", got)
	}
	if s.shows("Reset to defaults") {
		t.Error("there is still something to reset")
	}
}

func TestWhatTheFileFindsStandsBesideTheParameter(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.typed("Shoppers", "13")
	s.until("brings bad luck")
	if !s.shows("1 mistake: Shoppers") {
		t.Error("the mistake is not counted")
	}
	s.typed("Shoppers", "14")
	s.until("14 shoppers")
	if s.shows("bad luck") {
		t.Error("the mistake stays")
	}
}

func TestALaunchWaitsForWhatWasTyped(t *testing.T) {
	s := shown(t, &fakeDesk{})
	slow := make(chan struct{})
	s.desk.mu.Lock()
	s.desk.wait = map[string]chan struct{}{"shopping": slow}
	s.desk.mu.Unlock()
	s.typed("Shoppers", "5000")
	s.tap("Launch")
	if !s.shows("Launching…") || !s.screen.bar.launch.Disabled() {
		t.Error("the button shows no progress")
	}
	close(slow)
	s.Until("launched", func() bool { return s.launched == 1 })
	if got := s.desk.last(&s.desk.launched); got.Given["agents"] != "5000" {
		t.Errorf("launched %v", got.Given)
	}

	s.typed("Shoppers", "13")
	s.tap("Launch")
	s.until("brings bad luck")
	if !s.shows("Not launched") || s.desk.count(&s.desk.launched) != 1 {
		t.Error("a scenario was launched that cannot be read")
	}
	if s.screen.bar.launch.Disabled() {
		t.Error("the button stays disabled")
	}
}

func TestALateScenarioIsDropped(t *testing.T) {
	late := make(chan struct{})
	desk := &fakeDesk{wait: map[string]chan struct{}{"world": late}}
	s := shown(t, desk)
	s.pick("A small world")
	s.Until("asked", func() bool { return desk.last(&desk.read).Scenario == "world" })
	s.pick("Staging")
	s.until("Title of /scenarios/staging.yaml")
	close(late)
	s.pick("Marketplace shoppers")
	s.until("Title of shopping")
	if s.shows("Title of world") {
		t.Error("the scenario that was left is shown")
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	desk := &fakeDesk{broken: map[string]error{"/scenarios/new.yaml": errors.New("new.yaml:3:1: no key stpe\nnew.yaml:9:1: no chain")}}
	s := shown(t, desk)
	s.screen.Open("/scenarios/new.yaml")
	s.until("new.yaml:9:1: no chain")
	if !s.shows("no key stpe") || s.shows("Shoppers") {
		t.Errorf("the screen shows %q", uitest.Texts(s.screen.Content()))
	}
	s.tap("Launch")
	if !s.shows("Not launched") || desk.count(&desk.asked) != 0 {
		t.Error("the launch shows no message")
	}
	desk.mu.Lock()
	desk.broken = nil
	desk.mu.Unlock()
	s.tap("Reload")
	s.until("About /scenarios/new.yaml")
	if s.shows("no chain") {
		t.Error("the previous error is still shown")
	}
	if c := s.screen.gallery.find("/scenarios/new.yaml"); c == nil || c.Title != "Title of /scenarios/new.yaml" {
		t.Errorf("the gallery has %+v", c)
	}
}

func TestTheFileThatIsShownIsReadAgainWhenItIsOpened(t *testing.T) {
	desk := &fakeDesk{}
	s := shown(t, desk)
	s.screen.Open("/scenarios/new.yaml")
	s.until("About /scenarios/new.yaml")
	read := desk.count(&desk.read)
	s.screen.Open("/scenarios/new.yaml")
	s.Until("read again", func() bool { return desk.count(&desk.read) == read+1 })
}

// TestAFileThatIsBrokenMeanwhile checks that errors found at launch are shown in the same place as errors found when
// the file is opened.
func TestAFileThatIsBrokenMeanwhile(t *testing.T) {
	s := shown(t, &fakeDesk{refusal: Unreadable("new.yaml:3:1: no key stpe\nnew.yaml:9:1: no chain")})
	s.tap("Launch")
	s.until("Not launched: the scenario has errors.")
	if !uitest.Shows(s.screen.head.panel, "new.yaml:9:1: no chain") || uitest.Shows(s.screen.bar.panel, "no chain") {
		t.Errorf("the bar shows %q, the head %q", uitest.Texts(s.screen.bar.panel), uitest.Texts(s.screen.head.panel))
	}
}

func TestOtherMachinesAreAskedAbout(t *testing.T) {
	desk := &fakeDesk{targets: []engine.Destination{
		{Service: "shop", Host: "staging.example.com:443", Secrets: []string{"SHOP_KEY"}},
		{Service: "search", Host: "staging.example.com:443", Secrets: []string{"SEARCH_KEY"}},
		{Service: "db", Host: "127.0.0.1:5432", Database: "app", Results: true},
	}}
	s := shown(t, desk)
	s.tap("Launch")
	s.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	for _, want := range []string{
		"Allow shopping to use these addresses?", "up to 50 sessions in flight", "staging.example.com:443", "Requests from shop, search, on another machine",
		"Receives the secrets SEARCH_KEY, SHOP_KEY", "127.0.0.1:5432/app", "SQL statements from db, on this machine", "This database holds the results of your runs.",
	} {
		if !uitest.Shows(s.win.Canvas().Overlays().Top(), want) {
			t.Errorf("the question does not say %q", want)
		}
	}
	s.confirm("Cancel")
	if s.screen.bar.launch.Disabled() || desk.count(&desk.launched) != 0 {
		t.Error("a launch that was not allowed continues")
	}
	s.tap("Launch")
	s.confirm("Allow and launch")
	s.Until("launched", func() bool { return s.launched == 1 })
	if got, want := desk.last(&desk.launched).Allow, []string{"staging.example.com:443", "127.0.0.1:5432/app"}; !slices.Equal(got, want) {
		t.Errorf("allowed are %v, want %v", got, want)
	}
}

func TestARefusedLaunchIsExplained(t *testing.T) {
	desk := &fakeDesk{refusal: fmt.Errorf("launch: %w", errors.Join(
		&engine.FieldError{Field: "service shop", Problem: "refuses the connection", Hint: "is it up?"},
		&engine.FieldError{Field: "eagerness", Problem: "is too much"},
		errors.New("a run is in progress"),
	))}
	s := shown(t, desk)
	s.tap("Launch")
	s.until("Not launched: a run is in progress")
	if got := s.row("shop").Problem(); got != "refuses the connection (is it up?)" {
		t.Errorf("the shop shows %q", got)
	}
	if got := s.row("Eagerness").Problem(); got != "is too much" {
		t.Errorf("the eagerness shows %q", got)
	}
	if s.launched != 0 || s.screen.bar.launch.Disabled() {
		t.Error("the screen was left, or the button is dead")
	}
	s.typed("shop", "http://127.0.0.1:1")
	if got := s.row("shop").Problem(); got != "" {
		t.Errorf("the shop still shows %q", got)
	}
	desk.mu.Lock()
	desk.refusal = nil
	desk.mu.Unlock()
	s.tap("Launch") // earlier errors are checked again
	s.Until("launched", func() bool { return s.launched == 1 })
}

func TestTheShortcutLaunches(t *testing.T) {
	s := shown(t, &fakeDesk{})
	press := func() {
		key := &desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierShortcutDefault}
		heard(s.win.Canvas()).TypedShortcut(key)
		s.Drain()
	}
	s.screen.Hide()
	press()
	if n := s.desk.count(&s.desk.asked); n != 0 {
		t.Errorf("a hidden screen asked %d times", n)
	}
	s.screen.Show()
	press()
	s.Until("launched", func() bool { return s.launched == 1 })
}

// heard returns the shortcuts of the test driver's canvas, which hides them.
func heard(c fyne.Canvas) fyne.Shortcutable {
	return reflect.ValueOf(c).Elem().FieldByName("WindowlessCanvas").Interface().(fyne.Shortcutable)
}

func TestAServiceIsTested(t *testing.T) {
	slow := make(chan struct{})
	desk := &fakeDesk{}
	s := shown(t, desk)
	s.typed("shop", "http://127.0.0.1:8080")
	s.Tap(s.row("shop"), "Test")
	s.until("connection refused")
	if got, want := desk.tested[0], (Service{Name: "shop", Kind: "http", URL: "http://127.0.0.1:8080"}); got != want {
		t.Errorf("tested %+v, want %+v", got, want)
	}

	desk.mu.Lock()
	desk.answer = func() (string, error) {
		<-slow
		return "200 in 12 ms", nil
	}
	desk.mu.Unlock()
	s.Tap(s.row("shop"), "Test")
	if !s.shows("Testing…") {
		t.Error("the test shows no progress")
	}
	s.typed("shop", "http://127.0.0.1:9090")
	s.Tap(s.row("model"), "Test")
	close(slow)
	s.until("200 in 12 ms")
	if uitest.Shows(s.row("shop"), "200") {
		t.Error("the answer is shown next to an address that was not asked")
	}
}

func TestADieRolls(t *testing.T) {
	s := shown(t, &fakeDesk{})
	before := s.entry("Random seed").Text
	test.Tap(field[*widget.Button](s, "Random seed"))
	if got := s.entry("Random seed").Text; got == before || s.shows("mistake") {
		t.Errorf("the seed is %s after %s", got, before)
	}
}

func TestTheProfileIsForMocksOnly(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.typed("shop", "https://staging.example.com")
	if s.shows("Mock latency") {
		t.Error("a latency can be chosen for a service that is not a mock")
	}
}

func TestAScenarioWithoutParametersAndServices(t *testing.T) {
	s := shown(t, &fakeDesk{change: func(sc *Scenario) {
		sc.Parameters, sc.Services, sc.Agents = nil, nil, 3
		sc.Warnings = []string{"line 3: nothing to do"}
	}})
	if s.shows("Parameters") || s.shows("Services") || !s.shows("3 agents") || !s.shows("line 3: nothing to do") {
		t.Errorf("the screen shows %q", uitest.Texts(s.screen.Content()))
	}
}

func TestSavedAddressesAreProposed(t *testing.T) {
	s := shown(t, &fakeDesk{change: func(sc *Scenario) {
		sc.Settings.Services = map[string]string{"shop": "https://saved.example.com"}
	}})
	if got := s.entry("shop").Text; got != "https://saved.example.com" {
		t.Errorf("the address is %s", got)
	}
	s.typed("shop", "")
	s.tap("Launch")
	s.Until("launched", func() bool { return s.launched == 1 })
	if got := s.desk.last(&s.desk.launched).Settings.Services; len(got) != 0 {
		t.Errorf("the addresses are %v, want the scenario's", got)
	}
}
