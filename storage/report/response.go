package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// frame draws the axes of a plot. xs are labels at places from 0 to 1.
func (s *svg) frame(title string, y *ruler, xs []tick) {
	s.open(title, plotHeight+textHeight)
	for i := range y.steps + 1 {
		at := plotHeight * (1 - y.share(y.tick(i)))
		s.put(`<line class="grid" x1="0" x2="100%%" y1="%.1f" y2="%.1f"/><text class="end" x="-10" y="%.1f">%s</text>`, at, at, at+4, esc(findings.Tick(y.tick(i))))
	}
	for _, x := range xs {
		s.put(`<text class="mid" x="%.2f%%" y="%d">%s</text>`, 100*x.At, plotHeight+16, esc(x.Text))
	}
}

// manyDots is the number of dots from which a curve has only dots, without a line and intervals.
const manyDots = 60

// curveView draws the mean of a measure over the values of a factor.
func curveView(p *findings.CurvePlot) chartView {
	dots := p.Lines[0].Dots
	crowded := len(dots) > manyDots
	place := func(x float64) float64 { return x }
	if p.Log {
		place = math.Log10
	}
	var ys []float64
	for _, d := range dots {
		if ys = append(ys, d.Mean); !crowded {
			ys = append(ys, d.Low, d.High)
		}
	}
	y := newRuler(ys)
	from, to := place(dots[0].X), place(dots[len(dots)-1].X)
	across := func(x float64) float64 { return 0.04 + 0.92*(place(x)-from)/(to-from) } // room for the dots at the ends
	up := func(v float64) float64 { return plotHeight * (1 - y.share(v)) }
	s := &svg{}
	s.frame(p.Measure+" over "+p.Factor, &y, curveTicks(dots, across))
	s.curve(dots, crowded, across, up)
	for _, d := range dots {
		if crowded {
			break
		}
		at := 100 * across(d.X)
		if !math.IsNaN(d.Low) && !math.IsNaN(d.High) {
			s.put(`<line class="interval" x1="%.2f%%" x2="%.2f%%" y1="%.1f" y2="%.1f"/>`, at, at, up(d.Low), up(d.High))
		}
		s.put(`<circle class="dot sure" cx="%.2f%%" cy="%.1f" r="3.5"><title>%s: %s</title></circle>`, at, up(d.Mean), esc(d.Text), esc(findings.Text(d.Mean)))
	}
	s.put(`</svg>`)
	v := chartView{Title: p.Measure, About: "over " + p.Factor, Picture: s.done()}
	if p.Unit != "" {
		v.Title += " (" + p.Unit + ")"
	}
	if p.Log {
		v.About += ", logarithmic"
	}
	return v
}

// curve draws the line through dots, or the dots themselves.
func (s *svg) curve(dots []findings.CurveDot, crowded bool, across, up func(float64) float64) {
	var path strings.Builder
	command, end, look := "M", "", "s1"
	if crowded {
		end, look = "h0", "s1 dots"
	}
	for _, d := range dots {
		fmt.Fprintf(&path, "%s%.1f %.1f%s", command, 1000*across(d.X), 1000*up(d.Mean)/plotHeight, end)
		if !crowded {
			command = "L"
		}
	}
	s.put(`<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%%" height="%d"><path class="%s" d="%s"/></svg>`, plotHeight, look, path.String())
}

// curveTicks returns the values of dots, without those that would touch the one before.
func curveTicks(dots []findings.CurveDot, across func(float64) float64) (all []tick) {
	end := math.Inf(-1)
	for _, d := range dots {
		const letter = 0.017
		at, half := across(d.X), letter*float64(len(shortNumber(d)))/2
		if at-half < end+letter {
			continue
		}
		all = append(all, tick{at, shortNumber(d)})
		end = at + half
	}
	return all
}

// shortNumber returns the value of a dot with few digits.
func shortNumber(d findings.CurveDot) string {
	if len(d.Text) > 6 {
		return findings.Text(d.X)
	}
	return d.Text
}

