package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Tile is a figure below its caption, optionally with a note. Texts that are too long are clipped.
type Tile struct {
	widget.BaseWidget
	caption, value, note *Line
	content              *fyne.Container
}

// NewTile returns a tile with a figure and a note with a tone.
func NewTile(caption string) *Tile {
	return newTile(caption, "1,000,000", theme.SizeNameSubHeadingText, true)
}

// NewFigure returns a tile with a large figure and no note.
func NewFigure(caption string) *Tile {
	return newTile(caption, "10,000", theme.SizeNameHeadingText, false)
}

// NewFact returns a tile with a text of the body's size and no note.
func NewFact(caption string) *Tile { return newTile(caption, "", theme.SizeNameText, false) }

// newTile returns a tile that is wide enough for a sample of its figures.
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

// Set sets the figure and the note.
func (t *Tile) Set(value, note string, tone Tone) {
	t.value.Set(value, t.value.tone)
	t.note.Set(note, tone)
}

// SetValue sets the figure and its tone.
func (t *Tile) SetValue(value string, tone Tone) { t.value.Set(value, tone) }

// Brief hides the note where there is little room.
func (t *Tile) Brief(on bool) {
	if t.note.Hidden != on {
		t.note.Hidden = on
		t.content.Refresh()
	}
}

// Value returns the figure.
func (t *Tile) Value() string { return t.value.Text() }

// Note returns the note.
func (t *Tile) Note() string { return t.note.Text() }

// Parts returns the parts of the tile.
func (t *Tile) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{t.content} }

// CreateRenderer implements [fyne.Widget].
func (t *Tile) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(t.content) }

// tileLayout lays out the lines from top to bottom with small gaps.
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
