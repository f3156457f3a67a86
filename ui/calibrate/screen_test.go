package calibrate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk records calls and returns the answers of a test.
type fakeDesk struct {
	mu      sync.Mutex
	state   *State
	orders  []Order
	stops   int
	refusal error
	earlier []Found
	notice  string
	lost    error
}

func (d *fakeDesk) Choices(context.Context) ([]Choice, error) {
	return []Choice{{"shopping", "Marketplace shoppers"}, {"world", "A small world"}, {"/mine/shopping.yaml", "Marketplace shoppers"}}, nil
}

func (d *fakeDesk) Start(_ context.Context, o Order) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.orders = append(d.orders, o)
	return d.refusal
}

func (d *fakeDesk) ordered() []Order {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.orders)
}

func (d *fakeDesk) State() *State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

func (d *fakeDesk) set(s *State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = s
}

func (d *fakeDesk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stops++
}

func (d *fakeDesk) Earlier(context.Context) ([]Found, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.earlier), d.notice, d.lost
}

func (d *fakeDesk) Machine(context.Context) (Machine, error) {
	return Machine{"mac: 8 cores, 16 GB", 8, 16 << 30}, nil
}

// found is a calibration of the shoppers.
func found(level int) Found {
	f := Found{
		At: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Title: "Marketplace shoppers", About: "372 agents · mac: 8 cores", Level: level, Low: level - 2, High: level + 3,
		Words: "19 sessions concurrently. Bound by CPU: at 32, the CPU was at 95%.", Law: "X(n) = λn",
	}
	for n := 1; n <= 64; n *= 2 {
		l := calibrate.Level{Level: n, PerSecond: 100 * float64(n), Spread: 10, P95: 20 * time.Millisecond, CPU: 3 * float64(n), Memory: 0.4}
		if n <= 32 {
			l.Samples = make([]calibrate.Sample, 1)
		}
		switch n {
		case 32:
			l.Over, l.Note = calibrate.CPU, "CPU above 90%"
		case 64:
			l = calibrate.Level{Level: 64, Note: "left out"}
		}
		f.Levels = append(f.Levels, l)
		f.Curve = append(f.Curve, Point{float64(n), 100 * float64(n), 90 * float64(n), 110 * float64(n)})
	}
	return f
}

// stage is a screen in a window, with the values that it passed on.
type stage struct {
	*uitest.Queue
	screen  *Screen
	desk    *fakeDesk
	setup   Order
	wrong   bool // Setup has mistakes
	applied []int
}

func newStage(t *testing.T, change func(*fakeDesk)) *stage {
	t.Helper()
	g := &stage{Queue: uitest.Start(t), desk: &fakeDesk{}}
	if change != nil {
		change(g.desk)
	}
	g.screen = New(g.desk, Setup{
		Order: func() (Order, bool) { return g.setup, !g.wrong },
		Apply: func(level int) { g.applied = append(g.applied, level) },
	})
	w := test.NewTempWindow(t, g.screen.Content())
	w.Resize(fyne.NewSize(1100, 900))
	g.screen.Show()
	g.Until("the scenarios", func() bool { return g.screen.plan.chosen() != "" })
	g.Until("the machine", func() bool { return g.shows("This machine, mac: 8 cores") }) // calibrations name it too
	return g
}

func (g *stage) shows(text string) bool { return uitest.Shows(g.screen.Content(), text) }

// tapRow taps a row that shows the given text.
func (g *stage) tapRow(text string, at int) {
	var rows []fyne.Tappable
	uitest.Walk(g.screen.Content(), func(o fyne.CanvasObject) bool {
		if row, ok := o.(fyne.Tappable); ok && uitest.Shows(o, text) {
			rows = append(rows, row)
		}
		return true
	})
	test.Tap(rows[at])
	g.Drain()
}

// TestACopyHasTheTitleOfItsOriginal checks that of two scenarios with the same title, the chosen one is calibrated.
func TestACopyHasTheTitleOfItsOriginal(t *testing.T) {
	g := newStage(t, nil)
	g.screen.plan.pick.SetSelectedIndex(2)
	if got := g.screen.plan.chosen(); got != "/mine/shopping.yaml" {
		t.Errorf("the third scenario is %q", got)
	}
}

