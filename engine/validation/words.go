package validation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// remark says why a measure cannot be compared, and what to consider if it can.
func (r *Row) remark(real, run *Values) {
	for _, side := range []struct {
		of    string
		v     *Values
		units string
	}{{"Column " + r.Column, real, "rows"}, {"The run", run, string(r.Per) + "s"}} {
		switch n := side.v.Len(); {
		case n == 0 && side.v.Odd > 0:
			r.Problem = fmt.Sprintf("%s has no numbers: %s of the run is not a number. Declare `kind: category`, or choose another figure.", side.of, r.Figure)
		case n == 0:
			r.Problem = side.of + " has no values."
		case n < Fewest:
			r.Problem = fmt.Sprintf("%s has only %s; a comparison needs at least %d.", side.of, engine.Counted(int64(n), "value", "values"), Fewest)
		default:
			if side.v.Missing > 0 {
				r.Notes = append(r.Notes, fmt.Sprintf("%s has no value for %d of %d %s; they are left out.", side.of, side.v.Missing, n+side.v.Missing, side.units))
			}
			if constant(side.v) {
				r.Notes = append(r.Notes, fmt.Sprintf("%s is constant: it has the value %s only.", side.of, anyOf(side.v)))
			}
		}
		if r.Problem != "" {
			return
		}
	}
	if r.Per == PerSession {
		r.Notes = append(r.Notes, "Sessions of one agent resemble each other, so p-values may be too small.")
	}
}

func constant(v *Values) bool {
	if len(v.Numbers) > 0 {
		return slices.Min(v.Numbers) == slices.Max(v.Numbers)
	}
	return distinct(v.Texts) == 1
}

func anyOf(v *Values) string {
	if len(v.Numbers) > 0 {
		return figureText(v.Numbers[0])
	}
	return v.Texts[0]
}

func figureText(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.4g", x)
}

func percent(n, of int) string { return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(of, 1))) }

// chance formats a p-value.
func chance(p float64) string {
	switch {
	case math.IsNaN(p):
		return "unknown"
	case p < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

func equals(p float64) string {
	if text := chance(p); strings.HasPrefix(text, "<") {
		return "p " + text
	}
	return "p = " + chance(p)
}

// Sentence says what differs in the measure, by how much, and how sure that is.
func (r *Row) Sentence() string {
	switch {
	case r.Problem != "":
		return r.Column + " was not compared: " + r.Problem
	case r.Kind == Number:
		return r.Column + ": " + r.numberSentence()
	}
	return r.Column + ": " + r.categorySentence()
}

func (r *Row) numberSentence() string {
	const alpha = 1 - Level
	d := &r.Mean
	shape := r.Smirnov.Adjusted < alpha
	interval := ""
	if d.Interval.Known() {
		interval = fmt.Sprintf(" (%.0f%% interval %s to %s; %s)", 100*Level, signed(d.Interval.Low), signed(d.Interval.High), equals(d.Adjusted))
	}
	moved := fmt.Sprintf("On average, values lie %s from where the real distribution has them (Wasserstein-1)", figureText(r.Wasserstein))
	switch {
	case d.Adjusted < alpha:
		text := fmt.Sprintf("the run's mean of %s is %s than the real mean of %s%s.", figureText(r.Run.Mean), apart(d.Value), figureText(r.Real.Mean), interval)
		if shape {
			return text + fmt.Sprintf(" The distributions differ, too (Kolmogorov–Smirnov D = %.3f, %s). %s.", r.Smirnov.Statistic, equals(r.Smirnov.Adjusted), moved)
		}
		return text + " " + moved + "."
	case shape:
		return fmt.Sprintf("the distributions differ (Kolmogorov–Smirnov D = %.3f, %s), but a difference of the means, %s and %s, is not certain%s. %s.",
			r.Smirnov.Statistic, equals(r.Smirnov.Adjusted), figureText(r.Run.Mean), figureText(r.Real.Mean), interval, moved)
	}
	text := fmt.Sprintf("no difference found. The means are %s in the run and %s in the real data%s; Kolmogorov–Smirnov D = %.3f, %s.",
		figureText(r.Run.Mean), figureText(r.Real.Mean), interval, r.Smirnov.Statistic, equals(r.Smirnov.Adjusted))
	if !math.IsNaN(d.Margin) && d.Margin > 0 {
		text += fmt.Sprintf(" With %.0f%% confidence, the means differ by no more than %s.", 100*Level, figureText(d.Margin))
	}
	return text
}

func signed(x float64) string { return fmt.Sprintf("%+.4g", x) }

func apart(d float64) string {
	if d < 0 {
		return figureText(-d) + " lower"
	}
	return figureText(d) + " higher"
}

func (r *Row) categorySentence() string {
	var widest *Bin
	gap := func(b *Bin) float64 { return float64(b.Run)/float64(r.Run.N) - float64(b.Real)/float64(r.Real.N) }
	for i := range r.Bins {
		if b := &r.Bins[i]; widest == nil || math.Abs(gap(b)) > math.Abs(gap(widest)) {
			widest = b
		}
	}
	largest := fmt.Sprintf("the largest gap is %s, with %s of the run and %s of the real data", widest.Name, percent(widest.Run, r.Run.N), percent(widest.Real, r.Real.N))
	text := ""
	switch {
	case math.IsNaN(r.ChiSquare.P) && len(r.Bins) == 1:
		text = "no difference: both sides have the category " + widest.Name + " only."
	case math.IsNaN(r.ChiSquare.P):
		text = "there are too few values for a test of the shares; " + largest + "."
	case r.Differs():
		text = fmt.Sprintf("the shares differ (chi-square %s, %s; Cramér's V = %.2f; Jensen–Shannon %.3f bits); %s.",
			figureText(r.ChiSquare.Statistic), equals(r.ChiSquare.Adjusted), r.CramersV, r.JensenShannon, largest)
	default:
		text = fmt.Sprintf("no difference found (chi-square %s, %s); %s.", figureText(r.ChiSquare.Statistic), equals(r.ChiSquare.Adjusted), largest)
	}
	if r.Pooled > 0 {
		text += fmt.Sprintf(" The test counts the %d rarest categories as one.", r.Pooled)
	}
	if len(r.OnlyReal) > 0 {
		text += " Only in the real data: " + listed(r.OnlyReal) + "."
	}
	if len(r.OnlyRun) > 0 {
		text += " Only in the run: " + listed(r.OnlyRun) + "."
	}
	return text
}

// Verdict says how many measures differ.
func (r *Result) Verdict() string {
	differ, compared := 0, 0
	for i := range r.Rows {
		if r.Rows[i].Compared() {
			compared++
		}
		if r.Rows[i].Differs() {
			differ++
		}
	}
	switch {
	case compared == 0:
		return "Nothing could be compared with the real data."
	case differ == 0:
		return fmt.Sprintf("No difference from the real data was found in %s.", engine.Counted(int64(compared), "measure", "measures"))
	}
	verb := "differ"
	if differ == 1 {
		verb = "differs"
	}
	return fmt.Sprintf("%d of %s %s from the real data.", differ, engine.Counted(int64(compared), "measure", "measures"), verb)
}

// Differ reports whether a measure differs.
func (r *Result) Differ() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Differs() })
}

