package runs

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// mostMarks is the maximum number of drawn checkpoints. The newest are drawn.
const mostMarks = 200

// checkpointLine is the timeline of a run, from its start to its planned end, with a mark for each checkpoint. The user can select a mark.
type checkpointLine struct {
	widget.BaseWidget
	onSelected func(number int)

	begin, end string
	done       float64 // share of the width
	marks      []checkpointMark
	selected   int // number of a checkpoint; 0: none
	hovered    int // index of a mark, or -1
	focused    bool
	tip        *widgets.Tip
}

// checkpointMark is a checkpoint.
type checkpointMark struct {
	number int
	at     float64 // share of the width
	label  string
	about  string
}

var (
	_ fyne.Tappable      = (*checkpointLine)(nil)
	_ fyne.Focusable     = (*checkpointLine)(nil)
	_ desktop.Hoverable  = (*checkpointLine)(nil)
	_ desktop.Cursorable = (*checkpointLine)(nil)
)

func newCheckpointLine(selected func(number int)) *checkpointLine {
	c := &checkpointLine{onSelected: selected, hovered: -1, tip: widgets.NewTip()}
	c.ExtendBaseWidget(c)
	return c
}

// show shows a run with its checkpoints and the selected one. Positions are shares of the sessions.
func (c *checkpointLine) show(r *engine.RunRecord, all []engine.CheckpointRecord, selected int) {
	now := time.Now()
	total := max(r.Total, r.Done, 1)
	for i := range all {
		total = max(total, all[i].Done)
	}
	next := checkpointLine{begin: moment(r.Created, now), end: r.State(), done: float64(r.Done) / float64(total), selected: selected}
	if r.Total > 0 {
		next.end = engine.Counted(r.Total, "session", "sessions")
	}
	for i := min(len(all), mostMarks) - 1; i >= 0; i-- { // oldest first
		p := &all[i]
		lines := []string{fmt.Sprintf("Checkpoint %d, %s", p.Number, words.Stamp(p.At)), fmt.Sprintf("Start of cycle %d, taken with %s done", p.Cycle, view.Done{Sessions: p.Done, Kept: r.Kept, Planned: p.Total}), p.Reason}
		next.marks = append(next.marks, checkpointMark{number: p.Number, at: float64(p.Done) / float64(total), label: pointTime(p, all, now), about: strings.Join(lines, "\n")})
	}
	if c.same(&next) {
		return
	}
	c.begin, c.end, c.done, c.marks, c.selected = next.begin, next.end, next.done, next.marks, next.selected
	c.hovered = -1
	c.tip.Hide()
	c.Refresh()
}

func (c *checkpointLine) same(o *checkpointLine) bool {
	if c.begin != o.begin || c.end != o.end || c.done != o.done || c.selected != o.selected || len(c.marks) != len(o.marks) {
		return false
	}
	for i := range c.marks {
		if c.marks[i] != o.marks[i] {
			return false
		}
	}
	return true
}

// Sizes in device-independent pixels.
const (
	railHeight = 4
	markSize   = 11
	nearMark   = 14 // how far from a mark a click selects it
)

// rail returns the ends of the line.
func (c *checkpointLine) rail() (left, right float32) {
	return markSize, max(c.Size().Width-markSize, markSize+1)
}

func (c *checkpointLine) x(share float64) float32 {
	left, right := c.rail()
	return left + (right-left)*float32(math.Min(math.Max(share, 0), 1))
}

// near returns the index of the mark at an x coordinate, or -1.
func (c *checkpointLine) near(x float32) int {
	found, best := -1, float32(nearMark)
	for i := range c.marks {
		if d := float32(math.Abs(float64(c.x(c.marks[i].at) - x))); d <= best {
			found, best = i, d
		}
	}
	return found
}

// Tapped selects the mark under the pointer.
func (c *checkpointLine) Tapped(e *fyne.PointEvent) {
	if on := fyne.CurrentApp().Driver().CanvasForObject(c); on != nil {
		on.Focus(c)
	}
	if i := c.near(e.Position.X); i >= 0 {
		c.choose(i)
	}
}

func (c *checkpointLine) choose(i int) {
	if c.marks[i].number != c.selected {
		c.onSelected(c.marks[i].number)
	}
}

