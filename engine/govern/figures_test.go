package govern

import (
	"math"
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// trial tests a governor against a plant, with many seeds.
type trial struct {
	name     string
	governor string
	start    int
	seeds    uint64
	seconds  int
	from     int     // seconds after which the limit must have settled
	knee     float64 // as a limit
	plant    func() *plant

	distance    float64 // bound for nine in ten seeds
	oscillation float64
}

// run logs the figures of a trial as a line of a table. Nine in ten seeds must keep to the bounds, and all of them to twice the bounds.
func (c *trial) run(t *testing.T) {
	t.Helper()
	var converged, distance, oscillation, probing []float64
	for seed := range c.seeds {
		p := c.plant()
		p.start(seed, c.start)
		governor := governorWith(t, engine.Steering{Governor: c.governor, Floor: 1, Ceiling: 100})
		f := drive(t, governor, p, c.seconds).settled(c.from, c.knee)
		converged = append(converged, float64(f.converged))
		distance = append(distance, f.distance)
		oscillation = append(oscillation, f.oscillation)
		probing = append(probing, f.probing)
	}
	slices.Sort(converged)
	slices.SortFunc(distance, func(a, b float64) int { return int(math.Copysign(1, math.Abs(a)-math.Abs(b))) })
	slices.Sort(oscillation)
	slices.Sort(probing)
	at := func(v []float64, q float64) float64 { return v[int(math.Ceil(q*float64(len(v))))-1] }
	t.Logf("| %s | %s from %d | %.0f s, 9 of 10 %.0f s | %+.0f%%, 9 of 10 %+.0f%%, worst %+.0f%% | %.0f%%, 9 of 10 %.0f%%, worst %.0f%% | %.0f%% |",
		c.governor, c.name, c.start, at(converged, 0.5), at(converged, 0.9), 100*at(distance, 0.5), 100*at(distance, 0.9), 100*at(distance, 1),
		100*at(oscillation, 0.5), 100*at(oscillation, 0.9), 100*at(oscillation, 1), 100*at(probing, 0.5))
	for _, q := range []float64{0.9, 1} {
		loose := 1.0
		if q == 1 {
			loose = 2
		}
		if got := math.Abs(at(distance, q)); got > loose*c.distance {
			t.Errorf("distance of %v of the seeds is %.2f, over %.2f", q, got, loose*c.distance)
		}
		if got := at(oscillation, q); got > loose*c.oscillation {
			t.Errorf("oscillation of %v of the seeds is %.2f, over %.2f", q, got, loose*c.oscillation)
		}
	}
	if got := at(converged, 0.9); got > float64(c.from) {
		t.Errorf("nine in ten seeds came to rest after %v s, later than %d", got, c.from)
	}
}
