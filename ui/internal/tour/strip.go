package tour

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// strip is a panel with a bar in the accent color.
type strip struct {
	widget.BaseWidget
	content fyne.CanvasObject
}

func newStrip(content fyne.CanvasObject) *strip {
	s := &strip{content: widgets.NewPanel("", content)}
	s.ExtendBaseWidget(s)
	return s
}

// Parts returns the parts of the strip.
func (s *strip) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{s.content} }

// CreateRenderer implements [fyne.Widget].
func (s *strip) CreateRenderer() fyne.WidgetRenderer {
	r := &stripRenderer{bar: canvas.NewRectangle(nil)}
	r.bar.SetMinSize(fyne.NewSize(ringWidth, 0))
	r.WidgetRenderer = widgets.NewRenderer(s, container.NewStack(s.content, container.NewBorder(nil, nil, r.bar, nil)))
	r.dress()
	return r
}

type stripRenderer struct {
	fyne.WidgetRenderer
	bar *canvas.Rectangle
}

func (r *stripRenderer) dress() { r.bar.FillColor = theme.Color(theme.ColorNamePrimary) }

// Refresh follows the theme.
func (r *stripRenderer) Refresh() {
	r.dress()
	r.WidgetRenderer.Refresh()
}

// chip is the title of a step with its state.
type chip struct {
	widget.BaseWidget
	icon  *widget.Icon
	title *widgets.Text
	row   *fyne.Container
	done  bool
	now   bool
}

func newChip(title string) *chip {
	c := &chip{icon: widget.NewIcon(theme.RadioButtonIcon()), title: widgets.NewText(title)}
	c.row = container.NewHBox(c.icon, container.NewCenter(c.title))
	c.ExtendBaseWidget(c)
	return c
}

// show shows whether the step is complete, or the current one.
func (c *chip) show(done, now bool) {
	c.done, c.now = done, now
	icon, color, text := theme.RadioButtonIcon(), fyne.ThemeColorName(widgets.ColorMuted), fyne.ThemeColorName(widgets.ColorMuted)
	switch {
	case done:
		icon, color = theme.ConfirmIcon(), theme.ColorNameSuccess
	case now:
		icon, color, text = theme.RadioButtonCheckedIcon(), theme.ColorNamePrimary, theme.ColorNamePrimary
	}
	c.icon.SetResource(theme.NewColoredResource(icon, color))
	c.title.SetColor(text)
}

// Text returns the title and the state.
func (c *chip) Text() string {
	if c.done {
		return c.title.Text() + ": done"
	}
	return c.title.Text()
}

// CreateRenderer implements [fyne.Widget].
func (c *chip) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(c.row) }

func count(done, of int) string { return fmt.Sprintf("%d of %d", min(done+1, of), of) }

// headRow lays out the steps, and the button to close at the right. If they do not fit, only the current step and its number are shown.
type headRow struct{ tour *Tour }

// gap is the distance of the objects of a row.
func gap() float32 { return 3 * theme.Padding() }

// Layout implements [fyne.Layout].
func (h *headRow) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	t := h.tour
	end := t.close.MinSize().Width
	needed := end
	for _, c := range t.chips {
		needed += c.MinSize().Width + gap()
	}
	all := needed <= size.Width
	x := float32(0)
	put := func(o fyne.CanvasObject, visible bool) {
		if visible != o.Visible() {
			if visible {
				o.Show()
			} else {
				o.Hide()
			}
		}
		if !visible {
			return
		}
		own := o.MinSize()
		o.Move(fyne.NewPos(x, (size.Height-own.Height)/2))
		o.Resize(own)
		x += own.Width + gap()
	}
	put(t.counter, !all)
	for i, c := range t.chips {
		put(c, all || i == min(t.at, len(t.chips)-1))
	}
	t.close.Resize(fyne.NewSize(end, t.close.MinSize().Height))
	t.close.Move(fyne.NewPos(size.Width-end, (size.Height-t.close.Size().Height)/2))
}

// MinSize implements [fyne.Layout].
func (h *headRow) MinSize([]fyne.CanvasObject) fyne.Size {
	t := h.tour
	size := t.close.MinSize()
	widest := float32(0)
	for _, c := range t.chips {
		own := c.MinSize()
		widest, size.Height = max(widest, own.Width), max(size.Height, own.Height)
	}
	size.Width += widest + t.counter.MinSize().Width + 2*gap()
	return size
}

// hintRow lays out the hint and its button at the right. It has the height of the highest hint and the width of the widest button, so that
// nothing moves from step to step.
type hintRow struct{ tour *Tour }

// Layout implements [fyne.Layout].
func (h *hintRow) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	t := h.tour
	way := t.widest()
	width := size.Width - way.Width - gap()
	for i, note := range t.notes {
		form.Fit(note, max(width, 0))
		note.Move(fyne.NewPos(0, 0))
		own := t.ways[i].MinSize()
		t.ways[i].Resize(own)
		t.ways[i].Move(fyne.NewPos(size.Width-own.Width, 0))
	}
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (h *hintRow) MinSize([]fyne.CanvasObject) fyne.Size {
	t := h.tour
	size := t.widest()
	for _, note := range t.notes {
		own := note.MinSize()
		size.Width, size.Height = max(size.Width, own.Width), max(size.Height, own.Height)
	}
	size.Width += gap() + 10*theme.TextSize()
	return size
}

// widest returns the size of the widest button that opens a screen.
func (t *Tour) widest() (size fyne.Size) {
	for _, way := range t.ways {
		if way.Text != "" {
			size = size.Max(way.MinSize())
		}
	}
	return size
}
