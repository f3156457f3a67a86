package desk

import (
	"context"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
)

// called caches the names of the agents of the last requested run, because loading them may take long.
type called struct {
	run  engine.RunID
	name func(index int) (string, error)
}

// agents returns the names of the agents of a run.
func (d *Desk) agents(ctx context.Context, run engine.RunID) (func(index int) (string, error), error) {
	d.mu.Lock()
	last := d.called
	d.mu.Unlock()
	if last.run == run {
		return last.name, nil
	}
	names, err := review.Names(ctx, d.store, run)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.called = called{run, names.Agent}
	return names.Agent, nil
}

// LatestErrors returns the classes of errors with their latest occurrences.
func (d resultsDesk) LatestErrors(ctx context.Context, run engine.RunID, most int) ([][]engine.ErrorNote, error) {
	found, err := d.store.LatestErrors(ctx, run, most)
	if err != nil || len(found) == 0 {
		return found, err
	}
	name, err := d.agents(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, notes := range found {
		for i := range notes {
			if notes[i].Name, err = name(notes[i].Agent); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// Unconfirmed returns the requests of a run that may have been executed twice.
func (d resultsDesk) Unconfirmed(ctx context.Context, run engine.RunID, most int) (engine.UnconfirmedList, error) {
	found, err := d.store.Unconfirmed(ctx, run, most)
	if err != nil || found.All == 0 {
		return found, err
	}
	name, err := d.agents(ctx, run)
	if err != nil {
		return found, err
	}
	return found, found.Call(name)
}

// Checks checks a run after its end.
func (d resultsDesk) Checks(ctx context.Context, run engine.RunID) ([]engine.Check, error) {
	record, err := d.store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	all := app.CheckAfterRun(ctx, d.store, &record)
	for i := range all {
		if hint := app.NextSteps(&record); hint != "" && all[i].Hint == hint { // the hint is for a terminal
			all[i].Hint = corrected
		}
	}
	return all, nil
}

// corrected explains how to continue a run that could not succeed.
const corrected = "correct the scenario (Edit scenario… in Setup) and launch it again; if only a secret, an address or a service " +
	"was wrong, Resume in Checkpoints runs the remaining sessions; failed ones stay failed"

// Send starts sending rows that have not arrived in the configured database.
func (d resultsDesk) Send(ctx context.Context, run engine.RunID) error {
	return d.remote.Send(ctx, run)
}

// Failed names the agents with failed or timed-out sessions.
func (d resultsDesk) Failed(ctx context.Context, run engine.RunID, t *engine.Totals) (string, error) {
	if _, all := t.Failures(0); all == 0 {
		return "", nil
	}
	name, err := d.agents(ctx, run)
	if err != nil {
		return "", err
	}
	return review.Failures(t, name)
}
