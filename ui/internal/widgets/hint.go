package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Hint explains an object while the pointer is over it, in a box above the pointer.
type Hint struct {
	widget.BaseWidget
	content fyne.CanvasObject
	text    string
	tip     *Tip
}

var _ desktop.Hoverable = (*Hint)(nil)

// NewHint returns an object with an explanation.
func NewHint(content fyne.CanvasObject, text string) *Hint {
	h := &Hint{content: content, text: text, tip: NewTip()}
	h.ExtendBaseWidget(h)
	return h
}

// Said returns the text that is shown; "" if none.
func (h *Hint) Said() string { return h.tip.Text() }

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (h *Hint) MouseIn(e *desktop.MouseEvent) { h.MouseMoved(e) }

// MouseMoved shows the explanation. Objects below are drawn later, so there is room above only.
func (h *Hint) MouseMoved(e *desktop.MouseEvent) {
	h.tip.Say(h.text, e.Position, fyne.NewSize(h.Size().Width, 0))
}

// MouseOut hides the explanation.
func (h *Hint) MouseOut() {
	h.tip.Hide()
	canvas.Refresh(h)
}

// CreateRenderer implements [fyne.Widget].
func (h *Hint) CreateRenderer() fyne.WidgetRenderer { return &hintRenderer{h} }

type hintRenderer struct{ hint *Hint }

func (r *hintRenderer) Destroy()              {}
func (r *hintRenderer) Layout(size fyne.Size) { r.hint.content.Resize(size) }
func (r *hintRenderer) MinSize() fyne.Size    { return r.hint.content.MinSize() }
func (r *hintRenderer) Refresh() {
	r.hint.tip.Refresh()
	canvas.Refresh(r.hint.content)
}

// Objects returns the object, and the explanation above it.
func (r *hintRenderer) Objects() []fyne.CanvasObject {
	return append([]fyne.CanvasObject{r.hint.content}, r.hint.tip.Objects()...)
}
