// Package storage defines what stores of runs have in common: the records that they share with callers, the interface that
// exports need, and the exports themselves. Its subpackages are the adapters; storetest is the test suite for all of them.
package storage

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Reader is the interface of a store for exports. Iterators end after their first error. A yielded row is valid until the
// next one.
type Reader interface {
	// Run returns a run with its source files.
	Run(ctx context.Context, id engine.RunID) (engine.RunRecord, error)
	// Totals returns the totals of a run up to the end of the journal.
	Totals(ctx context.Context, id engine.RunID) (engine.Totals, error)
	// Sessions yields the sessions of the cycles from to to-1 (0: all), ordered by cycle and agent, with only the last take
	// of each session. Of Delta only Said is set.
	Sessions(ctx context.Context, id engine.RunID, from, to int) iter.Seq2[*engine.SessionRow, error]
	// Unconfirmed returns the changing requests of a run that may have been executed twice, at most the given number.
	Unconfirmed(ctx context.Context, id engine.RunID, most int) (engine.UnconfirmedList, error)
	// Metrics yields the metrics of a run after a time, in order of time.
	Metrics(ctx context.Context, id engine.RunID, after time.Time) iter.Seq2[*engine.MetricsRow, error]
	// Changes returns the changes of a run, in order of time.
	Changes(ctx context.Context, id engine.RunID) ([]engine.ChangeRow, error)
	// Barriers returns the closed cycles of a run in order, without those of its parent.
	Barriers(ctx context.Context, id engine.RunID) ([]engine.BarrierRow, error)
	// Memory returns the memory of the agents of a run at its end, or at the start of the current cycle, by agent. Agents
	// without memory are missing. The inboxes do not contain injected messages.
	Memory(ctx context.Context, id engine.RunID) (map[int]*engine.Memory, error)
}

// Request is a stored request of a session: an intent with its answer, or a step whose answer was journaled before a later
// intent.
type Request struct {
	engine.Place
	engine.Entry
	Answered bool // false if the process ended or the session was cut before the answer
}

// ExchangeQuery selects kept exchanges of a cycle.
type ExchangeQuery struct {
	Cycle    int
	Lo, Hi   int          // the lowest and the highest agent
	Agents   map[int]bool // of those, the wanted ones; nil wants all
	From, To time.Time    // when the wanted ones may have begun, roughly; zero is any time
}

// Fork describes what a new run takes over from its parent in addition to the memory of agents.
type Fork struct {
	// Checkpoint is the number of the parent's checkpoint. The fork starts at the beginning of its cycle.
	Checkpoint int
	// Moved maps the index of an agent in the parent to its index in the fork. Agents that are missing do not exist in the
	// fork. nil keeps all agents where they are.
	Moved map[int]int
	// Untuned are services, and names such as model.rate, whose manual changes do not apply in the fork.
	Untuned []string
	// Unanswered is set if shared answers of the parent are not valid in the fork.
	Unanswered bool
}

// Cursor is how far the rows of a run were sent to a remote database. Its fields only grow.
type Cursor struct {
	Pos        int64 // in the journal: the last position of the sessions and metrics sent
	Checkpoint int   // the highest number sent
	Change     int64 // when the row of the run last changed, in microseconds since 1970
}

// Max returns the maximum of each field of two cursors.
func (c Cursor) Max(o Cursor) Cursor {
	return Cursor{max(c.Pos, o.Pos), max(c.Checkpoint, o.Checkpoint), max(c.Change, o.Change)}
}

// Delivery is the next portion of a run's rows for a remote database.
type Delivery struct {
	// Record is the run without its source files, or nil if it did not change. Until all its rows are sent, the run counts
	// as in progress.
	Record *engine.RunRecord
	// Totals are the totals of the run at its newest checkpoint or its end; nil if they did not change.
	Totals      *engine.Totals
	Checkpoints []engine.CheckpointRecord
	Metrics     []engine.MetricsRow
	// Sessions yields the sessions with their events, all takes, in the order of the journal. It may be called again. The
	// row is reused, and its Delta is not set.
	Sessions iter.Seq2[*engine.SessionRow, error]
	Count    int    // number of sessions
	Full     bool   // more rows follow
	Cursor   Cursor // after this portion
}

// Empty reports whether the delivery contains nothing.
func (p *Delivery) Empty() bool {
	return p.Record == nil && p.Count == 0 && len(p.Metrics) == 0 && len(p.Checkpoints) == 0
}

// Summary is the part of run.json that remote databases store as JSON.
type Summary struct {
	Parameters, Settings json.RawMessage
	Inexact              json.RawMessage // nil for an exact run
	Verdict              json.RawMessage // nil if there are no judged criteria
	Totals               json.RawMessage // nil if they are unknown
}

// Summarize returns the summary of a run, without possible secrets. t may be nil.
func Summarize(r *engine.RunRecord, t *engine.Totals) (Summary, error) {
	figures := t
	if figures == nil {
		figures = &engine.Totals{}
	}
	m := newManifest(r, figures, "")
	var s Summary
	for _, part := range []struct {
		to    *json.RawMessage
		value any
		known bool
	}{
		{&s.Parameters, m.Parameters, true},
		{&s.Settings, m.Settings, true},
		{&s.Inexact, m.Inexact, m.Inexact != nil},
		{&s.Verdict, m.Success, m.Success != nil},
		{&s.Totals, m.Totals, t != nil},
	} {
		if !part.known {
			continue
		}
		text, err := json.Marshal(part.value)
		if err != nil {
			return Summary{}, err
		}
		*part.to = text
	}
	return s, nil
}
