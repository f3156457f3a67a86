package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/ui/internal/chart"
)

// SetEffects shows the differences of points from the baseline: filled and in the accent color if they are significant, hollow if not.
// Without a baseline it shows the estimates.
func (r *Rows) SetEffects(p findings.EffectPlot) {
	bars := p.Bars
	if len(bars) > mostRows {
		bars = largest(bars)
	}
	differences := p.Baseline != ""
	rows := make([]row, 0, len(bars))
	for _, b := range bars {
		l := quiet
		if b.Clear {
			l = accent
		}
		rows = append(rows, row{
			name: b.Label, value: valueOf(b.Value, brief(p.Unit), differences), tip: effectTip(&b, &p), clear: b.Clear,
			marks: []mark{{look: l, value: b.Value, low: b.Low, high: b.High}},
		})
	}
	r.set(rows, nil, differences, brief(p.Unit))
	if len(p.Bars) > len(bars) {
		r.note = fmt.Sprintf("%d of %d points", len(bars), len(p.Bars))
		r.update()
	}
}

// largest returns the bars with the largest significant values, and then with the largest ones, in their order.
func largest(bars []findings.EffectBar) []findings.EffectBar {
	all := slices.Clone(bars)
	slices.SortStableFunc(all, func(a, b findings.EffectBar) int {
		if a.Clear != b.Clear {
			return map[bool]int{true: -1, false: 1}[a.Clear]
		}
		return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value))
	})
	all = all[:mostRows]
	slices.SortFunc(all, func(a, b findings.EffectBar) int { return cmp.Compare(a.Point, b.Point) })
	return all
}

// valueOf formats a value, as a difference if it is one.
func valueOf(v float64, unit string, difference bool) string {
	text := findings.InUnit(v, unit)
	if difference && v > 0 && text != findings.Unknown {
		return "+" + text
	}
	return text
}

// brief returns a unit for figures next to each other; percentage points need no name there.
func brief(unit string) string {
	if unit == findings.PercentagePoints {
		return ""
	}
	return unit
}

// figureText formats a figure of a method; shares of the variance have two decimals.
func figureText(v float64, unit string, method findings.SensitivityKind) string {
	switch method {
	case findings.Indices, findings.Shares:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return valueOf(v, unit, method == findings.Tornado)
	}
}

// counted returns a number of runs.
func counted(runs int) string {
	if runs == 1 {
		return "1 run"
	}
	return figures.Count(int64(runs)) + " runs"
}

func effectTip(b *findings.EffectBar, p *findings.EffectPlot) string {
	text := b.Label + "\n" + valueOf(b.Value, p.Unit, p.Baseline != "")
	if !math.IsNaN(b.Low) && !math.IsNaN(b.High) {
		text += ", 95% interval " + valueOf(b.Low, p.Unit, p.Baseline != "") + " to " + valueOf(b.High, p.Unit, p.Baseline != "")
	}
	text += ", " + counted(b.Runs)
	switch {
	case b.Clear:
		text += "\nSignificant"
	case p.Baseline != "":
		text += "\nNot significant"
	}
	if b.Note != "" {
		text += "\n" + b.Note
	}
	return text
}

// SetInfluences shows how much each factor matters, most important first. [Screening] shows the same of [findings.Screening].
func (r *Rows) SetInfluences(s *findings.Sensitivity) {
	kinds := []look{{shapes[0], chart.ColorSeries1, false}, {shapes[1], chart.ColorSeries2, false}}
	bars := s.Method == findings.Tornado || s.Method == findings.Shares
	var l legend
	if len(s.Figures) > 1 {
		for i, name := range s.Figures {
			l = append(l, entry{look: kinds[i%len(kinds)], name: name})
		}
	}
	rows := make([]row, 0, len(s.Factors))
	for _, f := range s.Factors {
		one := row{name: findings.Brief(f.Name), tip: findings.Brief(f.Name)}
		for i, figure := range f.Figures {
			text := figureText(figure.Value, s.Unit, s.Method)
			if i > 0 {
				one.value += " / "
			}
			one.value += text
			one.tip += "\n" + s.Figures[i] + ": " + text
			m := mark{look: kinds[i%len(kinds)], value: figure.Value, low: math.NaN(), high: math.NaN(), bar: bars}
			if figure.Interval.Known() {
				m.low, m.high = figure.Interval.Low, figure.Interval.High
				one.tip += ", 95% interval " + figureText(m.low, s.Unit, s.Method) + " to " + figureText(m.high, s.Unit, s.Method)
			}
			one.marks = append(one.marks, m)
		}
		rows = append(rows, one)
	}
	r.title = "factors"
	r.set(rows, l, true, brief(s.Unit))
}
