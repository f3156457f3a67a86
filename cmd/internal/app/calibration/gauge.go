package calibration

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/workers"
)

const (
	pollEvery = 50 * time.Millisecond
	// minSessions is the number of sessions that a measurement waits for, up to maxTimes its duration.
	minSessions = 10
	maxTimes    = 6
)

// Gauge measures one run at several limits, and moves the limit of the run. The state of services, rate limiters and agents
// carries over from level to level, and one budget pays for all levels.
type Gauge struct {
	// Workers returns the workers of the run, which are processes of this machine; nil without workers.
	Workers func() []workers.State

	run              *run.Run
	warmUp, duration time.Duration
}

// NewGauge returns a gauge that measures each level for duration, after a warm-up.
func NewGauge(run *run.Run, warmUp, duration time.Duration) *Gauge {
	return &Gauge{run: run, warmUp: warmUp, duration: duration}
}

// Measure sets the limit, waits for the warm-up, and returns a sample.
func (g *Gauge) Measure(ctx context.Context, level int) (calibrate.Sample, error) {
	if err := g.run.SetLimit(level, "throng", "calibrate"); err != nil {
		return calibrate.Sample{}, g.over(ctx)
	}
	before := g.run.Snapshot()
	settled := func(s *engine.Snapshot) bool {
		took := s.At.Sub(before.At)
		return took >= g.warmUp && (s.Ended-before.Ended >= int64(level) && s.InFlight <= level || took >= maxTimes*g.duration)
	}
	if err := g.watch(ctx, settled); err != nil {
		return calibrate.Sample{}, err
	}
	w := newWindow(g.run.Snapshot())
	w.workers = g.Workers
	err := g.watch(ctx, func(s *engine.Snapshot) bool {
		w.add(s)
		took := s.At.Sub(w.from.At)
		return took >= g.duration && (s.Ended-w.from.Ended >= minSessions || took >= maxTimes*g.duration)
	})
	return w.sample(level, runtime.NumCPU()), err
}

// watch polls the run until done returns true.
func (g *Gauge) watch(ctx context.Context, done func(*engine.Snapshot) bool) error {
	tick := time.NewTicker(pollEvery)
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
			return fmt.Errorf("the measured run was paused: %s", s.Reason)
		case s.Phase == engine.Draining || s.Phase == engine.Ended:
			return g.over(ctx)
		case done(s):
			return nil
		}
	}
}

// over returns the reason why the run ended.
func (g *Gauge) over(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s := g.run.Snapshot()
	why := s.Reason
	if s.Budget.Short != "" {
		why = s.Budget.Short
	}
	return fmt.Errorf("the measured run ended: %s", why)
}

// window is a time interval of a run.
type window struct {
	from, to *engine.Snapshot
	rows     []engine.MetricsRow // of seconds with at least half of them in the interval
	workers  func() []workers.State
	spread   float64 // sum over the rows of the workers' CPU, in percent of one core
	inFlight int
	polls    int
}

func newWindow(from *engine.Snapshot) *window { return &window{from: from, to: from} }

// add adds a snapshot. It ignores one that it has seen.
func (w *window) add(s *engine.Snapshot) {
	if !s.At.After(w.to.At) {
		return
	}
	w.to = s
	w.inFlight += s.InFlight
	w.polls++
	row := &s.Metrics
	if row.At.Add(-time.Second/2).Before(w.from.At) || len(w.rows) > 0 && !row.At.After(w.rows[len(w.rows)-1].At) {
		return
	}
	w.rows = append(w.rows, *row)
	if w.workers != nil {
		for _, worker := range w.workers() {
			w.spread += worker.CPU
		}
	}
}

// sample returns the sample of the interval on a machine with so many cores.
func (w *window) sample(level, cores int) calibrate.Sample {
	from, to := w.from, w.to
	s := calibrate.Sample{
		Span: to.At.Sub(from.At), Ended: to.Ended - from.Ended, Failed: bad(to) - bad(from),
		Asked: max(to.Requests-to.Retries-from.Requests+from.Retries, 0), Refused: to.RateLimited - from.RateLimited,
		CPU: -1, OwnCPU: -1, Memory: -1, Clients: -1, MaxClients: -1,
	}
	if slotTime := float64(level) * s.Span.Seconds(); slotTime > 0 {
		waited := func(causes ...engine.ThrottleCause) (share float64) {
			for _, cause := range causes {
				share += (to.Waits[cause] - from.Waits[cause]).Seconds() / slotTime
			}
			return min(share, 1)
		}
		s.Paced, s.Bounded = waited(engine.ThrottledByRate, engine.ThrottledByRefusal), waited(engine.ThrottledBySlots, engine.ThrottledByModels)
	}
	if w.polls > 0 {
		s.InFlight = float64(w.inFlight) / float64(w.polls)
	}
	w.machine(&s, cores)
	w.times(&s)
	return s
}

// machine adds the metrics of the machine and the database server. Metrics that could not be read stay -1.
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
		workers := w.spread / float64(cores) / float64(len(w.rows))
		s.CPU, s.OwnCPU = cpu, min(own, cpu) // with that of the workers
		s.WorkersCPU = min(workers, s.OwnCPU)
	}
}

// times adds the durations of sessions and requests.
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

// bad returns the number of sessions that failed or timed out.
func bad(s *engine.Snapshot) int64 { return s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut] }
