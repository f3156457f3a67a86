package agreement

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Rating compares a choice among at least three numbers, such as 1 to 5, whose distances count.
type Rating struct {
	Pairs int `json:"pairs"` // both with a number
	// Difference is the mean of the absolute differences of model and rule, with its 95% interval.
	Difference Estimate `json:"mean_absolute_difference"`
	// Weighted is the kappa with quadratic weights (Cohen 1968): an answer that is off by 2 counts four times as much as one that is off
	// by 1. It is nil if both always gave the same one answer.
	Weighted *Kappa `json:"weighted_kappa,omitempty"`
}

// Estimate is a mean with its 95% interval; without ends with fewer than two agents.
type Estimate struct {
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// leastRatings is how many different numbers a rating has at least: with two, distances say no more than equality.
const leastRatings = 3

// isRating reports whether answers are numbers, or null.
func isRating(answers []string) bool {
	return !slices.ContainsFunc(answers, func(a string) bool { return a != "null" && math.IsNaN(numberOf(a)) })
}

// newRating returns the comparison of a choice whose answers are all numbers; nil if they are too few.
func newRating(all []both) *Rating {
	different := map[float64]bool{}
	for _, b := range all {
		different[b.model], different[b.rule] = true, true
	}
	if len(different) < leastRatings {
		return nil
	}
	n := float64(len(all))
	var model, rule moments
	distance, square := 0., 0.
	for _, b := range all {
		model.add(b.model)
		rule.add(b.rule)
		distance += math.Abs(b.model-b.rule) / n
		square += (b.model - b.rule) * (b.model - b.rule) / n
	}
	half := halfWidth(all, func(b both) float64 { return math.Abs(b.model-b.rule) - distance })
	r := &Rating{Pairs: len(all), Difference: Estimate{distance, known(max(distance-half, 0)), known(distance + half)}}
	if math.IsNaN(half) {
		r.Difference.Low = nil
	}
	chance := model.variance() + rule.variance() + (model.mean()-rule.mean())*(model.mean()-rule.mean()) // of independent answers
	if chance < 1e-12 {
		return r
	}
	k := Kappa{Value: 1 - square/chance}
	// The influence of a pair on kappa, whose variance is that of Fleiss, Cohen and Everitt (1969) if each pair has an agent of its own.
	half = halfWidth(all, func(b both) float64 {
		return -((b.model-b.rule)*(b.model-b.rule)-square)/chance + square/chance/chance*(rule.around(b.model)+model.around(b.rule)-2*chance)
	})
	if !math.IsNaN(half) {
		k.Low, k.High = max(k.Value-half, -1), min(k.Value+half, 1)
		r.Weighted = &k
	}
	return r
}

// halfWidth is that of the 95% interval of an estimate (Student) to which each pair contributes; agents are independent of each other, the
// pairs of one are not. It is NaN with fewer than two agents.
func halfWidth(all []both, influence func(both) float64) float64 {
	agents := map[int]float64{}
	for _, b := range all {
		agents[b.agent] += influence(b) / float64(len(all))
	}
	if len(agents) < 2 {
		return math.NaN()
	}
	count, sum := float64(len(agents)), 0.
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		sum += agents[agent] * agents[agent]
	}
	t := distuv.StudentsT{Sigma: 1, Nu: count - 1}.Quantile(0.975)
	return t * math.Sqrt(sum*count/(count-1))
}

// moments are those of numbers.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64)     { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }
func (m *moments) mean() float64     { return m.sum / m.n }
func (m *moments) variance() float64 { return max(m.squares/m.n-m.mean()*m.mean(), 0) }

// around is the mean square of the distances from x.
func (m *moments) around(x float64) float64 {
	return m.variance() + (m.mean()-x)*(m.mean()-x)
}

func (r *Rating) sentence(name string) string {
	text := fmt.Sprintf("%s: model and rule are %s", name, figure(r.Difference.Mean))
	if r.Difference.Low != nil && r.Difference.High != nil {
		text += fmt.Sprintf(" [%s, %s]", figure(*r.Difference.Low), figure(*r.Difference.High))
	}
	text += " apart on average"
	if r.Weighted != nil {
		text += fmt.Sprintf("; weighted kappa %s, which counts large differences more than small ones", r.Weighted.text())
	}
	return text + "."
}
