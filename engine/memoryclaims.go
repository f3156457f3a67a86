package engine

import "context"

// TryHoldMemory claims n bytes of the run's memory budget for an answer of the step of that path, if they are free. The
// session holds them until [Session.SettleMemory]. What the run itself asks counts for nothing: its answers are few.
func (s *Session) TryHoldMemory(path string, n int64) bool {
	if s.apart != nil {
		return true
	}
	if !s.run.memoryBudget.take(&s.holding, n, false) {
		return false
	}
	s.run.memoryBudget.record(&s.holding, path, n)
	return true
}

// HoldMemory is TryHoldMemory that waits while others hold so much that n bytes are not free; the clocks must be held
// meanwhile. Its error is a *StepError, with which the step of that path must fail and which makes the run inexact, or
// the cause of ctx.
func (s *Session) HoldMemory(ctx context.Context, path string, n int64) error {
	err := s.claimMemory(ctx, path, n, false)
	if err == nil {
		s.run.memoryBudget.record(&s.holding, path, n)
	}
	return err
}

// ForceMemory is TryHoldMemory for what must not wait.
func (s *Session) ForceMemory(path string, n int64) {
	if s.apart == nil {
		s.run.memoryBudget.force(&s.holding, n)
		s.run.memoryBudget.record(&s.holding, path, n)
	}
}

// ReturnMemory gives back a part of what answers of the step of that path hold.
func (s *Session) ReturnMemory(path string, n int64) {
	if s.apart != nil || n <= 0 {
		return
	}
	b := &s.run.memoryBudget
	b.record(&s.holding, path, -n)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveBack(&s.holding, n)
}

// HoldsMemory reports whether the session holds something of the run's memory budget.
func (s *Session) HoldsMemory() bool { return s.holding.holds.Load() }

// SettleMemory says that the step of that path has ended and keeps n bytes. What its answers held is for these, and the
// rest is given back. What more there is to be claimed is for [Session.TryKeepMemory].
func (s *Session) SettleMemory(path string, n int64) (more int64) {
	if !s.HoldsMemory() {
		return n
	}
	return s.run.memoryBudget.settle(&s.holding, path, n)
}

// TryKeepMemory claims n bytes until the session ends, if they are free.
func (s *Session) TryKeepMemory(n int64) bool {
	return s.apart != nil || s.run.memoryBudget.take(&s.holding, n, false)
}

// KeepMemory is TryKeepMemory that waits, as HoldMemory does.
func (s *Session) KeepMemory(ctx context.Context, path string, n int64) error {
	return s.claimMemory(ctx, path, n, false)
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

// TryRemember is TryKeepMemory for what the agent is to remember.
func (s *Session) TryRemember(n int64) bool { return s.run.memoryBudget.take(&s.holding, n, true) }

// Remember is KeepMemory for what the agent is to remember.
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
