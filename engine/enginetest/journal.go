// Package enginetest contains helpers for tests of runs: a journal in memory that can stall or die, a reference implementation of
// resuming from a journal, and crowds of agents whose work is a pure function of the seed.
package enginetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// ErrDead is the error of a journal that died.
var ErrDead = errors.New("the journal is dead")

var errStalled = errors.New("the disk is slow")

// Journal is an engine.Journal in memory. It stores sessions as one row each, so that it can die between two sessions of a batch. The
// zero value is ready to use; set its fields before use.
type Journal struct {
	// Latency is the time until a row is durable.
	Latency time.Duration
	// Room is the number of rows that wait while the disk is broken, before Append and Commit block; 0 is unlimited.
	Room int
	// DieAfter is the number of rows after which it dies, as if the process had been killed; 0 disables it.
	DieAfter int
	// Settings are the run's settings that affect how its memory is committed.
	Settings engine.Settings

	mu      sync.Mutex
	rows    []engine.Row
	durable int // of rows
	broken  error
	dead    bool
	closed  bool
	died    chan struct{}
	changed chan struct{} // closed, and another made, when any of these changes
	trouble chan error
}

var _ engine.Journal = (*Journal)(nil)

// lock locks the mutex and initializes the zero value.
func (j *Journal) lock() {
	j.mu.Lock()
	if j.changed == nil {
		j.changed, j.died, j.trouble = make(chan struct{}), make(chan struct{}), make(chan error, 1)
	}
}

// wait releases the lock until ok holds. It returns false if ctx ends first. The caller holds mu.
func (j *Journal) wait(ctx context.Context, ok func() bool) bool {
	for !ok() {
		changed := j.changed
		j.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			j.mu.Lock()
			return false
		}
		j.mu.Lock()
	}
	return true
}

func (j *Journal) change() {
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *Journal) gone() bool { return j.dead || j.closed }

func (j *Journal) hasRoom() bool {
	return j.gone() || j.Room == 0 || len(j.rows)-j.durable < j.Room
}

// Append stores rows. It drops rows after the journal's death.
func (j *Journal) Append(rows ...engine.Row) {
	j.lock()
	defer j.mu.Unlock()
	j.wait(context.Background(), j.hasRoom)
	j.add(rows)
}

// Commit stores rows and returns when they are durable.
func (j *Journal) Commit(ctx context.Context, rows ...engine.Row) error {
	j.lock()
	defer j.mu.Unlock()
	if !j.wait(ctx, j.hasRoom) {
		return context.Cause(ctx)
	}
	j.add(rows)
	upTo := len(j.rows)
	if !j.gone() && j.Latency > 0 {
		j.mu.Unlock()
		select {
		case <-time.After(j.Latency):
		case <-ctx.Done():
		}
		j.mu.Lock()
	}
	if !j.wait(ctx, func() bool { return j.gone() || j.durable >= upTo }) {
		return context.Cause(ctx)
	}
	if j.gone() {
		return ErrDead
	}
	return nil
}

// Trouble delivers the errors of Break and Heal.
func (j *Journal) Trouble() <-chan error {
	j.lock()
	defer j.mu.Unlock()
	return j.trouble
}

// add stores rows until the journal dies. The caller holds mu.
func (j *Journal) add(rows []engine.Row) {
	for _, row := range rows {
		batch, ok := row.(engine.SessionRows)
		if !ok {
			j.add1(copied(row))
		}
		for i := range batch {
			j.add1(engine.SessionRows{copySession(&batch[i])})
		}
	}
	if j.broken == nil {
		j.durable = len(j.rows)
		j.change()
	}
}

func (j *Journal) add1(row engine.Row) {
	if j.gone() {
		return
	}
	if j.DieAfter > 0 && len(j.rows) >= j.DieAfter {
		j.die()
		return
	}
	j.rows = append(j.rows, row)
}

// Break breaks the disk: nothing becomes durable until Heal.
func (j *Journal) Break(err error) { j.set(err) }

