package concurrency

import "sync/atomic"

// Slots counts the slots of workers that keep their slot from one session to the next. While the limit is not lowered, a session
// costs one atomic load. No worker waits in it: the caller that raises the limit starts workers. It is safe for concurrent use.
type Slots struct {
	limit, held atomic.Int64
}

// SetLimit changes the number of slots. Holders above it lose their slot at their next Keep.
func (s *Slots) SetLimit(n int) { s.limit.Store(int64(n)) }

// Limit returns the number of slots.
func (s *Slots) Limit() int { return int(s.limit.Load()) }

// Held returns the number of slots held.
func (s *Slots) Held() int { return int(s.held.Load()) }

// TryAcquire takes a slot if one is free.
func (s *Slots) TryAcquire() bool {
	for {
		held := s.held.Load()
		if held >= s.limit.Load() {
			return false
		}
		if s.held.CompareAndSwap(held, held+1) {
			return true
		}
	}
}

// Force takes a slot even if none is free.
func (s *Slots) Force() { s.held.Add(1) }

// Keep reports whether the caller may keep its slot. If not, the slot is released.
func (s *Slots) Keep() bool {
	for {
		held := s.held.Load()
		if held <= s.limit.Load() {
			return true
		}
		if s.held.CompareAndSwap(held, held-1) {
			return false
		}
	}
}

// Release returns a slot.
func (s *Slots) Release() { s.held.Add(-1) }
