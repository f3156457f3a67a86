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

// Setup connects the screen with Setup.
type Setup struct {
	// Order returns Setup's scenario and settings; ok is false if they have mistakes. The zero Order means that Setup shows no scenario.
	Order func() (o Order, ok bool)
	// Apply sets the recommended limit in Setup, and opens it.
	Apply func(level int)
}

// Screen is the calibration. Call its methods on the UI goroutine.
type Screen struct {
	desk  Desk
	setup Setup

	state   *State // the shown state
	shown   *Found // nil if none
	earlier []Found
	asked   bool // a calibration is being started

	plan      *plan
	result    *result
	sidePanel *sidePanel
	content   fyne.CanvasObject
}

// asideEms is the width of the side panels, in text heights.
const asideEms = 22

// New returns the screen.
func New(desk Desk, setup Setup) *Screen {
	s := &Screen{desk: desk, setup: setup}
	s.plan = newPlan(s.start, desk.Stop)
	s.result = newResult(func(level int) { setup.Apply(level) })
	s.sidePanel = newSidePanel(func(i int) {
		s.show(&s.earlier[i], false)
	})
	width := canvas.NewRectangle(color.Transparent)
	width.SetMinSize(fyne.NewSize(asideEms*theme.TextSize(), 0))
	aside := container.NewStack(width, form.NewPanels(s.plan.panel, s.sidePanel.earlier))
	page := form.NewPanels(container.New(&sides{}, aside, form.NewPanels(s.result.panel, s.result.table, s.sidePanel.presets)))
	scroll := container.NewVScroll(page)
	for _, e := range s.plan.entries() {
		e.Page = scroll
	}
	s.content = scroll
	return s
}

// sides lays out a column at its minimum width and an object that takes the remaining width, or the object below the column if the width is
// too small. The minimum height is for the width of the last layout.
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

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show is called when the screen becomes visible. It lists the scenarios and previous calibrations.
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
		if err == nil { // without the machine there are no presets
			s.sidePanel.suit(m)
		}
	})
	s.list()
	s.Tick()
}

// Hide is called when the screen becomes hidden.
func (s *Screen) Hide() {}

// Tick shows the progress of the calibration.
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

// list lists previous calibrations, and shows the newest if nothing else is shown.
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
		s.sidePanel.list(a.all, a.notice, err)
		if s.shown == nil && len(a.all) > 0 {
			s.show(&s.earlier[0], false)
		}
	})
}

// show shows the result of a calibration, possibly one in progress.
func (s *Screen) show(f *Found, running bool) {
	s.shown = f
	s.result.show(f, running)
}

// start starts a calibration of the chosen scenario. If Setup shows the same scenario, it uses Setup's values.
func (s *Screen) start(others Others) {
	if s.asked {
		return
	}
	o, err := s.plan.order()
	if err != nil {
		return // the errors are shown at their fields
	}
	o.Others = others
	if set, ok := s.setup.Order(); set.Scenario == o.Scenario {
		if !ok {
			s.plan.say("Not started: correct the mistakes in Setup first.")
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
