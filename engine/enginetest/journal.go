// Package enginetest has what tests of runs need: a journal in memory that can be in trouble or die, a reference for
// how a run is read back from a journal, and crowds of agents whose work is a pure function of the seed.
package enginetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// ErrDead is what a journal that died answers.
var ErrDead = errors.New("the journal is dead")

var errStalled = errors.New("the disk is slow")

// Journal is an engine.Journal in memory. Sessions are kept one row each, so that it can die between two of a batch.
// The zero value is ready; its fields are set before it is used.
type Journal struct {
	// Latency is how long it takes until a row is durable.
	Latency time.Duration
	// Room is how many rows wait while the disk is in trouble, before Append and Commit wait for room; 0 is any number.
	Room int
	// DieAfter is how many rows it takes before it dies, as if the process had been killed; 0 is never.
	DieAfter int
	// Settings are the run's, as far as they say how its memory is committed.
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

// lock takes the mutex and makes what the zero value lacks.
func (j *Journal) lock() {
	j.mu.Lock()
	if j.changed == nil {
		j.changed, j.died, j.trouble = make(chan struct{}), make(chan struct{}), make(chan error, 1)
	}
}

// wait releases the lock until ok holds; it reports whether it does, or ctx ended first. mu is held.
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

// Append keeps rows; those that come after its death are lost.
func (j *Journal) Append(rows ...engine.Row) {
	j.lock()
	defer j.mu.Unlock()
	j.wait(context.Background(), j.hasRoom)
	j.add(rows)
}

// Commit keeps rows and returns when they are durable.
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

// Trouble delivers what Break and Heal say.
func (j *Journal) Trouble() <-chan error {
	j.lock()
	defer j.mu.Unlock()
	return j.trouble
}

// add takes rows, until it dies of one. mu is held.
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

// Break puts the disk in trouble: nothing becomes durable until Heal.
func (j *Journal) Break(err error) { j.set(err) }

// Heal ends the trouble, or the stall.
func (j *Journal) Heal() { j.set(nil) }

// Stall lets nothing become durable until Heal, like Break, but tells nobody: a disk that is only slow.
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
	case <-j.trouble: //nolint:errcheck // what was not heard yet is out of date
	default:
	}
	j.trouble <- broken
}

// Die loses what is not durable and all that follows, as if the process had been killed.
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

// Close lets whoever waits for room or durability go.
func (j *Journal) Close() {
	j.lock()
	defer j.mu.Unlock()
	j.closed = true
	j.change()
}

// Reopen returns a journal that holds the same rows and takes more of them, like the next process would find it.
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

// copied is a row that shares nothing which the engine may use again.
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
	c.Delta.Set, c.Delta.Notes = slices.Clone(r.Delta.Set), slices.Clone(r.Delta.Notes)
	return c
}

func copyMemory(m *engine.Memory) *engine.Memory {
	if m == nil {
		return nil
	}
	return &engine.Memory{Fields: slices.Clone(m.Fields), Notes: slices.Clone(m.Notes)}
}
