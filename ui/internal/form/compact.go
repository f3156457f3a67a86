package form

import (
	"image/color"
	"slices"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Themed shows a field in a theme of its own.
type Themed struct {
	widget.BaseWidget
	content fyne.CanvasObject
	themer  func() themer
}

// NewCompact returns a field in a smaller size, for use next to the title of a panel.
func NewCompact(content fyne.CanvasObject) *Themed { return newThemed(content, smaller) }

func newThemed(content fyne.CanvasObject, themer func() themer) *Themed {
	t := &Themed{content: content, themer: themer}
	t.ExtendBaseWidget(t)
	return t
}

// Parts returns the content.
func (t *Themed) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{t.content} }

// CreateRenderer implements [fyne.Widget].
func (t *Themed) CreateRenderer() fyne.WidgetRenderer {
	t.themer().apply(t.content)
	return widget.NewSimpleRenderer(t.content)
}

// Refresh also sets the theme of newly added parts.
func (t *Themed) Refresh() {
	if now := t.themer(); !now.has(t.content) {
		now.apply(t.content)
	}
	t.BaseWidget.Refresh()
}

// themer sets the theme of objects. A table passes its theme to the cells it creates, and shares the loaded fonts. A
// [container.ThemeOverride] per object would parse the fonts again at each refresh, which takes tens of milliseconds and caches about 8 MB
// for each text style.
type themer struct{ table *widget.Table }

func newThemer(t fyne.Theme) themer {
	table := widget.NewTable(func() (rows, columns int) { return 0, 0 }, noCell, func(widget.TableCellID, fyne.CanvasObject) {})
	container.NewThemeOverride(table, t)
	return themer{table}
}

// Their tables have no size; [Keeper] keeps them.
var (
	smaller = sync.OnceValue(func() themer { return newThemer(small{}) })
	railed  = sync.OnceValue(func() themer { return newThemer(rail{}) })
)

// Keeper returns an invisible object for the content of a window. While the window is drawn, the themes of fields are kept: the toolkit
// forgets the theme of a widget that was not drawn for a minute, and the fields of screens that are shown again would be large.
func Keeper() fyne.CanvasObject {
	return container.NewWithoutLayout(smaller().table, railed().table)
}

func noCell() fyne.CanvasObject { return canvas.NewRectangle(color.Transparent) }

// apply sets the theme of an object and its parts, and refreshes them. It may be called again during the refresh.
func (t themer) apply(o fyne.CanvasObject) {
	before := t.table.CreateCell
	t.table.CreateCell = func() fyne.CanvasObject { return o }
	t.table.Refresh() // measures a new cell
	t.table.CreateCell = before
}

// has reports whether an object and its parts have the theme. For each widget that gets it, also again, the toolkit forgets the sizes
// of all texts of the program, which takes a second to measure while a large window is drawn in another theme.
func (t themer) has(o fyne.CanvasObject) bool {
	parts := func(all []fyne.CanvasObject) bool {
		return !slices.ContainsFunc(all, func(o fyne.CanvasObject) bool { return !t.has(o) })
	}
	if c, ok := o.(*fyne.Container); ok {
		return parts(c.Objects)
	}
	w, ok := o.(fyne.Widget)
	if !ok {
		return true
	}
	if theme.CurrentForWidget(w) != theme.CurrentForWidget(t.table) {
		return false
	}
	of, ok := o.(interface{ Parts() []fyne.CanvasObject })
	return !ok || parts(of.Parts())
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
