// Package memorybudget limits the memory that sessions in flight and agents hold in this process.
package memorybudget

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
)

// memoryReportInterval is how long no session must have waited for memory before a new wait is reported.
const memoryReportInterval = time.Minute

// maxReserve is the largest reserve, unless a single session has been seen to need more.
const maxReserve = 192 << 20

// Budget limits the memory for large answers of sessions in flight and for the agents' memory, over the whole run. A
// session that wants more waits, throttled, until others have released enough. Sessions claim memory step by step, so all
// of them could end up waiting for each other. In that case the first of them may use the reserve; it then ends and
// releases everything. A session fails only if it wants more than it could get alone. Small sessions make no claims.
// Budget is safe for concurrent use.
type Budget struct {
	mu         sync.Mutex
	limit      int64     // bytes; 0 means no limit
	held       int64     // by sessions in flight, until they end
	kept       int64     // agents' memory at the start of the cycle, plus what the sessions of the cycle have added
	largest    int64     // the most that one session has held or wanted
	active     int       // sessions that hold memory and do not wait
	first      *holding  // the session that may use the reserve; nil if there is none
	holders    list.List // claims of sessions that already hold memory; served before others
	others     list.List
	reportedAt time.Time
	onWait     func(why string) // called in its own goroutine when sessions wait; may be nil
}

// New returns a budget in bytes; 0 means no limit. onWait, which may be nil, is called in its own goroutine when sessions wait.
func New(limit int64, onWait func(why string)) *Budget { return &Budget{limit: limit, onWait: onWait} }

// holding is the memory that a session holds. The budget's lock guards it.
type holding struct {
	answers, memory int64            // bytes; memory becomes the agent's memory if the session's outcome commits
	steps           map[string]int64 // bytes held by answers of running steps, by path
	waits           int              // its waiting requests: for more memory, or for a slot held by a session that may wait for memory
	nonZero         atomic.Bool
}

func (h *holding) total() int64 { return h.answers + h.memory }

func (h *holding) counts() bool { return h.waits == 0 && h.total() > 0 }

type memoryClaim struct {
	of     *holding
	n      int64
	memory bool
	in     *list.List
	answer chan error // receives exactly one result
}

// room returns how much sessions in flight may hold together. mu is held.
func (b *Budget) room() int64 { return max(b.limit-b.kept, 0) }

// fits reports whether a session may have n more bytes. mu is held.
func (b *Budget) fits(h *holding, n int64) bool {
	room := b.room()
	if h != b.first {
		room -= max(min(maxReserve, room/2), min(b.largest, room))
	}
	return b.held+n <= room
}

// tryClaim claims n bytes if they are free.
func (b *Budget) tryClaim(h *holding, n int64, memory bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 && (b.queued(h) || !b.fits(h, n)) {
		return false
	}
	b.grant(h, n, memory)
	return true
}

// queued reports whether other claims come before those of this session. mu is held.
func (b *Budget) queued(h *holding) bool {
	return h != b.first && (b.holders.Len() > 0 || h.total() == 0 && b.others.Len() > 0)
}

// grant adds n bytes to a session. mu is held.
func (b *Budget) grant(h *holding, n int64, memory bool) {
	b.change(h, func() {
		if memory {
			h.memory += n
		} else {
			h.answers += n
		}
	})
	b.held += n
	b.largest = max(b.largest, h.total())
	h.nonZero.Store(true)
}

// change calls f and updates the number of active sessions. mu is held.
func (b *Budget) change(h *holding, f func()) {
	if h.counts() {
		b.active--
	}
	f()
	if h.counts() {
		b.active++
	}
}

