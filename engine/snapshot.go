package engine

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// Snapshot is an immutable picture of a run, about ten a second.
type Snapshot struct {
	Run     RunID
	At      time.Time
	Phase   Phase
	Reason  string // why it is paused, draining or ended
	Ending  Ending
	Cycle   int // the open one, from 0
	Cycles  int // 0 when the run ends by the clock
	SimTime time.Time

	Limit    int // as set
	InFlight int
	// Floor and Ceiling bound what Governor makes of the limit. Steer is what was said last of a move, at Steered, and SteerBy
	// whose word that was; Binds is which governor holds the limit now.
	Floor, Ceiling int
	Governor       string
	Steer, SteerBy string
	Binds          string
	Steered        time.Time
	Breaker        BreakerState // of the run
	BreakerWhy     string
	NextProbe      time.Time
	Stall          *Stall
	Services       []ServiceState
	Budget         BudgetState
	Oldest         []Doing // sessions in flight, the oldest first, some
	// Sessions of the open cycle.
	CycleEnded, CycleTotal int64
	CycleFailed            int64         // or timed out
	CycleTook              time.Duration // so far, without waits for the schedule and pauses
	CycleWork              CycleWork     // so far
	LastCycle              ClosedCycle   // of this process; zero before the first
	// Sessions of the run, earlier processes included; Total is 0 when it is not known.
	Ended, Total int64
	// Sessions that this process began, and that were cut. One that was requeued counts once.
	Begun, Cut int64

	Outcomes map[Outcome]int64
	Errors   []ErrorNote // classes that occurred, most frequent first
	Events   int64
	Latency  Quantiles // of sessions, over the run
	// Durations spread the sessions of Latency by how long they took, as of the newest second.
	Durations Spread
	// Requests and Usage are of everything that left, Retries and RateLimited of the sessions that ended.
	Requests    int64
	Retries     int64
	RateLimited int64
	Labels      map[Label]int64
	Usage       Usage     // of models
	Queue       Quantiles // waits for the gate
	Held        Quantiles // of sessions: what rate limiters, bounds of services and their waits throttled
	Waits       Waits     // the sums of what Held consists of
	// QueueSum and HeldSum are the sums of Queue and Held.
	QueueSum, HeldSum time.Duration
	Flow              Flow
	Speedup           float64 // over the run; NaN where it is not known
	// Steps are the figures of the chain's steps, ascending by path, as of the newest second.
	Steps []StepFigures

	PerSecond float64       // sessions, over the last seconds
	Elapsed   time.Duration // all processes
	// WritesPerSec is how many rows this process committed per second of its time; NaN where that is not counted.
	WritesPerSec float64
	Remaining    time.Duration // estimate; negative when there is none
	Lag          time.Duration
	LagWhy       string // in words: why the schedule lies later than planned; "" is that it does not
	Inexact      *Inexact

	Checkpoints    int
	LastCheckpoint time.Time // made, or found to describe the run still; zero before the first of this process
	// CheckpointTook is from the order of the newest that is durable until it was; sessions went on meanwhile. 0 is not
	// known.
	CheckpointTook time.Duration

	Metrics MetricsRow // the newest second
	// UnsentSince is since when there were rows at all times that the remote database did not have; zero while there are none.
	UnsentSince time.Time
	// Overhead is of the run, as of the newest second; Late is the worst of it.
	Overhead Overhead
	Late     Late
	// Changes are the newest that this process made, oldest first.
	Changes []ChangeRow
	// Emitted are the newest events of sessions that ended in this process, oldest first, as of the newest second.
	Emitted []Emitted
}

// ClosedCycle is what came of a cycle.
type ClosedCycle struct {
	Took     time.Duration // without waits for the schedule and pauses
	Sessions int64
	Failed   int64 // or timed out
	Work     CycleWork
}

// ErrorNote is a class of errors with its last occurrence, which is not known where that was before a resume.
type ErrorNote struct {
	Class   Class
	Count   int64
	Cycle   int
	Agent   int
	Name    string // of the agent; "" where it is not known
	Path    string
	Message string
}

