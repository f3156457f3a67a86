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

// LevelsData is what a [Levels] shows.
type LevelsData struct {
	Points []LevelsPoint // ascending by At
	Curve  []LevelsCurve // the fitted curve, ascending by At; empty: none
	// Mark is the recommended level, and Low and High its interval; 0: none.
	Mark, Low, High int
}

// LevelsPoint is the measurement of a level.
type LevelsPoint struct {
	At                float64
	PerSecond, Spread float64 // Spread is shown as an error bar
	Latency           float64 // seconds; 0: unknown
	Over              bool    // over a limit of resources: drawn faint
}

// LevelsCurve is a point of the fitted curve with its interval; Low and High are equal if the interval is unknown.
type LevelsCurve struct{ At, PerSecond, Low, High float64 }

// Levels is a widget that shows throughput and latency by level, in two fields over a logarithmic scale. It belongs to the UI goroutine.
type Levels struct {
	widget.BaseWidget
	sight

	heading      string
	about, aside string // the headings of throughput and latency
	keep         Keep
	box          *readout
	line         *canvas.Rectangle // at the selected level
	em           float32
	plot         levelsPlot
	raster       *canvas.Raster
	rates, times axis
	title, note  *label
	lower, quiet *label // title and note of the latency
	empty, mark  *label
	rateRows     []*label
	timeRows     []*label
	columns      []*label
	text         []byte
	gutter, head float32
	mid, foot    float32 // heights of the lower title and of the labels at the bottom
}

// upperShare is the share of the height for the throughput.
const upperShare = 0.62

var _ fyne.Widget = (*Levels)(nil)

// NewLevels returns a widget without data. title and note are above the throughput, lower and quiet above the latency.
func NewLevels(title, note, lower, quiet string, keep Keep) *Levels {
	heading := func(text string) *label {
		l := newLabel(text, theme.ColorNameForeground, theme.SizeNameText)
		l.text.TextStyle.Bold = true
		return l
	}
	small := func(text string) *label {
		return newLabel(text, colorQuiet, theme.SizeNameCaptionText)
	}
	c := &Levels{
		title: heading(title), note: small(note), lower: heading(lower), quiet: small(quiet), empty: small("nothing measured yet"),
		mark: newLabel("", ColorSeries3, theme.SizeNameCaptionText), rateRows: newLabels(mostRows), timeRows: newLabels(mostRows), columns: newLabels(mostMoments),
	}
	c.heading, c.about, c.aside, c.keep, c.em = title, note, quiet, keep, 1
	c.mark.text.Hidden = true
	c.hear()
	c.raster = canvas.NewRaster(func(w, h int) image.Image { return c.plot.draw(w, h, c.raster.Size().Width) })
	c.raster.ScaleMode = canvas.ImageScalePixels
	c.ExtendBaseWidget(c)
	return c
}

// Set shows data. The caller must not change it afterwards. Each call repaints the window.
func (c *Levels) Set(d LevelsData) {
	c.plot.data = d
	c.at = min(c.at, len(d.Points)-1)
	c.arrange()
	c.raster.Refresh()
}

// span returns the ends of the scale as powers of two, with margins.
func (d *LevelsData) span() (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, p := range d.Points {
		from, to = min(from, p.At), max(to, p.At)
	}
	for _, p := range d.Curve {
		from, to = min(from, p.At), max(to, p.At)
	}
	if from > to {
		from, to = 1, 64
	}
	return math.Log2(from) - 0.3, math.Log2(to) + 0.3
}

// highest returns the largest throughput and latency; NaN if missing.
func (d *LevelsData) highest() (perSecond, latency float64) {
	perSecond, latency = math.NaN(), math.NaN()
	larger := func(a, b float64) float64 {
		if math.IsNaN(a) {
			return b
		}
		return max(a, b)
	}
	for _, p := range d.Points {
		perSecond = larger(perSecond, p.PerSecond+p.Spread)
		if p.Latency > 0 {
			latency = larger(latency, p.Latency)
		}
	}
	for _, p := range d.Curve {
		perSecond = larger(perSecond, p.High)
	}
	return perSecond, latency
}

