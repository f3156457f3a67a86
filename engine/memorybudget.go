package engine

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// memoryQuiet is how long no session may have waited for memory until that is told again.
const memoryQuiet = time.Minute

// memoryBudget bounds what large answers of sessions in flight and what agents remember take, over the whole run. A
// session that wants more waits, throttled, until others have given back enough; where nobody who holds something can go
// on, it fails. Small sessions never ask. It is safe for concurrent use.
type memoryBudget struct {
	mu      sync.Mutex
	limit   int64 // bytes; 0 is none
	held    int64 // by sessions in flight, until they end
	kept    int64 // what agents remember as of the start of the cycle, and what sessions of the cycle add to it
	active  int   // sessions that hold something, of which nothing waits
	waiting list.List
	told    time.Time
	tell    func(why string) // hears, apart, that sessions wait; may be nil
}

// holding is what a session holds of the budget. The budget's lock guards it.
type holding struct {
	answers, memory int64 // bytes; memory becomes what agents remember if the session's outcome commits
	waits           int   // of its requests: for more, or for a place that a session may have which waits for memory
	holds           atomic.Bool
}

func (h *holding) counts() bool { return h.waits == 0 && h.answers+h.memory > 0 }

type memoryClaim struct {
	of     *holding
	n      int64
	memory bool
	answer chan error // of one
}

// take claims n bytes if they are free.
func (b *memoryBudget) take(h *holding, n int64, memory bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 && (b.waiting.Len() > 0 || b.held+b.kept+n > b.limit) {
		return false
	}
	b.grant(h, n, memory)
	return true
}

// grant changes what a session holds. mu is held.
func (b *memoryBudget) grant(h *holding, n int64, memory bool) {
	b.change(h, func() {
		if memory {
			h.memory += n
		} else {
			h.answers += n
		}
	})
	b.held += n
	h.holds.Store(true)
}

// change keeps the count of active sessions. mu is held.
func (b *memoryBudget) change(h *holding, f func()) {
	if h.counts() {
		b.active--
	}
	f()
	if h.counts() {
		b.active++
	}
}

