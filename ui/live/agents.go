package live

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/crowd"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// agents is the pane that shows every agent: a grid of their states, a list of problems, and the details of one agent.
type agents struct {
	panel     *widgets.Panel
	orders    *orders
	grid      *crowd.Grid
	legend    *crowd.Legend
	search    *search
	scale     *widgets.Text
	in, out   *widget.Button
	hands     *fyne.Container
	body      *fyne.Container // everything except the side pane
	sides     *sides
	trouble   *trouble
	inspector *inspector

	job   *Job
	own   *engine.Crowd // what the grid shows, if the pane may reuse it
	spare *engine.Crowd // the buffer for the next read
	shown moment
	taken float32 // height of the legend at the last layout
}

// moment is what the pane shows.
type moment struct {
	at     time.Time
	cycle  int
	phase  engine.Phase
	live   bool // shows the present, so orders are possible
	states []engine.AgentState
}

// state returns an agent's state.
func (m *moment) state(agent int) (engine.AgentState, bool) {
	if agent < 0 || agent >= len(m.states) {
		return 0, false
	}
	return m.states[agent], true
}

func newAgents(o *orders) *agents {
	a := &agents{orders: o, grid: crowd.New(), legend: crowd.NewLegend(), scale: widgets.NewCaption("")}
	a.in = widget.NewButtonWithIcon("", theme.ZoomInIcon(), func() { a.grid.Zoom(1) })
	a.out = widget.NewButtonWithIcon("", theme.ZoomOutIcon(), func() { a.grid.Zoom(-1) })
	a.search = newSearch(a)
	a.trouble = newTrouble(a)
	a.inspector = newInspector(a)
	a.grid.OnTapped = a.open
	a.grid.OnEscape = a.close
	a.grid.OnFind = a.search.focus
	a.grid.OnZoom = a.explain
	a.legend.OnChanged = a.grid.Light
	a.hands = container.NewHBox(container.NewCenter(a.scale), container.NewCenter(form.NewCompact(a.out)), container.NewCenter(form.NewCompact(a.in)))
	bar := container.NewBorder(nil, a.search.note, nil, a.hands, a.search.entry)
	a.body = container.NewBorder(container.NewVBox(bar, a.legend), nil, nil, nil, a.grid)
	a.sides = &sides{trouble: a.trouble.content, inspector: a.inspector.content}
	a.panel = widgets.NewPanel("", container.New(a.sides, a.body, a.trouble.content, a.inspector.content))
	a.inspector.content.Hide()
	a.panel.Hide()
	return a
}

// begin shows the agents of a job.
func (a *agents) begin(job *Job) {
	a.job, a.own, a.spare = job, nil, nil
	a.shown = moment{}
	a.grid.Name = job.Name
	a.grid.Select(noAgent)
	a.grid.Only(nil)
	a.legend.Choose(0)
	a.legend.Begin()
	a.search.clear()
	a.inspector.close()
	a.inspector.watched = noAgent
	a.place()
}

// draw shows the agents' current states, or those at the selected moment of the history.
func (a *agents) draw(f *feed) {
	switch {
	case a.job == nil:
		return
	case f.past && f.crowd != nil:
		a.show(f.crowd, false)
		return
	case f.past || a.job.Crowd == nil:
		return
	}
	next := a.job.Crowd(a.spare)
	a.spare = nil
	if a.put(next) {
		a.own, a.spare = next, a.own
	} else {
		a.spare = next
	}
	a.update(next, f.snap.Phase, true)
	a.trouble.draw(f.snap)
}

// show shows the agents at a moment of the history, or live; orders need live. The caller must not change c until the next call of show or
// draw.
func (a *agents) show(c *engine.Crowd, live bool) {
	if a.put(c) {
		a.own = nil
	}
	a.update(c, a.orders.phase, live)
}

func (a *agents) put(c *engine.Crowd) (changed bool) {
	if changed = a.grid.Set(c.States); changed {
		a.legend.Set(c.Counts())
		if high := a.legend.MinSize().Height; high != a.taken { // the legend has more states and needs another row
			a.taken = high
			a.body.Refresh()
		}
	}
	a.shown.states = c.States
	return changed
}

