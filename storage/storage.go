// Package storage is what the stores of runs have in common: the records that their callers share, what an export
// needs of a store, and the export itself. The adapters are its sub-packages; storetest says what they must do.
package storage

import (
	"context"
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
	// Metrics yields the metrics of a run that are later than after, in order of time.
	Metrics(ctx context.Context, id engine.RunID, after time.Time) iter.Seq2[*engine.MetricsRow, error]
}

// Request is one kept request of a session: an intent together with its answer, or a step whose answer was journaled
// before a later intent.
type Request struct {
	engine.Place
	engine.Entry
	Answered bool // false: the process ended, or the session was cut, between the intent and its answer
}

// Doomed is what goes when a run is deleted.
type Doomed struct {
	Sessions, Events int64
	Checkpoints      int
	Bytes            int64 // of its rows; the file shrinks by about that
}
