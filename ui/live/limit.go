package live

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// mostLimit is where the slider ends, however high the ceiling is.
const mostLimit = 10_000

// limitPanel is the slider with its figures.
type limitPanel struct {
	content         fyne.CanvasObject
	limit, inFlight *widgets.Tile
	slider          *widgets.LimitSlider
	less, more      *widget.Button
	steer           *steer
}

func newLimitPanel(o *orders) *limitPanel {
	p := &limitPanel{
		limit: widgets.NewFigure("Limit"), inFlight: widgets.NewFigure("In flight"),
		slider: widgets.NewLimitSlider(1, 1), steer: &steer{orders: o},
	}
	p.less = widget.NewButtonWithIcon("", theme.ContentRemoveIcon(), func() { p.slider.Step(-1) })
	p.more = widget.NewButtonWithIcon("", theme.ContentAddIcon(), func() { p.slider.Step(1) })
	p.slider.OnChanged = func(n int) {
		p.show(n)
		p.steer.want(n)
	}
	p.slider.OnChangeEnded = func(int) { p.steer.flush() }
	p.content = widgets.NewPanel("", container.NewBorder(nil, nil,
		container.NewHBox(p.limit, p.inFlight), container.NewCenter(container.NewHBox(p.less, p.more)), p.slider))
	return p
}

func (p *limitPanel) begin(job *Job) {
	p.steer.begin(job)
	p.slider.SetRange(job.Settings.Floor, min(job.Settings.Ceiling, mostLimit))
}

// draw shows the limit that is in force, unless a person is about to change it.
func (p *limitPanel) draw(s *engine.Snapshot) {
	p.inFlight.SetValue(engine.FormatCount(int64(s.InFlight)), widgets.Neutral)
	p.slider.SetUsed(s.InFlight)
	if !p.slider.Dragging() && p.steer.settled() {
		p.slider.Set(s.Limit)
		p.show(s.Limit)
	}
	open := s.Phase != engine.Ended && s.Phase != engine.Draining
	enable(p.less, open)
	enable(p.more, open)
	switch {
	case p.slider.Disabled() == !open:
	case open:
		p.slider.Enable()
	default:
		p.slider.Disable()
	}
}

func (p *limitPanel) show(n int) { p.limit.SetValue(engine.FormatCount(int64(n)), widgets.Accent) }

// steerEvery is the shortest time between two limits while a person drags.
const steerEvery = 200 * time.Millisecond

// steer hands limits to the run: the first at once, then the newest a few times a second, and always the last.
type steer struct {
	orders  *orders
	job     *Job
	wanted  int
	waits   bool // wanted is not handed over yet
	busy    bool // a limit is on its way
	last    time.Time
	pending *time.Timer
}

func (t *steer) begin(job *Job) {
	if t.pending != nil {
		t.pending.Stop()
	}
	*t = steer{orders: t.orders, job: job}
}

// want asks for a limit.
func (t *steer) want(n int) {
	t.wanted, t.waits = n, true
	t.next()
}

// flush hands the last limit over without waiting.
func (t *steer) flush() {
	t.last = time.Time{}
	t.next()
}

// settled reports whether the run has every limit that was asked for.
func (t *steer) settled() bool { return !t.waits && !t.busy }

func (t *steer) next() {
	if !t.waits || t.busy {
		return
	}
	job := t.job
	if early := steerEvery - time.Since(t.last); early > 0 {
		if t.pending != nil {
			t.pending.Stop()
		}
		t.pending = time.AfterFunc(early, func() {
			async.Do(func() {
				if t.job == job {
					t.next()
				}
			})
		})
		return
	}
	n := t.wanted
	t.waits, t.busy, t.last = false, true, time.Now()
	async.Work(func() (struct{}, error) { return struct{}{}, job.SetLimit(n, user, "slider") }, func(_ struct{}, err error) {
		if t.job != job {
			return
		}
		t.busy = false
		if err != nil {
			t.waits = false
			t.orders.say("Setting the limit", err)
		}
		t.orders.again()
		t.next()
	})
}
