package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
)

// Title is a bold line that is cut in the middle. If it is cut, the pointer shows the whole text, in a window with [NewTips].
type Title struct{ Line }

var _ desktop.Hoverable = (*Title)(nil)

// NewTitle returns an empty title with a size of the theme.
func NewTitle(size fyne.ThemeSizeName) *Title {
	t := &Title{Line{size: size, text: canvas.NewText("", Color(Neutral.Color())), middle: true}}
	t.text.TextSize, t.text.TextStyle.Bold = theme.Size(size), true
	t.ExtendBaseWidget(t)
	return t
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (t *Title) MouseIn(e *desktop.MouseEvent) { t.MouseMoved(e) }

// MouseMoved shows the whole text next to the pointer.
func (t *Title) MouseMoved(e *desktop.MouseEvent) {
	if t.text.Text != t.full {
		sayTip(canvasOf(t), t.full, e.AbsolutePosition)
	}
}

// MouseOut undoes MouseIn.
func (t *Title) MouseOut() { HideTips(canvasOf(t)) }

func canvasOf(o fyne.CanvasObject) fyne.Canvas {
	return fyne.CurrentApp().Driver().CanvasForObject(o)
}

// tips are the tips over windows. Only the UI goroutine uses them.
var tips = map[fyne.Canvas]*Tip{}

// NewTips returns a layer for tips, which lies over the content of a window without taking events. [Forget] removes it.
func NewTips(win fyne.Window) fyne.CanvasObject {
	t := NewTip()
	tips[win.Canvas()] = t
	return container.New(loose{}, t.Objects()...)
}

// sayTip shows a text next to the pointer in a window with [NewTips].
func sayTip(c fyne.Canvas, text string, at fyne.Position) {
	if tip := tips[c]; tip != nil {
		tip.Refresh()
		tip.Say(text, at, c.Size())
	}
}

// HideTips hides what a window shows of titles and selections.
func HideTips(c fyne.Canvas) {
	if tip := tips[c]; tip != nil {
		tip.Hide()
	}
}

// loose is a layout that leaves objects where they are and needs no room.
type loose struct{}

// MinSize implements [fyne.Layout].
func (loose) MinSize([]fyne.CanvasObject) (none fyne.Size) { return none }

// Layout implements [fyne.Layout].
func (loose) Layout([]fyne.CanvasObject, fyne.Size) {}