// Who is the agent for people.
func (n *ErrorNote) Who() string {
	if n.Name == "" {
		return strconv.Itoa(n.Agent)
	}
	return n.Name
}

// Known reports whether the last occurrence is known.
func (n *ErrorNote) Known() bool { return n.Path != "" || n.Message != "" }

func (n *ErrorNote) add(r *SessionRow) {
	*n = ErrorNote{Class: r.Class, Count: n.Count + 1, Cycle: r.Cycle, Agent: r.Agent, Path: r.Path, Message: r.Error}
}

// rate is a moving count per second over a few seconds.
type rate struct {
	at     [8]time.Time
	counts [8]int64
	i      int
	now    int64
}

func (r *rate) add(n int64) { r.now += n }

// tick closes a second.
func (r *rate) tick(now time.Time) {
	r.at[r.i], r.counts[r.i] = now, r.now
	r.i = (r.i + 1) % len(r.at)
}

// perSecond is the mean since the oldest tick kept.
func (r *rate) perSecond(now time.Time) float64 {
	oldest := -1
	for k := range r.at {
		i := (r.i + k) % len(r.at)
		if !r.at[i].IsZero() {
			oldest = i
			break
		}
	}
	if oldest < 0 {
		return 0
	}
	span := now.Sub(r.at[oldest]).Seconds()
	if span <= 0 {
		return 0
	}
	return float64(r.now-r.counts[oldest]) / span
}

func (w *window) add(r *SessionRow) {
	w.total.Record(r.Total)
	w.service.Record(r.Service)
	w.held.Record(r.Held)
	w.queue.Record(r.Queue)
	for i := range r.Steps {
		w.requests += int64(r.Steps[i].Attempts)
	}
}

// sample closes a second: its figures are shown and, if wanted, journaled.
func (l *loop) sample() {
	now := moment()
	l.checkWall(now)
	l.recent.tick(now)
	span := max(now.Sub(l.window.at).Seconds(), 1e-3)
	l.tally()
	books := l.r.ledger.books()
	asked := l.totals.Asked() // what the journal tells, so that it can be recomputed
	requests := l.window.requests + l.totals.Shared.Requests - l.window.shared
	m := MetricsRow{
		At:                now,
		Cycle:             l.number,
		Phase:             l.phase,
		Ended:             l.totals.Ended(),
		Acted:             l.totals.Acted,
		Limit:             l.limit,
		InFlight:          l.inFlight(),
		Total:             quantiles(&l.window.total),
		Service:           quantiles(&l.window.service),
		Held:              quantiles(&l.window.held),
		SessionsPerSec:    float64(l.window.total.Count()) / span,
		RequestsPerSec:    float64(requests) / span,
		RateLimited:       asked.RateLimited,
		Retries:           asked.Retries,
		Errors:            l.totals.Errors,
		Connections:       -1,
		ServerConnections: -1,
		ServerMax:         -1,
		Lag:               l.lag,
		Unsent:            -1,
		Usage:             asked.Usage,
		Waits:             asked.Waits,
		Flow:              l.totals.Flow,
		TimedOut:          l.totals.Outcomes[TimedOut],
		Queue:             quantiles(&l.window.queue),
		Speedup:           l.window.service.Sum().Seconds() / span,
		Beside:            books.beside,
	}
	probe, peaks := &l.cfg.Probe, &l.totals.Peaks
	if probe.Host != nil {
		m.Host = probe.Host()
		peaks.Memory = max(peaks.Memory, m.Host.Memory)
	}
	l.connections = Connections{Own: -1, Server: -1, Max: -1}
	if probe.Connections != nil {
		c := probe.Connections()
		m.Connections, m.ServerConnections, m.ServerMax, m.Pool = c.Own, c.Server, c.Max, c.Pool
		l.connections = c
		peaks.Connections = max(peaks.Connections, m.Connections)
		peaks.ServerConnections = max(peaks.ServerConnections, m.ServerConnections)
	}
	if probe.Writes != nil {
		writes := probe.Writes()
		m.WritesPerSec = float64(writes-l.window.writes) / span
		l.written += writes - l.window.writes
		l.window.writes = writes
	}
	if probe.Stored != nil {
		m.Stored = l.storedBefore + probe.Stored()
		peaks.Stored = max(peaks.Stored, m.Stored)
	}
	if probe.Unsent != nil {
		m.Unsent = probe.Unsent()
	}
	switch {
	case m.Unsent <= 0:
		l.unsentSince = time.Time{}
	case l.unsentSince.IsZero():
		l.unsentSince = now
	}
	l.window.total.Reset()
	l.window.service.Reset()
	l.window.held.Reset()
	l.window.queue.Reset()
	l.account(now, now.Sub(l.window.at), &m.Host)
	l.late.Core = m.Host.CoreWait
	peaks.Late = peaks.Late.Worse(l.late)
	m.Overhead, m.Late, l.late = peaks.Overhead, l.late, Late{}
	l.window.requests, l.window.shared, l.window.at = 0, l.totals.Shared.Requests, now
	l.metrics, l.steps, l.durations = m, l.totals.ByStep.Figures(), spread(&l.totals.Total)
	l.emitted.newest(l.cfg.Name)
	if l.cfg.Settings.Metrics {
		if len(l.backlog) < maxNotes { // else the disk has been in trouble for an hour
			l.append(m, nil)
		}
	}
}

