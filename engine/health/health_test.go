package health_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// patient is a run with a snapshot every second.
type patient struct {
	engine.Snapshot
	vitals health.Vitals
}

// newPatient returns a healthy run on a machine of 16 GB and 4 cores.
func newPatient() *patient {
	at := time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)
	p := &patient{vitals: health.Vitals{Cores: 4}, Snapshot: engine.Snapshot{
		At:              at,
		Phase:           engine.Running,
		Pace:            engine.Pace{Elapsed: time.Minute},
		CycleState:      engine.CycleState{Cycle: 2, CycleEnded: 100, CycleTotal: 372},
		SessionCounts:   engine.SessionCounts{Ended: 844},
		CheckpointState: engine.CheckpointState{LastCheckpoint: at},
		Metrics: engine.MetricsRow{
			SecondTimes: engine.SecondTimes{
				Total:   engine.Quantiles{Count: 84, Mean: 400 * time.Millisecond, P95: 900 * time.Millisecond},
				Request: engine.Quantiles{Count: 300, P95: 80 * time.Millisecond, P99: 100 * time.Millisecond},
			},
			Host:        engine.HostMetrics{CPU: 42, Memory: 210e6, Available: 9.4e9, MemoryTotal: 16e9},
			DatabaseUse: engine.DatabaseUse{Connections: 2, ServerConnections: -1, ServerMax: -1, Unsent: -1},
		},
	}}
	p.vitals.See(&p.Snapshot)
	return p
}

// live lets seconds pass.
func (p *patient) live(seconds int, change func(s *engine.Snapshot)) *patient {
	for range seconds {
		p.At = p.At.Add(time.Second)
		p.Metrics.At = p.At
		if change != nil {
			change(&p.Snapshot)
		}
		p.vitals.See(&p.Snapshot)
	}
	return p
}

func (p *patient) find(m health.Metric) health.Finding {
	return health.Find(health.Judge(&p.Snapshot, &p.vitals, 5*time.Minute), m)
}

