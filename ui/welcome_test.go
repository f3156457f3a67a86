package ui

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/internal/crowd"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/setup"
	"github.com/throng-sim/throng/ui/uitest"
)

// firstDesk has one scenario and no problems.
type firstDesk struct {
	setup.Desk
	d *desk
}

func (firstDesk) Recheck()          {}
func (firstDesk) Fleet() fleet.Host { return nil }

func (s firstDesk) Choices(context.Context) ([]setup.Choice, error) {
	return []setup.Choice{{Name: "shopping", Title: "Marketplace shoppers", BuiltIn: true}}, nil
}

func (s firstDesk) Scenario(context.Context, string, map[string]string) (*setup.Scenario, error) {
	set := engine.DefaultSettings()
	set.Cycles = 24
	number := func(name, title string, most float64, usual string) setup.Parameter {
		return setup.Parameter{ParameterSpec: view.ParameterSpec{Name: name, Title: title}, Max: most, Kind: setup.Number, Default: usual}
	}
	return &setup.Scenario{
		Name: "shopping", Title: "Marketplace shoppers", Agents: 372, Cycle: time.Hour, Settings: set,
		Parameters: []setup.Parameter{number("agents", "Shoppers", 1e6, "372"), number("eagerness", "Eagerness to shop", 10, "1"), number("think_seconds", "Think time", 600, "0")},
	}, nil
}
func (s firstDesk) Choose(context.Context, setup.Order) (int, error) { return 372, nil }
func (s firstDesk) Requirements(context.Context, setup.Order) (o setup.Requirements, _ error) {
	return o, nil
}

func (s firstDesk) Forecast(context.Context, setup.Order) (f engine.Forecast, _ error) { return f, nil }

func (s firstDesk) Preset(context.Context) (string, error) { return "", nil }

func (s firstDesk) Preflight(context.Context, setup.Order, bool, func([]engine.Check)) ([]engine.Check, error) {
	return []engine.Check{{Name: "Disk", Grade: engine.GradeOK}}, nil
}

func (s firstDesk) Unallowed(context.Context, setup.Order) ([]engine.Destination, error) {
	return nil, nil
}

func (s firstDesk) Launch(_ context.Context, o setup.Order, _ func(done, total int)) error {
	s.d.ask("launch with eagerness " + o.Given["eagerness"] + " and think time " + o.Given["think_seconds"])
	s.d.job = &live.Job{Run: newTouredRun(), Title: "Marketplace shoppers", Agents: 372, Settings: o.Settings, Name: strconv.Itoa, Crowd: func(*engine.Crowd) *engine.Crowd {
		return &engine.Crowd{At: time.Now(), States: make([]engine.AgentState, 372)}
	}, Agent: func(context.Context, int) (*engine.AgentView, error) { return &engine.AgentView{}, nil }}
	return nil
}
func (s firstDesk) Remote() string     { return "" }
func (s firstDesk) InProgress() string { return "" }

// touredRun is a run in memory that takes the orders of the tour.
type touredRun struct {
	live.Run
	mu  sync.Mutex
	now engine.Snapshot
}

func newTouredRun() *touredRun {
	r := &touredRun{}
	r.now = engine.Snapshot{Run: "r", At: time.Now(), Phase: engine.Running}
	r.now.Limit = 50
	return r
}

func (r *touredRun) ID() engine.RunID            { return "r" }
func (r *touredRun) Done() <-chan struct{}       { return nil }
func (r *touredRun) Tunables() []engine.Tunable  { return nil }
func (r *touredRun) Watch(int)                   {}
func (r *touredRun) Resume(who string) error     { r.turn(engine.Running, who); return nil }
func (r *touredRun) Pause(who, why string) error { r.turn(engine.Paused, who); return nil }

func (r *touredRun) Snapshot() *engine.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.now
	s.At, s.Changes = time.Now(), slices.Clone(s.Changes)
	return &s
}

// turn changes the phase.
func (r *touredRun) turn(to engine.Phase, who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Changes = append(r.now.Changes, engine.ChangeRow{At: time.Now(), What: engine.PhaseChange, Old: r.now.Phase.String(), New: to.String(), Who: who})
	r.now.Phase = to
}

// limit changes the limit.
func (r *touredRun) limit(n int, what, who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Changes = append(r.now.Changes, engine.ChangeRow{At: time.Now(), What: what, Old: strconv.Itoa(r.now.Limit), New: strconv.Itoa(n), Who: who})
	r.now.Limit = n
}

