package govern

import (
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// machine takes other percent of CPU and each percent for every session at work.
func machine(other func(float64) float64, each float64) func(t, n float64) float64 {
	return func(t, n float64) float64 { return other(t) + each*n }
}

func TestResourcesKnee(t *testing.T) {
	for _, start := range []int{1, 5, 50, 100} {
		c := trial{
			name: "CPU 80 % at 40", governor: "resources", start: start, seeds: 10, seconds: 1800, from: 300, knee: 40,
			plant:    func() *plant { return &plant{agents: 372, mean: 1, cpu: machine(constant(20), 1.5)} },
			distance: 0.10, oscillation: 0.10,
		}
		c.run(t)
	}
}

// Another process burns half of the machine's CPU for ten minutes.
func TestResourcesGiveWayAndComeBack(t *testing.T) {
	for _, governor := range []string{"resources", "adaptive"} {
		for seed := range uint64(10) {
			other := func(t float64) float64 {
				if t > 900 && t < 1500 {
					return 60
				}
				return 10
			}
			p := &plant{agents: 372, mean: 1, cpu: machine(other, 1.5)}
			p.start(seed, 50)
			pilot := pilotOf(t, governor)
			before := drive(t, pilot, p, 900).settled(300, 46.7)
			tr := drive(t, pilot, p, 600)
			during := tr.settled(120, 13.3)
			gave := reaches(tr, 0, 20)
			tr = drive(t, pilot, p, 900)
			after := tr.settled(300, 46.7)
			back := reaches(tr, 38, 100)
			t.Logf("%s seed %d: %+.0f %% before, %+.0f %% while it burns, after %d s, %+.0f %% after, back after %d s", governor, seed, 100*before.distance, 100*during.distance, gave, 100*after.distance, back)
			if math.Abs(before.distance) > 0.15 || math.Abs(during.distance) > 0.25 || math.Abs(after.distance) > 0.15 || gave > 30 || back > 120 {
				t.Errorf("%s seed %d: before %+v, during %+v, after %+v", governor, seed, before, during, after)
			}
		}
	}
}

// reaches is when a limit comes between two bounds, in seconds.
func reaches(tr *trace, from, to int) int {
	for i, n := range tr.limits {
		if n >= from && n <= to {
			return i + 1
		}
	}
	return math.MaxInt
}

func TestResourcesMoves(t *testing.T) {
	host := func(cpu float64, free, own uint64) engine.Host {
		return engine.Host{CPU: cpu, MemoryTotal: 16e9, Available: free, Memory: own}
	}
	for _, c := range []struct {
		name     string
		host     engine.Host
		busy     float64
		ended    int64
		seconds  int
		want     int
		contains string
	}{
		{"hot for two seconds", host(91, 8e9, 1e9), 1, 10, 2, 25, ""},
		{"hot for three", host(91, 8e9, 1e9), 1, 10, 3, 21, "CPU 91 % for 3s, above 80 %"},
		{"a little warm, for longer", host(84, 8e9, 1e9), 1, 10, 7, 23, "CPU 84 % for 7s, above 80 %"},
		{"a little warm", host(84, 8e9, 1e9), 1, 10, 6, 25, ""},
		{"hot and nothing ends", host(100, 8e9, 1e9), 1, 0, 3, 19, "CPU 100 % for 3s, above 80 %"},
		{"cool", host(20, 8e9, 1e9), 1, 10, 5, 50, "CPU 20 % at the limit, below 80 %"},
		{"between", host(60, 8e9, 1e9), 1, 10, 10, 31, "CPU 60 % at the limit, below 80 %"},
		{"cool, and nothing ended", host(20, 8e9, 1e9), 1, 0, 30, 25, ""},
		{"cool, and the limit is no bound", host(20, 8e9, 1e9), 0.3, 10, 30, 25, ""},
		{"near enough", host(76, 8e9, 1e9), 1, 10, 60, 25, ""},
		{"memory short", host(60, 1e9, 1e9), 1, 10, 15, 19, "1000 MB of memory left for 15s, under 2000 MB"},
		{"memory for one more", host(20, 4_040_000_000, 1e9), 1, 10, 5, 26, "CPU 20 % at the limit, below 80 %"},
		{"no memory for more", host(20, 3_900_000_000, 1e9), 1, 10, 60, 25, ""},
		{"nothing known", engine.Host{}, 1, 10, 60, 25, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100})
			s.r.Limit, s.r.InFlight, s.r.Host, s.r.Busy = 25, 25, c.host, c.busy
			var o engine.Orders
			for i := range c.seconds {
				if o = s.ends(c.ended, 0); o.Limit != 25 && i+1 < c.seconds {
					t.Fatalf("moved to %d after %d s: %s", o.Limit, i+1, o.Why)
				}
			}
			if o.Limit != c.want || !contains(o.Why, c.contains) || o.By != "resources" {
				t.Errorf("got %d by %s: %q, want %d %q", o.Limit, o.By, o.Why, c.want, c.contains)
			}
		})
	}
}

