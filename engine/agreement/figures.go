package agreement

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// z is the quantile of the normal distribution for 95% intervals.
const z = 1.959963984540054

// tally counts pairs, and those with the same answer, by agent.
type tally struct {
	same, of int
	agents   map[int]count
}

type count struct{ same, of int }

func (t *tally) add(agent int, same bool) {
	if t.agents == nil {
		t.agents = map[int]count{}
	}
	c := t.agents[agent]
	c.of++
	t.of++
	if same {
		c.same++
		t.same++
	}
	t.agents[agent] = c
}

// size is the effective number of independent pairs, at most as many as there are: decisions of one agent resemble each other. It is the
// number for which the variance of the share is the one between agents (Kish 1965; Franco, Little, Louis and Slud 2019).
func (t *tally) size() float64 {
	clusters := float64(len(t.agents))
	p := float64(t.same) / float64(t.of)
	switch {
	case len(t.agents) == t.of:
		return float64(t.of)
	case t.same == 0 || t.same == t.of || clusters < 2:
		return clusters
	}
	sum := 0.0
	for _, c := range t.agents {
		d := float64(c.same) - p*float64(c.of)
		sum += d * d
	}
	variance := sum / float64(t.of) / float64(t.of) * clusters / (clusters - 1)
	return min(p*(1-p)/max(variance, 1e-12), float64(t.of))
}

// share returns the share of pairs with the same answer; nil without pairs.
func (t *tally) share() *Share {
	if t.of == 0 {
		return nil
	}
	s := &Share{Count: t.same, Of: t.of, Share: float64(t.same) / float64(t.of)}
	s.Low, s.High = statistics.WilsonOf(s.Share, t.size())
	return s
}

// Kappa is the agreement beyond chance: 0 if it is as frequent as by chance, 1 if it is complete (Cohen 1960), with its 95% interval for
// large samples.
type Kappa struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// newKappa returns the kappa of pairs; nil if both always gave the same one answer. size is the effective number of pairs.
func newKappa(counts map[[2]string]int, of int, size float64) *Kappa {
	model, rule := map[string]float64{}, map[string]float64{}
	same := 0.0
	for both, n := range counts {
		share := float64(n) / float64(of)
		model[both[0]] += share
		rule[both[1]] += share
		if both[0] == both[1] {
			same += share
		}
	}
	chance := 0.0
	for answer, share := range model {
		chance += share * rule[answer]
	}
	if chance > 1-1e-12 {
		return nil
	}
	k := Kappa{Value: (same - chance) / (1 - chance)}
	half := z * math.Sqrt(same*(1-same)/size) / (1 - chance)
	k.Low, k.High = max(k.Value-half, -1), min(k.Value+half, 1)
	return &k
}

// Numbers compares a number that model and rule answered: the means, their difference (model minus rule) with the 95% interval after Student
// for pairs, and the correlation. The mean of an agent counts once.
type Numbers struct {
	Pairs       int      `json:"pairs"`
	Model       float64  `json:"model"`
	Rule        float64  `json:"rule"`
	Difference  float64  `json:"difference"`
	Low         *float64 `json:"low,omitempty"` // nil with fewer than two agents
	High        *float64 `json:"high,omitempty"`
	Correlation *float64 `json:"correlation,omitempty"` // nil if one of them is constant
}

func newNumbers(all []both) *Numbers {
	byAgent := map[int][]both{}
	for _, b := range all {
		byAgent[b.agent] = append(byAgent[b.agent], b)
	}
	var model, rule []float64
	for _, agent := range slices.Sorted(maps.Keys(byAgent)) {
		var m, r float64
		for _, b := range byAgent[agent] {
			m, r = m+b.model, r+b.rule
		}
		times := float64(len(byAgent[agent]))
		model, rule = append(model, m/times), append(rule, r/times)
	}
	n := &Numbers{Pairs: len(all), Model: stat.Mean(model, nil), Rule: stat.Mean(rule, nil)}
	d := statistics.Paired(rule, model)
	n.Difference = n.Model - n.Rule
	n.Low, n.High = known(d.Interval.Low), known(d.Interval.High)
	n.Correlation = known(stat.Correlation(model, rule, nil))
	return n
}

func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Drift says whether agreement changes over cycles.
type Drift struct {
	// Z is the statistic of the test for a trend of shares over cycles (Cochran 1954, Armitage 1955), with the variance between agents; P is
	// its two-sided p-value.
	Z float64 `json:"z"`
	P float64 `json:"p"`
	// Early and Late are the first and second half of the cycles with pairs.
	Early Share `json:"early"`
	Late  Share `json:"late"`
	// Difference is Late minus Early, with its 95% interval (Newcombe 1998, method 10).
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

// newDrift returns the drift over cycles in order; nil with one cycle, or if all pairs agree or none does.
func newDrift(order []int, cycles map[int]*tally) *Drift {
	var same, of, at float64
	for cycle, c := range cycles {
		same, of, at = same+float64(c.same), of+float64(c.of), at+float64(c.of)*float64(cycle)
	}
	if len(order) < 2 || same == 0 || same == of {
		return nil
	}
	p, middle := same/of, at/of
	scores := map[int]float64{}
	var early, late tally
	for i, cycle := range order {
		half := &late
		if i < len(order)/2 {
			half = &early
		}
		for agent, c := range cycles[cycle].agents {
			scores[agent] += (float64(cycle) - middle) * (float64(c.same) - p*float64(c.of))
			for k := range c.of {
				half.add(agent, k < c.same)
			}
		}
	}
	sum, spread := 0.0, 0.0
	for _, agent := range slices.Sorted(maps.Keys(scores)) {
		sum += scores[agent]
		spread += scores[agent] * scores[agent]
	}
	d := &Drift{Z: sum / math.Sqrt(spread), Early: *early.share(), Late: *late.share()}
	d.P = math.Erfc(math.Abs(d.Z) / math.Sqrt2)
	d.Difference = d.Late.Share - d.Early.Share
	d.Low = d.Difference - math.Hypot(d.Late.Share-d.Late.Low, d.Early.High-d.Early.Share)
	d.High = d.Difference + math.Hypot(d.Late.High-d.Late.Share, d.Early.Share-d.Early.Low)
	return d
}
