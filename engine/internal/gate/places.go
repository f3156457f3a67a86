package gate

import "sync/atomic"

// Places counts workers that keep their place from one session to the next: one atomic load per session while the
// limit has not been lowered. Nobody waits in it: whoever raises the limit starts the workers. It is safe for
// concurrent use.
type Places struct {
	limit, held atomic.Int64
}

// SetLimit changes how many may hold a place; 0 is nobody. Holders above it lose theirs at their next Keep.
func (p *Places) SetLimit(n int) { p.limit.Store(int64(n)) }

// Limit returns the limit.
func (p *Places) Limit() int { return int(p.limit.Load()) }

// Held returns how many places are held.
func (p *Places) Held() int { return int(p.held.Load()) }

// Take takes a place if one is free.
func (p *Places) Take() bool {
	for {
		held := p.held.Load()
		if held >= p.limit.Load() {
			return false
		}
		if p.held.CompareAndSwap(held, held+1) {
			return true
		}
	}
}

// Force takes a place even if none is free.
func (p *Places) Force() { p.held.Add(1) }

// Keep reports whether the caller may keep its place; if not, the place is gone.
func (p *Places) Keep() bool {
	for {
		held := p.held.Load()
		if held <= p.limit.Load() {
			return true
		}
		if p.held.CompareAndSwap(held, held-1) {
			return false
		}
	}
}

// Leave gives a place back.
func (p *Places) Leave() { p.held.Add(-1) }