// Cursor implements [desktop.Cursorable].
func (c *checkpointLine) Cursor() desktop.Cursor {
	if c.hovered >= 0 {
		return desktop.PointerCursor
	}
	return desktop.DefaultCursor
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (c *checkpointLine) MouseIn(e *desktop.MouseEvent) { c.MouseMoved(e) }

// MouseMoved explains the mark under the pointer.
func (c *checkpointLine) MouseMoved(e *desktop.MouseEvent) { c.hover(c.near(e.Position.X), e.Position) }

// MouseOut undoes MouseMoved.
func (c *checkpointLine) MouseOut() { c.hover(-1, fyne.Position{}) }

func (c *checkpointLine) hover(i int, at fyne.Position) {
	if i < 0 {
		c.tip.Hide()
	} else {
		c.tip.Say(c.marks[i].about, at, c.Size().AddWidthHeight(0, 200))
	}
	if c.hovered != i {
		c.hovered = i
		c.Refresh()
	}
}

// FocusGained implements [fyne.Focusable], as do FocusLost, TypedRune and TypedKey.
func (c *checkpointLine) FocusGained() {
	c.focused = true
	c.Refresh()
}

// FocusLost undoes FocusGained.
func (c *checkpointLine) FocusLost() {
	c.focused = false
	c.Refresh()
}

// TypedRune does nothing.
func (c *checkpointLine) TypedRune(rune) {}

// TypedKey moves the selection.
func (c *checkpointLine) TypedKey(e *fyne.KeyEvent) {
	if len(c.marks) == 0 {
		return
	}
	at := 0
	for i := range c.marks {
		if c.marks[i].number == c.selected {
			at = i
		}
	}
	switch e.Name {
	case fyne.KeyLeft:
		at--
	case fyne.KeyRight:
		at++
	case fyne.KeyHome:
		at = 0
	case fyne.KeyEnd:
		at = len(c.marks) - 1
	default:
		return
	}
	c.choose(max(min(at, len(c.marks)-1), 0))
}

// MinSize implements [fyne.Widget].
func (c *checkpointLine) MinSize() fyne.Size {
	line := fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height
	return fyne.NewSize(20*theme.TextSize(), markSize+3*theme.Padding()+line)
}

// CreateRenderer implements [fyne.Widget].
func (c *checkpointLine) CreateRenderer() fyne.WidgetRenderer {
	r := &checkpointLineRenderer{checkpointLine: c, rail: canvas.NewRectangle(nil), done: canvas.NewRectangle(nil), ring: canvas.NewRectangle(color.Transparent)}
	r.begin, r.end = canvas.NewText("", nil), canvas.NewText("", nil)
	r.end.Alignment = fyne.TextAlignTrailing
	r.Refresh()
	return r
}

type checkpointLineRenderer struct {
	checkpointLine   *checkpointLine
	rail, done, ring *canvas.Rectangle
	begin, end       *canvas.Text
	marks            []*canvas.Circle
	labels           []*canvas.Text
	objects          []fyne.CanvasObject
}

func (r *checkpointLineRenderer) Destroy()                     {}
func (r *checkpointLineRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *checkpointLineRenderer) MinSize() fyne.Size           { return r.checkpointLine.MinSize() }

// Refresh updates the timeline for its run and the theme.
func (r *checkpointLineRenderer) Refresh() {
	c := r.checkpointLine
	muted, accent := widgets.Color(widgets.ColorMuted), theme.Color(theme.ColorNamePrimary)
	r.rail.FillColor, r.done.FillColor = theme.Color(theme.ColorNameDisabled), accent
	r.rail.CornerRadius, r.done.CornerRadius, r.ring.CornerRadius = railHeight/2, railHeight/2, theme.InputRadiusSize()
	r.ring.StrokeWidth = 0
	if c.focused {
		r.ring.StrokeColor, r.ring.StrokeWidth = widgets.Color(widgets.ColorRing), widgets.RingWidth
	}
	for len(r.marks) < len(c.marks) {
		r.marks, r.labels = append(r.marks, canvas.NewCircle(nil)), append(r.labels, canvas.NewText("", nil))
	}
	r.objects = append(r.objects[:0], r.rail, r.done, r.ring, r.begin, r.end)
	for i := range c.marks {
		m := r.marks[i]
		m.StrokeColor, m.StrokeWidth, m.FillColor = accent, 2, widgets.Color(widgets.ColorSurface)
		if c.marks[i].number == c.selected {
			m.FillColor = accent
		}
		r.labels[i].Text, r.labels[i].Color, r.labels[i].TextSize = c.marks[i].label, muted, theme.CaptionTextSize()
		if c.marks[i].number == c.selected || i == c.hovered {
			r.labels[i].Color = theme.Color(theme.ColorNameForeground)
		}
		r.objects = append(r.objects, m, r.labels[i])
	}
	for _, t := range []*canvas.Text{r.begin, r.end} {
		t.Color, t.TextSize = muted, theme.CaptionTextSize()
	}
	r.begin.Text, r.end.Text = c.begin, c.end
	c.tip.Refresh()
	r.objects = append(r.objects, c.tip.Objects()...)
	r.Layout(c.Size())
	canvas.Refresh(c)
}

// Layout places the line, the marks, and the labels that do not overlap. The selected mark has its label first.
func (r *checkpointLineRenderer) Layout(size fyne.Size) {
	c := r.checkpointLine
	left, right := c.rail()
	y := theme.Padding() + float32(markSize)/2
	r.ring.Resize(size)
	r.rail.Move(fyne.NewPos(left, y-railHeight/2))
	r.rail.Resize(fyne.NewSize(right-left, railHeight))
	r.done.Move(fyne.NewPos(left, y-railHeight/2))
	r.done.Resize(fyne.NewSize(max(c.x(c.done)-left, 1), railHeight))
	below := y + float32(markSize)/2 + theme.Padding()
	var taken [][2]float32
	place := func(t *canvas.Text, middle float32) {
		wide := t.MinSize().Width
		x := max(min(middle-wide/2, size.Width-wide), 0)
		for _, other := range taken {
			if x < other[1]+theme.Padding() && x+wide > other[0]-theme.Padding() {
				t.Hide()
				return
			}
		}
		taken = append(taken, [2]float32{x, x + wide})
		t.Move(fyne.NewPos(x, below))
		t.Resize(fyne.NewSize(wide, t.MinSize().Height))
		t.Show()
	}
	for i := range c.marks {
		side := float32(markSize)
		if c.marks[i].number == c.selected {
			side += 3
			place(r.labels[i], c.x(c.marks[i].at))
		}
		r.marks[i].Move(fyne.NewPos(c.x(c.marks[i].at)-side/2, y-side/2))
		r.marks[i].Resize(fyne.NewSquareSize(side))
	}
	for i := range c.marks {
		if c.marks[i].number != c.selected {
			place(r.labels[i], c.x(c.marks[i].at))
		}
	}
	place(r.begin, 0)
	place(r.end, size.Width)
}
