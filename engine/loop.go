package engine

import (
	"context"
	"maps"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/stats"
)

const (
	publishEvery = 100 * time.Millisecond
	sampleEvery  = time.Second
	shownChanges = 256
	allDone      = "all cycles are done"
	nobody       = "nobody takes part"
)

// loop owns the state of a run: one goroutine, no locks, and nothing in it waits. Whatever takes long (rows that must
// be durable, a Barrier function) happens beside it and comes back as an order.
//
//	phase      begins                        leaves to
//	preparing  at Start                      running: the first cycle begins     paused, draining
//	running    a cycle begins, Resume,       paused: Pause, a journal in trouble
//	           the journal's trouble ends    draining: Stop, the last barrier
//	paused     see above                     running, draining
//	draining   Stop, ctx ends (cut),         ended: nothing in flight, and the checkpoint of a stop and the run's
//	           the last barrier              end are durable; or their time was up
//	ended      for good
type loop struct {
	r   *Run
	cfg Config
	ctx context.Context // of sessions and commits; ends with ErrCut
	cut context.CancelCauseFunc

	phase          Phase
	limit          int    // as set
	inForce        int    // what is in force: 0 while paused
	paused         string // by a person, why
	pausedByUs     bool   // by a person
	trouble        error
	stopping       string
	isCut          bool
	hasty          bool // the program has to end: what is left takes its shortest time
	unpaid         bool // a session of the open cycle was cut for the budget
	lastCheckpoint bool // the checkpoint of a stop was begun
	abandoned      bool // what did not end when the run was cut is not waited for
	finishing      bool // the run's end is being written; orders come too late
	ending         Ending
	endCtx         context.Context // of the wait for the run's end to be durable
	endCancel      context.CancelFunc
	last           *time.Timer // runs once the run is cut: what has not ended then is left behind

	orders   Orders // the governor's newest
	steered  time.Time
	steerWhy string // what it said last, at steered
	steerBy  string // with whose word
	probe    bool   // a session is to start although the breaker is open
	probing  int    // of such, in flight
	proof    proof  // that the run cannot succeed
	read     lastReading
	busy     busyMeter
	probed   probed
	late     Late      // since the last sample
	lastEnd  time.Time // when a session ended last, or work could begin
	oldest   []Doing   // as of the last second; snapshots share it
	services []ServiceState
	quotas   []quota
	clock    clocks // as of the last tick
	sleeps   sleeps

	roster     roster
	cycle      *cycle // nil between cycles
	number     int    // of the open cycle
	firstDone  []int  // agents that had their session in an earlier process
	firstRun   int    // the cycle that this process began with
	workers    int
	idle       time.Time // when the last worker left
	started    bool      // the journal has the row that this process took up the run
	closing    bool      // the barrier's rows are being committed
	turning    bool      // memory moves on to the next cycle
	saving     int       // checkpoints that are being committed
	due        *time.Timer
	deltas     map[int]Delta      // of the open cycle, by agent
	bad        map[int]SessionEnd // of the open cycle, by agent: last takes that can be made again
	requeueing int                // orders to do so that are being committed
	remembered int64              // bytes that agents remember, as of the start of the open cycle
	dirty      map[int]bool       // agents whose memory changed since the last checkpoint
	injected   []Injection        // by hand, for the next cycle

	totals    Totals
	atBarrier State // as of the start of the open cycle: what a checkpoint keeps
	latest    [numClasses]ErrorNote
	sessions  struct{ before, begun, cut, total int64 } // before: ended in earlier processes

	began        time.Time // of this process's work
	schedule     time.Time // when the first cycle of this process was meant to begin, moved by pauses
	stood        time.Time // since when nothing may start, for a pause or a limit of 0; zero while it may
	standing     time.Duration
	cycleBegan   time.Time
	lastCycle    ClosedCycle
	elapsed      time.Duration // of earlier processes
	writing      time.Duration // it took to have the population written, before the run began
	storedBefore int64         // bytes that earlier processes took in the store
	lag          time.Duration

	checkpoints int
	autosave    *time.Timer   // of the next checkpoint by time
	saved       time.Time     // when the last checkpoint was made, or still described the run
	savedStood  time.Duration // how long the process stood still since then
	savedAt     progress      // what it described
	savedHere   bool          // it is of this process
	inherited   []Tunable     // of the run that this one was forked from
	savingTook  time.Duration // of the newest of this process that is durable
	newest      *waiting      // the newest checkpoint, while it is not durable

	backlog       []note // for the journal writer, oldest first
	journalWriter chan note

	window      window
	written     int64 // rows by this process, as of the last sample
	metrics     MetricsRow
	connections Connections // of the metrics, as they were probed
	// As of the last sample; snapshots share the steps.
	steps       []StepFigures
	durations   Spread
	unsentSince time.Time
	changes     []ChangeRow // the newest
	emitted     emitted
	recent      rate
}

// progress tells whether anything happened between two moments.
type progress struct {
	cycle int
	ended int64
}

// window collects the sessions that ended since the last sample.
type window struct {
	total, service, held, queue stats.Histogram

	requests int64
	shared   int64 // requests of the run itself until then
	writes   int64
	at       time.Time
}