// wait claims n bytes and waits for them. Sessions that already hold memory come first; within each group, the order of
// arrival decides. It returns an error if the bytes can never be granted, or the cause of ctx.
func (b *Budget) wait(ctx context.Context, h *holding, n int64, memory bool) error {
	c := &memoryClaim{h, n, memory, &b.others, make(chan error, 1)}
	b.mu.Lock()
	if h.total() > 0 {
		c.in = &b.holders
	}
	at := c.in.PushBack(c)
	if h == b.first {
		c.in.MoveToFront(at)
	}
	b.change(h, func() { h.waits++ })
	if want := h.total() + n; want <= b.room() {
		b.largest = max(b.largest, want)
	}
	b.admit()
	if len(c.answer) == 0 {
		b.report()
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
	if len(c.answer) == 0 { // otherwise it was just granted, and the session releases it when it ends
		c.in.Remove(at)
		b.change(h, func() { h.waits-- })
	}
	b.admit()
	return context.Cause(ctx)
}

// admit answers the claims that can be answered now. mu is held.
func (b *Budget) admit() {
	for {
		at, err := b.next()
		if at == nil {
			return
		}
		c := at.Value.(*memoryClaim)
		c.in.Remove(at)
		b.change(c.of, func() { c.of.waits-- })
		if err == nil {
			b.grant(c.of, c.n, c.memory)
		}
		c.answer <- err
	}
}

// next returns the claim to answer now and its result, or nil. mu is held.
func (b *Budget) next() (*list.Element, error) {
	front := b.holders.Front()
	if front == nil {
		front = b.others.Front()
	}
	if front == nil {
		return nil, nil
	}
	switch c := front.Value.(*memoryClaim); {
	case c.of.total()+c.n > b.room():
		return front, b.shortage(c)
	case b.fits(c.of, c.n):
		return front, nil
	case b.active == 0:
		return b.stuck()
	}
	return nil, nil
}

// stuck returns the claim to answer when no session that holds memory can continue: the first for which the reserve is
// enough. If there is none, because sessions wait for more than memory, it returns one that fails. mu is held.
func (b *Budget) stuck() (*list.Element, error) {
	for _, in := range []*list.List{&b.holders, &b.others} {
		for at := in.Front(); at != nil; at = at.Next() {
			if c := at.Value.(*memoryClaim); b.held+c.n <= b.room() {
				b.first = c.of
				return at, nil
			}
		}
	}
	last := b.holders.Back()
	if last == nil || last.Value.(*memoryClaim).of == b.first && b.others.Len() > 0 {
		last = b.others.Back()
	}
	return last, b.shortage(last.Value.(*memoryClaim))
}

// shortage returns the error of a session that cannot get enough memory. mu is held.
func (b *Budget) shortage(c *memoryClaim) error {
	err := fmt.Errorf("the memory budget of %s (--memory-budget) is used up: sessions in flight hold %s, this one %s of it, agents remember %s, and this step needs %s more",
		engine.FormatBytes(b.limit), engine.FormatBytes(b.held), engine.FormatBytes(c.of.total()), engine.FormatBytes(b.kept), engine.FormatBytes(c.n))
	return &engine.StepError{Class: engine.Script, Err: &engine.PermanentError{Err: err, Fix: "ask for less in one request, or raise --memory-budget"}}
}

// report calls onWait because sessions wait for memory. mu is held.
func (b *Budget) report() {
	now := time.Now()
	was := b.reportedAt
	if b.reportedAt = now; b.onWait == nil || now.Sub(was) < memoryReportInterval {
		return
	}
	why := fmt.Sprintf("sessions wait for memory: answers in flight hold %s and agents remember %s of a budget of %s (--memory-budget)",
		engine.FormatBytes(b.held), engine.FormatBytes(b.kept), engine.FormatBytes(b.limit))
	go b.onWait(why)
}

// releaseAll releases the memory of a session. If the session commits, the agent's part is kept until the barrier.
func (b *Budget) releaseAll(h *holding, commits bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= h.total()
	if commits {
		b.kept += h.memory
	}
	b.change(h, func() { h.answers, h.memory = 0, 0 })
	clear(h.steps)
	h.nonZero.Store(false)
	if b.first == h {
		b.first = nil
	}
	b.admit()
}

// record notes that a step's answer holds n more bytes, which have been granted.
func (b *Budget) record(h *holding, path string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.steps == nil {
		h.steps = map[string]int64{}
	}
	h.steps[path] += n
}

// settle reduces the bytes of an ended step to n and releases the rest. more is what the step must still claim.
func (b *Budget) settle(h *holding, path string, n int64) (more int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	had := h.steps[path]
	delete(h.steps, path)
	if had > n {
		b.release(h, had-n)
	}
	return max(n-had, 0)
}

// release releases n bytes of a session's answers. mu is held.
func (b *Budget) release(h *holding, n int64) {
	b.change(h, func() { h.answers -= n })
	b.held -= n
	b.admit()
}

// force claims n bytes, even if they are not free.
func (b *Budget) force(h *holding, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grant(h, n, false)
}

// block changes the number of waits of a session. more is 1 when a wait starts and -1 when it ends.
func (b *Budget) block(h *holding, more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change(h, func() { h.waits += more })
	if more > 0 {
		b.admit()
	}
}

// SetKept sets the size of the agents' memory at a barrier.
func (b *Budget) SetKept(kept int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = kept
	b.admit()
}
