package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// NewRenderer returns a renderer that shows one object. The toolkit drops the renderers of widgets that were hidden for a minute, and does
// not lay out those it makes anew, as the size of the widget is the same: an object that was made for the renderer would have no size.
func NewRenderer(of fyne.Widget, o fyne.CanvasObject) fyne.WidgetRenderer {
	if size := of.Size(); !size.IsZero() {
		o.Resize(size)
	}
	return widget.NewSimpleRenderer(o)
}