func TestMeasuringWhatIsChosen(t *testing.T) {
	g := newStage(t, nil)
	g.screen.plan.levels.SetText("1, 4 16")
	g.screen.plan.seconds.SetText("0.5")
	g.Tap(g.screen.Content(), "Calibrate")
	g.Until("the order", func() bool { return len(g.desk.ordered()) == 1 })
	o := g.desk.ordered()[0]
	if o.Scenario != "shopping" || o.Settings != nil || !slices.Equal(o.Levels, []int{1, 4, 16}) || o.Repeats != 3 || o.Duration != 500*time.Millisecond || o.Max != 0 {
		t.Errorf("%+v was ordered", o)
	}
	part := found(19)
	g.desk.set(&State{Running: true, Doing: "8 concurrently", Left: "40 s left", Share: 1.0 / 7, Found: &part})
	g.screen.Tick()
	if !g.shows("8 concurrently") || !g.shows("40 s left") || !g.screen.plan.start.Disabled() || g.screen.result.apply.Visible() {
		t.Error("the sweep under way is not shown, or can be applied")
	}
	g.Tap(g.screen.Content(), "Cancel")
	if g.desk.stops != 1 {
		t.Error("the calibration was not canceled")
	}
	whole := found(19)
	g.desk.mu.Lock()
	g.desk.earlier = []Found{whole}
	g.desk.mu.Unlock()
	g.desk.set(&State{Found: &whole, Share: 1})
	g.screen.Tick()
	g.Until("the sweep among those before", func() bool { return g.shows("4 Mar") })
	for _, want := range []string{"Bound by CPU", "X(n) = λn", "400 ± 10", "recommended 19", "left out", "CPU above 90%"} {
		if !g.shows(want) {
			t.Errorf("nowhere %q", want)
		}
	}
	g.Tap(g.screen.Content(), "Apply")
	if !slices.Equal(g.applied, []int{19}) {
		t.Errorf("%v were applied", g.applied)
	}
}

// TestWhatIsSetUpIsMeasured checks that a calibration uses the parameters and settings in Setup if Setup shows the same
// scenario.
func TestWhatIsSetUpIsMeasured(t *testing.T) {
	settings := engine.DefaultSettings()
	g := newStage(t, func(*fakeDesk) {})
	g.setup = Order{Scenario: "shopping", Given: map[string]string{"agents": "40"}, Settings: &settings, Allow: []string{"host"}}
	g.wrong = true
	g.Tap(g.screen.Content(), "Calibrate")
	if !g.shows("mistakes in Setup") || len(g.desk.ordered()) > 0 {
		t.Error("mistakes in Setup are measured")
	}
	g.wrong = false
	g.Tap(g.screen.Content(), "Calibrate")
	g.Until("the order", func() bool { return len(g.desk.ordered()) == 1 })
	if o := g.desk.ordered()[0]; o.Given["agents"] != "40" || o.Settings != &settings || o.Allow[0] != "host" {
		t.Errorf("%+v was ordered", o)
	}
}

func TestMistakesStandBesideTheirFields(t *testing.T) {
	g := newStage(t, func(d *fakeDesk) {
		d.refusal = errors.Join(&engine.FieldError{Field: "levels", Problem: "only 30 agents are active"}, errors.New("the disk is full"))
	})
	g.screen.plan.levels.SetText("1, two")
	g.Tap(g.screen.Content(), "Calibrate")
	if !g.shows(`"two" is not a limit`) || len(g.desk.ordered()) > 0 {
		t.Error("an order with an invalid number was sent")
	}
	g.screen.plan.levels.SetText("1, 2")
	g.Tap(g.screen.Content(), "Calibrate")
	g.Until("the refusal", func() bool { return g.shows("only 30 agents are active") && g.shows("the disk is full") })
	if g.screen.plan.start.Disabled() {
		t.Error("the calibration cannot be started again")
	}
}

func TestWhatWasFoundBefore(t *testing.T) {
	older := found(12)
	older.Title, older.Words = "A small world", "12 sessions concurrently."
	g := newStage(t, func(d *fakeDesk) {
		d.earlier, d.notice = []Found{found(19), older}, "the file was damaged"
	})
	g.Until("the newest", func() bool { return g.shows("recommended 19") && g.shows("the file was damaged") })
	g.tapRow("4 Mar", 1)
	if !g.shows("12 sessions concurrently.") || !g.shows("recommended 12") {
		t.Error("the older one is not shown")
	}
	g.Tap(g.screen.Content(), "Apply")
	if !slices.Equal(g.applied, []int{12}) {
		t.Errorf("%v were applied", g.applied)
	}
	none := Found{Title: "Nothing", Words: "No recommendation: nothing was measured."}
	g.screen.show(&none, false)
	if g.screen.result.apply.Visible() {
		t.Error("a missing result can be applied")
	}
}

