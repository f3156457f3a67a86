package run

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/stats"
	"github.com/throng-sim/throng/engine/run/pace"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/engine/workers"
)

// publishEvery and sampleEvery are the intervals of snapshots and, after the first seconds of a run, of samples.
const (
	publishEvery = 100 * time.Millisecond
	sampleEvery  = time.Second
)

// sampling computes the figures of each second and, in the first seconds of a run, of each tenth of a second.
type sampling struct {
	core *core

	window window
	// These hold what the first seconds need in addition: whether samples are fine, the second that they are part of, its fine rows and
	// those of this process. Snapshots share early.
	fine        bool
	second      window
	rows, early []engine.MetricsRow

	active  stats.Histogram // of the window, over this process
	metrics engine.MetricsRow
	// These hold the values of the last sample; snapshots share them.
	steps       []engine.StepFigures
	durations   engine.Spread
	oldest      []engine.Activity
	emitted     emitted
	connections engine.Connections
	unsentSince time.Time

	recent                 pace.Rate
	pace                   pace.Estimate // for the time left
	late                   engine.Late   // since the last sample
	written                int64         // rows written by this process up to the last sample
	storedBefore           int64         // bytes stored by earlier processes
	writerTime, windowTime time.Duration // last probe values of the journal writer and the window
}

// window collects the sessions that ended since the last sample.
type window struct {
	total, service, held, queue stats.Histogram
	active                      stats.Histogram // total of sessions that sent a request or acted
	request                     stats.Histogram // service of steps that sent a request

	requests int64
	shared   int64 // the run's own requests before the window
	writes   int64
	at       time.Time
}

// add counts a session, and reports whether it did something: it sent a request or acted.
func (w *window) add(r *engine.SessionRow) (active bool) {
	w.total.Record(r.Latency())
	w.service.Record(r.Service)
	w.held.Record(r.Throttled)
	w.queue.Record(r.Queue)
	sent := int64(0)
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Asked() {
			w.request.Record(s.Service)
		}
		sent += int64(r.Steps[i].Attempts)
	}
	w.requests += sent
	if active = sent > 0 || r.Acted; active {
		w.active.Record(r.Latency())
	}
	return active
}

// begin empties the window for the next second.
func (w *window) begin(at time.Time, shared int64) {
	w.total.Reset()
	w.service.Reset()
	w.held.Reset()
	w.queue.Reset()
	w.active.Reset()
	w.request.Reset()
	w.requests, w.shared, w.at = 0, shared, at
}

// times returns the durations of the window's sessions.
func (w *window) times(span float64) engine.SecondTimes {
	return engine.SecondTimes{
		Total: engine.QuantilesOf(&w.total), Service: engine.QuantilesOf(&w.service), Throttled: engine.QuantilesOf(&w.held), Queue: engine.QuantilesOf(&w.queue),
		Active: engine.QuantilesOf(&w.active), Request: engine.QuantilesOf(&w.request), Speedup: w.service.Sum().Seconds() / span,
	}
}

// start begins the samples of a process.
func (s *sampling) start(at time.Time, first *probes) {
	s.recent.Tick(at)
	s.window.at, s.second.at, s.window.writes = at, at, deref(first.writes)
	s.writerTime, s.windowTime = first.writer, first.window
	s.fine = s.core.stopwatch.elapsed < seconds.Fine
}

// every returns the interval of samples.
func (s *sampling) every() time.Duration {
	if s.fine {
		return seconds.Each
	}
	return sampleEvery
}

// add adds a session that ended.
func (s *sampling) add(r *engine.SessionRow) {
	if s.window.add(r) {
		s.active.Record(r.Latency())
	}
	if s.fine {
		s.second.add(r)
	}
	if len(r.Events) > 0 {
		s.emitted.add(r)
	}
}

// close ends an interval: it journals its figures if the settings say so. It reports whether it ended a second, as the last one of a
// process does.
func (s *sampling) close(p *probes, last bool) (second bool) {
	c, at := s.core, s.core.in.At
	c.life.checkTimeBudget()
	c.tally.updateShared()
	m := s.row()
	s.addProbes(p, &m)
	switch {
	case m.Unsent <= 0:
		s.unsentSince = time.Time{}
	case s.unsentSince.IsZero():
		s.unsentSince = at
	}
	s.addOverhead(at.Sub(s.window.at), p, &m.Host)
	peaks := &c.tally.totals.Peaks
	s.late.Core = m.Host.CoreWait
	m.Overhead, m.Late, m.Fine, s.late = peaks.Overhead, s.late, s.fine, engine.Late{}
	s.window.begin(at, c.tally.totals.Shared.Requests)
	if second = last || !s.fine || at.Sub(s.second.at) >= sampleEvery-seconds.Each/2; second || s.fine {
		s.closeSecond(m, second)
	}
	if c.cfg.Settings.Metrics {
		peaks.Lag = max(peaks.Lag, m.Lag) // of a cycle without a barrier: the journal must have it, or a resumed run lacks it
		c.append(m)
	}
	return second
}

