package govern

import (
	"math"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

// machine uses other percent of CPU, and each percent for every session at work.
func machine(other func(float64) float64, each float64) func(t, n float64) float64 {
	return func(t, n float64) float64 { return other(t) + each*n }
}

func TestResourcesKnee(t *testing.T) {
	for _, start := range []int{1, 5, 50, 100} {
		c := trial{
			name: "CPU 80% at 40", governor: "resources", start: start, seeds: 10, seconds: 1800, from: 300, knee: 40,
			plant:    func() *plant { return &plant{agents: 372, mean: 1, cpu: machine(constant(20), 1.5)} },
			distance: 0.10, oscillation: 0.10,
		}
		c.run(t)
	}
}

// Another process uses half of the machine's CPU for ten minutes.
func TestResourcesGiveWayAndRecover(t *testing.T) {
	for _, name := range []string{"resources", "adaptive"} {
		for seed := range uint64(10) {
			other := func(t float64) float64 {
				if t > 900 && t < 1500 {
					return 60
				}
				return 10
			}
			p := &plant{agents: 372, mean: 1, cpu: machine(other, 1.5), uses: 1.5}
			p.start(seed, 50)
			governor := governorOf(t, name)
			before := drive(t, governor, p, 900).settled(300, 46.7)
			tr := drive(t, governor, p, 600)
			during := tr.settled(120, 16.7) // a quarter of the machine
			gave := reaches(tr, 0, 20)
			tr = drive(t, governor, p, 900)
			after := tr.settled(300, 46.7)
			back := reaches(tr, 38, 100)
			t.Logf("%s seed %d: %+.0f%% before, %+.0f%% while it burns, after %d s, %+.0f%% after, back after %d s", name, seed, 100*before.distance, 100*during.distance, gave, 100*after.distance, back)
			if math.Abs(before.distance) > 0.15 || math.Abs(during.distance) > 0.25 || math.Abs(after.distance) > 0.15 || gave > 30 || back > 60 {
				t.Errorf("%s seed %d: before %+v, during %+v, after %+v", name, seed, before, during, after)
			}
		}
	}
}

// reaches returns the second at which a limit is between two bounds.
func reaches(tr *trace, from, to int) int {
	for i, n := range tr.limits {
		if n >= from && n <= to {
			return i + 1
		}
	}
	return math.MaxInt
}

func TestResourcesMoves(t *testing.T) {
	host := func(cpu float64, free, own uint64) engine.HostMetrics {
		return engine.HostMetrics{CPU: cpu, MemoryTotal: 16e9, Available: free, Memory: own}
	}
	own := func(h engine.HostMetrics, percent float64) engine.HostMetrics {
		h.ProcessCPU = percent * float64(runtime.NumCPU())
		return h
	}
	for _, c := range []struct {
		name     string
		host     engine.HostMetrics
		busy     float64
		ended    int64
		seconds  int
		want     int
		contains string
	}{
		{"hot for two seconds", host(91, 8e9, 1e9), 1, 10, 2, 25, ""},
		{"hot for three", host(91, 8e9, 1e9), 1, 10, 3, 21, "CPU 91% for 3 s, above 80%"},
		{"a little warm, for longer", host(84, 8e9, 1e9), 1, 10, 7, 23, "CPU 84% for 7 s, above 80%"},
		{"a little warm", host(84, 8e9, 1e9), 1, 10, 6, 25, ""},
		{"hot and nothing ends", host(100, 8e9, 1e9), 1, 0, 3, 19, "CPU 100% for 3 s, above 80%"},
		{"cool", host(20, 8e9, 1e9), 1, 10, 5, 50, "CPU 20% at the limit, below 80%"},
		{"between", host(60, 8e9, 1e9), 1, 10, 10, 31, "CPU 60% at the limit, below 80%"},
		{"cool, and nothing ended", host(20, 8e9, 1e9), 1, 0, 30, 25, ""},
		{"cool, but the limit is not reached", host(20, 8e9, 1e9), 0.3, 10, 30, 25, ""},
		{"near enough", host(76, 8e9, 1e9), 1, 10, 60, 25, ""},
		{"memory short", host(60, 1e9, 1e9), 1, 10, 15, 19, "1 GB of memory left for 15 s, under 2 GB"},
		{"memory for one more", host(20, 4_040_000_000, 1e9), 1, 10, 5, 26, "CPU 20% at the limit, below 80%"},
		{"no memory for more", host(20, 3_900_000_000, 1e9), 1, 10, 60, 25, ""},
		{"hot, and much of it its own", own(host(91, 8e9, 1e9), 80), 1, 10, 3, 21, "CPU 91% for 3 s, above 80%; Throng uses 80%"},
		{"hot by others, and by half its own", own(host(100, 8e9, 1e9), 50), 1, 10, 3, 14, "CPU 100% for 3 s, above 80%; Throng uses 50%"},
		{"hot by others", own(host(100, 8e9, 1e9), 6), 1, 10, 60, 25, ""},
		{"warm by others, and no memory for more", own(host(100, 3_900_000_000, 1e9), 6), 1, 10, 60, 25, ""},
		{"nothing known", engine.HostMetrics{}, 1, 10, 60, 25, ""},
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

// TestResourcesBetweenBursts checks short sessions in short cycles: few are in flight at a reading, although the limit
// is reached.
func TestResourcesBetweenBursts(t *testing.T) {
	s := newScript(t, engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100})
	s.r.Limit, s.r.InFlight, s.r.Host, s.r.Busy = 50, 1, engine.HostMetrics{CPU: 97, MemoryTotal: 16e9, Available: 8e9}, 0.2
	var o engine.Orders
	for range 3 {
		o = s.ends(200, 0)
	}
	if o.Limit < 12 || o.Limit >= 50 {
		t.Errorf("50 becomes %d: %s", o.Limit, o.Why)
	}
}

// TestOthersPressure checks that on a machine that other programs fill the limit falls to what Throng's own use
// justifies, and recovers within a minute after they end.
func TestOthersPressure(t *testing.T) {
	for _, c := range []struct {
		name  string
		total float64 // percent of the machine
		own   float64 // of that, for 100 sessions
		fixed float64 // of that, independent of sessions
		least int     // the lowest limit
	}{
		{"almost nothing", 100, 0.6, 0, 100},
		{"little", 100, 12, 0, 100},
		{"a quarter", 100, 25, 0, 100},
		{"as much as others leave, and a half", 100, 50, 0, 54},
		{"almost all", 100, 90, 0, 74},
		{"a quarter, for no session", 100, 10, 25, 25},
		{"warm", 85, 3, 0, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := New(engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100}, Options{Cores: 4})
			if err != nil {
				t.Fatal(err)
			}
			at, limit := begin, 100
			others := c.total - c.own - c.fixed
			run := func(others float64, seconds int) {
				for range seconds {
					own := c.fixed + c.own*float64(limit)/100
					at = at.Add(time.Second)
					limit = p.Steer(engine.Reading{
						At: at, Span: time.Second, Phase: engine.Running, Limit: limit, InFlight: limit, Busy: 1, Ended: 10, LastEnd: at,
						CycleEnded: 10, CycleTotal: 1000, Host: engine.HostMetrics{CPU: others + own, ProcessCPU: 4 * own, MemoryTotal: 16e9, Available: 8e9},
					}).Limit
				}
			}
			for range 600 {
				run(others, 1)
				if limit < c.least-1 {
					t.Fatalf("the limit falls to %d, want %d", limit, c.least)
				}
			}
			if math.Abs(float64(limit-c.least)) > 1 {
				t.Errorf("%d stay, want %d", limit, c.least)
			}
			if c.own+c.fixed < cpuRoom {
				run(0, 60)
				if limit != 100 {
					t.Errorf("%d after a minute without them", limit)
				}
			}
		})
	}
}

