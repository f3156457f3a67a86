package validation

import (
	"math"
	"strconv"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// Sheet returns the figures as a table with a row for each measure.
func (r *Result) Sheet() findings.Sheet {
	s := findings.Sheet{Columns: []findings.Column{
		{Name: "column", Help: "Column of the real data."},
		{Name: "figure", Help: "Figure of the run."},
		{Name: "per", Help: "agent or session."},
		{Name: "kind", Help: "number or category."},
		{Name: "differs", Help: "true if a test is significant after the correction for all tests."},
		{Name: "problem", Help: "Why nothing was compared."},
	}}
	whole := func(name, help string) {
		s.Columns = append(s.Columns, findings.Column{Name: name, Kind: findings.Whole, Help: help})
	}
	figure := func(name, help string) {
		s.Columns = append(s.Columns, findings.Column{Name: name, Kind: findings.Numbers, Help: help})
	}
	for _, side := range []string{"real", "run"} {
		whole(side+"_n", "Values.")
		whole(side+"_missing", "Missing values.")
		figure(side+"_mean", "Mean.")
		figure(side+"_sd", "Standard deviation.")
		figure(side+"_median", "Median.")
	}
	figure("difference", "Mean of the run minus that of the real data.")
	figure("difference_low", "Lower end of its 95% interval.")
	figure("difference_high", "Its upper end.")
	for _, test := range []string{"welch", "ks", "chi_square"} {
		if test != "welch" {
			figure(test, "Statistic of the test.")
		}
		figure(test+"_p", "Its p-value.")
		figure(test+"_p_adjusted", "Its p-value, corrected for all tests.")
	}
	figure("cramers_v", "Effect size of the chi-square test.")
	figure("wasserstein", "Wasserstein-1 distance, in the unit of the column.")
	figure("jensen_shannon", "Jensen–Shannon divergence in bits.")
	for i := range r.Rows {
		s.Rows = append(s.Rows, r.Rows[i].record())
	}
	return s
}

// record returns the cells of a row of the table.
func (r *Row) record() []string {
	cells := []string{r.Column, r.Figure, string(r.Per), string(r.Kind), strconv.FormatBool(r.Differs()), r.Problem}
	add := func(all ...float64) {
		for _, v := range all {
			text := ""
			if !math.IsNaN(v) {
				text = strconv.FormatFloat(v, 'g', -1, 64)
			}
			cells = append(cells, text)
		}
	}
	for _, side := range []*Side{&r.Real, &r.Run} {
		cells = append(cells, strconv.Itoa(side.N), strconv.Itoa(side.Missing))
		add(side.Mean, side.SD, side.Median)
	}
	d := &r.Mean
	add(d.Value, d.Interval.Low, d.Interval.High, d.P, d.Adjusted)
	for _, t := range []*Test{&r.Smirnov, &r.ChiSquare} {
		add(t.Statistic, t.P, t.Adjusted)
	}
	add(r.CramersV, r.Wasserstein, r.JensenShannon)
	return cells
}

// Shares returns how much of both sides is in one of the bins, from 0 to 1.
func (r *Row) Shares(b *Bin) (real, run float64) {
	return float64(b.Real) / float64(max(r.Real.N, 1)), float64(b.Run) / float64(max(r.Run.N, 1))
}