func (r *touredRun) Apply(wanted []engine.Assignment, who, _ string) ([]engine.Change, error) {
	n, err := strconv.Atoi(wanted[0].Value)
	r.limit(n, wanted[0].Name, who)
	return nil, err
}

// first is the window at the first start of the program.
func first(t *testing.T, d *desk) (*uitest.Queue, *App) {
	t.Helper()
	q := uitest.Start(t)
	d.settled = make(chan struct{})
	a := New(&app{App: fyne.CurrentApp()}, Desk{
		Setup: firstDesk{d: d}, Live: liveDesk{d: d}, Runs: runsDesk{d: d}, Results: resultsDesk{},
		Compare: compareDesk{}, Calibrate: calibrateDesk{d: d}, Settings: settingsDesk{}, Experiments: experimentsDesk{d: d}, Designer: designs{}, Store: d,
	})
	q.Until("read", func() bool { return uitest.Shows(a.setup.Content(), "372 shoppers") })
	a.greet()
	return q, a
}

// says reports whether the tour shows a text.
func (a *App) says(text string) bool { return a.above.Visible() && uitest.Shows(a.above, text) }

// beat lets the window update what it shows.
func (a *App) beat(q *uitest.Queue) {
	q.Drain()
	a.tick()
	q.Drain()
}

// ringed reports whether the tour's ring is around an object.
func (a *App) ringed(o fyne.CanvasObject) bool {
	if o == nil {
		return false
	}
	driver := fyne.CurrentApp().Driver()
	var sides []fyne.CanvasObject
	uitest.Walk(a.over, func(r fyne.CanvasObject) bool {
		if _, ok := r.(*canvas.Rectangle); ok && r.Visible() {
			sides = append(sides, r)
		}
		return true
	})
	if len(sides) != 4 {
		return false
	}
	from, at := driver.AbsolutePositionForObject(sides[0]), driver.AbsolutePositionForObject(o)
	to := driver.AbsolutePositionForObject(sides[3]).Add(sides[3].Size())
	end := at.Add(o.Size())
	gap, rest := at.Subtract(from), to.Subtract(end)
	near := func(a, b float32) bool { return a-b < 0.01 && b-a < 0.01 }
	return gap.X > 0 && near(gap.X, gap.Y) && near(rest.X, gap.X) && near(rest.Y, gap.X)
}

// TestTheFirstStart does what the tour says. A step completes when it is done, not before, and the tour survives navigation.
func TestTheFirstStart(t *testing.T) {
	d := &desk{}
	q, a := first(t, d)
	q.Until("the tour", func() bool { return a.says("Press Launch.") && uitest.Shows(a.setup.Content(), "Set for the tour") })
	q.Until("its run", func() bool { return uitest.Shows(a.setup.Content(), "372 shoppers") })
	if a.overlay() != nil || !a.ringed(a.setup.Button()) {
		t.Error("the tour covers the window, or does not mark Launch")
	}
	a.show(a.pageOf(settingsTitle))
	a.beat(q)
	if !a.says("The Launch button is in Setup.") {
		t.Errorf("in Settings it says %q", uitest.Texts(a.above))
	}
	q.Tap(a.above, "Show Setup")
	q.Tap(a.setup.Content(), "Launch")
	q.Until("launched", func() bool { return a.current.title == "Live" })
	if d.was("launch with eagerness 3 and think time 4") != 1 {
		t.Errorf("asked %q", d.asked)
	}
	a.beat(q)
	run := d.job.Run.(*touredRun)
	if !a.says("Drag the slider") || !a.ringed(a.live.Marks().Limit) {
		t.Errorf("after the launch it says %q", uitest.Texts(a.above))
	}
	run.limit(60, engine.LimitChange, "adaptive") // not the user
	a.beat(q)
	if !a.says("Drag the slider") {
		t.Error("the governor completed the step")
	}
	slider := sliderIn(a.live.Content())
	slider.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(slider.Size().Width/2, 5)}})
	a.beat(q)
	if !a.says("Drag the slider") {
		t.Error("the step is complete during the drag")
	}
	slider.DragEnd()
	q.Until("the change", func() bool { a.beat(q); return a.says("Press Pause.") && a.ringed(a.live.Marks().Pause) })
	q.Tap(a.live.Content(), "Pause")
	q.Until("paused", func() bool {
		a.beat(q)
		return a.says("The run is paused. Press Resume.") && a.ringed(a.live.Marks().Resume)
	})
	q.Tap(a.live.Content(), "Resume")
	q.Until("resumed", func() bool { a.beat(q); return a.says("Open the Agents tab.") && a.ringed(a.live.Marks().Tabs) })
	a.lookAtAnAgent(t, q)
}

