// Package chart draws values over time: one raster for each chart, with texts around it.
package chart

import (
	"image"
	"math"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Config describes a chart. The zero value is a chart of counts without series.
type Config struct {
	Title   string
	Unit    Unit
	Note    string // next to the title; if empty, the unit's name
	Series  []SeriesConfig
	Floor   float64       // lowest value of the axis
	Ceiling float64       // highest value of the axis; 0: follows the data, except that Percent ends at 100
	Limit   bool          // always shows the limit, even far above the data
	Fill    bool          // fills the area below a single series
	Stack   bool          // draws the series as areas on top of each other; at most 8 can be distinguished
	Numbers bool          // the horizontal axis counts cycles; Times are their numbers
	Elapsed bool          // the horizontal axis counts from the start of a run; Times are seconds
	Gap     time.Duration // breaks lines between rows this far apart; 0: never, for example for a History, which has its own gap
	Bands   []Band

	// OnZoom, if set, is called with the span that the user selects; zero times undo the last zoom.
	OnZoom func(from, to time.Time)
	// OnHover, if set, is called with the moment at the pointer or cursor; the zero time means none.
	OnHover func(at time.Time)
	// Keep copies and saves pictures.
	Keep Keep
}

// SeriesConfig describes a line. Without a color it gets the next of ColorSeries1 to 4.
type SeriesConfig struct {
	Name  string
	Color fyne.ThemeColorName
}

// Data is what a chart shows.
type Data struct {
	Times    []float64   // Unix seconds, ascending, for all series
	Values   [][]float64 // by series, each as long as Times; NaN if missing
	From, To time.Time   // ends of the time axis, labeled in To's zone; zero: the first and the last row

	Limit     float64 // drawn as a line; 0 or NaN: none
	LimitName string  // shown before the limit, for example "max"
	Markers   []Marker
}

// Chart is a widget that shows Data. The user can select a moment with the pointer or the arrow keys, zoom by dragging, and hide series in
// the legend. It belongs to the UI goroutine.
type Chart struct {
	widget.BaseWidget

	config  Config
	colors  []fyne.ThemeColorName // by series
	plot    plot
	axis    axis
	clock   clock
	highest float64 // in view; NaN without data
	limit   float64 // NaN: none
	seen    bool    // there was a value

	raster        *canvas.Raster
	title, note   *label
	empty         *label
	more          *label // opens the menu
	legend        legend
	rows, moments []*label // of the axes
	text          []byte   // buffer for texts
	limitName     string
	bands         []Band
	markers       []Marker

	group     *Group // nil if the chart is in no group
	big       *Chart // shows the same data in the whole window; nil if none
	restore   func() // of a maximized chart: closes it
	cursor    cursor
	pad       *zoomPad
	chosen    [2]float32        // selected by a drag, in the drawing
	selection *canvas.Rectangle // shows the selection
	frame     *canvas.Rectangle // visible while the chart is focused

	head, foot float32 // heights above and below the raster
	gutter     float32 // width at its left
	em         float32 // size of small text, relative to the default
}

const (
	mostRows    = 8
	mostMoments = 12
)

var (
	_ fyne.Widget = (*Chart)(nil)

	seriesColors = [...]fyne.ThemeColorName{ColorSeries1, ColorSeries2, ColorSeries3, ColorSeries4}
)

// New returns a chart without data.
func New(config Config) *Chart {
	unit := units[config.Unit]
	if config.Ceiling == 0 {
		config.Ceiling = unit.ceiling
	}
	if config.Note == "" {
		config.Note = unit.word
	}
	n := len(config.Series)
	c := &Chart{
		config: config, highest: math.NaN(), limit: math.NaN(),
		axis: axis{unit: config.Unit, floor: config.Floor, ceiling: config.Ceiling, always: config.Limit},
		plot: plot{
			to: 1, field: field{extent: extent{top: 1}}, limit: math.NaN(), gap: config.Gap.Seconds(), fill: config.Fill && n == 1, stacked: config.Stack,
			values: make([][]float64, n), hidden: make([]bool, n),
		},
		title:   newLabel(config.Title, theme.ColorNameForeground, theme.SizeNameText),
		note:    newLabel(config.Note, colorQuiet, theme.SizeNameCaptionText),
		empty:   newLabel("no data yet", colorQuiet, theme.SizeNameCaptionText),
		legend:  newLegend(config.Series, config.Stack),
		rows:    newLabels(mostRows),
		moments: newLabels(mostMoments),
		cursor:  newCursor(n), selection: &canvas.Rectangle{}, frame: &canvas.Rectangle{StrokeWidth: 1.5}, em: 1,
	}
	c.selection.Hidden, c.frame.Hidden = true, true
	c.more = newLabel("…", theme.ColorNameForeground, theme.SizeNameText)
	c.more.text.TextStyle.Bold = true
	c.bands = append(c.bands, config.Bands[:min(len(config.Bands), mostBands)]...)
	c.hear()
	c.title.text.TextStyle.Bold = true
	c.raster = canvas.NewRaster(c.draw)
	c.raster.ScaleMode = canvas.ImageScalePixels
	for i, s := range config.Series {
		if s.Color == "" {
			s.Color = seriesColors[i%len(seriesColors)]
		}
		c.colors = append(c.colors, s.Color)
	}
	c.ExtendBaseWidget(c)
	return c
}

// Set shows data. It copies the rows in view, so that the caller may reuse its slices. Each call repaints the window: call it at most twice
// a second, and not while the chart is hidden.
func (c *Chart) Set(d Data) {
	from, to := ends(d)
	before := c.clock
	c.clock = clock{}
	if !from.IsZero() {
		c.clock = clock{from: Seconds(from), to: Seconds(to), zone: to.Location(), numbers: c.config.Numbers, elapsed: c.config.Elapsed}
		if c.config.Elapsed {
			c.clock.zone = time.UTC
		}
	}
	if c.clock.jumped(&before) {
		c.axis.step = 0
	}
	c.copyRows(d)
	c.limit, c.limitName = math.NaN(), d.LimitName
	if d.Limit > 0 {
		c.limit = d.Limit
	}
	c.plot.markers = c.plot.markers[:0]
	for _, m := range d.Markers {
		c.plot.markers = append(c.plot.markers, moment{Seconds(m.At), m.Kind})
	}
	c.markers = append(c.markers[:0], d.Markers...)
	c.arrange()
	c.raster.Refresh()
	c.follow()
	if c.big != nil {
		c.big.Set(d)
	}
}

// Toggle shows or hides a series.
func (c *Chart) Toggle(series int) {
	c.plot.hidden[series] = !c.plot.hidden[series]
	c.legend.entries[series].off = c.plot.hidden[series]
	c.findHighest()
	c.axis.step = 0
	c.dress()
	c.arrange()
	c.raster.Refresh()
}

func (c *Chart) hidden(series int) bool { return c.plot.hidden[series] }

// leastAxis is the shortest time axis: the interval of the finest rows.
const leastAxis = 100 * time.Millisecond

// ends returns the ends of the time axis, at least leastAxis apart.
func ends(d Data) (from, to time.Time) {
	from, to = d.From, d.To
	if n := len(d.Times); n > 0 {
		if from.IsZero() {
			from = time.UnixMicro(int64(d.Times[0] * 1e6))
		}
		if to.IsZero() {
			to = time.UnixMicro(int64(d.Times[n-1] * 1e6))
		}
	}
	if to.Sub(from) < leastAxis {
		to = from.Add(leastAxis)
	}
	return from, to
}

// copyRows copies the rows in view and one more on each side, so that lines reach the edges.
func (c *Chart) copyRows(d Data) {
	rows := len(d.Times)
	for i := range min(len(c.plot.values), len(d.Values)) {
		rows = min(rows, len(d.Values[i]))
	}
	times := d.Times[:rows]
	first, _ := slices.BinarySearch(times, c.clock.from)
	end, _ := slices.BinarySearch(times, c.clock.to)
	first, end = max(first-1, 0), min(end+1, rows)

	c.plot.times = append(c.plot.times[:0], times[first:end]...)
	for i := range c.plot.values {
		c.plot.values[i] = c.plot.values[i][:0]
		if i < len(d.Values) {
			c.plot.values[i] = append(c.plot.values[i], d.Values[i][first:end]...)
		}
	}
	c.findHighest()
	c.seen = c.seen || !math.IsNaN(c.highest)
}

// findHighest finds the highest value in view of the visible series.
func (c *Chart) findHighest() {
	c.plot.stack()
	c.highest = math.NaN()
	for i := range c.plot.values {
		if c.hidden(i) {
			continue
		}
		for _, v := range c.plot.shown(i) {
			if v > c.highest || math.IsNaN(c.highest) {
				c.highest = v
			}
		}
	}
}

// newest returns the last value of a series in view, or NaN.
func (c *Chart) newest(series int) float64 {
	for i, v := range slices.Backward(c.plot.values[series]) {
		if c.plot.times[i] <= c.clock.to {
			return v
		}
	}
	return math.NaN()
}

func (c *Chart) draw(w, h int) image.Image { return c.plot.draw(w, h, c.raster.Size().Width) }
