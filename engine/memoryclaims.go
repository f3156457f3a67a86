package engine

import "context"

// TryHoldMemory claims n bytes of the memory budget for an answer of a step, if they are available. The session holds
// them until [Session.SettleMemory]. Sessions of the run itself claim nothing because they have few answers.
func (s *Session) TryHoldMemory(path string, n int64) bool {
	return s.apart != nil || s.claim.Take(path, n, AnswerMemory)
}

// HoldMemory is like TryHoldMemory but waits until n bytes are available. The session's clocks must be paused
// meanwhile. It returns the cause of ctx, or a *StepError with which the step must fail and which makes the run
// inexact.
func (s *Session) HoldMemory(ctx context.Context, path string, n int64) error {
	return s.claimMemory(ctx, path, n, AnswerMemory)
}

// ForceMemory is like TryHoldMemory but claims the bytes even if they are not available.
func (s *Session) ForceMemory(path string, n int64) {
	if s.apart == nil {
		s.claim.Force(path, n)
	}
}

// ReturnMemory releases part of what the answers of a step hold.
func (s *Session) ReturnMemory(path string, n int64) {
	if s.apart == nil && n > 0 {
		s.claim.Return(path, n)
	}
}

// HoldsMemory reports whether the session holds part of the memory budget.
func (s *Session) HoldsMemory() bool { return s.apart == nil && s.claim.Holds() }

// SettleMemory ends a step's claim. It keeps n bytes of what the answers held and releases the rest. It returns how
// many more bytes must be claimed with [Session.TryKeepMemory].
func (s *Session) SettleMemory(path string, n int64) (more int64) {
	if !s.HoldsMemory() {
		return n
	}
	return s.claim.Settle(path, n)
}

// TryKeepMemory claims n bytes until the session ends, if they are available.
func (s *Session) TryKeepMemory(n int64) bool {
	return s.apart != nil || s.claim.Take("", n, SessionMemory)
}

// KeepMemory is like TryKeepMemory but waits, as HoldMemory does.
func (s *Session) KeepMemory(ctx context.Context, path string, n int64) error {
	return s.claimMemory(ctx, path, n, SessionMemory)
}

// Blocked records that the session waits for a slot of other sessions, until unblocked is called. Those sessions may
// wait for memory that this one holds. s may be nil.
func (s *Session) Blocked() (unblocked func()) {
	if s == nil || !s.HoldsMemory() {
		return func() {}
	}
	s.claim.Block(true)
	return func() { s.claim.Block(false) }
}

// TryRemember is like TryKeepMemory, for the agent's memory.
func (s *Session) TryRemember(n int64) bool { return s.claim.Take("", n, AgentMemory) }

// Remember is like KeepMemory, for the agent's memory.
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

// Size returns the approximate size of the memory in bytes; m may be nil.
func (m *Memory) Size() (n int64) {
	if m == nil {
		return 0
	}
	const each = 48 // size of a slice header and its entry in another slice
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