// TestResourcesBetweenBursts is of short sessions in short cycles: few are in flight when the run is looked at, but the
// limit is what bounds them.
func TestResourcesBetweenBursts(t *testing.T) {
	s := newScript(t, engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100})
	s.r.Limit, s.r.InFlight, s.r.Host, s.r.Busy = 50, 1, engine.Host{CPU: 97, MemoryTotal: 16e9, Available: 8e9}, 0.2
	var o engine.Orders
	for range 3 {
		o = s.ends(200, 0)
	}
	if o.Limit < 12 || o.Limit >= 50 {
		t.Errorf("50 becomes %d: %s", o.Limit, o.Why)
	}
}

// TestResourcesKeepAQuarterForOthersWork is of a machine that others fill, whatever the run does: as long as Throng uses
// little of it, a quarter of the sessions stays, and they come back when the others have done.
func TestResourcesKeepAQuarterForOthersWork(t *testing.T) {
	for _, c := range []struct {
		name  string
		own   float64 // percent of one core of four
		least int
	}{{"little", 30, 25}, {"much", 80, 1}, {"not known", 0, 1}} {
		t.Run(c.name, func(t *testing.T) {
			p, err := New(engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100}, Options{Cores: 4})
			if err != nil {
				t.Fatal(err)
			}
			at, limit := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 100
			run := func(cpu, own float64, seconds int) {
				for range seconds {
					at = at.Add(time.Second)
					limit = p.Steer(engine.Reading{
						At: at, Span: time.Second, Phase: engine.Running, Limit: limit, InFlight: limit, Busy: 1, Ended: 10, LastEnd: at,
						CycleEnded: 10, CycleTotal: 1000, Host: engine.Host{CPU: cpu, ProcessCPU: own, MemoryTotal: 16e9, Available: 8e9},
					}).Limit
				}
			}
			run(100, c.own, 600)
			if limit != c.least {
				t.Errorf("%d stay, want %d", limit, c.least)
			}
			run(5, c.own, 120)
			if limit != 100 {
				t.Errorf("%d come back", limit)
			}
		})
	}
}

func TestResourcesMemoryStopsGrowth(t *testing.T) {
	memory := func(_ float64, n int) (available, own float64) {
		return 12e9 - 0.2e9*float64(n), 0.5e9 + 0.2e9*float64(n)
	}
	for seed := range uint64(5) {
		p := &plant{agents: 372, mean: 1, cpu: machine(constant(5), 0.1), memory: memory}
		p.start(seed, 5)
		tr := drive(t, pilotOf(t, "resources"), p, 900)
		f := tr.settled(300, 40)
		if math.Abs(f.distance) > 0.12 {
			t.Errorf("seed %d: 4 GB are left at 40: %+v", seed, f)
		}
	}
}
