package crowd

import (
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Sizes of rings, in device-independent pixels.
const (
	ringOut   = 1 // outside the cell
	ringThick = 2
	ringRound = 3
)

// rings mark the cells under the pointer, selected and at the keyboard cursor. Moving a ring draws no cell again.
type rings struct{ hovered, selected, cursor *canvas.Rectangle }

func newRings() rings {
	ring := func() *canvas.Rectangle {
		r := canvas.NewRectangle(nil)
		r.StrokeWidth, r.CornerRadius = ringThick, ringRound
		r.Hide()
		return r
	}
	return rings{ring(), ring(), ring()}
}

func (r *rings) objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.hovered, r.selected, r.cursor}
}

func (r *rings) dress() {
	r.hovered.StrokeColor = widgets.Color(widgets.ColorMuted)
	r.selected.StrokeColor = widgets.Color(theme.ColorNameForeground)
	r.cursor.StrokeColor = widgets.Color(theme.ColorNamePrimary)
}

// put moves the rings to their cells.
func (r *rings) put(g *Grid) {
	selected := none
	if place := g.field.place(g.selected); place != none {
		selected = place / g.field.level().each
	}
	r.round(g, r.hovered, g.hovered, ringOut)
	r.round(g, r.selected, selected, ringOut)
	cursor := g.cursor
	if !g.focused {
		cursor = none
	}
	out := float32(ringOut)
	if cursor == selected {
		out += ringThick
	}
	r.round(g, r.cursor, cursor, out)
}

// round places a ring around a cell, if that is visible.
func (r *rings) round(g *Grid, ring *canvas.Rectangle, cell int, out float32) {
	if cell == none || cell >= g.field.cells() {
		ring.Hide()
		return
	}
	x, y := g.field.at(cell)
	pitch := g.field.level().pitch
	if y+pitch <= 0 || y >= g.field.h {
		ring.Hide()
		return
	}
	size := pitch - max(float32(int(pitch)/gapShare), 1) + out
	left, top := max(x-out, 0), max(y-out, 0) // nothing is drawn outside the widget
	ring.Move(fyne.NewPos(left, top))
	ring.Resize(fyne.NewSize(x+size-left, y+size-top))
	ring.Show()
	ring.Refresh()
}

// tip is a tooltip on a cell's agents.
type tip struct {
	back        *canvas.Rectangle
	title, more *canvas.Text
}

func newTip() tip {
	t := tip{back: canvas.NewRectangle(nil), title: canvas.NewText("", nil), more: canvas.NewText("", nil)}
	t.title.TextStyle.Bold = true
	for _, o := range t.objects() {
		o.Hide()
	}
	return t
}

func (t *tip) objects() []fyne.CanvasObject { return []fyne.CanvasObject{t.back, t.title, t.more} }

func (t *tip) dress() {
	t.back.FillColor, t.back.StrokeColor = widgets.Color(theme.ColorNameOverlayBackground), widgets.Color(theme.ColorNameInputBorder)
	t.back.StrokeWidth, t.back.CornerRadius = 1, theme.InputRadiusSize()
	t.title.Color, t.more.Color = widgets.Color(theme.ColorNameForeground), widgets.Color(widgets.ColorMuted)
	t.title.TextSize, t.more.TextSize = theme.CaptionTextSize(), theme.CaptionTextSize()
}

// explain shows the tip for the cell under the pointer or at the keyboard cursor.
func (g *Grid) explain() {
	cell := g.hovered
	if cell == none && g.focused {
		cell = g.cursor
	}
	if cell == none || cell >= g.field.cells() || g.field.agents != len(g.states) {
		g.tip.hide()
		return
	}
	title, more := g.about(cell)
	x, y := g.field.at(cell)
	g.tip.say(title, more, fyne.NewPos(x, y), g)
}

// about describes a cell's agents and their states.
func (g *Grid) about(cell int) (title, more string) {
	from, to := g.field.span(cell)
	if to-from == 1 {
		agent := g.field.agent(from)
		return g.name(agent), g.states[agent].String()
	}
	title = fmt.Sprintf("%s agents, %s to %s", engine.FormatCount(int64(to-from)), g.name(g.field.agent(from)), g.name(g.field.agent(to-1)))
	var s share
	g.count(from, to, &s)
	var parts []string
	for _, state := range weight {
		if s[state] > 0 {
			parts = append(parts, engine.FormatCount(int64(s[state]))+" "+state.String())
		}
	}
	return title, strings.Join(parts, ", ")
}

func (g *Grid) name(agent int) string {
	if g.Name != nil {
		if name := g.Name(agent); name != "" {
			return name
		}
	}
	return strconv.Itoa(agent)
}

func (t *tip) hide() {
	for _, o := range t.objects() {
		o.Hide()
	}
}

// say shows two lines below a cell, or above it if there is no space.
func (t *tip) say(title, more string, at fyne.Position, g *Grid) {
	room, pad := g.Size(), theme.Padding()
	for _, line := range []struct {
		text *canvas.Text
		says string
	}{{t.title, title}, {t.more, more}} {
		if says := widgets.Fit(line.says, room.Width-4*pad, line.text.TextSize, line.text.TextStyle); line.text.Text != says {
			line.text.Text = says
			line.text.Refresh()
		}
	}
	first, second := t.title.MinSize(), t.more.MinSize()
	size := fyne.NewSize(max(first.Width, second.Width)+4*pad, first.Height+second.Height+2*pad)
	pitch := g.field.level().pitch
	x, y := max(min(at.X+pitch, room.Width-size.Width), 0), at.Y+pitch+pad
	if y+size.Height > room.Height {
		y = at.Y - size.Height - pad
	}
	t.back.Move(fyne.NewPos(x, y))
	t.back.Resize(size)
	t.title.Move(fyne.NewPos(x+2*pad, y+pad))
	t.title.Resize(first)
	t.more.Move(fyne.NewPos(x+2*pad, y+pad+first.Height))
	t.more.Resize(second)
	for _, o := range t.objects() {
		o.Show()
	}
	t.back.Refresh()
}