// closeSecond adds the row of an interval to its second and, at the end of the second, updates the figures in snapshots.
func (s *sampling) closeSecond(m engine.MetricsRow, ends bool) {
	c, at, span := s.core, s.core.in.At, s.core.in.At.Sub(s.second.at)
	if s.fine {
		s.rows, s.early = append(s.rows, m), append(s.early, m)
		if !ends {
			return
		}
		m = seconds.Merge(s.second.at, s.rows)
		m.SecondTimes = s.second.times(max(span.Seconds(), 1e-3))
		s.rows, s.fine = s.rows[:0], at.Sub(c.stopwatch.began)+c.stopwatch.elapsed < seconds.Fine-seconds.Each/2
	}
	peaks := &c.tally.totals.Peaks
	peaks.Late = peaks.Late.Worse(m.Late)
	s.recent.Tick(at)
	if c.life.phase == engine.Running {
		s.pace.Add(span, at.Sub(c.stopwatch.began), c.cycles.last.Took, m.Total.Count, c.limit.set)
	}
	s.second.begin(at, 0)
	s.metrics, s.steps, s.durations = m, c.tally.totals.ByStep.Figures(), spreadOf(c.tally.totals.Latency())
	s.emitted.list(c.cfg.Name)
}

// row returns the figures of the window that the core knows.
func (s *sampling) row() engine.MetricsRow {
	c, t, w := s.core, &s.core.tally.totals, &s.window
	span := s.span()
	_, oldest := c.cycles.arriving.lag()
	asked := t.AllRequests() // from the journal, so that the figures can be recomputed
	return engine.MetricsRow{
		At:          c.in.At,
		Cycle:       c.cycles.number,
		Phase:       c.life.phase,
		Ended:       t.Ended(),
		Acted:       t.Acted,
		Limit:       c.limit.set,
		InFlight:    c.inFlight(),
		SecondTimes: w.times(span),
		SecondRates: engine.SecondRates{SessionsPerSec: float64(w.total.Count()) / span, RequestsPerSec: float64(w.requests+t.Shared.Requests-w.shared) / span},
		Counters: engine.Counters{
			RateLimited: asked.RateLimited, Retries: asked.Retries, Errors: t.Errors, Usage: asked.Usage, Waits: asked.Waits, Flow: t.Flow,
			TimedOut: t.Outcomes[engine.TimedOut], Unrecorded: c.in.Ledger.Unrecorded,
		},
		DatabaseUse: engine.DatabaseUse{Connections: -1, ServerConnections: -1, ServerMax: -1, Unsent: -1},
		Lag:         c.cycles.lag + oldest,
	}
}

// span returns the length of the window in seconds.
func (s *sampling) span() float64 { return max(s.core.in.At.Sub(s.window.at).Seconds(), 1e-3) }

// addProbes adds the values of the probes.
func (s *sampling) addProbes(p *probes, m *engine.MetricsRow) {
	peaks := &s.core.tally.totals.Peaks
	if p.host != nil {
		m.Host = *p.host
		addWorkers(&m.Host, p.workers)
		peaks.Memory = max(peaks.Memory, m.Host.Memory)
	}
	m.Workers = workers.Samples(p.workers)
	s.connections = engine.Connections{Own: -1, Server: -1, Max: -1}
	if p.connections != nil {
		s.connections = *p.connections
		m.Connections, m.ServerConnections, m.ServerMax, m.Pool = s.connections.Own, s.connections.Server, s.connections.Max, s.connections.Pool
		peaks.Connections = max(peaks.Connections, m.Connections)
		peaks.ServerConnections = max(peaks.ServerConnections, m.ServerConnections)
	}
	if p.writes != nil {
		m.WritesPerSec = float64(*p.writes-s.window.writes) / s.span()
		s.written += *p.writes - s.window.writes
		s.window.writes = *p.writes
	}
	if p.stored != nil {
		m.Stored = s.storedBefore + *p.stored
		peaks.Stored = max(peaks.Stored, m.Stored)
	}
	if p.unsent != nil {
		m.Unsent = *p.unsent
	}
}

// addWorkers counts what the workers on this machine use as Throng's own, up to what is in use there: their figures are a second old.
func addWorkers(h *engine.HostMetrics, all []workers.State) {
	used, most := 0., h.CPU*float64(h.Cores)-h.ProcessCPU
	for i := range all {
		if w := &all[i]; w.Here {
			used += w.CPU
			h.Memory += w.Memory
		}
	}
	h.ProcessCPU += max(min(used, most), 0)
}

// addOverhead adds a second to the run's overhead figures.
func (s *sampling) addOverhead(span time.Duration, p *probes, h *engine.HostMetrics) {
	c := s.core
	o := &c.tally.totals.Peaks.Overhead
	c.reading.mark()
	if c.life.phase != engine.Paused {
		of := func(percent float64) time.Duration { return time.Duration(percent / 100 * float64(span)) }
		o.Span += span
		o.Cores += span * time.Duration(h.Cores)
		o.Machine += of(h.CPU * float64(h.Cores))
		o.Process += of(h.ProcessCPU)
		o.Collector += of(h.Collector)
		o.Writer += max(p.writer-s.writerTime, 0)
		o.Window += max(p.window-s.windowTime, 0)
	}
	s.writerTime, s.windowTime = p.writer, p.window
	o.Times = c.tally.totals.Times(c.cfg.Purpose) // how the sessions spent their time
	o.Times[engine.ForJournal] += o.Queued
	o.Times[engine.ForEngine] += o.Handed
	o.Requests = c.tally.totals.Requests
}

// writesPerSec returns the mean write rate of this process up to the last sample.
func (s *sampling) writesPerSec() float64 {
	span := s.window.at.Sub(s.core.stopwatch.began).Seconds()
	if !s.core.countsWrites || span <= 0 {
		return math.NaN()
	}
	return float64(s.written) / span
}
