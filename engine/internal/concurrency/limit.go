// Package concurrency implements concurrency limits that can change at any time.
package concurrency

import (
	"container/list"
	"context"
	"sync"
)

// Limit is a concurrency limit: it admits up to limit holders, in the order of their arrival. A limit of 0 admits no one. Lowering
// the limit takes no slot away: it takes effect as holders release theirs. It is safe for concurrent use.
type Limit struct {
	mu      sync.Mutex
	limit   int
	held    int
	waiting list.List // of *waiter
}

type waiter struct {
	slots int
	ready chan struct{}
}

// NewLimit returns a limit of n slots.
func NewLimit(n int) *Limit { return &Limit{limit: n} }

// TryAcquire takes a slot if one is free and no one waits.
func (l *Limit) TryAcquire() bool { return l.TryAcquireN(1) }

// TryAcquireN takes n slots in one operation, or none.
func (l *Limit) TryAcquireN(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting.Len() > 0 || !l.fits(n) {
		return false
	}
	l.held += n
	return true
}

// Acquire waits for a slot. If the context ends first, it returns the context's cause and holds nothing.
func (l *Limit) Acquire(ctx context.Context) error { return l.AcquireN(ctx, 1) }

// AcquireN waits for n slots. A caller that needs more than the limit is admitted when no one else holds a slot.
func (l *Limit) AcquireN(ctx context.Context, n int) error {
	l.mu.Lock()
	if l.waiting.Len() == 0 && l.fits(n) {
		l.held += n
		l.mu.Unlock()
		return nil
	}
	w := &waiter{n, make(chan struct{})}
	at := l.waiting.PushBack(w)
	l.mu.Unlock()

	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-w.ready: // admitted at the same moment: release the slots
		l.held -= n
	default:
		l.waiting.Remove(at)
	}
	l.admit()
	return context.Cause(ctx)
}

// Release returns one slot.
func (l *Limit) Release() { l.ReleaseN(1) }

// ReleaseN returns n slots.
func (l *Limit) ReleaseN(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= n
	l.admit()
}

// Force takes n slots without waiting, even above the limit.
func (l *Limit) Force(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held += n
}

// SetLimit changes the limit. Waiters that fit now are admitted.
func (l *Limit) SetLimit(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = max(n, 0)
	l.admit()
}

// State returns the limit, the number of slots held and the number of waiters.
func (l *Limit) State() (limit, held, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limit, l.held, l.waiting.Len()
}

// fits reports whether n slots can be taken. mu is held.
func (l *Limit) fits(n int) bool {
	return l.held+n <= l.limit || l.held == 0 && l.limit > 0
}

// admit lets in the waiters at the front that fit. mu is held.
func (l *Limit) admit() {
	for front := l.waiting.Front(); front != nil; front = l.waiting.Front() {
		w := front.Value.(*waiter)
		if !l.fits(w.slots) {
			return
		}
		l.held += w.slots
		l.waiting.Remove(front)
		close(w.ready)
	}
}
