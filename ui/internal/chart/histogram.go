package chart

import (
	"image"
	"math"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// HistogramData is what a [Histogram] shows.
type HistogramData struct {
	Bins  []Bucket // ascending, without overlaps
	Marks []Mark
}

// Bucket is the number of values in a range. From is above 0.
type Bucket struct{ From, To, Count float64 }

// Mark is a named value, for example a percentile.
type Mark struct {
	At   float64
	Name string
}

// Histogram is a widget that shows the distribution of durations on a logarithmic scale. The user can select a bar with the pointer or the
// arrow keys. It belongs to the UI goroutine.
type Histogram struct {
	widget.BaseWidget
	sight

	heading string
	about   string // the heading
	what    string // what is counted
	keep    Keep
	data    HistogramData
	total   float64

	plot          histogramPlot
	raster        *canvas.Raster
	axis          axis
	title, note   *label
	empty         *label
	rows, columns []*label
	marks         []*label
	box           *readout
	text          []byte
	gutter        float32
	head, foot    float32
	levels        int // lines of the marks' names
	em            float32
}

// mostMarks is the maximum number of marks with a name.
const mostMarks = 4

var (
	_ fyne.Widget            = (*Histogram)(nil)
	_ fyne.Focusable         = (*Histogram)(nil)
	_ fyne.SecondaryTappable = (*Histogram)(nil)
)

// NewHistogram returns a histogram without data. note is next to the title, and what names what is counted.
func NewHistogram(title, note, what string, keep Keep) *Histogram {
	c := &Histogram{
		heading: title, about: note, what: what, keep: keep, em: 1, axis: axis{unit: Count},
		title:  newLabel(title, theme.ColorNameForeground, theme.SizeNameText),
		note:   newLabel(note, colorQuiet, theme.SizeNameCaptionText),
		empty:  newLabel("nothing measured yet", colorQuiet, theme.SizeNameCaptionText),
		rows:   newLabels(mostRows),
		marks:  newLabels(mostMarks),
		box:    newReadout(3, 0),
		levels: 1,
	}
	c.columns = newLabels(mostMoments)
	c.title.text.TextStyle.Bold = true
	for _, l := range c.marks {
		l.color = theme.ColorNameForeground
	}
	c.sight = newSight(c)
	c.places = func() int { return len(c.data.Bins) }
	c.changed = c.tell
	c.ask = func() { OfferBelow(c) }
	c.pad.hover = func(at fyne.Position) { c.point(c.find(at.X)) }
	c.pad.leave = c.unpoint
	c.pad.menu = func(at fyne.Position) { Offer(c, at) }
	c.raster = canvas.NewRaster(func(w, h int) image.Image { return c.plot.draw(w, h, c.raster.Size().Width) })
	c.raster.ScaleMode = canvas.ImageScalePixels
	c.ExtendBaseWidget(c)
	return c
}

// Set shows data. The caller must not change it afterwards. Each call repaints the window.
func (c *Histogram) Set(d HistogramData) {
	c.data, c.plot.bins, c.plot.marks = d, d.Bins, d.Marks
	c.total, c.at, c.axis.step = 0, -1, 0
	for _, b := range d.Bins {
		c.total += b.Count
	}
	c.arrange()
	c.tell()
}

// TappedSecondary shows the menu.
func (c *Histogram) TappedSecondary(e *fyne.PointEvent) { c.pad.TappedSecondary(e) }

// Keeps implements [Kept].
func (c *Histogram) Keeps() (title string, k Keep) { return c.heading, c.keep }

// Picture draws the histogram at twice the size.
func (c *Histogram) Picture() image.Image {
	twin := NewHistogram(c.heading, c.about, c.what, Keep{})
	twin.Set(c.data)
	return Paint(twin, c.Size())
}

// Table implements [Kept].
func (c *Histogram) Table() []byte {
	b := append([]byte("from (s)\tto (s)\t"), c.what...)
	for _, bin := range c.data.Bins {
		b = strconv.AppendFloat(append(b, '\n'), bin.From, 'g', 6, 64)
		b = strconv.AppendFloat(append(b, '\t'), bin.To, 'g', 6, 64)
		b = strconv.AppendFloat(append(b, '\t'), bin.Count, 'f', -1, 64)
	}
	return append(b, '\n')
}

// span returns the ends of the scale as powers of ten.
func (d *HistogramData) span() (from, to float64) {
	if len(d.Bins) == 0 {
		return -3, 1
	}
	from, to = math.Log10(d.Bins[0].From), math.Log10(d.Bins[len(d.Bins)-1].To)
	if lack := leastDecades - (to - from); lack > 0 {
		from, to = from-lack/2, to+lack/2
	}
	edge := scaleEdge * (to - from)
	return from - edge, to + edge
}

// leastDecades is the minimum length of the scale, so that similar values do not fill it.
const leastDecades = 0.8

// scaleEdge is the free share of the scale at each end, for its labels.
const scaleEdge = 0.04

// arrange updates axes, texts and the drawing for the data and the size.
func (c *Histogram) arrange() {
	size := c.Size()
	if size.IsZero() {
		return
	}
	c.writeMarks()
	c.fit(size)
	if lines := max(c.placeMarks(), 1); lines != c.levels {
		c.levels = lines
		c.fit(size)
		c.placeMarks()
	}
	if len(c.data.Bins) > 0 {
		c.empty.hide()
	} else {
		c.empty.place(c.gutter+(c.drawn()-c.empty.size.Width)/2, c.head+(c.raster.Size().Height-c.empty.size.Height)/2)
	}
	placeFrame(c.frame, size)
}

// fit places everything except the marks, and leaves the lines above for them that they needed last.
func (c *Histogram) fit(size fyne.Size) {
	highest := math.NaN()
	for _, b := range c.data.Bins {
		highest = max(orZero(highest), b.Count)
	}
	c.foot = c.columns[0].size.Height + 1
	c.head = round(c.title.size.Height + 2 + float32(c.levels)*c.marks[0].size.Height)
	height := max(size.Height-c.head-c.foot, 1)
	c.axis.fit(highest, math.NaN(), 0, min(max(int(height/(rowApart*c.em)), 2), 4))
	c.plot.bottom, c.plot.top, c.plot.crown = c.axis.bottom, c.axis.top, 2
	c.plot.from, c.plot.to = c.data.span()

	widest := gutterLeast*c.em - gutterGap
	c.plot.grid = c.plot.grid[:0]
	for i := range min(c.axis.ticks(), len(c.rows)) {
		c.plot.grid = append(c.plot.grid, c.axis.tick(i))
		c.text = Count.appendTick(c.text[:0], c.axis.tick(i))
		c.rows[i].set(c.text)
		widest = max(widest, c.rows[i].size.Width)
	}
	c.gutter = round(widest) + gutterGap
	c.raster.Move(fyne.NewPos(c.gutter, c.head))
	c.raster.Resize(fyne.NewSize(max(size.Width-c.gutter, 1), height))
	c.pad.Move(c.raster.Position())
	c.pad.Resize(c.raster.Size())
	c.title.place(0, 0)
	c.note.fit(c.about, size.Width-c.title.size.Width-noteGap)
	c.note.place(c.title.size.Width+noteGap, (c.title.size.Height-c.note.size.Height)*0.7)
	c.placeRows(height)
	c.placeColumns()
}

func (c *Histogram) drawn() float32 { return max(c.raster.Size().Width-insetRight, 1) }

// across returns the x coordinate of a value in the drawing.
func (c *Histogram) across(v float64) float32 {
	return float32((math.Log10(v)-c.plot.from)/(c.plot.to-c.plot.from)) * c.drawn()
}

func (c *Histogram) placeRows(height float32) {
	n := min(c.axis.ticks(), len(c.rows))
	for i, l := range c.rows {
		if i >= n {
			l.hide()
			continue
		}
		share := float32((c.axis.tick(i) - c.axis.bottom) / (c.axis.top - c.axis.bottom))
		y := c.head + height - insetBottom - share*(height-insetBottom-c.plot.crown)
		l.place(c.gutter-gutterGap-l.size.Width, y-l.size.Height/2)
	}
}

// placeColumns places the labels of round durations that fit, powers of ten first.
func (c *Histogram) placeColumns() {
	used := 0
	c.plot.ticks = c.plot.ticks[:0]
	for _, factor := range [...]float64{1, 3, 2, 5} {
		for power := math.Floor(c.plot.from); power <= c.plot.to; power++ {
			v := factor * math.Pow10(int(power))
			at := math.Log10(v)
			if at < c.plot.from || at > c.plot.to || used == len(c.columns) {
				continue
			}
			l := c.columns[used]
			c.text = Duration.appendTick(c.text[:0], v)
			l.set(c.text)
			left := c.gutter + c.across(v) - l.size.Width/2
			if !c.free(left, l.size.Width, used) {
				continue
			}
			l.place(left, c.Size().Height-c.foot+1)
			c.plot.ticks = append(c.plot.ticks, at)
			used++
		}
	}
	for _, l := range c.columns[used:] {
		l.hide()
	}
}

// free reports whether a label fits next to the first used labels.
func (c *Histogram) free(left, width float32, used int) bool {
	if left < c.gutter-gutterGap+2 || left+width > c.Size().Width {
		return false
	}
	for _, l := range c.columns[:used] {
		if x := l.text.Position().X; left < x+l.size.Width+2*noteGap && x < left+width+2*noteGap {
			return false
		}
	}
	return true
}

// writeMarks writes the names of the marks with their values.
func (c *Histogram) writeMarks() {
	for i := range min(len(c.data.Marks), mostMarks) {
		m := &c.data.Marks[i]
		c.text = Duration.appendValue(append(append(c.text[:0], m.Name...), ' '), m.At)
		c.marks[i].set(c.text)
	}
}

// placeMarks places the names of the marks above their lines, and returns the number of lines that they need.
func (c *Histogram) placeMarks() (lines int) {
	var ends [mostMarks]float32
	line := c.marks[0].size.Height
	for i, l := range c.marks {
		if i >= len(c.data.Marks) {
			l.hide()
			continue
		}
		left := c.gutter + c.across(c.data.Marks[i].At) - l.size.Width/2
		left = max(min(left, c.Size().Width-l.size.Width), 0)
		at := 0
		for at < mostMarks-1 && left < ends[at] {
			at++
		}
		ends[at] = left + l.size.Width + noteGap
		lines = max(lines, at+1)
		l.place(left, c.head-line*float32(at+1))
	}
	return lines
}
