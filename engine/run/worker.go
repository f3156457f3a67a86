package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/run/memorybudget"
)

const (
	batchRows = 256
	batchAge  = 20 * time.Millisecond
	// computeSlice is how long a worker computes before it yields. The runtime would allow 10 ms, but on a fully loaded
	// machine that would delay the node and the window.
	computeSlice = time.Millisecond
)

// worker executes sessions one after another in one slot, until the limit takes the slot away.
type worker struct {
	pool      *localPool
	cycle     *cycle
	batch     *Batch            // ended sessions that were not passed on; nil if there are none
	since     time.Time         // when the batch received its first row
	now       time.Time         // end of the last session, which is the start of the next one
	began     time.Time         // start of the session in flight
	yieldedAt time.Time         // when it last yielded
	nodeWait  time.Duration     // how long the node took to accept the previous batch
	row       engine.SessionRow // of the session in flight
	clock     *clock.Clock      // of the session in flight; nil until the session first waits
	spare     *clock.Clock
	limit     *engine.TimeoutError // timeout of the spare clock
	probe     bool                 // execute one session only
	slot      slot
	// trail is the trail of the session in flight; nil if Config.Trail is not set.
	trail *engine.Trail
	claim *memorybudget.Claims
	parks parks
	// recording is the run that answers in place of the services; "" if services are called.
	recording engine.RunID
	s         *engine.Session
}

var _ engine.Slot = (*worker)(nil)

func (w *worker) work() {
	defer w.pool.cfg.Rescue()
	w.claim = w.pool.memory.Claims()
	w.s = engine.NewSession(w.pool.host, w, &w.row)
	w.recording = w.s.Run().Recording
	w.now = time.Now()
	w.yieldedAt = w.now
	if w.pool.cfg.Trail != nil {
		w.trail = &engine.Trail{Row: &w.row}
	}
	w.pool.slots.add(&w.slot)
	defer w.pool.slots.remove(&w.slot)
	for w.probe || w.pool.parking.keep() {
		t, ok := w.cycle.next()
		if ok {
			w.execute(&t)
		}
		if !ok || w.probe || w.batch != nil && w.batch.CutAlone != "" { // the run is ending: no session may start in this slot
			w.pool.parking.release()
			break
		}
	}
	if w.spare != nil {
		w.spare.Stop()
	}
	w.depart()
}

// Start passes on the finished sessions and starts the clock of the session in flight. It reuses the clock of the previous
// session if possible.
func (w *worker) Start() *clock.Clock {
	w.passOn()
	c, limit := w.spare, w.cycle.timeout.Load()
	w.spare = nil
	if c != nil && limit == w.limit {
		c.Again()
	} else {
		if c != nil { // it has a different timeout
			c.Stop()
		}
		c = w.cycle.sessionClock(limit)
	}
	w.clock, w.limit = c, limit
	w.slot.show(w.s.Place, w.began, c)
	return c
}

// Show changes the progress shown for the session in flight.
func (w *worker) Show(change func(d *engine.Activity)) { w.slot.update(change) }

// Trail returns the trail of the session in flight.
func (w *worker) Trail() *engine.Trail { return w.trail }

// Memory returns the memory claims of the session in flight.
func (w *worker) Memory() engine.MemoryClaims { return w.claim }

// stopClock stops the clock of the session in flight, or keeps it as the spare.
func (w *worker) stopClock() {
	w.slot.clear() // after this call no one can cancel it
	if w.clock.Rest() {
		w.spare = w.clock
		return
	}
	w.clock.Stop()
}

// execute runs a session. While it waits, only what it needs is on the stack.
func (w *worker) execute(t *Task) {
	w.begin(t)
	if !w.ended() {
		w.runProgram()
	}
	w.conclude(t)
}

// begin makes the session the one in flight.
func (w *worker) begin(t *Task) {
	s, agent, due := w.s, t.Agent, t.Due
	if w.cycle.sequence != nil {
		t.Memory = w.cycle.sequence.Of(agent)
	}
	s.Reset(t.Place, w.cycle.Now, t.Memory)
	w.clock = nil
	if t.Begun {
		s.Continue(t.Prefix)
	}
	if w.trail != nil {
		w.trail.Reset()
	}
	if w.now.Before(due) { // it is the end of an earlier session
		w.now = time.Now()
	}
	w.began = w.now
}

// ended reports whether the session has ended before its program runs.
func (w *worker) ended() bool {
	if w.cycle.ctx.Err() != nil {
		w.row.Outcome = engine.Cut
	} else if err := w.loadRecorded(); err != nil {
		w.row.Fail("", err)
	} else if w.cycle.clock != nil && w.cycle.clock.Context().Err() != nil {
		w.row.Fail("", context.Cause(w.cycle.clock.Context()))
	} else {
		return false
	}
	return true
}