// publish makes the run's picture.
func (l *loop) publish() {
	now := time.Now()
	l.tally()
	t := &l.totals
	asked, settings := l.left(), &l.cfg.Settings
	s := &Snapshot{
		Run:      l.r.id,
		At:       now,
		Phase:    l.phase,
		Reason:   l.reason(),
		Ending:   l.ending,
		Cycle:    l.number,
		Cycles:   l.cfg.Settings.Cycles,
		SimTime:  l.cfg.Clock.At(l.number),
		Limit:    l.limit,
		InFlight: l.inFlight(),

		Floor:      settings.Floor,
		Ceiling:    settings.Ceiling,
		Governor:   Manual,
		Steer:      l.steerWhy,
		SteerBy:    cmp.Or(l.steerBy, l.orders.By),
		Binds:      l.orders.By,
		Steered:    l.steered,
		Breaker:    l.orders.Breaker,
		BreakerWhy: l.orders.BreakerWhy,
		NextProbe:  l.orders.NextProbe,
		Stall:      l.orders.Stall,
		Services:   l.services,
		Oldest:     l.oldest,

		Ended: t.Ended(),
		Total: l.sessions.total,
		Begun: l.sessions.begun,
		Cut:   l.sessions.cut,

		Outcomes:    map[Outcome]int64{},
		Events:      t.Events,
		Latency:     quantiles(&t.Total),
		Durations:   l.durations,
		Requests:    asked.Requests,
		Retries:     asked.Retries,
		RateLimited: asked.RateLimited,
		Labels:      map[Label]int64{},
		Usage:       asked.Usage,
		Waits:       asked.Waits,
		Queue:       quantiles(&t.Queue),
		Held:        quantiles(&t.Held),
		QueueSum:    t.Queue.Sum(),
		HeldSum:     t.Held.Sum(),
		Flow:        t.Flow,
		Speedup:     l.speedup(now),
		Steps:       l.steps,

		PerSecond:    l.recent.perSecond(now),
		Elapsed:      l.elapsed + now.Sub(l.began),
		Remaining:    -1,
		WritesPerSec: l.writesPerSec(),
		Lag:          l.lag,
		LagWhy:       l.lagWhy(),
		Inexact:      t.Inexact,
		Checkpoints:  l.checkpoints,
		LastCycle:    l.lastCycle,
		Metrics:      l.metrics,
		UnsentSince:  l.unsentSince,
		Overhead:     l.metrics.Overhead,
		Late:         t.Peaks.Late,
		Changes:      l.changes,
		Emitted:      l.emitted.shown,
	}
	if l.governed() {
		s.Governor = settings.Governor
	}
	if l.savedHere {
		s.LastCheckpoint, s.CheckpointTook = l.saved, l.savingTook
	}
	if l.finishing { // its books are closed
		s.Elapsed = t.Peaks.Elapsed
	}
	if l.phase != Ended {
		s.Ending = NotEnded
	} else {
		s.Oldest, s.Stall = nil, nil
	}
	if c := l.cycle; c != nil {
		s.Begun += int64(c.started())
		s.CycleTotal = int64(c.active)
		s.CycleFailed, s.CycleWork = l.failedInCycle(), l.cycleWork()
		s.CycleTook = l.lastCycle.Took
		if !l.closing {
			s.CycleTook = max(l.worked(now)-l.stoodIdle(now), 0)
		}
		s.CycleEnded = s.Ended - l.atBarrier.Totals.Ended()
	}
	for o, n := range t.Outcomes {
		if n > 0 {
			s.Outcomes[Outcome(o)] = n
		}
	}
	for label, n := range asked.Labels {
		if n > 0 {
			s.Labels[Label(label)] = n
		}
	}
	for c := range l.latest {
		if t.Errors[c] > 0 {
			l.name(&l.latest[c])
			note := l.latest[c]
			note.Class, note.Count = Class(c), t.Errors[c]
			s.Errors = append(s.Errors, note)
		}
	}
	slices.SortStableFunc(s.Errors, func(a, b ErrorNote) int { return cmp.Compare(b.Count, a.Count) })
	s.Remaining = l.remaining(s, now)
	s.Budget = l.budget(now, s.Remaining)
	l.r.shown.Store(s)
}

