package engine

import (
	"context"

	"github.com/throng-sim/throng/engine/retrieval"
)

// MemoryAccount claims parts of the run's memory budget for a session. Sessions of the run itself claim nothing because
// they have few answers.
type MemoryAccount struct {
	claims  MemoryClaims // nil for a session of the run itself
	session *Session
}

// TryHoldMemory claims n bytes of the memory budget for an answer of a step, if they are available. The session holds
// them until [MemoryAccount.SettleMemory].
func (m *MemoryAccount) TryHoldMemory(path string, n int64) bool {
	return m.claims == nil || m.claims.Take(path, n, AnswerMemory)
}

// HoldMemory is like TryHoldMemory but waits until n bytes are available. The session's clocks must be paused
// meanwhile. It returns the cause of ctx, or a *StepError with which the step must fail and which makes the run inexact.
func (m *MemoryAccount) HoldMemory(ctx context.Context, path string, n int64) error {
	return m.claim(ctx, path, n, AnswerMemory)
}

// ForceMemory is like TryHoldMemory but claims the bytes even if they are not available.
func (m *MemoryAccount) ForceMemory(path string, n int64) {
	if m.claims != nil {
		m.claims.Force(path, n)
	}
}

// ReturnMemory releases part of what the answers of a step hold.
func (m *MemoryAccount) ReturnMemory(path string, n int64) {
	if m.claims != nil && n > 0 {
		m.claims.Return(path, n)
	}
}

// HoldsMemory reports whether the session holds part of the memory budget.
func (m *MemoryAccount) HoldsMemory() bool { return m.claims != nil && m.claims.Holds() }

// SettleMemory ends a step's claim. It keeps n bytes of what the answers held and releases the rest. It returns how
// many more bytes must be claimed with [MemoryAccount.TryKeepMemory].
func (m *MemoryAccount) SettleMemory(path string, n int64) (more int64) {
	if !m.HoldsMemory() {
		return n
	}
	return m.claims.Settle(path, n)
}

// TryKeepMemory claims n bytes until the session ends, if they are available.
func (m *MemoryAccount) TryKeepMemory(n int64) bool {
	return m.claims == nil || m.claims.Take("", n, SessionMemory)
}

// KeepMemory is like TryKeepMemory but waits, as HoldMemory does.
func (m *MemoryAccount) KeepMemory(ctx context.Context, path string, n int64) error {
	return m.claim(ctx, path, n, SessionMemory)
}

// TryRemember is like TryKeepMemory, for the agent's memory.
func (m *MemoryAccount) TryRemember(n int64) bool { return m.claims.Take("", n, AgentMemory) }

// Remember is like KeepMemory, for the agent's memory.
func (m *MemoryAccount) Remember(ctx context.Context, path string, n int64) error {
	return m.claim(ctx, path, n, AgentMemory)
}

func (m *MemoryAccount) claim(ctx context.Context, path string, n int64, use MemoryUse) error {
	err := m.claims.Wait(ctx, path, n, use)
	if err != nil && ctx.Err() == nil {
		m.session.Doubt(path, "the memory budget was used up, which depends on how many sessions were in flight")
	}
	return err
}

// Blocked records that the session waits for a slot of other sessions, until unblocked is called. Those sessions may
// wait for memory that this one holds. s may be nil.
func (s *Session) Blocked() (unblocked func()) {
	if s == nil || !s.HoldsMemory() {
		return func() {}
	}
	s.claims.Block(true)
	return func() { s.claims.Block(false) }
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
		n += m.Inbox[i].Size()
	}
	return n + int64(retrieval.Size(m.Kept))
}

// Size returns the size of a letter in bytes, for the limit of memory.
func (l *Letter) Size() int64 { return int64(len(l.Body)) + 48 }
