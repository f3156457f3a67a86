package form

import (
	"image/color"
	"sync"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Compact shows a field smaller, so that it fits beside the title of a panel.
type Compact struct {
	widget.BaseWidget
	content fyne.CanvasObject
}

// NewCompact makes a field smaller.
func NewCompact(content fyne.CanvasObject) *Compact {
	c := &Compact{content: content}
	c.ExtendBaseWidget(c)
	return c
}

// Parts is what is shown smaller.
func (c *Compact) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{c.content} }

// CreateRenderer is part of [fyne.Widget].
func (c *Compact) CreateRenderer() fyne.WidgetRenderer {
	c.shrink()
	return widget.NewSimpleRenderer(c.content)
}

// Refresh makes what has come since smaller, too.
func (c *Compact) Refresh() {
	c.shrink()
	c.BaseWidget.Refresh()
}

func (c *Compact) shrink() {
	themeLike(c.content, smaller())
	c.content.Refresh()
}

// smaller is shown nowhere; it has the theme of all that is shown smaller.
var smaller = sync.OnceValue(func() fyne.CanvasObject {
	o := canvas.NewRectangle(color.Transparent)
	container.NewThemeOverride(o, small{})
	return o
})

// themeLike gives an object the theme of another. The toolkit keeps it for its lists. Its [container.ThemeOverride] would
// do, but each of them has fonts of its own, parsed anew whenever it is refreshed or shown again, which takes tens of
// milliseconds and some 8 MB for each style of text; and what shapes text for the toolkit keeps every font that it ever saw.
//
//go:linkname themeLike fyne.io/fyne/v2/internal/cache.OverrideThemeMatchingScope
func themeLike(o, other fyne.CanvasObject) bool

// small is the app's theme in the size of captions.
type small struct{}

func (small) now() fyne.Theme { return fyne.CurrentApp().Settings().Theme() }

// Color is part of [fyne.Theme].
func (s small) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	return s.now().Color(name, variant)
}

// Font is part of [fyne.Theme].
func (s small) Font(style fyne.TextStyle) fyne.Resource { return s.now().Font(style) }

// Icon is part of [fyne.Theme].
func (s small) Icon(name fyne.ThemeIconName) fyne.Resource { return s.now().Icon(name) }

// Size is part of [fyne.Theme].
func (s small) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText, theme.SizeNameInlineIcon:
		name = theme.SizeNameCaptionText
	case theme.SizeNameInnerPadding:
		name = theme.SizeNamePadding
	}
	return s.now().Size(name)
}