// conclude records how the session ended.
func (w *worker) conclude(t *Task) {
	s, agent, due := w.s, t.Agent, t.Due
	retired := w.clock != nil && errors.Is(context.Cause(w.clock.Context()), engine.ErrRetired)
	if w.clock != nil {
		w.stopClock()
		w.now = time.Now()
	} else {
		w.now = w.now.Add(time.Since(w.now)) // it did not wait long; this takes half as long as time.Now
	}
	w.correctOutcome(retired)
	if unrecorded := s.Unrecorded(); unrecorded != (engine.Outlay{}) {
		b := w.currentBatch()
		b.Unrecorded = b.Unrecorded.Plus(unrecorded)
	}
	if w.claim.Holds() {
		w.claim.Release(w.row.Outcome.Commits())
	}
	if w.row.Outcome == engine.Cut {
		b := w.currentBatch()
		b.Cut++
		b.CutAgents = append(b.CutAgents, int32(agent))
		b.CutAlone = w.row.CutAlone
		return
	}
	if w.cycle.sequence != nil && w.row.Outcome.Commits() {
		w.cycle.sequence.commit(agent, &w.row.Delta)
	}
	w.row.Started, w.row.Total = w.began, w.now.Sub(w.began)
	if !due.IsZero() {
		w.row.Queue, w.row.Open = max(w.began.Sub(due), 0), t.Arrived
	}
	if w.trail != nil {
		w.pool.cfg.Trail(w.trail)
		w.now = time.Now() // time in Trail belongs to no session
	}
	w.addRow()
	w.yield()
}

// loadRecorded loads the recorded answers of the session if the run has a recording.
func (w *worker) loadRecorded() error {
	if w.recording == "" {
		return nil
	}
	known, err := w.pool.host.Recorded(w.cycle.ctx, w.s.Cycle, w.s.Agent)
	if err != nil {
		return engine.Fail(engine.ConfigError, "read the recording of run %s: %w", w.recording, err)
	}
	w.s.AnswerFrom(known)
	return nil
}

// yield lets other goroutines run after a slice of computing. A session that waited has already done so. With far more
// workers than cores the next turn may be far away, so yield passes on finished sessions first.
func (w *worker) yield() {
	switch {
	case w.clock != nil:
		w.yieldedAt = w.now
	case w.now.Sub(w.yieldedAt) > computeSlice:
		if w.batch != nil {
			w.flush(w.now)
		}
		runtime.Gosched()
		w.now = time.Now()
		w.yieldedAt = w.now
	}
}

// runProgram runs the program. A panic fails the session.
func (w *worker) runProgram() {
	defer func() {
		if p := recover(); p != nil {
			w.row.Fail(w.row.Path, &engine.StepError{Class: engine.Panic, Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())})
		}
	}()
	w.pool.cfg.Program.Session(w.s)
}

// correctOutcome sets an outcome that the program did not set or could not know.
func (w *worker) correctOutcome(retired bool) {
	if w.row.Outcome == engine.Unfinished {
		w.row.Fail(w.row.Path, engine.Fail(engine.ConfigError, "the program did not say how the session ended"))
	}
	switch {
	case w.row.Outcome.Commits():
	case w.cycle.ctx.Err() != nil:
		w.row.Outcome = engine.Cut // the cut may have caused the failure, so the session runs again
	case retired:
		w.row.Outcome, w.row.Class, w.row.Error = engine.Canceled, engine.NoError, engine.ErrRetired.Error()
	}
}

// currentBatch returns the current batch, which may be new.
func (w *worker) currentBatch() *Batch {
	if w.batch == nil {
		w.batch = w.pool.free.get()
	}
	return w.batch
}

// addRow adds the ended session to the batch.
func (w *worker) addRow() {
	b := w.currentBatch()
	if len(b.rows) == 0 {
		w.since = w.now
	}
	b.add(&w.row)
	if len(b.rows) == batchRows || w.now.Sub(w.since) > batchAge {
		w.now = w.flush(w.now) // waiting for a full journal counts for no session
	}
}

// passOn passes on finished sessions before the session in flight waits. Waiting for a full journal does not count as the
// session's time.
func (w *worker) passOn() {
	if w.batch == nil {
		return
	}
	since := time.Now()
	w.began = w.began.Add(w.passTo(since, w.pool.enqueue).Sub(since))
}

// flush journals the finished sessions, sends them to the node, and returns the time at which that was done.
func (w *worker) flush(now time.Time) time.Time { return w.passTo(now, w.pool.deliver) }

// passTo journals the finished sessions, passes them to a function, and returns the time at which that was done.
func (w *worker) passTo(now time.Time, to func(b *Batch)) time.Time {
	b := w.batch
	w.batch = nil
	queued := w.journal(b, now)
	b.Handed = w.nodeWait
	to(b)
	now = time.Now()
	w.nodeWait = now.Sub(queued)
	return now
}

// journal journals the finished sessions and returns the time at which the journal had queued them. An abandoned worker's
// sessions are dropped, as if they had been cut.
func (w *worker) journal(b *Batch, now time.Time) (queued time.Time) {
	select {
	case <-w.pool.abandoned:
		b.reset()
	default:
	}
	if len(b.rows) == 0 {
		return now
	}
	if journal := w.pool.cfg.Journal; journal != nil {
		journal(b.rows)
	}
	queued = time.Now()
	b.Queued = queued.Sub(now)
	return queued
}

// depart tells the node that the worker has left. The message follows everything else that the worker sent.
func (w *worker) depart() {
	b := w.currentBatch()
	b.Departed = 1
	if w.probe {
		b.Probes = 1
	}
	w.passTo(w.now, w.pool.enqueue)
}
