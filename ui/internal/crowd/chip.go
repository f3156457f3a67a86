package crowd

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// chip is a state with its count. The user can choose it.
type chip struct {
	widget.BaseWidget
	state            engine.AgentState
	toggle           func(engine.AgentState)
	count            int
	width            float32 // of the widest count so far, so that chips do not move
	chosen           bool
	focused, hovered bool

	back         *canvas.Rectangle
	mark         *canvas.Raster
	name, number *canvas.Text
	sprites      sprites
	inks         inks
}

var (
	_ fyne.Tappable     = (*chip)(nil)
	_ fyne.Focusable    = (*chip)(nil)
	_ desktop.Hoverable = (*chip)(nil)
)

func newChip(s engine.AgentState, toggle func(engine.AgentState)) *chip {
	c := &chip{state: s, toggle: toggle, count: -1, back: canvas.NewRectangle(nil), name: canvas.NewText(s.String(), nil), number: canvas.NewText("", nil)}
	c.number.TextStyle.Bold = true
	c.mark = canvas.NewRaster(c.draw)
	c.mark.ScaleMode = canvas.ImageScalePixels
	c.ExtendBaseWidget(c)
	return c
}

// set sets the count and reports whether the chip needs more width.
func (c *chip) set(n int) (wider bool) {
	if c.count == n {
		return false
	}
	c.count = n
	c.number.Text = engine.FormatCount(int64(n))
	c.number.Refresh()
	if w := c.number.MinSize().Width; w > c.width {
		c.width = w
		return true
	}
	return false
}

// Text returns the text of the chip.
func (c *chip) Text() string { return c.name.Text + " " + c.number.Text }

func (c *chip) draw(w, h int) image.Image {
	c.sprites.cut(min(w, h), &c.inks)
	return c.sprites.lit[c.state]
}

// Tapped implements [fyne.Tappable].
func (c *chip) Tapped(*fyne.PointEvent) { c.toggle(c.state) }

// FocusGained implements [fyne.Focusable], as are FocusLost, TypedRune and TypedKey.
func (c *chip) FocusGained() { c.feel(true, c.hovered) }

// FocusLost undoes it.
func (c *chip) FocusLost() { c.feel(false, c.hovered) }

// TypedRune changes nothing.
func (c *chip) TypedRune(rune) {}

// TypedKey chooses the state.
func (c *chip) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		c.toggle(c.state)
	}
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (c *chip) MouseIn(*desktop.MouseEvent) { c.feel(c.focused, true) }

// MouseMoved changes nothing.
func (c *chip) MouseMoved(*desktop.MouseEvent) {}

// MouseOut undoes MouseIn.
func (c *chip) MouseOut() { c.feel(c.focused, false) }

func (c *chip) feel(focused, hovered bool) {
	c.focused, c.hovered = focused, hovered
	c.paint()
	c.back.Refresh()
}

// paint shows whether the state is chosen and the chip focused.
func (c *chip) paint() {
	c.back.FillColor = widgets.Color(theme.ColorNameBackground)
	c.back.StrokeColor, c.back.StrokeWidth = widgets.Color(theme.ColorNameInputBorder), 1
	switch {
	case c.chosen:
		c.back.FillColor = mix(inkOf(widgets.ColorSurface), inkOf(theme.ColorNamePrimary), 0.16)
		c.back.StrokeColor, c.back.StrokeWidth = widgets.Color(theme.ColorNamePrimary), 1.5
	case c.hovered:
		c.back.StrokeColor = widgets.Color(widgets.ColorMuted)
	}
	if c.focused {
		c.back.StrokeColor, c.back.StrokeWidth = widgets.Color(theme.ColorNamePrimary), 2.5
	}
}

// CreateRenderer implements [fyne.Widget].
func (c *chip) CreateRenderer() fyne.WidgetRenderer {
	r := &chipRenderer{c}
	r.dress()
	return r
}

type chipRenderer struct{ chip *chip }

func (r *chipRenderer) dress() {
	c := r.chip
	c.inks = takeInks()
	c.name.TextSize, c.number.TextSize = theme.CaptionTextSize(), theme.CaptionTextSize()
	c.name.Color, c.number.Color = widgets.Color(widgets.ColorMuted), widgets.Color(theme.ColorNameForeground)
	if c.chosen {
		c.name.Color = c.number.Color
	}
	c.back.CornerRadius = theme.InputRadiusSize()
	c.width = max(c.width, c.number.MinSize().Width)
	c.paint()
}

func (r *chipRenderer) MinSize() fyne.Size {
	c, pad := r.chip, theme.Padding()
	name := c.name.MinSize()
	return fyne.NewSize(pad*1.5+c.markSize()+pad+name.Width+pad+c.width+pad*2, name.Height+pad*1.5)
}

// markSize returns a whole number of pixels at common scales.
func (c *chip) markSize() float32 { return float32(int(c.name.TextSize*1.3) / 2 * 2) }

func (r *chipRenderer) Layout(size fyne.Size) {
	c, pad := r.chip, theme.Padding()
	c.back.Resize(size)
	mark, name := c.markSize(), c.name.MinSize()
	c.mark.Move(fyne.NewPos(pad*1.5, float32(int((size.Height-mark)/2))))
	c.mark.Resize(fyne.NewSquareSize(mark))
	y := (size.Height - name.Height) / 2
	c.name.Move(fyne.NewPos(pad*2.5+mark, y))
	c.name.Resize(name)
	c.number.Move(fyne.NewPos(pad*3.5+mark+name.Width, y))
	c.number.Resize(fyne.NewSize(c.width, name.Height))
}

func (r *chipRenderer) Refresh() {
	r.dress()
	r.Layout(r.chip.Size())
	canvas.Refresh(r.chip)
}

func (r *chipRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.chip.back, r.chip.mark, r.chip.name, r.chip.number}
}

func (r *chipRenderer) Destroy() {}
