package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Column is a column of a [Table] or a [Sheet].
type Column struct {
	Title string
	// Sample is the longest text that must fit. A column is as wide as its sample or title.
	Sample string
	// Weight is the column's share of the remaining width; 0 takes none.
	Weight float32
	Align  fyne.TextAlign
	// Drop orders the columns that are hidden if the width is too small: the highest first; 0 is never hidden.
	Drop int
	// Clip lets the title be cut, so that only the sample takes room.
	Clip bool
}

func (c *Column) min() float32 {
	title := c.Title
	if c.Clip {
		title = ""
	}
	return max(
		fyne.MeasureText(title, theme.CaptionTextSize(), fyne.TextStyle{}).Width,
		fyne.MeasureText(c.Sample, theme.TextSize(), fyne.TextStyle{}).Width,
		badgeSize(c.Sample).Width,
	)
}

// columns divides the width of a row.
type columns struct {
	all []Column

	// For the text size and width below.
	least  []float32
	sum    float32   // of columns that are never hidden
	widths []float32 // -1: the column is hidden
	size   float32
	total  float32
}

func newColumns(all []Column) *columns { return &columns{all: all} }

func columnGap() float32 { return 2 * theme.InnerPadding() }

// measure measures the minimum widths again if the text size has changed.
func (c *columns) measure() {
	if c.size == theme.TextSize() {
		return
	}
	c.size, c.total = theme.TextSize(), -1
	c.least, c.sum = c.least[:0], 0
	for i := range c.all {
		least := c.all[i].min()
		c.least = append(c.least, least)
		if c.all[i].Drop == 0 {
			c.sum += least + columnGap() // between columns, and half of it at each end
		}
	}
}

func (c *columns) minWidth() float32 {
	c.measure()
	return c.sum
}

// place lays out the objects of a row in a height.
func (c *columns) place(size fyne.Size, each func(i int, at fyne.Position, size fyne.Size)) {
	c.measure()
	if c.total != size.Width {
		c.share(size.Width)
	}
	x := columnGap() / 2
	for i, w := range c.widths {
		if w < 0 {
			each(i, fyne.NewPos(x, 0), fyne.NewSize(0, size.Height))
			continue
		}
		each(i, fyne.NewPos(x, 0), fyne.NewSize(w, size.Height))
		x += w + columnGap()
	}
}

// at returns the column at an x coordinate of the last layout, or none.
func (c *columns) at(x float32) int {
	left := float32(0)
	for i, w := range c.widths {
		if w < 0 {
			continue
		}
		if left += w + columnGap(); x < left {
			return i
		}
	}
	return none
}

// share distributes the remaining width to the columns with a weight. If the width is too small, it hides columns, and columns with a
// weight shrink.
func (c *columns) share(total float32) {
	c.total = total
	c.widths = append(c.widths[:0], c.least...)
	var sum, weights float32
	for i := range c.all {
		sum, weights = sum+c.least[i]+columnGap(), weights+c.all[i].Weight
	}
	for sum > total {
		out := -1
		for i := range c.all {
			if c.all[i].Drop > 0 && c.widths[i] >= 0 && (out < 0 || c.all[i].Drop > c.all[out].Drop) {
				out = i
			}
		}
		if out < 0 {
			break
		}
		c.widths[out] = -1
		sum, weights = sum-c.least[out]-columnGap(), weights-c.all[out].Weight
	}
	for i := range c.all {
		if weights > 0 && c.widths[i] >= 0 {
			c.widths[i] = max(0, c.widths[i]+(total-sum)*c.all[i].Weight/weights)
		}
	}
}
