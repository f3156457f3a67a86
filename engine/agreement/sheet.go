package agreement

import (
	"strconv"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// Sheet returns the figures as a table for files: a row for each step, for each part of its answers, and for each cycle.
func (r *Result) Sheet() findings.Sheet {
	s := findings.Sheet{Columns: []findings.Column{
		{Name: "step", Help: "Step of the model."},
		{Name: "field", Help: "Part of the answer; empty for all choices in it together."},
		{Name: "cycle", Kind: findings.Whole, Help: "Cycle, from 0; empty for all."},
		{Name: "same", Kind: findings.Whole, Help: "Pairs of answers of model and rule that are the same."},
		{Name: "pairs", Kind: findings.Whole, Help: "Pairs of answers of model and rule."},
		{Name: "share", Kind: findings.Numbers, Help: "Share of the same answers, from 0 to 1."},
		{Name: "low", Kind: findings.Numbers, Help: "Lower end of its 95% interval (Wilson)."},
		{Name: "high", Kind: findings.Numbers, Help: "Upper end of that interval."},
		{Name: "kappa", Kind: findings.Numbers, Help: "Cohen's kappa: 0 as by chance, 1 always the same."},
		{Name: "mean_absolute_difference", Kind: findings.Numbers, Help: "Of ratings: how far model and rule are apart on average."},
		{Name: "mean_absolute_difference_low", Kind: findings.Numbers, Help: "Lower end of its 95% interval."},
		{Name: "mean_absolute_difference_high", Kind: findings.Numbers, Help: "Upper end of that interval."},
		{Name: "weighted_kappa", Kind: findings.Numbers, Help: "Of ratings: kappa with quadratic weights."},
		{Name: "weighted_kappa_low", Kind: findings.Numbers, Help: "Lower end of its 95% interval."},
		{Name: "weighted_kappa_high", Kind: findings.Numbers, Help: "Upper end of that interval."},
	}}
	add := func(step, field, cycle string, a *Share, k *Kappa, r *Rating) {
		if a == nil {
			return
		}
		kappa := ""
		if k != nil {
			kappa = number(k.Value)
		}
		rating := make([]string, 6)
		if r != nil {
			rating[0], rating[1], rating[2] = number(r.Difference.Mean), numberIf(r.Difference.Low), numberIf(r.Difference.High)
		}
		if r != nil && r.Weighted != nil {
			rating[3], rating[4], rating[5] = number(r.Weighted.Value), number(r.Weighted.Low), number(r.Weighted.High)
		}
		row := []string{step, field, cycle, strconv.Itoa(a.Count), strconv.Itoa(a.Of), number(a.Share), number(a.Low), number(a.High), kappa}
		s.Rows = append(s.Rows, append(row, rating...))
	}
	for i := range r.Steps {
		one := &r.Steps[i]
		add(one.Step, "", "", one.Agree, nil, nil)
		for k := range one.Fields {
			f := &one.Fields[k]
			add(one.Step, f.label(), "", f.Agree, f.Kappa, f.Rating)
		}
		for k := range one.Cycles {
			add(one.Step, "", strconv.Itoa(one.Cycles[k].Cycle), &one.Cycles[k].Share, nil, nil)
		}
	}
	return s
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// numberIf writes a figure; "" if it is unknown.
func numberIf(x *float64) string {
	if x == nil {
		return ""
	}
	return number(*x)
}
