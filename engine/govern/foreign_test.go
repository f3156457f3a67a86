package govern

import (
	"fmt"
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// hog is a program that uses most of the CPU from minute 5 to minute 15.
func hog(at float64) bool { return at > 300 && at < 900 }

// TestForeignLoad checks the measured case: Throng uses a few percent of the CPU, other programs fill the machine, and
// sessions become slower or time out. The limit stays at least at what it was, and is back a minute after the load.
func TestForeignLoad(t *testing.T) {
	for _, name := range []string{"adaptive", "latency", "success", "resources"} {
		for _, c := range []struct {
			name          string
			uses, mean    float64
			slows, fails  float64
			start, lowest int
		}{
			{"only the CPU", 0.12, 1, 1, 0, 50, 50},
			{"a little slower", 0.06, 1, 1.3, 0, 50, 50},
			{"twice as slow", 0.12, 1, 2, 0, 50, 50},
			{"ten times as slow", 0.12, 1, 10, 0, 50, 50},
			{"long sessions", 0.12, 8, 4, 0, 50, 50},
			{"some time out", 0.12, 1, 4, 0.3, 50, 50},
			{"most time out", 0.12, 1, 10, 0.45, 50, 50},
			{"a quarter of the machine", 0.25, 1, 3, 0.25, 50, 50},
			{"low limit", 0.5, 1, 3, 0.25, 4, 4},
		} {
			for seed := range uint64(5) {
				p := &plant{
					agents: 3720, mean: c.mean, uses: c.uses,
					cpu:    machine(during(hog, 92, 5), c.uses),
					slower: during(hog, c.slows, 1),
					fails:  func(at float64, _ int) float64 { return during(hog, c.fails, 0)(at) },
				}
				p.start(seed, c.start)
				governor := governorWith(t, engine.Steering{Governor: name, Floor: 1, Ceiling: 100, Breaker: "off"})
				was := last(drive(t, governor, p, 300))
				tr := drive(t, governor, p, 600)
				lowest := was
				for _, n := range tr.limits {
					lowest = min(lowest, n)
				}
				after := drive(t, governor, p, 60)
				is := slices.Max(after.limits[30:]) // a probe lowers it for seconds
				if lowest < min(was, c.lowest) || float64(is) < 0.9*float64(was) {
					t.Errorf("%s, %s, seed %d: %d before, at least %d during the load, %d a minute after\n%q\n%q", name, c.name, seed, was, lowest, is, tr.words, after.words)
				}
			}
		}
	}
}

func during(when func(float64) bool, then, otherwise float64) func(float64) float64 {
	return func(at float64) float64 {
		if when(at) {
			return then
		}
		return otherwise
	}
}

func last(tr *trace) int { return tr.limits[len(tr.limits)-1] }

// TestForeignLoadFromTheStart checks a run that starts while other programs fill the machine.
func TestForeignLoadFromTheStart(t *testing.T) {
	for seed := range uint64(10) {
		p := &plant{
			agents: 372, mean: 1, uses: 0.1, cpu: machine(during(func(at float64) bool { return at < 600 }, 90, 5), 0.1),
			slower: during(func(at float64) bool { return at < 600 }, 3, 1),
		}
		p.start(seed, 50)
		governor := governorWith(t, engine.Steering{Governor: "adaptive", Floor: 1, Ceiling: 100})
		lowest := 50
		tr := drive(t, governor, p, 600)
		for i, n := range tr.limits {
			if !tr.probes[i] {
				lowest = min(lowest, n)
			}
		}
		drive(t, governor, p, 60)
		if is := p.limit; lowest < 50 || is < 50 {
			t.Errorf("seed %d: at least %d, %d a minute after\n%q", seed, lowest, is, tr.words)
		}
	}
}

// TestBackendOnThisMachine checks that a backend on the same machine is not foreign, although it uses far more of the CPU
// than Throng: the latency governor still finds its knee.
func TestBackendOnThisMachine(t *testing.T) {
	for _, start := range []int{5, 50, 100} {
		c := trial{
			name: fmt.Sprintf("a backend on this machine, from %d", start), governor: "latency", start: start, seeds: 10, seconds: 3600, from: 900, knee: 40,
			plant: func() *plant {
				return &plant{agents: 372, mean: 1, knee: constant(40), uses: 0.1, cpu: func(_, n float64) float64 { return 4 + 2.3*min(n, 40) }}
			},
			distance: 0.10, oscillation: 0.10,
		}
		c.run(t)
	}
}