func TestHealthThresholds(t *testing.T) {
	host := func(change func(h *engine.HostMetrics)) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { change(&s.Metrics.Host) }
	}
	cpu := func(all, own float64) func(*engine.Snapshot) {
		return host(func(h *engine.HostMetrics) { h.CPU, h.ProcessCPU = all, own })
	}
	left := func(available, total uint64) func(*engine.Snapshot) {
		return host(func(h *engine.HostMetrics) { h.Available, h.MemoryTotal = available, total })
	}
	own := func(n uint64) func(*engine.Snapshot) { return host(func(h *engine.HostMetrics) { h.Memory = n }) }
	server := func(n, most int) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.Metrics.ServerConnections, s.Metrics.ServerMax = n, most }
	}
	failed := func(n int64) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.CycleFailed = n }
	}
	p95 := func(d time.Duration) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.Metrics.Request = engine.Quantiles{Count: 1e6, P95: d} }
	}
	total := func(d time.Duration) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.Metrics.Total = engine.Quantiles{Count: 1e6, P95: d} }
	}
	saved := func(ago time.Duration) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.LastCheckpoint = s.At.Add(-ago) }
	}
	cycle := func(open, before time.Duration) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.CycleTook, s.LastCycle.Took = open, before }
	}
	used := func(cacheable, cached int64) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.Usage.Cacheable, s.Usage.Cached = cacheable, cached }
	}
	for _, c := range []struct {
		name   string
		metric health.Metric
		change func(s *engine.Snapshot)
		want   health.Level
		value  string
	}{
		{"open for 59 s", health.MetricCycle, cycle(59*time.Second, 0), health.Healthy, "59 s"},
		{"open for 60 s", health.MetricCycle, cycle(60*time.Second, time.Second), health.Warning, "1 min"},
		{"the last took 120 s", health.MetricCycle, cycle(time.Second, 120*time.Second), health.Warning, "2 min"},
		{"the last took 121 s", health.MetricCycle, cycle(time.Second, 121*time.Second), health.Critical, "2 min 1 s"},
		{"no cycle", health.MetricCycle, nil, health.Unknown, ""},
		{"0.9 s", health.MetricRequests, p95(900 * time.Millisecond), health.Healthy, "p95 900 ms"},
		{"1 s", health.MetricRequests, p95(time.Second), health.Warning, "p95 1 s"},
		{"2 s", health.MetricRequests, p95(2 * time.Second), health.Warning, "p95 2 s"},
		{"2.1 s", health.MetricRequests, p95(2100 * time.Millisecond), health.Critical, "p95 2.1 s"},
		{"sessions of a minute", health.MetricLatency, total(time.Minute), health.Healthy, "p95 1 min"},
		{"59%", health.MetricCPU, cpu(59, 200), health.Healthy, "59%"},
		{"60%", health.MetricCPU, cpu(60, 0), health.Good, "60%"},
		{"69%", health.MetricCPU, cpu(69, 0), health.Good, "69%"},
		{"70%, of others", health.MetricCPU, cpu(70, 130), health.Warning, "70%, 38% by other programs"},
		{"70%, half of it own", health.MetricCPU, cpu(70, 140), health.Good, "70%"},
		{"80%, own", health.MetricCPU, cpu(80, 300), health.Good, "80%"},
		{"81%, own", health.MetricCPU, cpu(81, 320), health.Warning, "81%"},
		{"90%", health.MetricCPU, cpu(90, 360), health.Warning, "90%"},
		{"91%", health.MetricCPU, cpu(91, 360), health.Critical, "91%"},
		{"5 of 16 GB left", health.MetricMemoryLeft, left(5e9, 16e9), health.Healthy, "5 GB"},
		{"4.5 of 16 GB left", health.MetricMemoryLeft, left(4.5e9, 16e9), health.Good, "4.5 GB"},
		{"4 of 16 GB left", health.MetricMemoryLeft, left(4e9, 16e9), health.Warning, "4 GB"},
		{"2 of 16 GB left", health.MetricMemoryLeft, left(2e9, 16e9), health.Warning, "2 GB"},
		{"1.9 of 16 GB left", health.MetricMemoryLeft, left(1.9e9, 16e9), health.Critical, "1.9 GB"},
		{"none left", health.MetricMemoryLeft, left(0, 16e9), health.Critical, "0 B"},
		{"3 of 8 GB left", health.MetricMemoryLeft, left(3e9, 8e9), health.Healthy, "3 GB"},
		{"2 of 8 GB left", health.MetricMemoryLeft, left(2e9, 8e9), health.Warning, "2 GB"},
		{"0.9 of 8 GB left", health.MetricMemoryLeft, left(0.9e9, 8e9), health.Critical, "900 MB"},
		{"10 of 64 GB left", health.MetricMemoryLeft, left(10e9, 64e9), health.Good, "10 GB"},
		{"9 of 64 GB left", health.MetricMemoryLeft, left(9e9, 64e9), health.Healthy, "9 GB"},
		{"memory not known", health.MetricMemoryLeft, left(0, 0), health.Unknown, ""},
		{"7.9 of 16 GB own", health.MetricOwnMemory, own(7.9e9), health.Healthy, "7.9 GB"},
		{"8 of 16 GB own", health.MetricOwnMemory, own(8e9), health.Warning, "8 GB"},
		{"12 of 16 GB own", health.MetricOwnMemory, own(12e9), health.Warning, "12 GB"},
		{"12.1 of 16 GB own", health.MetricOwnMemory, own(12.1e9), health.Critical, "12.1 GB"},
		{"own not known", health.MetricOwnMemory, left(0, 0), health.Unknown, ""},
		{"a cache that saves nothing", health.MetricCached, used(0, 0), health.Unknown, ""},
		{"few long prompts", health.MetricCached, used(49_999, 0), health.Unknown, ""},
		{"none cached", health.MetricCached, used(50_000, 0), health.Warning, "0%"},
		{"half cached", health.MetricCached, used(100_000, 50_000), health.Warning, "50%"},
		{"more than half cached", health.MetricCached, used(100_000, 51_000), health.Healthy, "51%"},
		{"most cached", health.MetricCached, used(100_000, 85_000), health.Good, "85%"},
		{"more cached than long", health.MetricCached, used(100_000, 120_000), health.Good, "100%"},
		{"4 failed", health.MetricFailed, failed(4), health.Good, "4 a cycle"},
		{"5 failed", health.MetricFailed, failed(5), health.Warning, "5 a cycle"},
		{"20 failed", health.MetricFailed, failed(20), health.Warning, "20 a cycle"},
		{"21 failed", health.MetricFailed, failed(21), health.Critical, "21 a cycle"},
		{"49 of 60", health.MetricConnections, server(49, 60), health.Healthy, "49 of 60"},
		{"50 of 60", health.MetricConnections, server(50, 60), health.Warning, "50 of 60"},
		{"55 of 60", health.MetricConnections, server(55, 60), health.Warning, "55 of 60"},
		{"56 of 60", health.MetricConnections, server(56, 60), health.Critical, "56 of 60"},
		{"83 of 100", health.MetricConnections, server(83, 100), health.Healthy, "83 of 100"},
		{"84 of 100", health.MetricConnections, server(84, 100), health.Warning, "84 of 100"},
		{"92 of 100", health.MetricConnections, server(92, 100), health.Critical, "92 of 100"},
		{"no server", health.MetricConnections, server(-1, -1), health.Unknown, ""},
		{"saved 7m ago", health.MetricCheckpoint, saved(7 * time.Minute), health.Healthy, "7 min ago"},
		{"saved 7 min 30 s ago", health.MetricCheckpoint, saved(450 * time.Second), health.Warning, "7 min 30 s ago"},
		{"saved 10m ago", health.MetricCheckpoint, saved(10 * time.Minute), health.Warning, "10 min ago"},
		{"saved 11m ago", health.MetricCheckpoint, saved(11 * time.Minute), health.Critical, "11 min ago"},
		{"never saved", health.MetricCheckpoint, func(s *engine.Snapshot) { s.LastCheckpoint = time.Time{} }, health.Unknown, ""},
		{"paused", health.MetricCheckpoint, func(s *engine.Snapshot) { saved(time.Hour)(s); s.Phase = engine.Paused }, health.Unknown, ""},
		{"ended", health.MetricCPU, func(s *engine.Snapshot) { s.Phase, s.Metrics.Host.CPU = engine.Ended, 99 }, health.Unknown, ""},
		{"no 429 s", health.MetricRefused, nil, health.Healthy, "no recent 429s"},
		{"no database", health.MetricUnsent, nil, health.Unknown, ""},
	} {
		got := newPatient().live(1, c.change).find(c.metric)
		if got.Level != c.want || got.Value != c.value || got.Metric != c.metric {
			t.Errorf("%s, %s: %s %q, want %s %q", c.metric, c.name, got.Level, got.Value, c.want, c.value)
		}
		if said := got.Advice != ""; said != (got.Level == health.Good || got.Level >= health.Warning) {
			t.Errorf("%s, %s: %s with the advice %q", c.metric, c.name, got.Level, got.Advice)
		}
	}
}