// influenceView is how much each factor matters for a measure.
type influenceView struct {
	Method  string
	Figures []string
	Axis    template.HTML
	Rows    []influenceRow
	Note    string
	Scatter template.HTML // of a screening
}

// influenceRow is a factor.
type influenceRow struct {
	Name    string
	Picture template.HTML
	Figures []string
}

// newInfluence draws a bar for each factor: from the first figure to the second one of a tornado, and from 0 to each figure else. A
// screening has a scatter plot, too.
func newInfluence(s *findings.Sensitivity) *influenceView {
	v := &influenceView{Method: string(s.Method), Figures: s.Figures, Note: s.Note}
	ends := []float64{0}
	for _, f := range s.Factors {
		for i, one := range f.Figures {
			if drawn(s, i) {
				ends = append(ends, one.Value)
			}
		}
	}
	r := newRuler(ends)
	v.Axis = r.axis()
	for _, f := range s.Factors {
		row := influenceRow{Name: findings.Brief(f.Name), Picture: r.influence(s, &f)}
		for _, one := range f.Figures {
			row.Figures = append(row.Figures, findings.Range(one.Value, one.Interval))
		}
		v.Rows = append(v.Rows, row)
	}
	if s.Method == findings.Screening {
		v.Scatter = scatter(s)
	}
	return v
}

// drawn reports whether a figure has a bar: only µ* of a screening has one.
func drawn(s *findings.Sensitivity, figure int) bool {
	return s.Method != findings.Screening || figure == 0
}

// influence draws the bars of a factor over each other, the longest one faint.
func (r *ruler) influence(s *findings.Sensitivity, f *findings.Influence) template.HTML {
	out := &svg{}
	out.put(`<svg class="plot" role="img" height="%d"><title>%s</title>`, barHeight, esc(findings.Brief(f.Name)))
	zero := r.share(0)
	for i, one := range f.Figures {
		if !drawn(s, i) || math.IsNaN(one.Value) || math.IsInf(one.Value, 0) {
			continue
		}
		look := "bar"
		if s.Method == findings.Indices && i == 1 {
			look = "bar faint"
		}
		at := r.share(one.Value)
		out.put(`<rect class="%s" x="%.2f%%" width="%.2f%%" y="3" height="12"/>`, look, 100*math.Min(zero, at), 100*math.Abs(at-zero))
	}
	out.put(`<line class="zero" x1="%.2f%%" x2="%.2f%%" y1="-8" y2="%d"/></svg>`, 100*zero, 100*zero, barHeight+8)
	return out.done()
}

// scatter draws µ* and σ of the factors of a screening.
func scatter(s *findings.Sensitivity) template.HTML {
	xs, ys := []float64{0}, []float64{0}
	for _, f := range s.Factors {
		xs, ys = append(xs, f.Figures[0].Value), append(ys, f.Figures[2].Value)
	}
	x, y := newRuler(xs), newRuler(ys)
	var ticks []tick
	for i := range x.steps + 1 {
		ticks = append(ticks, tick{x.share(x.tick(i)), findings.Tick(x.tick(i))})
	}
	out := &svg{}
	out.frame("µ* and σ", &y, ticks)
	for _, f := range s.Factors {
		at, up := x.share(f.Figures[0].Value), y.share(f.Figures[2].Value)
		if math.IsNaN(at) || math.IsNaN(up) {
			continue
		}
		side, dx := "", 8
		if at > 0.6 {
			side, dx = "end", -8
		}
		out.put(`<circle class="dot sure" cx="%.2f%%" cy="%.1f" r="4"/><text class="%s" x="%.2f%%" dx="%d" y="%.1f">%s</text>`,
			100*at, plotHeight*(1-up), side, 100*at, dx, plotHeight*(1-up)-5, esc(findings.Brief(f.Name)))
	}
	out.put(`</svg>`)
	return out.done()
}