// TestOthersMemory checks that Throng releases memory if it uses much and other programs need it.
func TestOthersMemory(t *testing.T) {
	for own, want := range map[uint64]int{200e6: 50, 2e9: 1} {
		s := newScript(t, engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100})
		s.r.Limit, s.r.InFlight, s.r.Busy = 50, 50, 1
		s.r.Host = engine.HostMetrics{CPU: 5, ProcessCPU: 4, MemoryTotal: 16e9, Available: 500e6, Memory: own}
		for range 600 {
			s.r.Limit = s.ends(10, 0).Limit
			s.r.InFlight = s.r.Limit
		}
		if s.r.Limit != want {
			t.Errorf("Throng has %s: the limit is %d, want %d", bytes(float64(own)), s.r.Limit, want)
		}
	}
}

// TestOthersPressureNeverThrottles checks that under any load of other programs a run that uses little keeps its limit,
// and grows if another signal allows it.
func TestOthersPressureNeverThrottles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		governor := rapid.SampledFrom([]string{"resources", "adaptive"}).Draw(t, "governor")
		p, err := New(engine.Steering{Governor: governor, Floor: 1, Ceiling: 1000}, Options{Cores: 4})
		if err != nil {
			t.Fatal(err)
		}
		at, limit := begin, rapid.IntRange(1, 500).Draw(t, "limit")
		for range rapid.IntRange(1, 300).Draw(t, "seconds") {
			at = at.Add(time.Second)
			own := rapid.Float64Range(0.01, cpuFair).Draw(t, "own")
			o := p.Steer(engine.Reading{
				At: at, Span: time.Second, Phase: engine.Running, Limit: limit, InFlight: rapid.IntRange(0, limit).Draw(t, "in flight"),
				Busy: rapid.Float64Range(0, 1).Draw(t, "busy"), Ended: rapid.Int64Range(0, 100).Draw(t, "ended"), LastEnd: at, CycleTotal: 1_000_000,
				Host:        engine.HostMetrics{CPU: min(own+rapid.Float64Range(0, 100).Draw(t, "others"), 100), ProcessCPU: 4 * own, MemoryTotal: 16e9, Available: 8e9},
				Connections: engine.Connections{Own: -1, Server: -1, Max: -1},
			})
			if o.Limit < limit {
				t.Fatalf("%s", o.Why)
			}
			limit = o.Limit
		}
	})
}

