package guide

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/ui/internal/prose"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// contents lists the pages, and the headings of the open one.
type contents struct {
	widget.List
	entries []entry
	chosen  int // the open one
}

// entry is an item of the contents.
type entry struct {
	text, link string
	page       bool
}

func newContents(open func(link string)) *contents {
	c := &contents{}
	c.HideSeparators = true
	c.Length = func() int { return len(c.entries) }
	c.CreateItem = func() fyne.CanvasObject { return newRow() }
	c.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) { o.(*row).set(c.entries[i], i == c.chosen) }
	c.OnSelected = func(i widget.ListItemID) {
		c.UnselectAll() // the row itself shows the open page, so that a page can be opened again
		open(c.entries[i].link)
	}
	c.ExtendBaseWidget(c)
	return c
}

// row shows an entry, clipped to its width. Its parts do not take taps, which would not reach the list.
type row struct {
	widget.BaseWidget
	back  *canvas.Rectangle
	text  *canvas.Text
	entry entry
	// the entry is open
	chosen bool
}

func newRow() *row {
	r := &row{back: canvas.NewRectangle(color.Transparent), text: canvas.NewText("", color.Transparent)}
	r.ExtendBaseWidget(r)
	return r
}

// Text returns the whole text.
func (r *row) Text() string { return r.entry.text }

func (r *row) set(e entry, chosen bool) {
	r.entry, r.chosen = e, chosen
	r.Refresh()
}

// CreateRenderer implements [fyne.Widget].
func (r *row) CreateRenderer() fyne.WidgetRenderer {
	return &rowRenderer{widget.NewSimpleRenderer(container.NewWithoutLayout(r.back, r.text)), r}
}

type rowRenderer struct {
	fyne.WidgetRenderer
	row *row
}

// MinSize returns the size of a line with room for an ellipsis.
func (r *rowRenderer) MinSize() fyne.Size {
	return fyne.MeasureText("…", theme.TextSize(), fyne.TextStyle{})
}

// Layout indents headings and clips long texts.
func (r *rowRenderer) Layout(size fyne.Size) {
	left := theme.Padding()
	if !r.row.entry.page {
		left *= 5
	}
	r.row.text.Text = widgets.Fit(r.row.entry.text, size.Width-left, r.row.text.TextSize, fyne.TextStyle{})
	r.row.text.Move(fyne.NewPos(left, 0))
	r.row.text.Resize(fyne.NewSize(size.Width-left, size.Height))
	r.row.back.Resize(size)
}

// Refresh updates the row for its entry and the theme.
func (r *rowRenderer) Refresh() {
	r.row.back.FillColor = color.Transparent
	if r.row.chosen {
		r.row.back.FillColor = theme.Color(theme.ColorNameSelection)
	}
	r.row.back.CornerRadius = theme.SelectionRadiusSize()
	tone := widgets.Neutral
	if !r.row.entry.page {
		tone = widgets.Quiet
	}
	r.row.text.Color, r.row.text.TextSize = widgets.Color(tone.Color()), theme.TextSize()
	r.Layout(r.row.Size())
	canvas.Refresh(r.row)
}

// TypedKey also opens the page with Return.
func (c *contents) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		e = &fyne.KeyEvent{Name: fyne.KeySpace}
	}
	c.List.TypedKey(e)
}

// set lists the pages and the headings of the open page, and marks a heading.
func (c *contents) set(pages []assets.Page, open *assets.Page, headings []prose.Heading, place string) {
	c.entries = nil
	for i := range pages {
		p := &pages[i]
		c.entries = append(c.entries, entry{p.Title, p.File, true})
		if p.File != open.File {
			continue
		}
		c.chosen = len(c.entries) - 1
		for _, h := range headings {
			if h.Level != 2 {
				continue
			}
			c.entries = append(c.entries, entry{text: h.Text, link: p.File + "#" + h.Anchor})
			if h.Anchor == place {
				c.chosen = len(c.entries) - 1
			}
		}
	}
	c.Refresh()
	c.ScrollTo(c.chosen)
}
