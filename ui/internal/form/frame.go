package form

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Frame draws the border of an entry around a field that has none, for example a selection.
type Frame struct {
	widget.BaseWidget
	content fyne.CanvasObject
}

// NewFrame returns a frame around a field.
func NewFrame(content fyne.CanvasObject) *Frame {
	f := &Frame{content: content}
	f.ExtendBaseWidget(f)
	return f
}

// Parts returns the content.
func (f *Frame) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{f.content} }

// CreateRenderer implements [fyne.Widget].
func (f *Frame) CreateRenderer() fyne.WidgetRenderer {
	border := canvas.NewRectangle(color.Transparent)
	r := &frameRenderer{WidgetRenderer: widgets.NewRenderer(f, container.NewStack(f.content, border)), border: border}
	r.paint()
	return r
}

type frameRenderer struct {
	fyne.WidgetRenderer
	border *canvas.Rectangle
}

func (r *frameRenderer) paint() {
	r.border.StrokeColor, r.border.StrokeWidth = theme.Color(theme.ColorNameInputBorder), theme.InputBorderSize()
	r.border.CornerRadius = theme.InputRadiusSize()
}

// Refresh updates the frame for the theme.
func (r *frameRenderer) Refresh() {
	r.paint()
	r.WidgetRenderer.Refresh()
}

// NewRail makes the whole track of a slider visible on a panel, where the toolkit's color is not.
func NewRail(slider *widget.Slider) *Themed { return newThemed(slider, railed) }

// rail is the app's theme with inputs in the color of their border.
type rail struct{}

// Color implements [fyne.Theme].
func (rail) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	if name == theme.ColorNameInputBackground {
		name = theme.ColorNameInputBorder
	}
	return small{}.now().Color(name, variant)
}

// Font implements [fyne.Theme].
func (rail) Font(style fyne.TextStyle) fyne.Resource { return small{}.now().Font(style) }

// Icon implements [fyne.Theme].
func (rail) Icon(name fyne.ThemeIconName) fyne.Resource { return small{}.now().Icon(name) }

// Size implements [fyne.Theme].
func (rail) Size(name fyne.ThemeSizeName) float32 { return small{}.now().Size(name) }