// TestLimitComesBack checks that on any machine the limit recovers within a minute after the pressure of others ends.
func TestLimitComesBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		uses := rapid.Float64Range(0.05, 1.5).Draw(r, "uses")
		quiet, hog := rapid.Float64Range(0, 20).Draw(r, "quiet"), rapid.Float64Range(50, 100).Draw(r, "hog")
		from, until := 300., 300+rapid.Float64Range(10, 300).Draw(r, "lasts")
		p := &plant{agents: 372, mean: 1, uses: uses, cpu: machine(func(t float64) float64 {
			if t > from && t < until {
				return hog
			}
			return quiet
		}, uses)}
		p.start(rapid.Uint64().Draw(r, "seed"), rapid.IntRange(5, 100).Draw(r, "start"))
		governor := governorWith(t, engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100})
		before := drive(t, governor, p, int(from)).limits
		drive(t, governor, p, int(until-from)+1)
		after := drive(t, governor, p, 60).limits
		if was, is := before[len(before)-1], after[len(after)-1]; float64(is) < 0.85*float64(was) {
			r.Fatalf("%d before, %d a minute after", was, is)
		}
	})
}

func TestResourcesMemoryStopsGrowth(t *testing.T) {
	memory := func(_ float64, n int) (available, own float64) {
		return 12e9 - 0.2e9*float64(n), 0.5e9 + 0.2e9*float64(n)
	}
	for seed := range uint64(5) {
		p := &plant{agents: 372, mean: 1, cpu: machine(constant(5), 0.1), memory: memory}
		p.start(seed, 5)
		tr := drive(t, governorOf(t, "resources"), p, 900)
		f := tr.settled(300, 40)
		if math.Abs(f.distance) > 0.12 {
			t.Errorf("seed %d: 4 GB are left at 40: %+v", seed, f)
		}
	}
}