// lookAtAnAgent does the last step, and closes the tour.
func (a *App) lookAtAnAgent(t *testing.T, q *uitest.Queue) {
	t.Helper()
	a.live.Marks().Tabs.(*widgets.Segments).Pick(2)
	a.beat(q)
	if !a.says("Click one to read") || !a.ringed(a.live.Marks().Grid) {
		t.Errorf("in Agents it says %q", uitest.Texts(a.above))
	}
	a.live.Marks().Grid.(*crowd.Grid).OnTapped(7)
	a.beat(q)
	if !a.says("To repeat the tour") || a.app.Preferences().Bool(touredKey) {
		t.Errorf("at the end it says %q", uitest.Texts(a.above))
	}
	q.Tap(a.above, "Close")
	if a.above.Visible() || !a.app.Preferences().Bool(touredKey) {
		t.Error("the tour is not over")
	}
	a.greet()
	q.Drain()
	if a.above.Visible() {
		t.Error("the tour is shown again")
	}
	a.showTour() // with the run in progress
	if !a.says("Drag the slider") || a.current.title != "Live" {
		t.Errorf("from the menu it says %q", uitest.Texts(a.above))
	}
}

// TestTheTourContinuesAfterTheRun checks that the tour asks for another launch if the run ended before its steps were done.
func TestTheTourContinuesAfterTheRun(t *testing.T) {
	d := &desk{}
	q, a := first(t, d)
	q.Until("the tour", func() bool { return a.says("Press Launch.") })
	q.Until("its run", func() bool { return uitest.Shows(a.setup.Content(), "372 shoppers") })
	q.Tap(a.setup.Content(), "Launch")
	q.Until("launched", func() bool { return a.current.title == "Live" })
	a.beat(q)
	d.job.Run.(*touredRun).turn(engine.Ended, "")
	a.beat(q)
	if !a.says("Launch it again in Setup.") {
		t.Fatalf("after the end it says %q", uitest.Texts(a.above))
	}
	q.Tap(a.above, "Show Setup")
	a.beat(q)
	if !a.says("Press Launch to start the run again.") || !a.ringed(a.setup.Button()) || !uitest.Shows(a.setup.Content(), "Set for the tour") {
		t.Errorf("in Setup it says %q", uitest.Texts(a.above))
	}
}

// TestTheTourIsSkipped checks that a skipped tour does not open again, that Setup returns to its own values, and that the tour does not open
// if there is a run to resume.
func TestTheTourIsSkipped(t *testing.T) {
	q, a := first(t, &desk{})
	q.Until("the tour", func() bool { return a.says("Press Launch.") })
	q.Until("its run", func() bool { o, _ := a.setup.Order(); return o.Given["think_seconds"] == "4" })
	if !a.key(fyne.KeyEscape) || a.above.Visible() || !a.app.Preferences().Bool(touredKey) {
		t.Error("the tour is not skipped permanently")
	}
	if a.key(fyne.KeyEscape) {
		t.Error("Escape is taken without a tour")
	}
	q.Until("the own values", func() bool { o, ok := a.setup.Order(); return ok && len(o.Given) == 0 })
	if uitest.Shows(a.setup.Content(), "Set for the tour") {
		t.Error("Setup still has the tour's values")
	}
	q, a = first(t, &desk{interrupted: &engine.RunRecord{ID: "r1", Title: "Shoppers"}})
	q.Until("asked", func() bool { return a.overlay() != nil })
	if a.above.Visible() {
		t.Error("the tour hides the question")
	}
}

// sliderIn returns the slider of the limit.
func sliderIn(o fyne.CanvasObject) (found *widgets.LimitSlider) {
	uitest.Walk(o, func(o fyne.CanvasObject) bool {
		if s, ok := o.(*widgets.LimitSlider); ok {
			found = s
		}
		return true
	})
	return found
}

// TestNoTourOverAFile checks that the tour does not begin over a file that was opened at the first start.
func TestNoTourOverAFile(t *testing.T) {
	q, a := first(t, &desk{})
	q.Until("the tour", func() bool { return a.tour != nil })
	a.tour.End()
	a.app.Preferences().SetBool(touredKey, false)
	a.tour = nil
	a.Open("prices.experiment.yaml")
	if a.welcome(); a.tour != nil {
		t.Error("the tour begins")
	}
}