func TestASweepThatEndedEarly(t *testing.T) {
	g := newStage(t, nil)
	g.desk.set(&State{Running: true})
	g.screen.Tick()
	g.desk.set(&State{Err: errors.New("out of budget")})
	g.screen.Tick()
	if !g.shows("Ended early: out of budget") || g.screen.plan.start.Disabled() {
		t.Errorf("%q", strings.Join(uitest.Texts(g.screen.Content()), "\n"))
	}
}

// TestOtherProgramsUseTheCPU checks that the screen offers to wait or to start anyway, that nothing moves meanwhile, and that a result
// measured under load is marked and cannot be applied.
func TestOtherProgramsUseTheCPU(t *testing.T) {
	g := newStage(t, nil)
	height := g.screen.plan.panel.MinSize().Height
	still := func(when string) {
		t.Helper()
		if now := g.screen.plan.panel.MinSize().Height; now != height {
			t.Errorf("%s, the panel is %v high instead of %v", when, now, height)
		}
	}
	g.Tap(g.screen.Content(), "Calibrate")
	g.Until("the order", func() bool { return len(g.desk.ordered()) == 1 && !g.screen.asked })
	g.desk.set(&State{Running: true, Doing: "looking at the machine"})
	g.screen.Tick()
	still("while looking")
	for i, tt := range []struct {
		button string
		want   Others
	}{{"Wait", WaitForOthers}, {"Start anyway", DespiteOthers}} {
		g.desk.set(&State{Foreign: 45})
		g.screen.Tick()
		if !g.shows("Other programs use 45% of the CPU. Close them, or wait.") || g.shows("Ended early") {
			t.Errorf("it says %q", g.screen.plan.said.Text())
		}
		still("with the question")
		g.Tap(g.screen.Content(), tt.button)
		g.Until("the next order", func() bool { return len(g.desk.ordered()) == i+2 && !g.screen.asked })
		if o := g.desk.ordered()[i+1]; o.Others != tt.want || o.Scenario != "shopping" {
			t.Errorf("%s: %+v was ordered", tt.button, o)
		}
		g.desk.set(&State{Running: true, Doing: "waiting", Foreign: 30})
		g.screen.Tick()
		if !g.shows("Other programs use 30% of the CPU. The calibration starts when they use at most 12%.") || uitest.Button(g.screen.Content(), "Cancel") == nil || uitest.Button(g.screen.Content(), "Wait") != nil {
			t.Errorf("while it waits: %q", uitest.Texts(g.screen.Content()))
		}
		still("while waiting")
	}
	part := found(0)
	part.UnderLoad = true
	g.desk.set(&State{Running: true, Doing: "limit 8", Found: &part})
	g.screen.Tick()
	if !g.shows("The result will not be recommended.") {
		t.Errorf("while it measures under load, it says %q", g.screen.plan.said.Text())
	}
	still("while measuring under load")
	loaded := found(0)
	loaded.UnderLoad, loaded.Words = true, "No recommendation: measured under load."
	g.desk.mu.Lock()
	g.desk.earlier = []Found{loaded}
	g.desk.mu.Unlock()
	g.desk.set(&State{Found: &loaded, Share: 1})
	g.screen.Tick()
	g.Until("the list", func() bool { return g.shows("4 Mar") })
	if !g.shows("not recommended") || !g.shows("(under load)") || uitest.Button(g.screen.Content(), "Apply") != nil || uitest.Button(g.screen.Content(), "Cancel") != nil {
		t.Errorf("under load: %q", uitest.Texts(g.screen.Content()))
	}
	still("at the end")
}

func TestLevelsIn(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "1,2,4": {1, 2, 4}, " 8 ; 3 ": {8, 3}} {
		if got, err := levelsIn(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1", "1.5", "x", "99999999"} {
		if got, err := levelsIn(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzLevelsIn(f *testing.F) {
	f.Add("1, 2, 4")
	f.Add("10 ; 3,,")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := levelsIn(text)
		for _, n := range all {
			if n < 1 || n > engine.MaxLimit || err != nil {
				t.Errorf("%q is %v, %v", text, all, err)
			}
		}
	})
}
