package agreement

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// z is the quantile of the normal distribution for 95% intervals.
const z = 1.959963984540054

// newShare returns a share; nil of nothing.
func newShare(count, of int) *Share {
	if of == 0 {
		return nil
	}
	s := &Share{Count: count, Of: of, Share: float64(count) / float64(of)}
	s.Low, s.High = statistics.Wilson(count, of)
	return s
}

// Kappa is the agreement beyond chance: 0 if it is as frequent as by chance, 1 if it is complete (Cohen 1960), with its 95% interval for
// large samples.
type Kappa struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// newKappa returns the kappa of pairs; nil if both always gave the same one answer.
func newKappa(counts map[[2]string]int, of int) *Kappa {
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
	half := z * math.Sqrt(same*(1-same)/float64(of)) / (1 - chance)
	k.Low, k.High = max(k.Value-half, -1), min(k.Value+half, 1)
	return &k
}

// Numbers compares a number that model and rule answered: the means, their difference (model minus rule) with the 95% interval after Student
// for pairs, and the correlation.
type Numbers struct {
	Pairs       int      `json:"pairs"`
	Model       float64  `json:"model"`
	Rule        float64  `json:"rule"`
	Difference  float64  `json:"difference"`
	Low         *float64 `json:"low,omitempty"` // nil with fewer than two pairs
	High        *float64 `json:"high,omitempty"`
	Correlation *float64 `json:"correlation,omitempty"` // nil if one of them is constant
}

func newNumbers(model, rule []float64) *Numbers {
	n := &Numbers{Pairs: len(model), Model: stat.Mean(model, nil), Rule: stat.Mean(rule, nil)}
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
	// Z is the statistic of the test for a trend of shares over cycles (Cochran 1954, Armitage 1955), P its two-sided p-value.
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

// newDrift returns the drift over cycles; nil with one cycle, or if all pairs agree or none does.
func newDrift(cycles []Cycle) *Drift {
	var same, of, at float64
	for _, c := range cycles {
		same, of, at = same+float64(c.Count), of+float64(c.Of), at+float64(c.Of)*float64(c.Cycle)
	}
	if len(cycles) < 2 || same == 0 || same == of {
		return nil
	}
	p, middle := same/of, at/of
	sum, spread := 0.0, 0.0
	for _, c := range cycles {
		x := float64(c.Cycle) - middle
		sum += x * (float64(c.Count) - float64(c.Of)*p)
		spread += x * x * float64(c.Of)
	}
	d := &Drift{Z: sum / math.Sqrt(p*(1-p)*spread)}
	d.P = math.Erfc(math.Abs(d.Z) / math.Sqrt2)
	half := func(of []Cycle) Share {
		count, n := 0, 0
		for _, c := range of {
			count, n = count+c.Count, n+c.Of
		}
		return *newShare(count, n)
	}
	d.Early, d.Late = half(cycles[:len(cycles)/2]), half(cycles[len(cycles)/2:])
	d.Difference = d.Late.Share - d.Early.Share
	d.Low = d.Difference - math.Hypot(d.Late.Share-d.Late.Low, d.Early.High-d.Early.Share)
	d.High = d.Difference + math.Hypot(d.Late.High-d.Late.Share, d.Early.Share-d.Early.Low)
	return d
}