// Method says how the comparison was made.
func (r *Result) Method() string {
	text := fmt.Sprintf("Numbers: Kolmogorov–Smirnov test and Welch's t-test of the means. Categories: chi-square test. p is corrected for all tests of all measures (Holm), "+
		"so that a run that does not differ is found to differ in at most %.0f%% of cases.", 100*(1-Level))
	if r.Shared != "" {
		text += " The tests take agents as independent of each other. Those of this run are not, because " + r.Shared + ": p may be too small. Look at several seeds."
	}
	return text
}

// Head returns the heads of the columns of [Row.Cells].
func Head() []string {
	return []string{"Column", "Figure", "Real", "Run", "Difference of means", "p", "KS D", "p", "Wasserstein-1", "Chi-square", "p", "Jensen–Shannon"}
}

// Cells returns the figures of the row as text.
func (r *Row) Cells() []string {
	sample := func(s *Side) string {
		if r.Kind == Category {
			return engine.Counted(int64(s.N), "value", "values")
		}
		return fmt.Sprintf("%s ± %s (%d)", figureText(s.Mean), figureText(s.SD), s.N)
	}
	cells := []string{r.Column, r.Figure, sample(&r.Real), sample(&r.Run)}
	if !r.Compared() {
		return append(cells, "not compared", "", "", "", "", "", "", "")
	}
	test := func(t *Test, form string) []string {
		if math.IsNaN(t.Statistic) {
			return []string{"", ""}
		}
		return []string{fmt.Sprintf(form, t.Statistic), chance(t.Adjusted)}
	}
	difference := []string{"", ""}
	if r.Kind == Number {
		difference = []string{signed(r.Mean.Value), chance(r.Mean.Adjusted)}
		if i := r.Mean.Interval; i.Known() {
			difference[0] += fmt.Sprintf(" (%s to %s)", signed(i.Low), signed(i.High))
		}
	}
	cells = append(append(cells, difference...), test(&r.Smirnov, "%.3f")...)
	moved := ""
	if r.Kind == Number {
		moved = figureText(r.Wasserstein)
	}
	return append(append(append(cells, moved), test(&r.ChiSquare, "%.4g")...), fmt.Sprintf("%.3f", r.JensenShannon))
}

// Label names a bar of a chart: its category or number, or where its numbers begin and end.
func (b *Bin) Label() string {
	if b.Name != "" {
		return b.Name
	}
	return figureText(b.Low) + " to " + figureText(b.High)
}
