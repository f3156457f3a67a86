// Package gate bounds how many work at once, with a limit that can change at any instant.
package gate

import (
	"container/list"
	"context"
	"sync"
)

// Gate admits up to limit holders at once, in the order in which they came. A limit of 0 admits nobody. Lowering the
// limit takes nothing away: it has effect as holders leave. It is safe for concurrent use.
type Gate struct {
	mu      sync.Mutex
	limit   int
	held    int
	waiting list.List // of *waiter
}

type waiter struct {
	weight int
	ready  chan struct{}
}

// New returns a gate with a limit.
func New(limit int) *Gate { return &Gate{limit: limit} }

// TryEnter takes a place if one is free and nobody waits.
func (g *Gate) TryEnter() bool { return g.TryEnterN(1) }

// TryEnterN takes n places at once, or none.
func (g *Gate) TryEnterN(n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting.Len() > 0 || !g.fits(n) {
		return false
	}
	g.held += n
	return true
}

// Enter waits for a place. It returns the context's cause if that ends first, and then holds nothing.
func (g *Gate) Enter(ctx context.Context) error { return g.EnterN(ctx, 1) }

// EnterN waits for n places. More than the limit are admitted alone, so that nothing waits for ever.
func (g *Gate) EnterN(ctx context.Context, n int) error {
	g.mu.Lock()
	if g.waiting.Len() == 0 && g.fits(n) {
		g.held += n
		g.mu.Unlock()
		return nil
	}
	w := &waiter{n, make(chan struct{})}
	at := g.waiting.PushBack(w)
	g.mu.Unlock()

	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.ready: // admitted in the same moment: give it back
		g.held -= n
	default:
		g.waiting.Remove(at)
	}
	g.admit()
	return context.Cause(ctx)
}

// Leave gives one place back.
func (g *Gate) Leave() { g.LeaveN(1) }

// LeaveN gives n places back.
func (g *Gate) LeaveN(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held -= n
	g.admit()
}

// SetLimit changes the limit; whoever fits now enters at once.
func (g *Gate) SetLimit(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = max(n, 0)
	g.admit()
}

// State returns the limit, the places held and the number of those who wait.
func (g *Gate) State() (limit, held, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limit, g.held, g.waiting.Len()
}

// fits reports whether n places can be taken. mu is held.
func (g *Gate) fits(n int) bool {
	return g.held+n <= g.limit || g.held == 0 && g.limit > 0
}

// admit lets in those at the front who fit. mu is held.
func (g *Gate) admit() {
	for front := g.waiting.Front(); front != nil; front = g.waiting.Front() {
		w := front.Value.(*waiter)
		if !g.fits(w.weight) {
			return
		}
		g.held += w.weight
		g.waiting.Remove(front)
		close(w.ready)
	}
}
