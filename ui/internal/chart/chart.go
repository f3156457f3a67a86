// Package chart draws values over time: one raster for each chart and a few texts around it.
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
	Note    string // beside the title; empty: the unit, where it has a word
	Series  []SeriesConfig
	Floor   float64       // lowest value of the axis
	Ceiling float64       // highest value of the axis; 0: follows the data, except that Percent ends at 100
	Limit   bool          // keeps a limit in view, however far above the data
	Fill    bool          // tints what is below the line of a single series
	Gap     time.Duration // breaks lines where rows are further apart; 0: never, as for a History, which has its own
}

// SeriesConfig describes a line. Without a colour it has the next of ColorSeries1 to 4.
type SeriesConfig struct {
	Name  string
	Color fyne.ThemeColorName
}

// Data is what a chart shows.
type Data struct {
	Times    []float64   // Unix seconds, ascending, shared by all series
	Values   [][]float64 // by series, each as long as Times; NaN where there is none
	From, To time.Time   // ends of the time axis, which is labelled in To's zone; zero: the first and the last row

	Limit     float64 // drawn as a line; 0 or NaN: none
	LimitName string  // stands before its value, such as "max"
	Markers   []Marker
}

// Marker is a moment at which something changed.
type Marker struct {
	At   time.Time
	Text string // what changed; the drawing has no room for it
}

// Chart is a widget that shows Data. It belongs to the UI goroutine.
type Chart struct {
	widget.BaseWidget

	config  Config
	colors  []fyne.ThemeColorName // by series
	plot    plot
	axis    axis
	clock   clock
	highest float64 // in view; NaN without data
	limit   float64 // NaN: none
	seen    bool    // any value, ever

	raster         *canvas.Raster
	title, note    *label
	empty, mention *label // mention: of the limit, in or above the drawing
	legend         legend
	rows, moments  []*label // of the axes
	text           []byte   // room to write in
	limitName      string

	head, foot float32 // above and below the raster
	gutter     float32 // left of it
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
			to: 1, top: 1, limit: math.NaN(), gap: config.Gap.Seconds(), fill: config.Fill && n == 1,
			values: make([][]float64, n),
		},
		title:   newLabel(config.Title, theme.ColorNameForeground, theme.SizeNameText),
		note:    newLabel(config.Note, theme.ColorNamePlaceHolder, theme.SizeNameCaptionText),
		empty:   newLabel("no data yet", theme.ColorNamePlaceHolder, theme.SizeNameCaptionText),
		mention: newLabel("", ColorLimit, theme.SizeNameCaptionText),
		legend:  newLegend(config.Series),
		rows:    newLabels(mostRows),
		moments: newLabels(mostMoments),
	}
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

// Set shows data. It copies the rows in view, so that the caller may go on with its slices. Each call paints the window
// again: twice a second is enough, and none while the chart is not on show.
func (c *Chart) Set(d Data) {
	from, to := ends(d)
	c.clock = clock{}
	if !from.IsZero() {
		c.clock = clock{from: Seconds(from), to: Seconds(to), zone: to.Location()}
	}
	c.copyRows(d)
	c.limit, c.limitName = math.NaN(), d.LimitName
	if d.Limit > 0 {
		c.limit = d.Limit
	}
	c.plot.markers = c.plot.markers[:0]
	for _, m := range d.Markers {
		c.plot.markers = append(c.plot.markers, Seconds(m.At))
	}
	c.arrange()
	c.raster.Refresh()
}

// ends returns the ends of the time axis, at least a second apart.
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
	if to.Sub(from) < time.Second {
		to = from.Add(time.Second)
	}
	return from, to
}

// copyRows keeps the rows in view and one on each side, so that lines reach the edges.
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
	c.highest = math.NaN()
	for i := range c.plot.values {
		c.plot.values[i] = c.plot.values[i][:0]
		if i < len(d.Values) {
			c.plot.values[i] = append(c.plot.values[i], d.Values[i][first:end]...)
		}
		for _, v := range c.plot.values[i] {
			if v > c.highest || math.IsNaN(c.highest) {
				c.highest = v
			}
		}
	}
	c.seen = c.seen || !math.IsNaN(c.highest)
}

// newest returns the last value of a series in view; NaN when it has none.
func (c *Chart) newest(series int) float64 {
	for i, v := range slices.Backward(c.plot.values[series]) {
		if c.plot.times[i] <= c.clock.to {
			return v
		}
	}
	return math.NaN()
}

func (c *Chart) draw(w, h int) image.Image { return c.plot.draw(w, h, c.raster.Size().Width) }