// TestGracePeriod checks that nothing is judged in the first ten seconds of a run, and that figures are shown.
func TestGracePeriod(t *testing.T) {
	bad := func(s *engine.Snapshot) {
		s.Metrics.Host.CPU, s.Metrics.Host.Available, s.CycleFailed, s.RateLimited, s.Metrics.RateLimited = 100, 1e8, 90, 50, 50
		s.Metrics.Total.Mean, s.Metrics.Request.P95 = time.Minute, time.Minute
	}
	p := newPatient().live(9, bad)
	p.Elapsed = 9900 * time.Millisecond
	shown := 0
	for _, f := range health.Judge(&p.Snapshot, &p.vitals, time.Minute) {
		if f.Level > health.Healthy || f.Advice != "" {
			t.Errorf("after 9.9 s: %+v", f)
		}
		if f.Value != "" {
			shown++
		}
	}
	if shown < 5 {
		t.Errorf("%d figures are shown", shown)
	}
	p.Elapsed = 10 * time.Second
	if f := p.find(health.MetricCPU); f.Level != health.Critical {
		t.Errorf("after 10 s: %+v", f)
	}
}

func TestThresholdsAreShown(t *testing.T) {
	p := newPatient().live(1, func(s *engine.Snapshot) { s.Metrics.ServerConnections, s.Metrics.ServerMax = 10, 60 })
	for metric, want := range map[health.Metric]string{
		health.MetricOwnMemory: "from 8 GB, critical above 12 GB", health.MetricMemoryLeft: "up to 4 GB, critical below 2 GB",
		health.MetricConnections: "from 50, critical above 55 of 60", health.MetricCheckpoint: "after 7 min 30 s, critical after 10 min",
		health.MetricCPU: "from 70%, critical above 90%",
	} {
		if got := p.find(metric).Threshold; got != want {
			t.Errorf("%s: %q, want %q", metric, got, want)
		}
	}
	if got := health.Find(health.Judge(&p.Snapshot, &p.vitals, 0), health.MetricCheckpoint); got.Level != health.Unknown || got.Threshold != "" {
		t.Errorf("without checkpoints by time: %+v", got)
	}
}