// Heal repairs the disk.
func (j *Journal) Heal() { j.set(nil) }

// Stall makes nothing durable until Heal, like Break, but without an error: the disk is only slow.
func (j *Journal) Stall() {
	j.lock()
	defer j.mu.Unlock()
	j.broken = errStalled
}

func (j *Journal) set(broken error) {
	j.lock()
	defer j.mu.Unlock()
	j.broken = broken
	if broken == nil && !j.gone() {
		j.durable = len(j.rows)
	}
	j.change()
	select {
	case <-j.trouble: //nolint:errcheck // an error that was not received is out of date
	default:
	}
	j.trouble <- broken
}

// Die loses everything that is not durable and all later rows, as if the process had been killed.
func (j *Journal) Die() {
	j.lock()
	defer j.mu.Unlock()
	if !j.dead {
		j.die()
	}
}

func (j *Journal) die() {
	j.dead = true
	if j.broken != nil {
		j.rows = j.rows[:j.durable]
	}
	j.durable = len(j.rows)
	close(j.died)
	j.change()
}

// Died is closed when the journal dies.
func (j *Journal) Died() <-chan struct{} {
	j.lock()
	defer j.mu.Unlock()
	return j.died
}

// Close unblocks all callers that wait for room or durability.
func (j *Journal) Close() {
	j.lock()
	defer j.mu.Unlock()
	j.closed = true
	j.change()
}

// Reopen returns a journal with the same rows that accepts more, as the next process would find it.
func (j *Journal) Reopen() *Journal {
	j.lock()
	defer j.mu.Unlock()
	rows := slices.Clone(j.rows[:j.durable])
	return &Journal{Latency: j.Latency, Room: j.Room, Settings: j.Settings, rows: rows, durable: len(rows)}
}

// Rows returns the durable rows in order.
func (j *Journal) Rows() []engine.Row {
	j.lock()
	defer j.mu.Unlock()
	return slices.Clone(j.rows[:j.durable])
}

// Sessions returns the durable session rows in order.
func (j *Journal) Sessions() []engine.SessionRow {
	var out []engine.SessionRow
	for _, batch := range Of[engine.SessionRows](j) {
		out = append(out, batch...)
	}
	return out
}

// Of returns the durable rows of one type in order.
func Of[R engine.Row](j *Journal) []R {
	var out []R
	for _, row := range j.Rows() {
		if r, ok := row.(R); ok {
			out = append(out, r)
		}
	}
	return out
}

// copied returns a copy of a row that shares no memory with it.
func copied(row engine.Row) engine.Row {
	switch r := row.(type) {
	case engine.IntentRow:
		r.Earlier = slices.Clone(r.Earlier)
		return r
	case engine.SharedRow:
		r.Entry.Output, r.Entry.Statuses = slices.Clone(r.Entry.Output), slices.Clone(r.Entry.Statuses)
		if r.Record != nil {
			record := *r.Record
			r.Record = &record
		}
		return r
	case engine.CheckpointRow:
		memory := make(map[int]*engine.Memory, len(r.Memory))
		for agent, m := range r.Memory {
			memory[agent] = copyMemory(m)
		}
		r.Memory, r.State.Totals = memory, r.State.Totals.Clone()
		return r
	case engine.EndRow:
		r.Totals, r.Verdict = r.Totals.Clone(), slices.Clone(r.Verdict)
		return r
	}
	return row
}

func copySession(r *engine.SessionRow) engine.SessionRow {
	c := *r
	c.Steps, c.Events = slices.Clone(r.Steps), slices.Clone(r.Events)
	c.Delta.Set, c.Delta.Notes, c.Delta.Kept = slices.Clone(r.Delta.Set), slices.Clone(r.Delta.Notes), slices.Clone(r.Delta.Kept)
	return c
}

func copyMemory(m *engine.Memory) *engine.Memory {
	if m == nil {
		return nil
	}
	return &engine.Memory{Fields: slices.Clone(m.Fields), Notes: slices.Clone(m.Notes), Kept: slices.Clone(m.Kept)}
}