// wait claims n bytes, first come, first served. Its errors are why they cannot be had, and the cause of ctx.
func (b *memoryBudget) wait(ctx context.Context, h *holding, n int64, memory bool) error {
	c := &memoryClaim{h, n, memory, make(chan error, 1)}
	b.mu.Lock()
	at := b.waiting.PushBack(c)
	b.change(h, func() { h.waits++ })
	b.admit()
	if len(c.answer) == 0 {
		b.say()
	}
	b.mu.Unlock()
	var err error
	select {
	case err = <-c.answer:
		return err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(c.answer) == 0 { // else it came in the same moment: the session gives it back when it ends
		b.waiting.Remove(at)
		b.change(h, func() { h.waits-- })
	}
	b.admit()
	return context.Cause(ctx)
}

// admit answers those in front for whom there is room, and, where nobody can give anything back, the one who came last.
// mu is held.
func (b *memoryBudget) admit() {
	for front := b.waiting.Front(); front != nil; front = b.waiting.Front() {
		c := front.Value.(*memoryClaim)
		switch {
		case b.held+b.kept+c.n <= b.limit:
			b.answer(front, nil)
			b.grant(c.of, c.n, c.memory)
		case c.n > b.limit-b.kept:
			b.answer(front, b.short(c.n))
		case b.active == 0:
			last := b.waiting.Back()
			b.answer(last, b.short(last.Value.(*memoryClaim).n))
		default:
			return
		}
	}
}

// answer ends a wait. mu is held.
func (b *memoryBudget) answer(at *list.Element, err error) {
	c := b.waiting.Remove(at).(*memoryClaim)
	b.change(c.of, func() { c.of.waits-- })
	c.answer <- err
}

// short says why a session fails. mu is held.
func (b *memoryBudget) short(n int64) error {
	return Fail(Script, "the memory budget of %s is used up: sessions in flight hold %s, agents remember %s, and this step wants %s more; "+
		"lower the concurrency limit, ask for less, or raise --memory-budget", FormatBytes(b.limit), FormatBytes(b.held), FormatBytes(b.kept), FormatBytes(n))
}

// say tells that sessions wait. mu is held.
func (b *memoryBudget) say() {
	now := time.Now()
	was := b.told
	if b.told = now; b.tell == nil || now.Sub(was) < memoryQuiet {
		return
	}
	why := fmt.Sprintf("sessions wait for memory: answers in flight hold %s and agents remember %s of a budget of %s (--memory-budget)",
		FormatBytes(b.held), FormatBytes(b.kept), FormatBytes(b.limit))
	go b.tell(why)
}

// end gives back what a session held. What its agent is to remember stays until the barrier, if it commits.
func (b *memoryBudget) end(h *holding, commits bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= h.answers + h.memory
	if commits {
		b.kept += h.memory
	}
	b.change(h, func() { h.answers, h.memory = 0, 0 })
	h.holds.Store(false)
	b.admit()
}

// force claims n bytes whether they are free or not.
func (b *memoryBudget) force(h *holding, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grant(h, n, false)
}

// block notes that a session which holds something waits for others, or does so no more.
func (b *memoryBudget) block(h *holding, more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change(h, func() { h.waits += more })
	if more > 0 {
		b.admit()
	}
}

// remember sets what agents remember, at a barrier.
func (b *memoryBudget) remember(kept int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = kept
	b.admit()
}

// figures are what is held, kept and allowed.
func (b *memoryBudget) figures() (held, kept, limit int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, b.kept, b.limit
}

// TryHoldMemory claims n bytes of the run's memory budget until the session ends, if they are free. What the run itself asks
// counts for nothing: its answers are few.
func (s *Session) TryHoldMemory(n int64) bool {
	return s.apart != nil || s.run.memoryBudget.take(&s.holding, n, false)
}

// HeldMemory is how many bytes the session holds of the run's memory budget.
func (s *Session) HeldMemory() int64 {
	s.run.memoryBudget.mu.Lock()
	defer s.run.memoryBudget.mu.Unlock()
	return s.holding.answers
}

// ForceMemory is TryHoldMemory for what must not wait.
func (s *Session) ForceMemory(n int64) {
	if s.apart == nil {
		s.run.memoryBudget.force(&s.holding, n)
	}
}

// ReturnMemory gives back a part of what the session holds.
func (s *Session) ReturnMemory(n int64) {
	if s.apart != nil || n <= 0 {
		return
	}
	b := &s.run.memoryBudget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change(&s.holding, func() { s.holding.answers -= n })
	b.held -= n
	b.admit()
}

// Blocked says that the session waits for a place that other sessions have, which may wait for memory that it holds, until
// unblocked is called.
func (s *Session) Blocked() (unblocked func()) {
	if s == nil || s.apart != nil || !s.holding.holds.Load() {
		return func() {}
	}
	s.run.memoryBudget.block(&s.holding, 1)
	return func() { s.run.memoryBudget.block(&s.holding, -1) }
}

// HoldMemory claims n bytes of the run's memory budget until the session ends, and waits while others hold so much that
// they are not free; the clocks must be held meanwhile. Its error is a *StepError, with which the step of that path must
// fail and which makes the run inexact, or the cause of ctx.
func (s *Session) HoldMemory(ctx context.Context, path string, n int64) error {
	return s.claimMemory(ctx, path, n, false)
}

// TryRemember is TryHoldMemory for what the agent is to remember.
func (s *Session) TryRemember(n int64) bool { return s.run.memoryBudget.take(&s.holding, n, true) }

// Remember is HoldMemory for what the agent is to remember.
func (s *Session) Remember(ctx context.Context, path string, n int64) error {
	return s.claimMemory(ctx, path, n, true)
}

func (s *Session) claimMemory(ctx context.Context, path string, n int64, memory bool) error {
	err := s.run.memoryBudget.wait(ctx, &s.holding, n, memory)
	if err != nil && ctx.Err() == nil {
		s.Doubt(path, "the memory budget was used up, which depends on how many sessions were in flight")
	}
	return err
}

// size is about how many bytes a memory takes; m may be nil.
func (m *Memory) size() (n int64) {
	if m == nil {
		return 0
	}
	const each = 48 // what a slice and its place in another take
	for i := range m.Fields {
		n += int64(len(m.Fields[i].Name)+len(m.Fields[i].Value)) + each
	}
	for _, note := range m.Notes {
		n += int64(len(note)) + each
	}
	for i := range m.Inbox {
		n += m.Inbox[i].size()
	}
	return n
}

func (l *Letter) size() int64 { return int64(len(l.Body)) + 48 }
