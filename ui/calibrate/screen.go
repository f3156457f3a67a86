package calibrate

import (
	"context"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
)

// Setup is the screen on which runs are put together.
type Setup struct {
	// Order returns the scenario that it shows with what is in its fields, ok if there is no mistake in them; "" is that
	// it shows none.
	Order func() (o Order, ok bool)
	// Apply puts a recommended number of sessions into its fields, and shows them.
	Apply func(level int)
}

// Screen is the calibration. Its methods are called on the UI goroutine.
type Screen struct {
	desk  Desk
	setup Setup

	state   *State // that is shown
	shown   *Found // nil is none
	earlier []Found
	asked   bool // a sweep is being started

	plan    *plan
	result  *result
	beside  *beside
	content fyne.CanvasObject
}

// asideEms is how wide the panels beside the result are, in letters' heights.
const asideEms = 22

// New makes the screen.
func New(desk Desk, setup Setup) *Screen {
	s := &Screen{desk: desk, setup: setup}
	s.plan = newPlan(s.start, desk.Stop)
	s.result = newResult(func(level int) { setup.Apply(level) })
	s.beside = newBeside(func(i int) {
		s.show(&s.earlier[i], false)
	})
	width := canvas.NewRectangle(color.Transparent)
	width.SetMinSize(fyne.NewSize(asideEms*theme.TextSize(), 0))
	aside := container.NewStack(width, form.NewPanels(s.plan.panel, s.beside.earlier))
	page := form.NewPanels(container.New(&sides{}, aside, form.NewPanels(s.result.panel, s.result.table, s.beside.presets)))
	scroll := container.NewVScroll(page)
	for _, e := range s.plan.entries() {
		e.Page = scroll
	}
	s.content = scroll
	return s
}

// sides is a column of its least width, and beside it one that takes what is left; below it where there is no room for both.
// Its height is for the width of the last layout, so it stands among panels.
type sides struct{ stacked bool }

// Layout implements [fyne.Layout].
func (l *sides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	side, main := objects[0], objects[1]
	gap, wide := 2*theme.Padding(), side.MinSize().Width
	l.stacked = wide+gap+main.MinSize().Width > size.Width
	side.Move(fyne.NewPos(0, 0))
	if l.stacked {
		main.Move(fyne.NewPos(0, form.Fit(side, size.Width)+gap))
		form.Fit(main, size.Width)
		return
	}
	main.Move(fyne.NewPos(wide+gap, 0))
	form.Fit(side, wide)
	form.Fit(main, size.Width-wide-gap)
}

// MinSize implements [fyne.Layout].
func (l *sides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	side, main := objects[0].MinSize(), objects[1].MinSize()
	width := max(side.Width, main.Width)
	if l.stacked {
		return fyne.NewSize(width, side.Height+2*theme.Padding()+main.Height)
	}
	return fyne.NewSize(width, max(side.Height, main.Height))
}

// Content returns what the screen shows.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show begins to show the screen: what there is to choose and what was found before is listed again.
func (s *Screen) Show() {
	async.Work(func() ([]Choice, error) { return s.desk.Choices(context.Background()) }, func(all []Choice, err error) {
		if err != nil {
			s.plan.fail(err)
			return
		}
		o, _ := s.setup.Order()
		s.plan.offer(all, o.Scenario)
	})
	async.Work(func() (Machine, error) { return s.desk.Machine(context.Background()) }, func(m Machine, err error) {
		if err == nil { // else there are no presets
			s.beside.suit(m)
		}
	})
	s.list()
	s.Tick()
}

// Hide ends it.
func (s *Screen) Hide() {}

// Tick follows the sweep.
func (s *Screen) Tick() {
	now := s.desk.State()
	if now == s.state || now == nil {
		return
	}
	ended := s.state != nil && s.state.Running && !now.Running
	s.state = now
	s.plan.follow(now)
	if now.Found != nil {
		s.show(now.Found, now.Running)
	}
	if ended {
		s.list()
	}
}

// list asks what was found before; what is newest is shown where nothing else is.
func (s *Screen) list() {
	type answer struct {
		all    []Found
		notice string
	}
	async.Work(func() (a answer, err error) {
		a.all, a.notice, err = s.desk.Earlier(context.Background())
		return a, err
	}, func(a answer, err error) {
		s.earlier = a.all
		s.beside.list(a.all, a.notice, err)
		if s.shown == nil && len(a.all) > 0 {
			s.show(&s.earlier[0], false)
		}
	})
}

// show shows what a sweep found, or has found so far.
func (s *Screen) show(f *Found, running bool) {
	s.shown = f
	s.result.show(f, running)
}

// start begins a sweep of what is chosen; where Setup shows the same scenario, as it is set up there.
func (s *Screen) start() {
	if s.asked {
		return
	}
	o, err := s.plan.order()
	if err != nil {
		return // each mistake stands beside its field
	}
	if set, ok := s.setup.Order(); set.Scenario == o.Scenario {
		if !ok {
			s.plan.say("Nothing was measured: there are mistakes in Setup, where this scenario is set up.")
			return
		}
		o.Given, o.Settings, o.Allow = set.Given, set.Settings, set.Allow
	}
	s.asked = true
	s.plan.begin()
	async.Work(func() (struct{}, error) { return struct{}{}, s.desk.Start(context.Background(), o) }, func(_ struct{}, err error) {
		s.asked = false
		if err != nil {
			s.plan.refuse(err)
			return
		}
		s.Tick()
	})
}