// left is what all requests took that left.
func (l *loop) left() Asked {
	if l.finishing { // its books are closed
		return l.totals.Left()
	}
	return l.totals.Asked().left(l.r.ledger.books().spent)
}

// writesPerSec is the mean over this process's time, as of the newest second.
func (l *loop) writesPerSec() float64 {
	span := l.window.at.Sub(l.began).Seconds()
	if l.cfg.Probe.Writes == nil || span <= 0 {
		return math.NaN()
	}
	return float64(l.written) / span
}

// failedInCycle counts the sessions of the open cycle that failed or timed out.
func (l *loop) failedInCycle() int64 {
	now, before := &l.totals.Outcomes, &l.atBarrier.Totals.Outcomes
	return now[Failed] + now[TimedOut] - before[Failed] - before[TimedOut]
}

// name finds out how the agent of a note is called.
func (l *loop) name(n *ErrorNote) {
	if l.cfg.Name == nil || n.Name != "" || n.Count == 0 {
		return
	}
	if id, err := l.cfg.Name(n.Agent); err == nil {
		n.Name = id
	}
}

// speedup is the run's so far, the open cycle included.
func (l *loop) speedup(now time.Time) float64 {
	worked := l.totals.Peaks.Worked
	if l.cycle != nil && !l.closing {
		worked += l.worked(now) - l.stoodIdle(now)
	}
	return over(l.totals.Service.Sum()-l.totals.Peaks.Apart, worked)
}

// inFlight is how many sessions are in flight; those left behind count as cut.
func (l *loop) inFlight() int {
	if l.abandoned {
		return 0
	}
	return l.r.places.Held()
}

// remaining estimates the time to the run's end: by its schedule, its hours, or the pace of the last seconds.
func (l *loop) remaining(s *Snapshot, now time.Time) time.Duration {
	settings := &l.cfg.Settings
	left := time.Duration(-1)
	switch {
	case l.phase == Ended:
		return 0
	case settings.Cycles == 0:
		return max(time.Duration(settings.Hours*float64(time.Hour))-s.Elapsed, 0)
	case s.PerSecond > 0 && s.Total > 0:
		left = time.Duration(float64(s.Total-s.Ended) / s.PerSecond * float64(time.Second))
	}
	if settings.TimeScale > 0 {
		each := time.Duration(float64(l.cfg.Clock.Cycle) / settings.TimeScale)
		last := l.schedule.Add(time.Duration(settings.Cycles-1-l.firstRun) * each)
		left = max(left, last.Sub(now))
	}
	return left
}
