package postgres

import (
	"slices"
	"sync"

	"github.com/throng-sim/throng/engine"
)

// round is one pass over the outbox.
type round struct {
	done   chan struct{}
	err    error                  // the database cannot be reached, or refuses everything
	failed map[engine.RunID]error // runs whose rows cannot be read
}

func newRound() *round {
	return &round{done: make(chan struct{}), failed: map[engine.RunID]error{}}
}

// rounds are the passes of a pusher. They are safe for concurrent use.
type rounds struct {
	mu     sync.Mutex
	next   *round
	wanted []engine.RunID // runs that callers wait for
}

// begin starts the next round and returns the runs that it should send first.
func (r *rounds) begin() (now *round, wanted []engine.RunID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, r.next = r.next, newRound()
	return now, slices.Clone(r.wanted)
}

// upcoming returns the round that begins next.
func (r *rounds) upcoming() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// want sends a run first in all rounds until done is called.
func (r *rounds) want(run engine.RunID) (done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted = append(r.wanted, run)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.Index(r.wanted, run)
		r.wanted = slices.Delete(r.wanted, i, i+1)
	}
}
