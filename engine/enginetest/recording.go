package enginetest

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// Recording answers from the rows of a journal: the reference implementation of replay.
type Recording struct{ journal *Journal }

var _ engine.Recording = Recording{}

// Recording returns the recording of the run that wrote the journal.
func (j *Journal) Recording() Recording { return Recording{j} }

// Run implements [engine.Recording].
func (Recording) Run() engine.RunID { return "recorded" }

// Session implements [engine.Recording].
func (r Recording) Session(_ context.Context, cycle, agent int) (engine.Prefix, error) {
	take, at := 0, map[string]engine.Entry{}
	keep := func(p engine.Place, e engine.Entry) {
		if p.Cycle != cycle || p.Agent != agent || p.Take < take {
			return
		}
		if p.Take > take {
			take, at = p.Take, map[string]engine.Entry{}
		}
		if _, known := at[e.Path]; !known || e.Attempts > 0 {
			at[e.Path] = e
		}
	}
	for _, row := range r.journal.Rows() {
		switch row := row.(type) {
		case engine.IntentRow:
			for _, e := range row.Earlier {
				keep(row.Place, e)
			}
			keep(row.Place, engine.Entry{Path: row.Path, Hash: row.Hash})
		case engine.AnswerRow:
			keep(row.Place, row.Entry)
		}
	}
	var p engine.Prefix
	for _, e := range at {
		p = append(p, e)
	}
	return p, nil
}

// Shared implements [engine.Recording].
func (r Recording) Shared() map[engine.SharedKey]engine.Entry {
	var known engine.Shared
	for _, row := range Of[engine.SharedRow](r.journal) {
		known.Add(&row)
	}
	return known.Answers
}