func newLoop(ctx context.Context, r *Run, cfg Config) *loop {
	now := moment()
	l := &loop{
		r:        r,
		cfg:      cfg,
		limit:    cfg.Settings.Limit,
		deltas:   map[int]Delta{},
		dirty:    map[int]bool{},
		began:    now,
		writing:  cfg.Before,
		saved:    now,
		schedule: now,
		read:     lastReading{at: now},
		lastEnd:  now,
		clock:    clocksAt(now),
		bad:      map[int]SessionEnd{},
		roster: roster{
			cfg.Settings.Seed, cfg.Agents, cfg.Chosen, cfg.Settings.WarmUp, max(cfg.Settings.WarmUpCycles, 1), cfg.Settings.Sequential, map[int]int{}, cfg.First,
		},
		due:           time.NewTimer(0),
		autosave:      time.NewTimer(0),
		last:          time.NewTimer(0),
		journalWriter: make(chan note),
	}
	l.last.Stop()
	l.ctx, l.cut = context.WithCancelCause(context.WithoutCancel(ctx))
	r.ctx = l.ctx
	l.endCtx, l.endCancel = context.WithCancel(context.WithoutCancel(ctx))
	l.atBarrier = State{Limit: l.limit}
	if cfg.Resume != nil {
		l.takeUp(cfg.Resume)
	}
	l.sessions.before = l.totals.Ended()
	l.savedAt = l.progress()
	l.sessions.total = l.roster.total(cfg.Settings.Cycles)
	l.recent.tick(now)
	l.window.at = now
	if cfg.Probe.Writes != nil {
		l.window.writes = cfg.Probe.Writes()
	}
	l.probed = probed{grown(cfg.Probe.Writer), grown(cfg.Probe.Window)}
	return l
}

// takeUp goes on where the journal ends.
func (l *loop) takeUp(res *Resumption) {
	l.number, l.firstRun, l.firstDone = res.Cycle, res.Cycle, res.Done
	l.totals, l.atBarrier.Totals = res.State.Totals.Clone(), res.AtBarrier.Clone()
	l.proof.well = l.totals.Outcomes[OK]+l.totals.Outcomes[Stopped] > 0
	p, open := &l.totals.Peaks, l.totals.Service.Sum()-res.AtBarrier.Service.Sum()
	p.Apart, p.Open = p.Apart-p.Open+open, open
	l.writing += res.Writing
	l.elapsed, l.checkpoints, l.storedBefore = l.totals.Peaks.Elapsed, res.Checkpoints, l.totals.Peaks.Stored
	if res.Memory != nil {
		l.r.memory = maps.Clone(res.Memory)
	}
	for _, m := range l.r.memory {
		l.remembered += m.size()
	}
	l.r.memoryBudget.remember(l.remembered)
	maps.Copy(l.deltas, res.Deltas)
	for _, a := range res.Changed {
		l.dirty[a] = true
	}
	l.r.prefixes, l.r.takes = res.Prefixes, res.Takes
	maps.Copy(l.bad, res.Bad)
	maps.Copy(l.roster.gone, res.Retired)
	l.r.attendance.takeUp(res)
	l.restore(res.Tuned)
	l.inherited = res.State.Tuned
	l.r.shared.takeUp(&res.Shared, l.totals.Shared)
	l.window.shared = l.totals.Shared.Requests
	for _, i := range res.Injected {
		if i.Cycle <= l.number {
			l.r.injected = withNewest(l.r.injected, i)
		} else {
			l.injected = append(l.injected, i)
		}
	}
}

func (l *loop) run(forget func() bool) {
	defer close(l.r.done)
	defer l.r.alarm.Close()
	defer clock.Watch()()
	defer forget()
	go l.write()
	go l.r.carry()
	defer close(l.journalWriter)
	defer l.rescue()
	l.append(StartRow{l.began, l.number, l.cfg.Resume != nil && !l.cfg.Resume.Unbegun}, func() { l.started = true })
	if why := l.cfg.Inexact; why != "" && l.totals.Inexact == nil {
		since := Inexact{Cycle: l.number, Why: why}
		l.totals.inexactSince(since)
		l.append(ChangeRow{At: l.began, Cycle: l.number, What: exactnessChange, Old: "exact", New: "inexact", Why: why, Inexact: &since}, nil)
	}
	l.journalWriting()
	l.askServices(l.began)
	publish, sample := time.NewTicker(publishEvery), time.NewTicker(sampleEvery)
	for _, stop := range []func(){publish.Stop, sample.Stop, func() { l.due.Stop() }, func() { l.autosave.Stop() }, func() { l.last.Stop() }} {
		defer stop()
	}
	for trouble := l.r.journal.Trouble(); l.phase != Ended; l.advance() {
		journalWriter, next := l.outgoing()
		select {
		case b := <-l.r.results:
			l.take(b)
		case order := <-l.r.orders:
			order(l)
		case journalWriter <- next:
			l.sent()
		case err := <-trouble:
			l.setTrouble(err)
		case <-l.due.C:
			l.lookAtClocks()
		case <-l.last.C:
			l.leaveBehind()
		case at := <-publish.C:
			l.ticked(at)
			l.tick()
		case <-sample.C:
			l.lookAtClocks()
			l.oldest = l.r.Oldest(mostOldest)
			l.sample()
			l.steer()
		case <-l.autosave.C:
			l.lookAtClocks()
			l.checkpointIfDue()
		}
	}
	l.cut(ErrCut)
	l.endCancel()
	l.publish()
}

