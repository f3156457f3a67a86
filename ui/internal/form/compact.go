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

// Compact shows a field in a smaller size, for use next to the title of a panel.
type Compact struct {
	widget.BaseWidget
	content fyne.CanvasObject
}

// NewCompact returns a smaller field.
func NewCompact(content fyne.CanvasObject) *Compact {
	c := &Compact{content: content}
	c.ExtendBaseWidget(c)
	return c
}

// Parts returns the content.
func (c *Compact) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{c.content} }

// CreateRenderer implements [fyne.Widget].
func (c *Compact) CreateRenderer() fyne.WidgetRenderer {
	c.shrink()
	return widget.NewSimpleRenderer(c.content)
}

// Refresh also makes newly added parts smaller.
func (c *Compact) Refresh() {
	c.shrink()
	c.BaseWidget.Refresh()
}

func (c *Compact) shrink() { smaller().apply(c.content) }

// themer sets the theme of objects. A table passes its theme to the cells it creates, and shares the loaded fonts. A
// [container.ThemeOverride] per object would parse the fonts again at each refresh, which takes tens of milliseconds and caches about 8 MB
// for each text style.
type themer struct{ table *widget.Table }

// smaller is the theme of compact fields. Its table has no size; [Keeper] keeps it.
var smaller = sync.OnceValue(func() themer {
	table := widget.NewTable(func() (rows, columns int) { return 0, 0 }, noCell, func(widget.TableCellID, fyne.CanvasObject) {})
	container.NewThemeOverride(table, small{})
	return themer{table}
})

// Keeper returns an invisible object for the content of a window. While the window is drawn, the theme of compact fields is kept: the toolkit
// forgets the theme of a widget that was not drawn for a minute, and the fields of screens that are shown again would be large.
func Keeper() fyne.CanvasObject { return container.NewWithoutLayout(smaller().table) }

func noCell() fyne.CanvasObject { return canvas.NewRectangle(color.Transparent) }

// apply sets the theme of an object and its parts, and refreshes them. It may be called again during the refresh.
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
