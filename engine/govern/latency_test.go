package govern

import (
	"math"
	"slices"
	"testing"
)

func TestLatencyKnee(t *testing.T) {
	for _, start := range []int{1, 5, 50, 100} {
		for _, mean := range []float64{1, 6} {
			var conv []int
			var dist, osc, pr []float64
			var bad []int
			for seed := range uint64(40) {
				p := &plant{agents: 372, mean: mean, knee: constant(40)}
				p.start(seed, start)
				tr := drive(t, pilotOf(t, "latency"), p, 3600)
				f := tr.settled(1200, 40)
				conv = append(conv, f.converged)
				dist = append(dist, f.distance)
				osc = append(osc, f.oscillation)
				pr = append(pr, f.probing)
				if math.Abs(f.distance) > .1 || f.oscillation > .15 {
					bad = append(bad, int(seed))
				}
			}
			slices.Sort(conv)
			slices.Sort(dist)
			slices.Sort(osc)
			slices.Sort(pr)
			t.Logf("start %3d mean %v: conv %v dist %.2f..%.2f..%.2f osc %.2f %.2f %.2f probing %.2f %.2f bad %v", start, mean, []int{conv[20], conv[36], conv[39]},
				dist[0], dist[20], dist[39], osc[20], osc[36], osc[39], pr[20], pr[39], bad)
		}
	}
}
