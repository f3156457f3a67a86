package calibration

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/engine/run"
)

const (
	lookEvery = 50 * time.Millisecond
	// fewSessions have to end in a measurement, which goes on for them up to so many times its duration.
	fewSessions = 10
	mostTimes   = 6
)

// Gauge measures levels on one run, whose limit it moves: what the services, their rate limiters and the agents have become goes
// on from level to level, and one budget is that of all.
type Gauge struct {
	run              *run.Run
	warmUp, duration time.Duration
}

// NewGauge measures a run: each level for a duration, after a warm-up.
func NewGauge(run *run.Run, warmUp, duration time.Duration) *Gauge {
	return &Gauge{run, warmUp, duration}
}

// Measure has so many sessions in flight, lets that settle, and returns what a while of it gave.
func (g *Gauge) Measure(ctx context.Context, level int) (calibrate.Sample, error) {
	if err := g.run.SetLimit(level, "throng", "calibrate"); err != nil {
		return calibrate.Sample{}, g.over(ctx)
	}
	before := g.run.Snapshot()
	settled := func(s *engine.Snapshot) bool {
		took := s.At.Sub(before.At)
		return took >= g.warmUp && (s.Ended-before.Ended >= int64(level) && s.InFlight <= level || took >= mostTimes*g.duration)
	}
	if err := g.watch(ctx, settled); err != nil {
		return calibrate.Sample{}, err
	}
	w := newWindow(g.run.Snapshot())
	err := g.watch(ctx, func(s *engine.Snapshot) bool {
		w.add(s)
		took := s.At.Sub(w.from.At)
		return took >= g.duration && (s.Ended-w.from.Ended >= fewSessions || took >= mostTimes*g.duration)
	})
	return w.sample(level, runtime.NumCPU()), err
}

// watch looks at the run until done says that it has seen enough.
func (g *Gauge) watch(ctx context.Context, done func(*engine.Snapshot) bool) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-g.run.Done():
			return g.over(ctx)
		case <-tick.C:
		}
		s := g.run.Snapshot()
		switch {
		case s.Phase == engine.Paused:
			return fmt.Errorf("the run that is measured was paused: %s", s.Reason)
		case s.Phase == engine.Draining || s.Phase == engine.Ended:
			return g.over(ctx)
		case done(s):
			return nil
		}
	}
}

// over says why the run has ended.
func (g *Gauge) over(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s := g.run.Snapshot()
	why := s.Reason
	if s.Budget.Short != "" {
		why = s.Budget.Short
	}
	return fmt.Errorf("the run that is measured came to its end: %s", why)
}

// window is a while of a run.
type window struct {
	from, to *engine.Snapshot
	rows     []engine.MetricsRow // of seconds that lie within it for the most part
	inFlight int
	looks    int
}

func newWindow(from *engine.Snapshot) *window { return &window{from: from, to: from} }

// add takes a newer picture; one that was seen before changes nothing.
func (w *window) add(s *engine.Snapshot) {
	if !s.At.After(w.to.At) {
		return
	}
	w.to = s
	w.inFlight += s.InFlight
	w.looks++
	row := &s.Metrics
	if row.At.Add(-time.Second/2).Before(w.from.At) || len(w.rows) > 0 && !row.At.After(w.rows[len(w.rows)-1].At) {
		return
	}
	w.rows = append(w.rows, *row)
}

// sample says what came of the while, on a machine with so many cores.
func (w *window) sample(level, cores int) calibrate.Sample {
	from, to := w.from, w.to
	s := calibrate.Sample{
		Span: to.At.Sub(from.At), Ended: to.Ended - from.Ended, Failed: bad(to) - bad(from),
		Asked: max(to.Requests-to.Retries-from.Requests+from.Retries, 0), Refused: to.RateLimited - from.RateLimited,
		CPU: -1, OwnCPU: -1, Memory: -1, Clients: -1, MaxClients: -1,
	}
	if places := float64(level) * s.Span.Seconds(); places > 0 {
		held := func(gates ...engine.Gate) (share float64) {
			for _, gate := range gates {
				share += (to.Waits[gate] - from.Waits[gate]).Seconds() / places
			}
			return min(share, 1)
		}
		s.Paced, s.Bounded = held(engine.RateGate, engine.RefusalGate), held(engine.PlaceGate, engine.ModelGate)
	}
	if w.looks > 0 {
		s.InFlight = float64(w.inFlight) / float64(w.looks)
	}
	w.machine(&s, cores)
	w.times(&s)
	return s
}

// machine adds what the seconds say of the machine and the database server; 0 is what could not be read.
func (w *window) machine(s *calibrate.Sample, cores int) {
	var cpu, own float64
	for i := range w.rows {
		h := &w.rows[i].Host
		cpu += h.CPU / float64(len(w.rows))
		own += h.ProcessCPU / float64(cores) / float64(len(w.rows))
		if h.MemoryTotal > 0 && h.Available > 0 {
			s.Memory = max(s.Memory, 1-float64(h.Available)/float64(h.MemoryTotal))
		}
		s.Clients, s.MaxClients = max(s.Clients, w.rows[i].ServerConnections), max(s.MaxClients, w.rows[i].ServerMax)
	}
	if cpu > 0 {
		s.CPU, s.OwnCPU = cpu, min(own, cpu)
	}
}

// times adds how long sessions and their requests took.
func (w *window) times(s *calibrate.Sample) {
	var count int64
	var p95, service float64 // weighted by count
	for i := range w.rows {
		total, used := &w.rows[i].Total, &w.rows[i].Service
		count += total.Count
		p95 += float64(total.Count) * float64(total.P95)
		service += float64(used.Count) * float64(used.Mean)
	}
	if count == 0 {
		return
	}
	s.P95 = time.Duration(p95 / float64(count))
	each := service / float64(count) // session
	if s.Asked > 0 {
		each *= float64(s.Ended) / float64(s.Asked)
	}
	s.Service = time.Duration(each)
}

// bad is how many sessions failed or timed out.
func bad(s *engine.Snapshot) int64 { return s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut] }
