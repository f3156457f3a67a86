package engine

import "context"

// TryHoldMemory claims n bytes of the memory budget for an answer of a step, if they are free. The session holds them
// until [Session.SettleMemory]. A session of the run itself claims nothing: its answers are few.
func (s *Session) TryHoldMemory(path string, n int64) bool {
	return s.apart != nil || s.claim.Take(path, n, AnswerMemory)
}

// HoldMemory is TryHoldMemory that waits while others hold so much that n bytes are not free; the clocks must be held
// meanwhile. Its error is a *StepError, with which the step of that path must fail and which makes the run inexact, or
// the cause of ctx.
func (s *Session) HoldMemory(ctx context.Context, path string, n int64) error {
	return s.claimMemory(ctx, path, n, AnswerMemory)
}

// ForceMemory is TryHoldMemory for what must not wait.
func (s *Session) ForceMemory(path string, n int64) {
	if s.apart == nil {
		s.claim.Force(path, n)
	}
}

// ReturnMemory gives back a part of what answers of a step hold.
func (s *Session) ReturnMemory(path string, n int64) {
	if s.apart == nil && n > 0 {
		s.claim.Return(path, n)
	}
}

// HoldsMemory reports whether the session holds something of the memory budget.
func (s *Session) HoldsMemory() bool { return s.apart == nil && s.claim.Holds() }

// SettleMemory says that a step has ended and keeps n bytes of what its answers held; the rest is given back. It returns
// how many more are to be claimed with [Session.TryKeepMemory].
func (s *Session) SettleMemory(path string, n int64) (more int64) {
	if !s.HoldsMemory() {
		return n
	}
	return s.claim.Settle(path, n)
}

// TryKeepMemory claims n bytes until the session ends, if they are free.
func (s *Session) TryKeepMemory(n int64) bool {
	return s.apart != nil || s.claim.Take("", n, SessionMemory)
}

// KeepMemory is TryKeepMemory that waits, as HoldMemory does.
func (s *Session) KeepMemory(ctx context.Context, path string, n int64) error {
	return s.claimMemory(ctx, path, n, SessionMemory)
}

// Blocked says that the session waits for a place that other sessions have, which may wait for memory that it holds, until
// unblocked is called. It may be called on a nil session.
func (s *Session) Blocked() (unblocked func()) {
	if s == nil || !s.HoldsMemory() {
		return func() {}
	}
	s.claim.Block(true)
	return func() { s.claim.Block(false) }
}

// TryRemember is TryKeepMemory for what the agent is to remember.
func (s *Session) TryRemember(n int64) bool { return s.claim.Take("", n, AgentMemory) }

// Remember is KeepMemory for what the agent is to remember.
func (s *Session) Remember(ctx context.Context, path string, n int64) error {
	return s.claimMemory(ctx, path, n, AgentMemory)
}

func (s *Session) claimMemory(ctx context.Context, path string, n int64, use MemoryUse) error {
	err := s.claim.Wait(ctx, path, n, use)
	if err != nil && ctx.Err() == nil {
		s.Doubt(path, "the memory budget was used up, which depends on how many sessions were in flight")
	}
	return err
}

// Size returns the approximate size of a memory in bytes; m may be nil.
func (m *Memory) Size() (n int64) {
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
