package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// wheel covers an entry and passes mouse wheel events to the page. The toolkit's entries would swallow them, and the page would not scroll.
type wheel struct {
	widget.BaseWidget
	entry *Entry
}

var _ fyne.Scrollable = (*wheel)(nil)

func newWheel(entry *Entry) *wheel {
	w := &wheel{entry: entry}
	w.ExtendBaseWidget(w)
	return w
}

// Scrolled implements [fyne.Scrollable].
func (w *wheel) Scrolled(e *fyne.ScrollEvent) {
	if w.entry.Page != nil {
		w.entry.Page.Scrolled(e)
	}
}

// CreateRenderer implements [fyne.Widget].
func (w *wheel) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(&fyne.Container{})
}

// wheeled is the renderer of an entry with a wheel.
type wheeled struct {
	fyne.WidgetRenderer
	wheel *wheel
}

// Layout implements [fyne.WidgetRenderer].
func (r *wheeled) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.wheel.Resize(size)
}

// Objects implements [fyne.WidgetRenderer].
func (r *wheeled) Objects() []fyne.CanvasObject {
	if r.wheel.entry.MultiLine && r.wheel.entry.Page == nil { // it scrolls itself
		return r.WidgetRenderer.Objects()
	}
	return append(r.WidgetRenderer.Objects(), r.wheel)
}
