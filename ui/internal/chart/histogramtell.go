package chart

import (
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
)

// find returns the index of the bar at x, or -1.
func (c *Histogram) find(x float32) int {
	return slices.IndexFunc(c.data.Bins, func(b Bucket) bool { return x >= c.across(b.From) && x < c.across(b.To) })
}

// tell shows the selected bar.
func (c *Histogram) tell() {
	c.plot.bright = c.at
	c.raster.Refresh()
	if c.at < 0 {
		c.box.hide()
		return
	}
	b := &c.data.Bins[c.at]
	c.text = Duration.appendValue(append(Duration.appendValue(c.text[:0], b.From), " to "...), b.To)
	c.box.begin(c.text, 0)
	below := 0.0
	for i := range c.at + 1 {
		below += c.data.Bins[i].Count
	}
	c.text = appendCount(c.text[:0], b.Count)
	c.box.line(c.plot.bar, c.what, c.text)
	c.text = appendShare(c.text[:0], b.Count, c.total)
	c.box.line(c.plot.bar, "of all", c.text)
	c.text = appendShare(c.text[:0], below, c.total)
	c.box.line(c.plot.bar, "up to here", c.text)
	c.box.place(fyne.NewPos(c.gutter+c.across(b.To), c.head+readPad), c.Size())
}

// appendCount appends a whole number with thousands separators.
func appendCount(b []byte, n float64) []byte {
	digits := strconv.AppendInt(nil, int64(n), 10)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b = append(b, ',')
		}
		b = append(b, d)
	}
	return b
}

// appendShare appends a share in percent.
func appendShare(b []byte, part, whole float64) []byte {
	if whole <= 0 {
		return append(b, "–"...)
	}
	share := 100 * part / whole
	decimals := 0
	if share > 0 && share < 10 || share > 99 && share < 100 {
		decimals = 1
	}
	if share > 0 && share < 0.05 {
		return append(b, "under 0.1%"...)
	}
	return append(strconv.AppendFloat(b, share, 'f', decimals, 64), "%"...)
}