// advance does whatever has become possible.
func (l *loop) advance() {
	for l.step() {
	}
	l.staff()
}

// step does one thing that has become possible; it reports whether another may have become so.
func (l *loop) step() bool {
	switch {
	case l.phase == Ended || l.finishing:
		return false
	case l.abandoned:
		l.finish()
	case l.cycle == nil && l.phase == Draining:
		l.finish()
	case l.cycle == nil:
		return l.begin()
	case l.cycle.left() == 0 && l.workers == 0 && l.requeueing == 0 && !l.isCut && !l.unpaid:
		l.closeCycle()
	case l.phase == Draining && l.workers == 0 && !l.closing:
		l.finish()
	}
	return false
}

// staff starts workers as far as the limit and the work left allow.
func (l *loop) staff() {
	l.probeOnce()
	if l.cycle == nil || l.phase != Running {
		return
	}
	l.nextWave()
	for left := l.cycle.open(); left > 0 && l.r.places.Take(); left-- {
		l.workers++
		w := &worker{run: l.r, cycle: l.cycle}
		go w.work()
	}
}

// nextWave lets the next wave of the open cycle start, if the one before has ended.
func (l *loop) nextWave() {
	if l.workers > 0 || l.closing {
		return
	}
	now := time.Now()
	l.mark(now)
	if l.cycle.nextWave(now) {
		l.lastEnd = now
	}
}

// take counts what a worker finished.
func (l *loop) take(b *batch) {
	if l.abandoned {
		return // counted as cut
	}
	for i := range b.rows {
		row := &b.rows[i]
		l.totals.Add(row)
		l.window.add(row)
		if len(row.Events) > 0 {
			l.emitted.add(row)
		}
		l.read.ended++
		l.proof.add(row)
		if len(l.bad) > 0 {
			delete(l.bad, row.Agent)
		}
		if row.Outcome == Failed || row.Outcome == TimedOut {
			l.read.failed++
			l.latest[row.Class].add(row)
			l.bad[row.Agent] = EndOf(row)
		}
		if row.Outcome.Commits() && !row.Delta.Empty() {
			l.deltas[row.Agent] = row.Delta
		}
	}
	if len(b.rows) > 0 {
		l.r.attendance.take(b.rows)
		l.lastEnd = time.Now()
	}
	l.recent.add(int64(len(b.rows)))
	l.totals.Peaks.Overhead.Queued += b.queued
	l.totals.Peaks.Overhead.Handed += b.handed
	l.sessions.cut += int64(b.cut)
	if b.gone > 0 {
		l.workers -= b.gone
		l.probing -= b.probes
		l.proof.probed(b.probes)
		if l.workers == 0 {
			l.idle = time.Now()
		}
	}
	switch {
	case b.unpaid != "":
		l.unpaid = true
		l.outOfBudget(b.unpaid)
	case b.cut > 0:
		l.cutShort("a session could not go on")
	}
	l.r.spare(b)
	l.endHopeless()
}

// tally brings the totals up to what the run itself has asked by now.
func (l *loop) tally() { l.totals.Shared = l.r.shared.figures() }

func (l *loop) progress() progress { return progress{l.number, l.totals.Ended()} }

func (l *loop) setPhase(p Phase) {
	l.phase = p
	l.enforce()
	l.publish()
}

// enforce puts in force what the phase and the limit mean: for who may start, for the cycle's clock and for the
// schedule.
func (l *loop) enforce() {
	limit := 0
	if l.phase == Running {
		limit = l.limit
	}
	if l.cfg.Settings.Sequential {
		limit = min(limit, 1)
	}
	now := time.Now()
	l.mark(now)
	l.inForce = limit
	l.r.places.SetLimit(limit)
	switch stands := l.phase == Paused || l.phase == Running && limit == 0; {
	case stands && l.stood.IsZero():
		l.stood = now
		if l.cycle != nil && l.cycle.clock != nil {
			l.cycle.clock.Hold()
		}
	case limit > 0 && !l.stood.IsZero():
		l.schedule = l.schedule.Add(now.Sub(l.stood))
		l.standing += l.stoodIdle(now)
		l.stood, l.lastEnd = time.Time{}, now
		if l.cycle != nil && l.cycle.clock != nil {
			l.cycle.clock.Release()
		}
	}
}

// stoodIdle is how long nothing was in flight because nothing may start.
func (l *loop) stoodIdle(now time.Time) time.Duration {
	switch {
	case l.stood.IsZero() || l.workers > 0:
		return 0
	case l.idle.After(l.stood):
		return now.Sub(l.idle)
	}
	return now.Sub(l.stood)
}