// arrange updates axes, texts and the drawing for the data and the size.
func (c *Levels) arrange() {
	size := c.Size()
	if size.IsZero() {
		return
	}
	row := c.columns[0].size.Height
	c.head, c.mid, c.foot = round(c.title.size.Height+2), round(c.lower.size.Height+row+4), row+1
	perSecond, latency := c.plot.data.highest()
	height := max(size.Height-c.head-c.foot, 1)
	upper := round((height - c.mid) * upperShare)
	c.plot.fields[0].ceiling, c.plot.fields[0].bed = 2*crownLeast, upper
	c.plot.fields[1].ceiling, c.plot.fields[1].bed = upper+c.mid, height-insetBottom
	c.rates, c.times = axis{unit: Count}, axis{unit: Duration}
	c.rates.fit(perSecond, math.NaN(), 0, c.parts(upper))
	c.times.fit(latency, math.NaN(), 0, c.parts(height-c.mid-upper))

	widest := max(c.write(c.rateRows, &c.rates), c.write(c.timeRows, &c.times), gutterLeast*c.em-gutterGap)
	c.gutter = round(widest) + gutterGap
	c.raster.Move(fyne.NewPos(c.gutter, c.head))
	c.raster.Resize(fyne.NewSize(max(size.Width-c.gutter, 1), height))
	c.pad.Move(c.raster.Position())
	c.pad.Resize(c.raster.Size())
	placeFrame(c.frame, size)
	c.plot.fields[0].take(&c.rates)
	c.plot.fields[1].take(&c.times)
	c.place(c.rateRows, &c.rates, 0)
	c.place(c.timeRows, &c.times, 1)
	c.plot.from, c.plot.to = c.plot.data.span()
	c.title.place(0, 0)
	c.note.fit(c.about, size.Width-c.title.size.Width-noteGap)
	c.note.place(c.title.size.Width+noteGap, (c.title.size.Height-c.note.size.Height)*0.7)
	y := c.head + upper + row/2 + 2 // below the lowest label of the throughput
	c.lower.place(0, y)
	c.quiet.fit(c.aside, size.Width-c.lower.size.Width-noteGap)
	c.quiet.place(c.lower.size.Width+noteGap, y+(c.lower.size.Height-c.quiet.size.Height)*0.7)
	c.placeColumns()
	c.placeMark()
	c.tell()
	if len(c.plot.data.Points) > 0 {
		c.empty.hide()
	} else {
		c.empty.place(c.gutter+(c.raster.Size().Width-c.empty.size.Width)/2, c.head+upper/2)
	}
}

func (c *Levels) parts(height float32) int { return min(max(int(height/(rowApart*c.em)), 2), 4) }

// write writes the labels of an axis and returns the largest width.
func (c *Levels) write(rows []*label, a *axis) (widest float32) {
	for i := range min(a.ticks(), len(rows)) {
		c.text = a.unit.appendTick(c.text[:0], a.tick(i))
		rows[i].set(c.text)
		widest = max(widest, rows[i].size.Width)
	}
	return widest
}

// place places the labels of an axis next to its field.
func (c *Levels) place(rows []*label, a *axis, field int) {
	f := &c.plot.fields[field]
	for i, l := range rows {
		if i >= a.ticks() {
			l.hide()
			continue
		}
		share := float32((a.tick(i) - a.bottom) / (a.top - a.bottom))
		y := c.head + f.bed - share*(f.bed-f.ceiling)
		l.place(c.gutter-gutterGap-l.size.Width, y-l.size.Height/2)
	}
}

// placeColumns places the labels of the measured levels, or of powers of two, that fit.
func (c *Levels) placeColumns() {
	c.plot.ticks = c.plot.ticks[:0]
	numbers := make([]float64, 0, mostMoments)
	for _, p := range c.plot.data.Points {
		numbers = append(numbers, p.At)
	}
	if len(numbers) == 0 {
		numbers = append(numbers, 1, 2, 4, 8, 16, 32, 64)
	}
	used, end := 0, float32(math.Inf(-1))
	for _, n := range numbers {
		c.plot.ticks = append(c.plot.ticks, math.Log2(n))
		if used == len(c.columns) {
			continue
		}
		l := c.columns[used]
		l.set(strconv.AppendFloat(c.text[:0], n, 'f', -1, 64))
		if left := c.across(math.Log2(n)) - l.size.Width/2; left > end+noteGap && left+l.size.Width <= c.Size().Width {
			l.place(left, c.Size().Height-c.foot+1)
			end, used = left+l.size.Width, used+1
		}
	}
	for _, l := range c.columns[used:] {
		l.hide()
	}
}

// across returns the x coordinate of a point of the scale in the widget.
func (c *Levels) across(doublings float64) float32 {
	share := float32((doublings - c.plot.from) / (c.plot.to - c.plot.from))
	return c.gutter + share*(c.raster.Size().Width-insetRight)
}

// placeMark places the recommended level above its line.
func (c *Levels) placeMark() {
	d := &c.plot.data
	if d.Mark == 0 {
		c.mark.hide()
		return
	}
	c.mark.set(strconv.AppendInt(append(c.text[:0], "recommended "...), int64(d.Mark), 10))
	x := c.across(math.Log2(float64(d.Mark))) - c.mark.size.Width/2
	c.mark.place(min(max(x, c.gutter), c.Size().Width-c.mark.size.Width), c.head)
}
