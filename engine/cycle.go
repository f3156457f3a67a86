package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
)

// cycle is one superstep while it runs. Workers share it; only the cursor changes.
type cycle struct {
	number  int
	now     time.Time // simulated
	ready   time.Time // when its sessions could start
	todo    []int32   // agents that have no session in it yet; nil is agents 0 to size-1
	size    int       // how many had none yet when it began
	active  int       // how many take part, those of an earlier process included
	ctx     context.Context
	clock   *clock.Clock                 // with a cycle timeout only
	lane    *lane                        // in a sequential run only
	timeout atomic.Pointer[TimeoutError] // of each session that begins

	batch  int64        // sessions of a wave; 0 starts them all at once
	cursor atomic.Int64 // how many of todo have started
	waves  atomic.Int64 // how many waves may start; only while batch is not 0
	waited atomic.Int64 // from ready until the newest wave could start
	full   atomic.Int64 // how long after ready the last of todo, or of the newest wave, started, and 1; 0 while some are left
	again  again
}

// next returns the next session.
func (c *cycle) next() (p Place, ok bool) {
	i, ok := c.take()
	if !ok {
		return c.again.next()
	}
	if i == c.released()-1 {
		c.full.Store(int64(time.Since(c.ready)) + 1)
	}
	p = Place{Cycle: c.number, Agent: int(i)}
	if c.todo != nil {
		p.Agent = int(c.todo[i])
	}
	return p, true
}

