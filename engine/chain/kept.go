package chain

import (
	"context"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/script"
)

const (
	// maxKept limits what a session may hold, in bytes: its steps' outputs, as data and as journal text.
	maxKept = 128 << 20
	// maxSent limits what one step sends, in bytes.
	maxSent = 32 << 20
	// maxLetter limits the text of a message, which each recipient gets.
	maxLetter = 64 << 10
	// maxWords limits the name of an event, and the reason for stopping a session.
	maxWords = 1000
	// maxMemory limits an agent's memory, including notes.
	maxMemory = 4 << 20
)

// keepFree is how much a session may hold without claiming from the run's memory budget, in bytes.
const keepFree = 1 << 20

// keep counts a step's output. A step that contains steps returns their outputs, which are already counted. Memory
// claimed for its answers is released.
func (t *turn) keep(out script.Value) error {
	x := t.x
	x.kept += len(t.path)
	switch t.step.action.(type) {
	case nest, *subchain:
	default:
		x.kept += 2 * script.Weight(out)
	}
	more := int64(x.kept - x.held)
	if more <= keepFree {
		if x.s.HoldsMemory() {
			x.s.SettleMemory(t.path, 0)
		}
		return nil
	}
	x.held = x.kept
	if more = x.s.SettleMemory(t.path, more); more == 0 || x.s.TryKeepMemory(more) {
		return nil
	}
	return t.throttled(func(ctx context.Context) error { return x.s.KeepMemory(ctx, t.path, more) })
}

// throttled waits for memory, with the clocks paused.
func (t *turn) throttled(wait func(ctx context.Context) error) error {
	start, c := time.Now(), t.clock()
	t.x.s.Held(engine.MemoryGate)
	c.Hold()
	err := wait(c.Context())
	c.Release()
	t.x.s.Released()
	t.record().Hold(engine.MemoryGate, time.Since(start))
	t.x.s.Trail().Hold(t.path, engine.MemoryGate, start)
	return err
}

// tooMuch returns an error if a session holds more than it may, or nil.
func tooMuch(kept, most int) error {
	if kept <= most {
		return nil
	}
	return engine.Fail(engine.Script, "the session holds more than %d MB of step outputs", most>>20)
}

// share is how much each member of a group may hold. Together they must not exceed one session's limit, and the result
// must not depend on which is first.
func (s *segment) share() int { return maxKept / (s.to - s.from) }

// check returns an error if a step writes more than an agent may remember.
func (m *Memory) check(more *engine.Delta) error {
	if m.weight == 0 {
		m.weight = weightOf(m.base.FieldList(), nil) + 1
		if m.base != nil {
			m.weight += weightOf(nil, m.base.Notes)
		}
	}
	if m.weight+weightOf(more.Set, more.Notes) <= maxMemory {
		return nil // even if none of it replaced existing memory
	}
	after := engine.Delta{Set: slices.Clone(m.delta.Set), Notes: slices.Clone(m.delta.Notes), Keep: m.delta.Keep, Replace: m.delta.Replace}
	add(&after, more)
	if all := m.base.Apply(&after); weightOf(all.Fields, all.Notes) > maxMemory {
		return tooMuchMemory()
	}
	return nil
}

func tooMuchSent(what string) error {
	return engine.Fail(engine.Script, "more than %d MB of %s", maxSent>>20, what)
}

func tooMuchMemory() error {
	return engine.Fail(engine.Script, "the agent would remember more than %d MB; `keep` bounds its notes", maxMemory>>20)
}

// weightOf returns the size of fields and notes in bytes.
func weightOf(fields []engine.Field, notes [][]byte) int {
	n := 0
	for _, f := range fields {
		n += len(f.Name) + len(f.Value)
	}
	for _, note := range notes {
		n += len(note)
	}
	return n
}
