package chain

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/script/value"
)

const (
	// maxKept limits what a session may hold, in bytes: its steps' outputs, as data and as journal text.
	maxKept = 128 << 20
	// maxMessage limits the text of a message, which each recipient gets.
	maxMessage = 64 << 10
	// maxText limits the name of an event, and the reason for stopping a session.
	maxText = 1000
)

// keepFree is how much a session may hold without claiming from the run's memory budget, in bytes.
const keepFree = 1 << 20

// keep counts a step's output. A step that contains steps returns their outputs, which are already counted. Memory
// claimed for its answers is released.
func (t *turn) keep(out value.Value) error {
	x := t.x
	x.kept += len(t.path)
	switch t.step.action.(type) {
	case *branch, *loop, *while, *subchain:
	default:
		x.kept += 2 * value.Weight(out)
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
	t.x.s.Throttle(engine.ThrottledByMemory)
	c.Hold()
	err := wait(c.Context())
	c.Release()
	t.x.s.Unthrottle()
	t.record().Hold(engine.ThrottledByMemory, time.Since(start))
	t.x.s.Trail().Hold(t.path, engine.ThrottledByMemory, start)
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
