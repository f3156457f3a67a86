package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// cycle is one superstep while it runs. Workers share it and take their sessions from it.
type cycle struct {
	*Shard
	ctx     context.Context
	clock   *clock.Clock                        // with a cycle timeout only
	lane    *lane                               // in a sequential run only
	timeout atomic.Pointer[engine.TimeoutError] // of each session that begins

	cursor atomic.Int64 // how many of todo have begun
	waves  atomic.Int64 // how many waves may begin; only while batch is not 0
	waited atomic.Int64 // from ready until the newest wave could begin
	full   atomic.Int64 // how long after ready the last of todo, or of the newest wave, began, and 1; 0 while some are left
	again  again
}

// newCycle opens a cycle. Its sessions end when ctx does.
func newCycle(ctx context.Context, of *Shard, s *engine.Settings) *cycle {
	c := &cycle{Shard: of, ctx: ctx}
	c.setTimeout(s.SessionTimeout)
	if s.Sequential {
		c.lane = newLane(s, of.Memory, of.Deltas, of.Cycle)
	}
	if limit := s.CycleTimeout; limit > 0 {
		c.clock = clock.New(ctx, limit, &engine.TimeoutError{What: "cycle", Limit: limit})
		if of.Held {
			c.hold()
		}
	}
	return c
}

// setTimeout bounds the sessions that begin from now on.
func (c *cycle) setTimeout(limit time.Duration) {
	if was := c.timeout.Load(); was == nil || was.Limit != limit {
		c.timeout.Store(&engine.TimeoutError{What: "session", Limit: limit})
	}
}

// hold stops the cycle's clock, goOn lets it run again, stop frees it.
func (c *cycle) hold() {
	if c != nil && c.clock != nil {
		c.clock.Hold()
	}
}

func (c *cycle) goOn() {
	if c != nil && c.clock != nil {
		c.clock.Release()
	}
}

func (c *cycle) stop() {
	if c != nil && c.clock != nil {
		c.clock.Stop()
	}
}

// next returns the next session.
func (c *cycle) next() (p engine.Place, ok bool) {
	i, ok := c.take()
	if !ok {
		return c.again.next()
	}
	if i == c.released()-1 {
		c.full.Store(int64(time.Since(c.Ready)) + 1)
	}
	p = engine.Place{Cycle: c.Cycle, Agent: int(i)}
	if c.Todo != nil {
		p.Agent = int(c.Todo[i])
	}
	return p, true
}

// take moves the cursor on by one session that may begin.
func (c *cycle) take() (i int64, ok bool) {
	if c.Wave == 0 {
		if c.cursor.Load() >= int64(c.Size) { // keeps the cursor near size however often it is asked
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

// released is how many of todo belong to the waves that may begin.
func (c *cycle) released() int64 {
	if c.Wave == 0 {
		return int64(c.Size)
	}
	return min(c.waves.Load()*int64(c.Wave), int64(c.Size))
}

// release lets the next wave begin. No session is in flight.
func (c *cycle) release(waited time.Duration) {
	c.waited.Store(int64(waited))
	c.waves.Add(1)
	c.full.Store(0)
}

// could is when the session that ended last could have begun: its wave, where there are such.
func (c *cycle) could() time.Time { return c.Ready.Add(time.Duration(c.waited.Load())) }

// begun is how many of todo have begun.
func (c *cycle) begun() int { return int(min(c.cursor.Load(), int64(c.Size))) }

// filled is when the last of todo, or of the newest wave, began; zero while some are left.
func (c *cycle) filled() time.Time {
	switch full := c.full.Load(); {
	case c.Size == 0:
		return c.Ready
	case full == 0:
		return time.Time{}
	default:
		return c.Ready.Add(time.Duration(full - 1))
	}
}

// again are the sessions of a cycle that a person has requeued.
type again struct {
	put, taken atomic.Int64 // so far
	mu         sync.Mutex
	places     []engine.Place // not taken yet
}

func (a *again) add(p engine.Place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.places = append(a.places, p)
	a.put.Add(1)
}

func (a *again) next() (p engine.Place, ok bool) {
	if a.taken.Load() == a.put.Load() {
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

// sessionClock starts the clock of a session that may use so much time; it can be cancelled.
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
