// Package graph draws a chain: its steps, what they wait for, and blocks inside each other.
package graph

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

const (
	shades    = 8 // of a step's ground
	sideFrom  = 700
	sideWidth = 200
	leastHigh = 96
	noteLines = 4 // of the note, where it is below the drawing
)

// State is what is shown of a step beside its name. The zero value says what kind it is.
type State struct {
	Tone  widgets.Tone // a bar at its side; what is a warning or worse has a border too
	Shade uint8        // how strong its ground is tinted, 0 to Shades
	Line  string       // below its name
	More  string       // lines for the note on the step that is pointed at or chosen
	// Critical draws the box, and the lines between those that are so, thicker.
	Critical bool
}

// Shades is the strongest shade.
const Shades = shades

// Graph is a widget that shows a chain. A note beside the drawing, or below where there is little room, says more of
// the step that is pointed at, or else chosen. It belongs to the UI goroutine.
type Graph struct {
	widget.BaseWidget
	most   float32 // height that it asks for at most
	width  float32 // of the drawing, as it is laid out
	of     engine.Graph
	steps  int
	state  func(*engine.GraphStep) State // nil is that of all is the zero value
	sheet  *sheet
	scroll *container.Scroll
	title  *widgets.Line
	note   *form.Note
	whole  bool // the drawing fits
}

// New makes an empty graph. It asks for the height that it needs, up to most; what is larger scrolls.
func New(most float32) *Graph {
	g := &Graph{most: most, sheet: newSheet(), title: widgets.NewLine(theme.SizeNameText, widgets.Neutral).Bold(), note: form.NewNote("")}
	g.scroll = container.NewScroll(nothing())
	g.scroll.OnScrolled = func(fyne.Position) { g.look() }
	g.sheet.chosen = g.explain
	g.sheet.reveal = g.reveal
	g.ExtendBaseWidget(g)
	return g
}

// nothing is what scrolls while the drawing does not: the toolkit does not bear that there is none.
func nothing() fyne.CanvasObject { return container.NewWithoutLayout() }

// Set shows a chain, whose steps have no states yet.
func (g *Graph) Set(of engine.Graph) {
	g.of, g.steps, g.width, g.state = of, 0, 0, nil
	g.of.Walk(func(*engine.GraphStep) { g.steps++ })
	g.Refresh()
}

// Mark asks for the state of every step, again too when it is laid out anew. Nothing is drawn unless one is another:
// then the window is painted again, so twice a second is enough, and none while the graph is not on show.
func (g *Graph) Mark(state func(*engine.GraphStep) State) {
	g.state = state
	if g.sheet.mark(state) {
		g.sheet.paint()
		g.explain()
	}
}

// Parts are the drawing and the note.
func (g *Graph) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{g.sheet, g.title, g.note} }

// sizes are those that the theme gives.
func sizes() metrics {
	high := func(size float32) float32 { return fyne.MeasureText("M", size, fyne.TextStyle{}).Height }
	above := theme.Padding()
	name := high(theme.TextSize())
	return metrics{
		width: 10.5 * theme.TextSize(), height: round(name + high(theme.CaptionTextSize()) + 2*above), title: round(name), above: above,
		gap: 18, between: 22, lead: 20, tail: 14, pad: 10, fan: 26, slot: 12,
	}
}

// fit lays the drawing out for a width, unless it is.
func (g *Graph) fit(width float32) {
	if g.width != width {
		g.width = width
		g.sheet.set(arrange(&g.of, sizes(), width))
		if g.state != nil {
			g.sheet.mark(g.state)
		}
		g.explain()
	}
}

// look shows what is in view.
func (g *Graph) look() {
	l := g.sheet.layout
	if g.whole {
		g.sheet.look(view{0, 0, l.w, l.h})
		return
	}
	g.sheet.look(view{g.scroll.Offset.X, g.scroll.Offset.Y, g.scroll.Size().Width, g.scroll.Size().Height})
}

// reveal scrolls so that a rectangle is seen.
func (g *Graph) reveal(x0, y0, x1, y1 float32) {
	if g.whole {
		return
	}
	to, size := g.scroll.Offset, g.scroll.Size()
	to.X = max(min(to.X, x0-inset), x1+inset-size.Width, 0)
	to.Y = max(min(to.Y, y0-inset), y1+inset-size.Height, 0)
	if to != g.scroll.Offset {
		g.scroll.ScrollToOffset(to)
		g.look()
	}
}

// explain says more of a step, or what there is to do.
func (g *Graph) explain() {
	step, state := g.sheet.shown()
	if step == nil {
		title := engine.FormatCount(int64(g.steps)) + " steps"
		if g.steps == 1 {
			title = "1 step"
		}
		g.title.Set(title, widgets.Neutral)
		g.note.SetText(g.hint())
		return
	}
	g.title.Set(step.Label, widgets.Neutral)
	lines := g.about(step)
	if state.More != "" {
		lines = append([]string{state.More}, lines...)
	}
	g.note.SetText(strings.Join(lines, "\n"))
}

// hint is what to do, and what is not drawn.
func (g *Graph) hint() string {
	if g.steps == 0 {
		return ""
	}
	text := "Point at a step, or choose one with the arrow keys."
	if g.of.Cut {
		text = "There are more: the others are not drawn. " + text
	}
	if l := g.sheet.layout; l.edges > mostEdges || l.slots > mostSlots {
		text = "Not all lines are drawn. " + text
	}
	return text
}

// about is what the file says of a step, in lines.
func (g *Graph) about(step *engine.GraphStep) []string {
	lines := []string{caption(step)}
	if step.Label != step.Path {
		lines = append(lines, step.Path)
	}
	for _, f := range step.Facts {
		lines = append(lines, f.Word+": "+f.Text)
	}
	if waits := g.waits(step); len(waits) > 0 {
		lines = append(lines, "waits for "+strings.Join(waits, ", "))
	}
	return lines
}

// waits are the names of those that a step waits for.
func (g *Graph) waits(step *engine.GraphStep) (names []string) {
	if len(step.After) == 0 {
		return nil
	}
	find(&g.of, func(segment []engine.GraphStep) {
		for i := range segment {
			if &segment[i] == step {
				for _, k := range step.After {
					names = append(names, segment[k].Name)
				}
			}
		}
	})
	return names
}

// find calls f for every segment.
func find(g *engine.Graph, f func(segment []engine.GraphStep)) {
	for _, segment := range g.Segments {
		f(segment)
		for i := range segment {
			for k := range segment[i].Inner {
				find(&segment[i].Inner[k], f)
			}
		}
	}
}

// caption says in a line what a step is.
func caption(s *engine.GraphStep) string {
	switch {
	case s.Says != "":
		return s.Kind + " " + s.Says
	case s.Service != "":
		return s.Kind + " · " + s.Service
	}
	return s.Kind
}
