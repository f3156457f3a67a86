package compare

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/throng-sim/throng/engine"
)

// Level is the confidence of all intervals.
const Level = 0.95

// Interval is an estimate with its confidence interval. Unknown values are NaN.
type Interval struct{ Mean, Low, High float64 }

// Row is one measure of all runs.
type Row struct {
	Kind Kind
	Name string
	// Of is the measure of each run: for a share with Wilson's score interval over its sessions, otherwise the mean over the agents with
	// Student's interval.
	Of []Interval
	// Against is the difference of each run, except the first, from the first.
	Against []Difference
}

// Difference is the difference between two runs.
type Difference struct {
	Interval
	Agents int     // number of agents compared
	Same   bool    // no agent differs
	P      float64 // probability of a difference of this size by chance; NaN if unknown
	// Adjusted is P corrected for the number of measures, by Holm's method.
	Adjusted float64
}

// Clear reports whether the difference is significant, at the 5% level over all measures together.
func (d *Difference) Clear() bool { return d.Adjusted < 1-Level }

// Table compares samples of the same cycles. The units are agents, because the sessions of one agent are not independent of each other.
// paired has a value for each sample except the first: it tells whether a run has the same agents as the first. Then each agent is
// compared with itself (the t-test for paired samples), otherwise Welch's t-test is used (Welch 1947). Neither test covers chance that
// all agents of a run share, such as a shop that was drawn from its seed.
func Table(samples []*Sample, paired []bool) []Row {
	var rows []Row
	for _, m := range measuresOf(samples) {
		row := Row{Kind: m.kind, Name: m.name}
		for i, s := range samples {
			row.Of = append(row.Of, s.estimate(m))
			if i > 0 {
				row.Against = append(row.Against, differ(samples[0].measures[m], s.measures[m], paired[i-1]))
			}
		}
		rows = append(rows, row)
	}
	for i := 1; i < len(samples); i++ {
		adjust(rows, i-1)
	}
	return rows
}

// estimate returns a measure of one run.
func (s *Sample) estimate(m measure) Interval {
	v := s.measures[m]
	if !m.kind.Share() {
		return mean(v.means())
	}
	var hits float64
	var n int64
	if v != nil {
		for i, c := range v.count {
			hits, n = hits+v.sum[i], n+int64(c)
		}
	}
	return Wilson(int64(math.Round(hits)), n)
}

// means returns the means of all agents with a value.
func (v *values) means() (all []float64) {
	if v == nil {
		return nil
	}
	for agent := range v.count {
		if x, ok := v.mean(agent); ok {
			all = append(all, x)
		}
	}
	return all
}

// Wilson returns a share and its score interval (Wilson 1927).
func Wilson(hits, of int64) Interval {
	if of == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	z := distuv.UnitNormal.Quantile(1 - (1-Level)/2)
	n, p := float64(of), float64(hits)/float64(of)
	middle, half := (p+z*z/(2*n))/(1+z*z/n), z/(1+z*z/n)*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return Interval{p, max(middle-half, 0), min(middle+half, 1)}
}

// moments returns the mean of some values and the variance of that mean.
func moments(all []float64) (mean, variance float64) {
	n := float64(len(all))
	for _, x := range all {
		mean += x / n
	}
	for _, x := range all {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / (n - 1) / n
}

// mean returns Student's interval; without bounds for a single value.
func mean(all []float64) Interval {
	if len(all) == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	m, variance := moments(all)
	return around(m, math.Sqrt(variance), float64(len(all)-1))
}

func around(m, deviation, freedom float64) Interval {
	if freedom <= 0 || math.IsNaN(deviation) || math.IsNaN(freedom) {
		return Interval{m, math.NaN(), math.NaN()}
	}
	half := student(freedom).Quantile(1-(1-Level)/2) * deviation
	return Interval{m, m - half, m + half}
}

func student(freedom float64) distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}
}

// differ tests the difference of two runs.
func differ(a, b *values, paired bool) Difference {
	if paired {
		return pairs(a, b)
	}
	x, y := a.means(), b.means()
	d := Difference{Interval: Interval{math.NaN(), math.NaN(), math.NaN()}, Agents: len(x) + len(y), P: math.NaN()}
	if len(x) == 0 || len(y) == 0 {
		return d
	}
	mx, vx := moments(x)
	my, vy := moments(y)
	deviation := math.Sqrt(vx + vy)
	freedom := (vx + vy) * (vx + vy) / (vx*vx/float64(len(x)-1) + vy*vy/float64(len(y)-1))
	return d.test(my-mx, deviation, freedom)
}

// pairs compares each agent that is in both runs with itself.
func pairs(a, b *values) Difference {
	var all []float64
	same := true
	for agent := range max(a.size(), b.size()) {
		x, one := a.mean(agent)
		y, other := b.mean(agent)
		if one && other {
			all = append(all, y-x)
		}
		same = same && one == other && x == y
	}
	d := Difference{Interval: Interval{math.NaN(), math.NaN(), math.NaN()}, Agents: len(all), Same: same, P: math.NaN()}
	if len(all) == 0 {
		return d
	}
	m, variance := moments(all)
	return d.test(m, math.Sqrt(variance), float64(len(all)-1))
}

func (v *values) size() int {
	if v == nil {
		return 0
	}
	return len(v.count)
}

// test computes a difference from its standard error. Without deviation, nothing is left to chance.
func (d Difference) test(m, deviation, freedom float64) Difference {
	d.Interval = around(m, deviation, freedom)
	switch {
	case d.Same, deviation == 0 && m == 0:
		d.P = 1
	case deviation == 0:
		d.Interval, d.P = Interval{m, m, m}, 0
	case freedom > 0:
		d.P = 2 * student(freedom).Survival(math.Abs(m)/deviation)
	}
	return d
}

// adjust corrects the p-values of one run's differences for their number (Holm 1979).
func adjust(rows []Row, run int) {
	var all []*Difference
	for i := range rows {
		d := &rows[i].Against[run]
		if d.Adjusted = d.P; !math.IsNaN(d.P) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b *Difference) int { return cmp.Compare(a.P, b.P) })
	floor := 0.0
	for i, d := range all {
		floor = max(floor, min(1, d.P*float64(len(all)-i)))
		d.Adjusted = floor
	}
}

// Common returns the cycles that all runs have completed: from the latest fork among them up to the first cycle that one of them has not
// closed. If from >= to, there are none.
func Common(runs []engine.RunRecord) (from, to int) {
	to = math.MaxInt
	for i := range runs {
		from, to = max(from, runs[i].ForkCycle), min(to, runs[i].Cycle)
	}
	return from, to
}
