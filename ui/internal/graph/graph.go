// Package graph draws a chain: its steps, their dependencies, and nested blocks.
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

// State is the state of a step in addition to its name. The zero value shows the kind of the step.
type State struct {
	Tone  widgets.Tone // a bar at its side; warnings and errors also have a border
	Shade uint8        // tint of the background, 0 to Shades
	Line  string       // below its name
	More  string       // lines for the note on the step that is selected or under the pointer
	// Critical draws the box and the lines to other critical steps thicker.
	Critical bool
}

// Shades is the strongest tint.
const Shades = shades

// Graph is a widget that shows a chain. A note next to the drawing, or below it if the width is too small, describes the step under the
// pointer, or the selected one. It belongs to the UI goroutine.
type Graph struct {
	widget.BaseWidget
	most   float32 // maximum of its minimum height
	width  float32 // of the drawing at the last layout
	of     engine.Graph
	steps  int
	state  func(*engine.GraphStep) State // nil: all states are zero
	sheet  *sheet
	scroll *container.Scroll
	title  *widgets.Line
	note   *form.Note
	whole  bool   // the drawing fits
	wanted string // the path of a step to select at the next layout
}

// New returns an empty graph. Its minimum height is that of the drawing, up to most; a larger drawing scrolls.
func New(most float32) *Graph {
	g := &Graph{most: most, sheet: newSheet(), title: widgets.NewLine(theme.SizeNameText, widgets.Neutral).Bold(), note: form.NewNote("")}
	g.scroll = container.NewScroll(nothing())
	g.scroll.OnScrolled = func(fyne.Position) { g.look() }
	g.sheet.chosen = g.explain
	g.sheet.reveal = g.reveal
	g.ExtendBaseWidget(g)
	return g
}

// nothing is the scroll's content while the drawing does not scroll, because the toolkit needs some content.
func nothing() fyne.CanvasObject { return container.NewWithoutLayout() }

// Set shows a chain with zero states.
func (g *Graph) Set(of engine.Graph) {
	g.of, g.steps, g.width, g.state = of, 0, 0, nil
	g.of.Walk(func(*engine.GraphStep) { g.steps++ })
	g.Refresh()
}

// Mark sets the function that returns the state of a step, and calls it for every step, also after each layout. It draws only if a state
// has changed. Drawing repaints the window: call it at most twice a second, and not while the graph is hidden.
func (g *Graph) Mark(state func(*engine.GraphStep) State) {
	g.state = state
	if g.sheet.mark(state) {
		g.sheet.paint()
		g.explain()
	}
}

// Parts returns the drawing and the note.
func (g *Graph) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{g.sheet, g.title, g.note} }

// sizes returns the sizes of the theme.
func sizes() metrics {
	high := func(size float32) float32 { return fyne.MeasureText("M", size, fyne.TextStyle{}).Height }
	above := theme.Padding()
	name := high(theme.TextSize())
	return metrics{
		width: 10.5 * theme.TextSize(), height: round(name + high(theme.CaptionTextSize()) + 2*above), title: round(name), above: above,
		gap: 18, between: 22, lead: 20, tail: 14, pad: 10, fan: 26, slot: 12,
	}
}

// fit lays out the drawing for a width.
func (g *Graph) fit(width float32) {
	if g.width != width {
		g.width = width
		g.sheet.set(arrange(&g.of, sizes(), width))
		if g.state != nil {
			g.sheet.mark(g.state)
		}
		g.explain()
		if g.wanted != "" {
			g.Select(g.wanted)
		}
	}
}

// look draws the visible part.
func (g *Graph) look() {
	l := g.sheet.layout
	if g.whole {
		g.sheet.look(view{0, 0, l.w, l.h})
		return
	}
	g.sheet.look(view{g.scroll.Offset.X, g.scroll.Offset.Y, g.scroll.Size().Width, g.scroll.Size().Height})
}

// reveal scrolls to a rectangle.
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

// explain shows the note on a step, or a hint.
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

// hint says what the user can do, and what is not drawn.
func (g *Graph) hint() string {
	if g.steps == 0 {
		return ""
	}
	text := "Point at a step, or select one with the arrow keys."
	if g.of.Cut {
		text = "Some steps are not drawn. " + text
	}
	if l := g.sheet.layout; l.edges > mostEdges || l.slots > mostSlots {
		text = "Some lines are not drawn. " + text
	}
	return text
}

// about returns the file's description of a step, in lines.
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

// waits returns the names of the steps that a step waits for.
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

// caption describes a step in one line.
func caption(s *engine.GraphStep) string {
	switch {
	case s.Controls != "":
		return s.Kind + " " + s.Controls
	case s.Service != "":
		return s.Kind + " · " + s.Service
	}
	return s.Kind
}