func TestNothingIsKnownBeforeTheFirstSecond(t *testing.T) {
	p := newPatient()
	for _, f := range health.Judge(&p.Snapshot, &p.vitals, time.Minute) {
		if f.Level != health.Unknown || f.Value != "" {
			t.Errorf("%+v", f)
		}
	}
	if got := health.Find(nil, health.MetricCPU); got != (health.Finding{}) {
		t.Errorf("%+v of nothing", got)
	}
}

func TestFailuresOfTheWorseCycle(t *testing.T) {
	for _, c := range []struct {
		name                        string
		failed, total, before, size int64 // of the current cycle and the previous one
		want                        health.Level
		value                       string
	}{
		{"none yet", 0, 0, 0, 0, health.Good, "0 a cycle"},
		{"the open cycle", 7, 372, 3, 372, health.Warning, "7 a cycle"},
		{"the one before", 3, 372, 21, 372, health.Critical, "21 a cycle"},
		{"between two cycles", 0, 0, 7, 372, health.Warning, "7 a cycle"},
		{"many of few", 6, 40, 0, 40, health.Critical, "6 a cycle"},
		{"a tenth", 6, 60, 0, 60, health.Warning, "6 a cycle"},
		{"one of three", 1, 3, 0, 3, health.Healthy, "1 a cycle"},
		{"a twentieth", 4, 80, 0, 80, health.Healthy, "4 a cycle"},
		{"less", 4, 81, 0, 80, health.Good, "4 a cycle"},
	} {
		p := newPatient().live(1, func(s *engine.Snapshot) {
			s.CycleFailed, s.CycleTotal, s.LastCycle.Failed, s.LastCycle.Sessions = c.failed, c.total, c.before, c.size
		})
		if got := p.find(health.MetricFailed); got.Level != c.want || got.Value != c.value {
			t.Errorf("%s: %s %q, want %s %q", c.name, got.Level, got.Value, c.want, c.value)
		}
	}
}

func TestRefusalsGrow(t *testing.T) {
	p := newPatient()
	p.Metrics.RateLimited = 100 // of earlier processes
	for i, c := range []struct {
		perSecond int64
		seconds   int
		want      health.Level
	}{{0, 40, health.Healthy}, {1, 20, health.Warning}, {5, 25, health.Critical}, {1, 30, health.Warning}, {0, 70, health.Healthy}} {
		p.live(c.seconds, func(s *engine.Snapshot) { s.Metrics.RateLimited += c.perSecond })
		if got := p.find(health.MetricRefused); got.Level != c.want {
			t.Errorf("%d: after %d s of %d a second: %s, %s; want %s", i, c.seconds, c.perSecond, got.Level, got.Value, c.want)
		}
	}
}

func TestLatencyIsOfTheLastSeconds(t *testing.T) {
	sessions := func(n int64, p95 time.Duration) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.Metrics.Total = engine.Quantiles{Count: n, P95: p95} }
	}
	p := newPatient()
	p.vitals = health.Vitals{}
	p.live(1, sessions(1, 4*time.Second)).live(1, sessions(3, 2*time.Second))
	if got := p.find(health.MetricLatency).Value; got != "p95 2.5 s" {
		t.Errorf("the latency of 4 sessions is %s, want 2.5 s", got)
	}
	p.live(30, sessions(0, 0))
	if got := p.find(health.MetricLatency); got.Level != health.Unknown {
		t.Errorf("long after the last session: %+v", got)
	}
}

