package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// cycle is a cycle in execution. Workers share it and take their sessions from it.
type cycle struct {
	*Shard
	ctx      context.Context
	clock    *clock.Clock                        // nil without a cycle timeout
	sequence *sequentialMemory                   // nil unless the run is sequential
	timeout  atomic.Pointer[engine.TimeoutError] // for sessions that start from now on

	cursor      atomic.Int64 // how many sessions of Todo have started
	allowed     atomic.Int64 // how many sessions of Todo may start; used only if they do not start together
	waited      atomic.Int64 // from Ready until the newest wave could start, or until the start of the schedule
	filledAfter atomic.Int64 // 1 + time from Ready until the last session that may start did; 0 while some are left
	paused      atomic.Bool  // the clock is
	requeued    requeueList
}

// newCycle opens a cycle. Its sessions are cut when ctx ends.
func newCycle(ctx context.Context, of *Shard, s *engine.Settings) *cycle {
	c := &cycle{Shard: of, ctx: ctx}
	c.setTimeout(s.SessionTimeout)
	if s.Sequential {
		c.sequence = newSequentialMemory(s, of.Memory, of.Deltas, of.Cycle)
	}
	if limit := s.CycleTimeout; limit > 0 {
		c.clock = clock.New(ctx, max(limit-of.Elapsed, 1), &engine.TimeoutError{What: "cycle", Limit: limit})
		if of.Paused {
			c.pause()
		}
	}
	return c
}

// setTimeout sets the timeout of the sessions that start from now on.
func (c *cycle) setTimeout(limit time.Duration) {
	if was := c.timeout.Load(); was == nil || was.Limit != limit {
		c.timeout.Store(&engine.TimeoutError{What: "session", Limit: limit})
	}
}

// pause pauses the cycle's clock, resume continues it, and stop frees it.
func (c *cycle) pause() {
	if c != nil && c.clock != nil && c.paused.CompareAndSwap(false, true) {
		c.clock.Hold()
	}
}

func (c *cycle) resume() {
	if c != nil && c.clock != nil && c.paused.CompareAndSwap(true, false) {
		c.clock.Release()
	}
}

func (c *cycle) stop() {
	if c != nil && c.clock != nil {
		c.clock.Stop()
	}
}

// next returns the next session. ok is false if none is left.
func (c *cycle) next() (t Task, ok bool) {
	if c.Feed != nil {
		return c.Feed()
	}
	i, ok := c.advance()
	if ok {
		t.Agent, t.Due, t.Arrived = int(i), c.waveReady(), c.Arrivals != nil
		if i == c.released()-1 {
			c.filledAfter.Store(int64(time.Since(c.Ready)) + 1)
		}
		if c.Todo != nil {
			t.Agent = int(c.Todo[i])
		}
		if t.Arrived {
			t.Due = t.Due.Add(c.Arrivals.At(int(i)))
		}
	} else {
		if t.Place, ok = c.requeued.next(); !ok {
			return t, false
		}
		if t.Arrived = c.Arrivals != nil; !t.Arrived {
			t.Due = c.waveReady()
		}
	}
	t.Cycle, t.Memory = c.Cycle, c.Memory.Of(t.Agent)
	if take := c.Takes[t.Agent]; t.Take == 0 || t.Take == take {
		t.Take = take
		t.Prefix, t.Begun = c.Prefixes[t.Agent]
	}
	return t, true
}

// advance advances the cursor by one session that may start.
func (c *cycle) advance() (i int64, ok bool) {
	if c.isFree() {
		if c.cursor.Load() >= int64(c.Size) { // keeps the cursor near Size, however often take is called
			return 0, false
		}
		i = c.cursor.Add(1) - 1
		return i, i < int64(c.Size)
	}
	for {
		if i = c.cursor.Load(); i >= c.released() {
			return 0, false
		}
		if c.cursor.CompareAndSwap(i, i+1) {
			return i, true
		}
	}
}

// isFree reports whether all sessions may start together.
func (c *cycle) isFree() bool { return c.Wave == 0 && c.Arrivals == nil }

// released returns how many sessions of Todo may start.
func (c *cycle) released() int64 {
	if c.isFree() {
		return int64(c.Size)
	}
	return c.allowed.Load()
}

// release lets the sessions of Todo before count start.
func (c *cycle) release(count int, waited time.Duration) {
	c.waited.Store(int64(waited))
	c.filledAfter.Store(0)
	c.allowed.Store(int64(count))
}

// waveReady returns the earliest time at which a session of the newest wave could have started.
func (c *cycle) waveReady() time.Time { return c.Ready.Add(time.Duration(c.waited.Load())) }

// started returns how many sessions of Todo have started.
func (c *cycle) started() int { return int(min(c.cursor.Load(), int64(c.Size))) }

// filled returns when the last session that may start did. It is zero while some are left.
func (c *cycle) filled() time.Time {
	switch full := c.filledAfter.Load(); {
	case c.Size == 0 || c.Arrivals != nil && c.allowed.Load() == 0:
		return c.Ready
	case full == 0:
		return time.Time{}
	default:
		return c.Ready.Add(time.Duration(full - 1))
	}
}

// requeueList is the queue of requeued sessions of a cycle.
type requeueList struct {
	added, taken atomic.Int64 // totals so far
	mu           sync.Mutex
	places       []engine.Place // not taken yet
}

func (a *requeueList) add(p engine.Place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.places = append(a.places, p)
	a.added.Add(1)
}

// isEmpty reports whether all requeued sessions have started.
func (a *requeueList) isEmpty() bool { return a.taken.Load() == a.added.Load() }

func (a *requeueList) next() (p engine.Place, ok bool) {
	if a.isEmpty() {
		return p, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.places) == 0 {
		return p, false
	}
	p, a.places = a.places[0], a.places[1:]
	a.taken.Add(1)
	return p, true
}

// sessionClock starts the clock of a session with a timeout. The clock can be canceled.
func (c *cycle) sessionClock(timeout *engine.TimeoutError) *clock.Clock {
	switch {
	case c.clock == nil:
		return clock.New(c.ctx, timeout.Limit, timeout)
	case timeout.Limit > 0:
		return c.clock.Child(timeout.Limit, timeout)
	default:
		return c.clock.Branch()
	}
}
