// Package storage is what the stores of runs have in common: the records that their callers share, what an export
// needs of a store, and the export itself. The adapters are its sub-packages; storetest says what they must do.
package storage

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Reader is what an export needs of a store. An iterator ends after its first error; the row that it yields is only
// valid until the next one.
type Reader interface {
	// Run returns a run with its source files.
	Run(ctx context.Context, id engine.RunID) (engine.RunRecord, error)
	// Totals returns the figures of a run up to the journal's end.
	Totals(ctx context.Context, id engine.RunID) (engine.Totals, error)
	// Sessions yields the sessions of the cycles from to to-1 (0: to the end), ordered by cycle and agent; of a
	// session's takes only the last. Their Delta is not filled in.
	Sessions(ctx context.Context, id engine.RunID, from, to int) iter.Seq2[*engine.SessionRow, error]
	// Unconfirmed returns the changing requests of a run that may have been carried out twice, the first most of them.
	Unconfirmed(ctx context.Context, id engine.RunID, most int) (engine.UnconfirmedList, error)
	// Metrics yields the metrics of a run that are later than after, in order of time.
	Metrics(ctx context.Context, id engine.RunID, after time.Time) iter.Seq2[*engine.MetricsRow, error]
	// Barriers returns the closed cycles of a run, in order; those of its parent are not among them.
	Barriers(ctx context.Context, id engine.RunID) ([]engine.BarrierRow, error)
	// Memory returns what the agents of a run remember at its end, or at the start of the cycle that is open, by agent;
	// those without any are left out. What was injected by hand is not in the inboxes.
	Memory(ctx context.Context, id engine.RunID) (map[int]*engine.Memory, error)
}

// Request is one kept request of a session: an intent together with its answer, or a step whose answer was journaled
// before a later intent.
type Request struct {
	engine.Place
	engine.Entry
	Answered bool // false: the process ended, or the session was cut, between the intent and its answer
}

// Fork says what a new run takes over from its parent, beside the memory of agents.
type Fork struct {
	// Checkpoint is the number of the parent's, at the start of whose cycle the fork begins.
	Checkpoint int
	// Moved is by an agent's index in the parent the one that it has now; who is not in it is not there any more. nil
	// leaves everybody where they are.
	Moved map[int]int
	// Untuned are services, and names such as model.rate, for which nothing counts any more that was changed by hand.
	Untuned []string
	// Unanswered says that answers which belong to the parent are not good here.
	Unanswered bool
}

// Cursor is how far the rows of a run were sent to a remote database. Its parts only grow.
type Cursor struct {
	Pos        int64 // in the journal: sessions and metrics up to here
	Checkpoint int   // the highest number of one
	Change     int64 // of the run's own row: when it was made, in microseconds
}

// Max returns what either of two cursors has passed.
func (c Cursor) Max(o Cursor) Cursor {
	return Cursor{max(c.Pos, o.Pos), max(c.Checkpoint, o.Checkpoint), max(c.Change, o.Change)}
}

// Delivery is a part of a run's rows on its way to a remote database.
type Delivery struct {
	// Record is the run, without its source files; nil where nothing about it is new. A run is told to be over only
	// when all its rows were sent: until then it is as if in progress.
	Record *engine.RunRecord
	// Totals are the run's figures as of its newest checkpoint or its end; nil where they are not new.
	Totals      *engine.Totals
	Checkpoints []engine.CheckpointRecord
	Metrics     []engine.MetricsRow
	// Sessions yields the sessions with their events, all takes, as they came; it may be gone through again. The row is
	// reused, and its Delta is not filled in.
	Sessions iter.Seq2[*engine.SessionRow, error]
	Count    int    // of the sessions
	Full     bool   // more rows are waiting
	Cursor   Cursor // stands for all of them
}

// Empty reports whether there is nothing to be sent.
func (p *Delivery) Empty() bool {
	return p.Record == nil && p.Count == 0 && len(p.Metrics) == 0 && len(p.Checkpoints) == 0
}

// Summary is the parts of run.json that a database keeps as JSON texts.
type Summary struct {
	Parameters, Settings json.RawMessage
	Inexact              json.RawMessage // nil for a run that is exact
	Verdict              json.RawMessage // nil while it has none
	Totals               json.RawMessage // nil where they are not known
}

// Summarize returns what run.json says of a run; t may be nil. Like there, what may be a secret is left out.
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