func TestSteadyCompletionTimes(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now time.Duration
		sessions    int64 // a second
		want        string
	}{
		{"the same", 500 * time.Millisecond, 500 * time.Millisecond, 1, "steady completion times"},
		{"a tenth more", 500 * time.Millisecond, 550 * time.Millisecond, 1, "steady completion times"},
		{"a fifth less", 500 * time.Millisecond, 400 * time.Millisecond, 1, ""},
		{"no sessions before", 0, 400 * time.Millisecond, 1, ""},
	} {
		at := func(mean time.Duration) func(*engine.Snapshot) {
			return func(s *engine.Snapshot) {
				s.Metrics.Total = engine.Quantiles{}
				if mean > 0 {
					s.Metrics.Total = engine.Quantiles{Count: c.sessions, Mean: mean, P95: mean}
				}
			}
		}
		p := newPatient().live(30, at(c.before)).live(30, at(c.now))
		if got := p.find(health.MetricLatency); got.Advice != c.want || (got.Level == health.Good) != (c.want != "") {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
	slow := newPatient().live(60, func(s *engine.Snapshot) { s.Metrics.Request.P95 = 3 * time.Second })
	if got := slow.find(health.MetricRequests); got.Level != health.Critical || !strings.HasPrefix(got.Advice, "find the slowest step") {
		t.Errorf("steadily slow: %+v", got)
	}
}

// TestWritesMatterWhileRowsWait checks that few writes are normal unless rows wait.
func TestWritesMatterWhileRowsWait(t *testing.T) {
	for _, c := range []struct {
		name    string
		unsent  int64
		seconds int
		writes  float64
		change  func(s *engine.Snapshot)
		want    health.Level
	}{
		{"few, and none wait", 0, 60, 5, nil, health.Healthy},
		{"few, and a batch fills", 400, 60, 5, nil, health.Healthy},
		{"few, and many wait for a moment", 5000, 5, 5, nil, health.Healthy},
		{"101 a second, and many wait", 5000, 60, 101, nil, health.Healthy},
		{"100 a second, and many wait", 5000, 60, 100, nil, health.Warning},
		{"50 a second, and many wait", 5000, 60, 50, nil, health.Warning},
		{"49 a second, and many wait", 5000, 60, 49, nil, health.Critical},
		{"none, and many wait", 5000, 60, 0, nil, health.Critical},
		{"no database", -1, 60, 5, nil, health.Unknown},
		{"the cycle has no work", 5000, 60, 5, func(s *engine.Snapshot) { s.CycleEnded = s.CycleTotal }, health.Unknown},
		{"paused", 5000, 60, 5, func(s *engine.Snapshot) { s.Phase = engine.Paused }, health.Unknown},
	} {
		p := newPatient().live(c.seconds, func(s *engine.Snapshot) {
			s.Metrics.Unsent, s.Metrics.WritesPerSec = c.unsent, c.writes
			if c.change != nil {
				c.change(s)
			}
		})
		if got := p.find(health.MetricWrites); got.Level != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
	// Batches come every few seconds: their mean counts.
	n := 0
	p := newPatient().live(60, func(s *engine.Snapshot) {
		if s.Metrics.Unsent, s.Metrics.WritesPerSec = 5000, 0; n%5 == 0 {
			s.Metrics.WritesPerSec = 750
		}
		n++
	})
	if got := p.find(health.MetricWrites); got.Level != health.Healthy || got.Value != "150/s" {
		t.Errorf("750 rows every 5 s: %+v", got)
	}
}

func TestUnsentRowsAge(t *testing.T) {
	growing := func(s *engine.Snapshot) { s.Metrics.Unsent += 10 }
	p := newPatient()
	p.Metrics.Unsent = 0
	for _, c := range []struct {
		name    string
		seconds int
		change  func(*engine.Snapshot)
		want    health.Level
		value   string
	}{
		{"none", 100, nil, health.Healthy, "0"},
		{"growing for 59 s", 60, growing, health.Healthy, "600"},
		{"growing for a minute", 1, growing, health.Warning, "610, for 1 min"},
		{"standing still for 10 min", 540, nil, health.Warning, "610, for 10 min"},
		{"longer", 1, nil, health.Critical, "610, for 10 min 1 s"},
		{"one batch less", 1, func(s *engine.Snapshot) { s.Metrics.Unsent = 300 }, health.Healthy, "300"},
		{"all sent", 1, func(s *engine.Snapshot) { s.Metrics.Unsent = 0 }, health.Healthy, "0"},
	} {
		if got := p.live(c.seconds, c.change).find(health.MetricUnsent); got.Level != c.want || got.Value != c.value {
			t.Errorf("%s: %s %q, want %s %q", c.name, got.Level, got.Value, c.want, c.value)
		}
	}
}

// TestHealthOfImpossibleFigures checks that impossible figures are evaluated too, and that a larger problem is never
// healthier.
func TestHealthOfImpossibleFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(0, 200)
		size := rapid.Uint64()
		p := newPatient()
		p.live(rapid.IntRange(0, 100).Draw(t, "seconds"), func(s *engine.Snapshot) {
			s.Metrics.Host = engine.HostMetrics{
				CPU: number.Draw(t, "CPU"), ProcessCPU: number.Draw(t, "own CPU"), Memory: size.Draw(t, "own"), Available: size.Draw(t, "available"), MemoryTotal: size.Draw(t, "total"),
			}
			s.Metrics.Unsent = rapid.Int64Range(-1, 1e6).Draw(t, "unsent")
			s.Metrics.RateLimited += rapid.Int64Range(0, 5).Draw(t, "429s")
		})
		all := health.Judge(&p.Snapshot, &p.vitals, time.Minute)
		for i, f := range all {
			if f.Level > health.Critical || f.Metric == "" || i > 0 && all[i-1].Metric == f.Metric {
				t.Fatalf("finding %d is %+v", i, f)
			}
		}
		was := p.find(health.MetricCPU).Level
		p.Metrics.Host.CPU += 50
		if now := p.find(health.MetricCPU).Level; now < was && was >= health.Warning {
			t.Fatalf("with more load the CPU goes from %s to %s", was, now)
		}
	})
}

