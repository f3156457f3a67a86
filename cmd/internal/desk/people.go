package desk

import (
	"context"

	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
)

// called knows how the agents of the run that was asked for last are called: reading that again may take long.
type called struct {
	run  engine.RunID
	name func(index int) (string, error)
}

// agents returns how the agents of a run are called.
func (d *Desk) agents(ctx context.Context, run engine.RunID) (func(index int) (string, error), error) {
	d.mu.Lock()
	last := d.called
	d.mu.Unlock()
	if last.run == run {
		return last.name, nil
	}
	names, err := wire.Names(ctx, d.store, run)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.called = called{run, names.Agent}
	return names.Agent, nil
}

// LastErrors returns the classes of errors with their last occurrence.
func (d resultsDesk) LastErrors(ctx context.Context, run engine.RunID) ([]engine.ErrorNote, error) {
	notes, err := d.store.ErrorNotes(ctx, run)
	if err != nil || len(notes) == 0 {
		return notes, err
	}
	name, err := d.agents(ctx, run)
	if err != nil {
		return nil, err
	}
	for i := range notes {
		if notes[i].Name, err = name(notes[i].Agent); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// Failed names the agents that had a session which failed or timed out.
func (d resultsDesk) Failed(ctx context.Context, run engine.RunID, t *engine.Totals) (string, error) {
	if _, all := t.Failures(0); all == 0 {
		return "", nil
	}
	name, err := d.agents(ctx, run)
	if err != nil {
		return "", err
	}
	return wire.Failures(t, name)
}
