package form

import (
	"image/color"
	"sync"

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

// Parts returns what is shown smaller.
func (c *Compact) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{c.content} }

// CreateRenderer implements [fyne.Widget].
func (c *Compact) CreateRenderer() fyne.WidgetRenderer {
	c.shrink()
	return widget.NewSimpleRenderer(c.content)
}

// Refresh makes parts added since then smaller, too.
func (c *Compact) Refresh() {
	c.shrink()
	c.BaseWidget.Refresh()
}

func (c *Compact) shrink() { smaller().apply(c.content) }

// themer gives objects its theme. A table themes the cells it creates like itself, and shares the fonts it has loaded.
// A [container.ThemeOverride] for each object would parse the fonts again whenever it is refreshed: tens of milliseconds
// and about 8 MB for each text style, which stay cached.
type themer struct{ table *widget.Table }

// smaller has the theme of everything that is shown smaller. Its table is never shown.
var smaller = sync.OnceValue(func() themer {
	table := widget.NewTable(func() (rows, columns int) { return 0, 0 }, noCell, func(widget.TableCellID, fyne.CanvasObject) {})
	container.NewThemeOverride(table, small{})
	return themer{table}
})

func noCell() fyne.CanvasObject { return canvas.NewRectangle(color.Transparent) }

// apply gives an object and its parts the theme, and refreshes them. Parts may call it again while they refresh.
func (t themer) apply(o fyne.CanvasObject) {
	before := t.table.CreateCell
	t.table.CreateCell = func() fyne.CanvasObject { return o }
	t.table.Refresh() // measures a new cell
	t.table.CreateCell = before
}

// small is the app's theme in the size of captions.
type small struct{}

func (small) now() fyne.Theme { return fyne.CurrentApp().Settings().Theme() }

// Color implements [fyne.Theme].
func (s small) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	return s.now().Color(name, variant)
}

// Font implements [fyne.Theme].
func (s small) Font(style fyne.TextStyle) fyne.Resource { return s.now().Font(style) }

// Icon implements [fyne.Theme].
func (s small) Icon(name fyne.ThemeIconName) fyne.Resource { return s.now().Icon(name) }

// Size implements [fyne.Theme].
func (s small) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText, theme.SizeNameInlineIcon:
		name = theme.SizeNameCaptionText
	case theme.SizeNameInnerPadding:
		name = theme.SizeNamePadding
	}
	return s.now().Size(name)
}
