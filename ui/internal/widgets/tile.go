package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Tile is a figure under its caption, perhaps with a note below. Texts that are too long are cut.
type Tile struct {
	widget.BaseWidget
	caption, value, note *Line
	content              *fyne.Container
}

// NewTile makes a tile with a figure and a note in a tone.
func NewTile(caption string) *Tile {
	return newTile(caption, "1,000,000", theme.SizeNameSubHeadingText, true)
}

// NewFigure makes a tile with a large figure and no note.
func NewFigure(caption string) *Tile {
	return newTile(caption, "10,000", theme.SizeNameHeadingText, false)
}

// NewFact makes a tile with a text of the body's size and no note.
func NewFact(caption string) *Tile { return newTile(caption, "", theme.SizeNameText, false) }

// newTile makes a tile that is wide enough for a sample of its figures.
func newTile(caption, sample string, size fyne.ThemeSizeName, noted bool) *Tile {
	t := &Tile{
		caption: NewLine(theme.SizeNameCaptionText, Quiet), value: NewLine(size, Neutral), note: NewLine(theme.SizeNameCaptionText, Quiet),
	}
	t.caption.Set(caption, Quiet)
	if sample != "" {
		t.value.Bold()
	}
	t.note.Hidden = !noted
	t.content = container.New(&tileLayout{t, sample}, t.caption, t.value, t.note)
	t.ExtendBaseWidget(t)
	return t
}

// Set shows a figure, and below it a note.
func (t *Tile) Set(value, note string, tone Tone) {
	t.value.Set(value, t.value.tone)
	t.note.Set(note, tone)
}

// SetValue shows a figure in a tone.
func (t *Tile) SetValue(value string, tone Tone) { t.value.Set(value, tone) }

// Value returns the figure.
func (t *Tile) Value() string { return t.value.Text() }

// Note returns the note.
func (t *Tile) Note() string { return t.note.Text() }

// Parts is what the tile is made of.
func (t *Tile) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{t.content} }

// CreateRenderer implements [fyne.Widget].
func (t *Tile) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(t.content) }

// tileLayout puts the lines close below each other.
type tileLayout struct {
	tile   *Tile
	sample string
}

var _ fyne.Layout = (*tileLayout)(nil)

// MinSize implements [fyne.Layout].
func (l *tileLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	least := layout.NewCustomPaddedVBoxLayout(0).MinSize(objects)
	v := l.tile.value
	least.Width = max(least.Width, l.tile.caption.Natural(), fyne.MeasureText(l.sample, theme.Size(v.size), v.text.TextStyle).Width)
	return least
}

// Layout implements [fyne.Layout].
func (l *tileLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	layout.NewCustomPaddedVBoxLayout(0).Layout(objects, size)
}
