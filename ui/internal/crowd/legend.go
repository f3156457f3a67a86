package crowd

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
)

// shownOrder is the order of the states in a legend: active, failed, then completed states.
var shownOrder = [...]engine.AgentState{
	engine.AgentInFlight, engine.AgentThrottled, engine.AgentFailed, engine.AgentTimedOut, engine.AgentOK, engine.AgentStopped,
	engine.AgentCanceled, engine.AgentWaiting, engine.AgentResting, engine.AgentRetired,
}

// Legend is a widget that shows the number of agents in each state. The user can choose states.
type Legend struct {
	widget.BaseWidget
	// OnChanged, if set, is called with the chosen states; an empty set means all.
	OnChanged func(States)

	chips  []*chip
	chosen States
}

// NewLegend returns a legend. A state appears with its first agent.
func NewLegend() *Legend {
	l := &Legend{}
	for _, s := range shownOrder {
		c := newChip(s, l.toggle)
		c.Hide()
		l.chips = append(l.chips, c)
	}
	l.ExtendBaseWidget(l)
	return l
}

// Begin removes all states and the choice.
func (l *Legend) Begin() {
	l.chosen = 0
	for _, c := range l.chips {
		c.Hide()
		c.width, c.count, c.chosen = 0, -1, false
	}
}

// Set sets the number of agents in each state.
func (l *Legend) Set(counts [engine.NumAgentStates]int) {
	changed := false
	for _, c := range l.chips {
		n := counts[c.state]
		if n > 0 && !c.Visible() {
			c.Show()
			changed = true
		}
		changed = c.set(n) || changed
	}
	if changed {
		l.Refresh()
	}
}

// Choose sets the choice.
func (l *Legend) Choose(states States) {
	if l.chosen == states {
		return
	}
	l.chosen = states
	for _, c := range l.chips {
		if on := states.Has(c.state); c.chosen != on {
			c.chosen = on
			if on {
				c.Show()
			}
			c.Refresh()
		}
	}
	l.Refresh()
	if l.OnChanged != nil {
		l.OnChanged(states)
	}
}

// Chosen returns the chosen states; an empty set means all.
func (l *Legend) Chosen() States { return l.chosen }

func (l *Legend) toggle(s engine.AgentState) { l.Choose(l.chosen ^ Of(s)) }

// Parts returns the chips.
func (l *Legend) Parts() []fyne.CanvasObject {
	parts := make([]fyne.CanvasObject, len(l.chips))
	for i, c := range l.chips {
		parts[i] = c
	}
	return parts
}

// CreateRenderer implements [fyne.Widget].
func (l *Legend) CreateRenderer() fyne.WidgetRenderer { return &legendRenderer{l, l.Parts()} }

type legendRenderer struct {
	legend *Legend
	all    []fyne.CanvasObject
}

// lay lays out the chips in as many lines as they need, and returns the total height.
func (r *legendRenderer) lay(width float32, place bool) float32 {
	gap := theme.Padding() * 1.5
	var x, y, line float32
	for _, c := range r.legend.chips {
		if !c.Visible() {
			continue
		}
		size := c.MinSize()
		if x > 0 && x+size.Width > width {
			x, y = 0, y+line+gap
		}
		if place {
			c.Move(fyne.NewPos(x, y))
			c.Resize(size)
		}
		x, line = x+size.Width+gap, size.Height
	}
	return y + line
}

func (r *legendRenderer) Layout(size fyne.Size) { r.lay(size.Width, true) }

// MinSize returns the height for the width of the last layout.
func (r *legendRenderer) MinSize() fyne.Size {
	width := r.legend.Size().Width
	var widest float32
	for _, c := range r.legend.chips {
		if c.Visible() {
			widest = max(widest, c.MinSize().Width)
		}
	}
	return fyne.NewSize(widest, r.lay(max(width, widest), false))
}

func (r *legendRenderer) Refresh() {
	r.Layout(r.legend.Size())
	for _, c := range r.legend.chips {
		c.Refresh()
	}
	canvas.Refresh(r.legend)
}

func (r *legendRenderer) Objects() []fyne.CanvasObject { return r.all }
func (r *legendRenderer) Destroy()                     {}
