package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// forest is a table of points with a picture of each effect and its interval, on one scale. Without a baseline, the pictures show the
// estimates.
type forest struct {
	Compared bool
	Axis     template.HTML
	Rows     []forestRow
	Notes    []string
	Top      *forest // the rows with the largest figures, if there are many; else nil
}

// forestRow is a point.
type forestRow struct {
	Number                                  int
	Label                                   string
	Runs                                    int
	Mean, Difference, Chance, Margin, Saved string
	Picture                                 template.HTML
	Baseline, Clear                         bool
}

// Of a forest with more than longForest points, the page shows topForest rows, and all of them on demand.
const (
	longForest = 60
	topForest  = 30
)

// whole keeps an interval, and the sign before a figure, on one line.
var whole = strings.NewReplacer(", ", ",\u00a0", "< ", "<\u00a0")

func newForest(c *findings.Comparison, measure int) forest {
	row := &c.Rows[measure]
	f := forest{Compared: c.Baseline >= 0}
	bars := map[int]*findings.EffectBar{} // by point
	plot := c.Effects(measure)
	var ends []float64
	for i := range plot.Bars {
		b := &plot.Bars[i]
		bars[b.Point] = b
		ends = append(ends, b.Value, b.Low, b.High)
	}
	if f.Compared {
		ends = append(ends, 0)
	}
	r := newRuler(ends)
	f.Axis = r.axis()
	for point := range row.Estimates {
		e := &row.Estimates[point]
		one := forestRow{Number: point + 1, Label: c.Table.Points[point].Label, Runs: e.N, Mean: whole.Replace(findings.Range(e.Mean, e.Interval)), Baseline: point == c.Baseline}
		f.note(e.Interval.Note)
		if d := c.Difference(row, point); d != nil {
			one.Difference, one.Chance, one.Margin, one.Saved, one.Clear = whole.Replace(findings.Change(d)), whole.Replace(findings.Chance(d.Adjusted)), findings.Text(findings.AtMost(d)), findings.Saved(d), d.Clear()
			f.note(d.Note)
		}
		if b := bars[point]; b != nil {
			one.Picture = r.bar(b, f.Compared)
		}
		f.Rows = append(f.Rows, one)
	}
	if len(f.Rows) > longForest {
		f.Top = f.top(plot.Bars)
	}
	return f
}

// top returns the rows of the largest bars, in the order of the points.
func (f *forest) top(bars []findings.EffectBar) *forest {
	bars = slices.DeleteFunc(slices.Clone(bars), func(b findings.EffectBar) bool { return math.IsNaN(b.Value) })
	slices.SortStableFunc(bars, func(a, b findings.EffectBar) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	bars = bars[:min(topForest, len(bars))]
	slices.SortFunc(bars, func(a, b findings.EffectBar) int { return cmp.Compare(a.Point, b.Point) })
	t := &forest{Compared: f.Compared, Axis: f.Axis}
	for _, b := range bars {
		t.Rows = append(t.Rows, f.Rows[b.Point])
	}
	return t
}

// mostNotes is the number of notes below a table.
const mostNotes = 8

// note adds a note that is new.
func (f *forest) note(text string) {
	if text != "" && len(f.Notes) < mostNotes && !slices.Contains(f.Notes, text) {
		f.Notes = append(f.Notes, text)
	}
}

// ruler places values on an axis with round ends.
type ruler struct {
	from, step float64
	steps      int
}

// newRuler returns a ruler that contains all known values.
func newRuler(values []float64) ruler {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if low > high {
		low, high = 0, 1
	}
	if low == high {
		margin := math.Abs(low) / 10
		if margin == 0 {
			margin = 1
		}
		low, high = low-margin, high+margin
	}
	const most = 5 // intervals
	unit := math.Pow(10, math.Floor(math.Log10((high-low)/most)))
	r := ruler{}
	for _, s := range []float64{1, 2, 5, 10, 20} {
		r.step = s * unit
		r.from = math.Floor(low/r.step + 1e-9)
		if r.steps = int(math.Ceil(high/r.step-1e-9) - r.from); r.steps <= most {
			break
		}
	}
	return r
}

// share returns the place of a value, from 0 to 1.
func (r *ruler) share(v float64) float64 { return (v/r.step - r.from) / float64(r.steps) }

// tick returns the value of a tick, from 0 to r.steps.
func (r *ruler) tick(i int) float64 { return (r.from + float64(i)) * r.step }

// barHeight is the height of the picture of an effect.
const barHeight = 18

// axis returns the ticks of a table.
func (r *ruler) axis() template.HTML {
	s := &svg{}
	s.put(`<svg class="plot" height="%d" aria-hidden="true">`, barHeight)
	for i := range r.steps + 1 {
		s.put(`<text class="mid" x="%.2f%%" y="13">%s</text>`, 100*r.share(r.tick(i)), esc(findings.Tick(r.tick(i))))
	}
	s.put(`</svg>`)
	return s.done()
}

// bar returns the picture of an effect, with a line at 0 if it is a difference.
func (r *ruler) bar(b *findings.EffectBar, difference bool) template.HTML {
	s := &svg{}
	said := b.Label + ": " + findings.Text(b.Value)
	if !math.IsNaN(b.Low) {
		said += fmt.Sprintf(" [%s, %s]", findings.Text(b.Low), findings.Text(b.High))
	}
	s.put(`<svg class="plot" role="img" height="%d"><title>%s</title>`, barHeight, esc(said))
	if difference {
		s.put(`<line class="zero" x1="%.2f%%" x2="%.2f%%" y1="-8" y2="%d"/>`, 100*r.share(0), 100*r.share(0), barHeight+8)
	}
	look := "dot"
	if b.Clear || !difference {
		look += " sure"
	}
	s.point(look, [3]string{percentage(r.share(b.Value)), percentage(r.share(b.Low)), percentage(r.share(b.High))}, strconv.Itoa(barHeight/2))
	s.put(`</svg>`)
	return s.done()
}

// percentage returns a place as a coordinate; "" if it is unknown.
func percentage(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return ""
	}
	return strconv.FormatFloat(100*share, 'f', 2, 64) + "%"
}

// point draws a value with its ends, if they are known, across at a height.
func (s *svg) point(look string, x [3]string, y string) {
	if x[1] != "" && x[2] != "" {
		s.put(`<line class="interval" x1="%s" x2="%s" y1="%s" y2="%s"/>`, x[1], x[2], y, y)
	}
	if x[0] != "" {
		s.put(`<circle class="%s" cx="%s" cy="%s" r="4"/>`, look, x[0], y)
	}
}