// take moves the cursor on by one session that may start.
func (c *cycle) take() (i int64, ok bool) {
	if c.batch == 0 {
		if c.cursor.Load() >= int64(c.size) { // keeps the cursor near size however often it is asked
			return 0, false
		}
		i = c.cursor.Add(1) - 1
		return i, i < int64(c.size)
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

// released is how many of todo belong to the waves that may start.
func (c *cycle) released() int64 {
	if c.batch == 0 {
		return int64(c.size)
	}
	return min(c.waves.Load()*c.batch, int64(c.size))
}

// nextWave lets the next wave start once all of the one before have; it reports whether there is another. The caller
// knows that none is in flight.
func (c *cycle) nextWave(now time.Time) bool {
	if c.batch == 0 || c.released() == int64(c.size) || c.cursor.Load() < c.released() {
		return false
	}
	if c.waves.Load() > 0 {
		c.waited.Store(int64(now.Sub(c.ready)))
	}
	c.waves.Add(1)
	c.full.Store(0)
	return true
}

// could is when the session that ended last could have started: its wave, where there are such.
func (c *cycle) could() time.Time { return c.ready.Add(time.Duration(c.waited.Load())) }

// open is how many sessions may start, requeued ones among them.
func (c *cycle) open() int { return int(c.released()) + int(c.again.put.Load()) - c.started() }

// started and left count sessions, requeued ones among them.
func (c *cycle) started() int { return int(min(c.cursor.Load(), int64(c.size)) + c.again.taken.Load()) }
func (c *cycle) left() int    { return c.size + int(c.again.put.Load()) - c.started() }

// lastStart is when the last of todo, or of the newest wave, started; zero while some are left.
func (c *cycle) lastStart() time.Time {
	switch full := c.full.Load(); {
	case c.size == 0:
		return c.ready
	case full == 0:
		return time.Time{}
	default:
		return c.ready.Add(time.Duration(full - 1))
	}
}

// again are the sessions of a cycle that a person has requeued.
type again struct {
	put, taken atomic.Int64 // so far
	mu         sync.Mutex
	places     []Place // not taken yet
}

func (a *again) add(p Place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.places = append(a.places, p)
	a.put.Add(1)
}

func (a *again) next() (p Place, ok bool) {
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
func (c *cycle) sessionClock(timeout *TimeoutError) *clock.Clock {
	switch {
	case c.clock == nil:
		return clock.New(c.ctx, timeout.Limit, timeout)
	case timeout.Limit > 0:
		return c.clock.Child(timeout.Limit, timeout)
	default:
		return c.clock.Branch()
	}
}

// roster lists the agents that take part in a cycle, less those that are done.
type roster struct {
	seed   uint64
	agents int
	chosen []int // nil is all
	warmUp []float64
	each   int // cycles per step of the warm-up
	// sequential wants the agents listed, to be put in order
	sequential bool
	// gone are retired agents, with the first cycle that each takes no part in.
	gone  map[int]int
	first int // cycle of the run
}

// isEmpty reports whether nobody takes part in any cycle from one on.
func (r *roster) isEmpty(cycle int) bool {
	left := r.agents
	if r.chosen != nil {
		left = len(r.chosen)
	}
	return left == 0 || len(r.gone) >= left && left == r.missing(cycle)
}

// missing is how many are retired in a cycle.
func (r *roster) missing(cycle int) int {
	n := 0
	for _, from := range r.gone {
		if from <= cycle {
			n++
		}
	}
	return n
}

// retired are those who are missing from a cycle; nil is nobody.
func (r *roster) retired(cycle int) map[int]int {
	var all map[int]int
	for agent, from := range r.gone {
		if from <= cycle {
			put(&all, agent, from)
		}
	}
	return all
}

// isGone reports whether an agent is retired in a cycle.
func (r *roster) isGone(agent, cycle int) bool {
	from, ok := r.gone[agent]
	return ok && from <= cycle
}

// has reports whether an agent is among those who could take part.
func (r *roster) has(agent int) bool {
	if r.chosen != nil {
		_, found := slices.BinarySearch(r.chosen, agent)
		return found
	}
	return agent >= 0 && agent < r.agents
}

// share is the part of the agents that is active in a cycle.
func (r *roster) share(cycle int) float64 {
	if len(r.warmUp) == 0 || cycle/r.each >= len(r.warmUp) {
		return 1
	}
	return r.warmUp[cycle/r.each]
}

// takesPart reports whether a chosen agent is active at a share; who is at a small one is at any larger one.
func (r *roster) takesPart(agent int, share float64) bool {
	return share >= 1 || AgentKey(r.seed, agent).Text("warm-up").Source().Float64() < share
}

// count is how many take part in a cycle.
func (r *roster) count(cycle int) int {
	if share := r.share(cycle); share < 1 {
		n := 0
		r.each1(func(agent int) {
			if r.takesPart(agent, share) && !r.isGone(agent, cycle) {
				n++
			}
		})
		return n
	}
	n := r.agents
	if r.chosen != nil {
		n = len(r.chosen)
	}
	return n - r.missing(cycle)
}

// total is how many sessions a run has up to a cycle.
func (r *roster) total(cycles int) int64 {
	var n int64
	for c := r.first; c < cycles; {
		step := min(r.each-c%r.each, cycles-c)
		if share := r.share(c); share >= 1 {
			step = cycles - c
		}
		for _, from := range r.gone { // up to the next who is missing
			if from > c {
				step = min(step, from-c)
			}
		}
		n += int64(step) * int64(r.count(c))
		c += step
	}
	return n
}

func (r *roster) each1(f func(agent int)) {
	if r.chosen != nil {
		for _, a := range r.chosen {
			f(a)
		}
		return
	}
	for a := range r.agents {
		f(a)
	}
}

// fill sets who has a session in c; done are those that had theirs already.
func (r *roster) fill(c *cycle, done []int) {
	share := r.share(c.number)
	if r.chosen == nil && share >= 1 && len(done) == 0 && !r.sequential && r.missing(c.number) == 0 {
		c.size, c.active = r.agents, r.agents
		return
	}
	had := make(map[int]bool, len(done))
	for _, a := range done {
		had[a] = true
	}
	c.todo = []int32{}
	r.each1(func(agent int) {
		if !r.takesPart(agent, share) || r.isGone(agent, c.number) {
			return
		}
		c.active++
		if !had[agent] {
			c.todo = append(c.todo, int32(agent))
		}
	})
	c.size = len(c.todo)
}