// TestBusyCPU checks that the user is asked to lower the limit only if no governor does, and that nothing is red that the user cannot
// change.
func TestBusyCPU(t *testing.T) {
	for _, c := range []struct {
		name, governor string
		own            float64 // percent of the machine
		level          health.Level
		advice         string
	}{
		{"manual", engine.Manual, 90, health.Critical, "lower the limit, or close other programs"},
		{"automatic, its own load", engine.Adaptive, 90, health.Healthy, ""},
		{"automatic, load of other programs", engine.Adaptive, 10, health.Warning, "close other programs"},
	} {
		p := newPatient().live(1, func(s *engine.Snapshot) {
			s.Governor, s.Metrics.Host.CPU, s.Metrics.Host.ProcessCPU = c.governor, 100, c.own*4
		})
		if got := p.find(health.MetricCPU); got.Level != c.level || got.Advice != c.advice {
			t.Errorf("%s: %s, advice %q", c.name, got.Level, got.Advice)
		}
	}
}

// TestLagOfArrivals checks that a growing backlog is critical, that its cause is named, and that a run without a schedule has no lag.
func TestLagOfArrivals(t *testing.T) {
	behind := func(grow time.Duration) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) {
			s.Arrivals, s.Overdue, s.LagWhy = "Poisson, 10/s", 40, "the concurrency limit is 20"
			s.Lag += grow
			s.Metrics.Lag = s.Lag
		}
	}
	for _, c := range []struct {
		name  string
		first time.Duration
		live  func(*engine.Snapshot)
		want  health.Level
		value string
	}{
		{"no schedule", 0, nil, health.Unknown, ""},
		{"on time", 10 * time.Millisecond, behind(0), health.Healthy, "on time"},
		{"late, but not later", 20 * time.Second, behind(0), health.Warning, "20 s, 40 overdue: the concurrency limit is 20"},
		{"growing", time.Second, behind(100 * time.Millisecond), health.Warning, "5 s, growing, 40 overdue: the concurrency limit is 20"},
		{"growing for long", time.Second, behind(500 * time.Millisecond), health.Critical, "21 s, growing, 40 overdue: the concurrency limit is 20"},
	} {
		p := newPatient()
		p.Lag = c.first
		p.live(40, c.live)
		if c.live == nil {
			p.Lag = 0
		}
		got := p.find(health.MetricSchedule)
		if got.Level != c.want || got.Value != c.value || (got.Advice != "") != (got.Level >= health.Warning) {
			t.Errorf("%s: %+v, want %s %q", c.name, got, c.want, c.value)
		}
	}
}