// update updates everything around the grid.
func (a *agents) update(c *engine.Crowd, phase engine.Phase, live bool) {
	turned := a.shown.live != live
	a.shown.at, a.shown.cycle, a.shown.phase, a.shown.live = c.At, c.Cycle, phase, live
	a.explain()
	if turned {
		a.place()
	}
	a.inspector.follow()
}

// explain updates the caption: how many agents one cell stands for, and whether zooming is possible.
func (a *agents) explain() {
	each, n := a.grid.Each(), int64(a.grid.Shown())
	says := "1 cell is 1 agent"
	if each > 1 {
		says = fmt.Sprintf("1 cell is %s agents, filled by shares", engine.FormatCount(int64(each)))
	}
	if n == 1 {
		says = "1 agent"
	} else if each == 1 {
		says = engine.FormatCount(n) + " agents"
	}
	switch {
	case a.job != nil && len(a.shown.states) == 0 && a.job.Crowd == nil:
		says = "Open a moment of the history to see its agents"
	case a.job != nil && a.job.Agents == 0:
		says = "This run has no agents"
	case len(a.shown.states) == 0:
		says = "Agents appear here when the run starts"
	}
	in, out := a.grid.Zooms()
	enable(a.in, in)
	enable(a.out, out)
	if a.scale.Text() != says || a.in.Visible() != (in || out) {
		a.in.Hidden, a.out.Hidden = !in && !out, !in && !out
		a.scale.SetText(says)
		a.body.Refresh()
	}
}

// open shows the details of an agent.
func (a *agents) open(agent int) {
	a.grid.Select(agent)
	a.inspector.open(agent)
	a.place()
}

// close replaces the details by the list of problems.
func (a *agents) close() {
	if a.inspector.agent == noAgent {
		return
	}
	a.inspector.close()
	a.grid.Select(noAgent)
	a.place()
	focus(a.grid)
}

// focus moves the keyboard focus to a widget, if that is in a window.
func focus(o interface {
	fyne.CanvasObject
	fyne.Focusable
},
) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil {
		c.Focus(o)
	}
}

// place lays out the pane for the open parts.
func (a *agents) place() {
	a.sides.open, a.sides.past = a.inspector.agent != noAgent, !a.shown.live
	a.panel.Refresh()
}

// sides puts the details next to the grid. Where the pane is too narrow, it puts them below the grid or in its place. The list of problems
// is only shown next to the grid, because the screen's lists have the same content.
type sides struct {
	trouble, inspector fyne.CanvasObject
	open, past         bool
}

// Sizes in multiples of the text size.
const (
	leastHigh  = 14
	openHigh   = 22
	besideFrom = 72
	belowFrom  = 44
	leastSide  = 30
	mostSide   = 50
	sideShare  = 0.36 // share of the width
	belowShare = 0.55 // share of the height
)

// MinSize implements [fyne.Layout].
func (s *sides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := objects[0].MinSize()
	high := float32(leastHigh)
	if s.open {
		high = openHigh
	}
	return fyne.NewSize(max(size.Width, 20*theme.TextSize()), max(size.Height, high*theme.TextSize()))
}

// Layout implements [fyne.Layout].
func (s *sides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	letter, gap := theme.TextSize(), 2*theme.InnerPadding()
	wide, below := size.Width >= besideFrom*letter, size.Height >= belowFrom*letter
	trouble := wide && !s.open && !s.past
	room, side, at := size, size, fyne.NewPos(0, 0)
	switch {
	case wide && (s.open || trouble):
		side.Width = max(min(sideShare*size.Width, mostSide*letter), leastSide*letter)
		room.Width -= side.Width + gap
		at.X = size.Width - side.Width
	case below && s.open:
		side.Height = belowShare * size.Height
		room.Height -= side.Height + gap
		at.Y = size.Height - side.Height
	}
	see(objects[0], wide || below || !s.open)
	see(s.trouble, trouble)
	see(s.inspector, s.open)
	objects[0].Resize(room)
	objects[0].Move(fyne.NewPos(0, 0))
	for _, o := range []fyne.CanvasObject{s.trouble, s.inspector} {
		o.Resize(side)
		o.Move(at)
	}
}

// see shows or hides an object.
func see(o fyne.CanvasObject, visible bool) {
	switch {
	case o.Visible() == visible:
	case visible:
		o.Show()
	default:
		o.Hide()
	}
}
