package sqlite

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
)

const (
	// packRows and packBytes bound a pack, except for a single larger row.
	packRows  = 1024
	packBytes = 256 << 10
	// pooledBytes is the size up to which a buffer is reused.
	pooledBytes = 1 << 20
)

type opKind uint8

const (
	sessionsOp opKind = iota
	requestsOp
	rowOp // a row that is written unchanged
)

// op is a group of encoded rows of one kind and cycle, or a single row.
type op struct {
	kind          opKind
	cycle, lo, hi int
	count, bad    int
	first, events int // sessions in their first take; events
	acted, failed int // sessions, without those that a retake replaces
	deltas        int
	inexact       *engine.Inexact
	// The ends of its segments in the buffers of the batch. They start at the ends of the previous op.
	end, deltasEnd int
	row            engine.Row
}

// batch is the encoded rows of one call. After it is queued, only the writer of the journal uses it.
type batch struct {
	next         *batch // the next one in the queue
	data, deltas []byte
	ops          []op
	rows         int
	private      bool          // a row contains an answer of a private step
	strict       bool          // its caller also waits for checkpoints
	durable      chan struct{} // closed when it is durable; nil if no caller waits
}

var batches = sync.Pool{New: func() any { return new(batch) }}

func (b *batch) free() {
	if cap(b.data) > pooledBytes || cap(b.deltas) > pooledBytes {
		return
	}
	clear(b.ops)
	*b = batch{data: b.data[:0], deltas: b.deltas[:0], ops: b.ops[:0]}
	batches.Put(b)
}

func (b *batch) size() int { return len(b.data) + len(b.deltas) }

// add encodes a row.
func (b *batch) add(row engine.Row, base int64) {
	switch r := row.(type) {
	case engine.SessionRows:
		for i := range r {
			b.session(&r[i], base)
		}
		return
	case engine.IntentRow:
		o := b.open(requestsOp, r.Cycle)
		b.private = b.private || slices.ContainsFunc(r.Earlier, func(e engine.Entry) bool { return e.Private })
		b.data = codec.AppendIntent(b.data, &r)
		o.count, o.end = o.count+1, len(b.data)
	case engine.AnswerRow:
		o := b.open(requestsOp, r.Cycle)
		b.private = b.private || r.Private
		b.data = codec.AppendAnswer(b.data, &r)
		o.count, o.end = o.count+1, len(b.data)
	default:
		b.rare(row)
	}
	b.rows++
}

// rare adds a row of a kind that is not written for every session. It is a separate function because such rows are large:
// with them, a goroutine that journals a request would need twice the stack.
func (b *batch) rare(row engine.Row) {
	switch r := row.(type) {
	case engine.SharedRow:
		b.row(copyShared(r)) // does not wait for checkpoints
	case engine.CheckpointRow:
		memory := make(map[int]*engine.Memory, len(r.Memory)) // the caller may reuse the map
		maps.Copy(memory, r.Memory)
		r.Memory, r.State.Totals = memory, r.State.Totals.Clone()
		b.strict = true
		b.row(r)
	case engine.EndRow:
		r.Totals = r.Totals.Clone()
		b.strict = true
		b.row(r)
	case engine.UnconfirmedRow:
		b.row(r)
	case engine.BarrierRow, engine.ChangeRow, engine.StartRow, engine.MetricsRow:
		b.strict = true
		b.row(r)
	default:
		panic(fmt.Sprintf("sqlite: a row of type %T cannot be journaled", row))
	}
}

func (b *batch) row(r engine.Row) {
	b.ops = append(b.ops, op{kind: rowOp, row: r, end: len(b.data), deltasEnd: len(b.deltas)})
}

// open returns the op for the next row of a kind and cycle.
func (b *batch) open(kind opKind, cycle int) *op {
	if n := len(b.ops); n > 0 {
		last := &b.ops[n-1]
		start := 0
		if n > 1 {
			start = b.ops[n-2].end
		}
		if last.kind == kind && last.cycle == cycle && last.count < packRows && len(b.data)-start < packBytes {
			return last
		}
	}
	b.ops = append(b.ops, op{kind: kind, cycle: cycle, end: len(b.data), deltasEnd: len(b.deltas)})
	return &b.ops[len(b.ops)-1]
}

func (b *batch) session(r *engine.SessionRow, base int64) {
	o := b.open(sessionsOp, r.Cycle)
	if o.count == 0 {
		o.lo, o.hi = r.Agent, r.Agent
	}
	o.lo, o.hi = min(o.lo, r.Agent), max(o.hi, r.Agent)
	o.count++
	o.events += len(r.Events)
	if r.Take == 0 {
		o.first++
	} else {
		o.failed-- // only failed sessions are run again
	}
	if r.Acted {
		o.acted++
	}
	if r.Outcome == engine.Failed || r.Outcome == engine.TimedOut {
		o.bad++
		o.failed++
	}
	o.inexact = earliest(o.inexact, inexactOf(r))
	b.data = codec.AppendSession(b.data, r, base)
	commits := r.Outcome.Commits() && !r.Delta.Empty()
	if commits || r.Take > 0 {
		delta := &r.Delta
		if !commits {
			delta = &engine.Delta{}
		}
		b.deltas = codec.AppendDelta(b.deltas, r.Place, delta)
		o.deltas++
	}
	o.end, o.deltasEnd = len(b.data), len(b.deltas)
	b.rows++
}

// scratch are totals that only determine whether a session makes its run inexact. Their counts are not used.
var scratch = sync.Pool{New: func() any { return new(engine.Totals) }}

// inexactOf applies the engine's rule to sessions that may make their run inexact.
func inexactOf(r *engine.SessionRow) *engine.Inexact {
	suspect := r.Outcome != engine.OK && r.Outcome != engine.Stopped
	for i := range r.Steps {
		suspect = suspect || r.Steps[i].Status != engine.StepOK || r.Steps[i].Class != engine.NoError ||
			r.Steps[i].Label == engine.Unconfirmed
	}
	if !suspect {
		return nil
	}
	t := scratch.Get().(*engine.Totals)
	defer scratch.Put(t)
	t.Inexact = nil
	t.Add(r)
	return t.Inexact
}
