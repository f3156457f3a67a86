package desk

import (
	"context"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/results"
)

// agentNames caches the names of the agents of the last requested run, because loading them may take long.
type agentNames struct {
	mu   sync.Mutex
	run  engine.RunID
	name func(index int) (string, error)
}

// of returns the names of the agents of a run.
func (n *agentNames) of(ctx context.Context, store *sqlite.Store, run engine.RunID) (func(index int) (string, error), error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run == run {
		return n.name, nil
	}
	names, err := review.Names(ctx, store, run)
	if err != nil {
		return nil, err
	}
	n.run, n.name = run, names.Agent
	return n.name, nil
}

// LatestErrors returns the classes of errors with their latest occurrences.
func (d resultsDesk) LatestErrors(ctx context.Context, run engine.RunID, most int) ([][]engine.ErrorNote, error) {
	found, err := d.store.LatestErrors(ctx, run, most)
	if err != nil || len(found) == 0 {
		return found, err
	}
	name, err := d.names.of(ctx, d.store, run)
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
	name, err := d.names.of(ctx, d.store, run)
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
	"was wrong, Resume in Runs continues with the remaining sessions; failed ones stay failed"

// Failed names the agents with failed or timed-out sessions.
func (d resultsDesk) Failed(ctx context.Context, run engine.RunID, t *engine.Totals) (string, error) {
	if _, all := t.Failures(0); all == 0 {
		return "", nil
	}
	name, err := d.names.of(ctx, d.store, run)
	if err != nil {
		return "", err
	}
	return review.Failures(t, name)
}

// Speakers opens the transcript of a run.
func (d resultsDesk) Speakers(ctx context.Context, run engine.RunID) (results.Source, error) {
	if job := d.current(); job != nil && job.Record.ID == run {
		return job.AgentHistory(d.store), nil
	}
	return history.LoadAgents(ctx, d.store, run)
}

// withAgents adds the details of agents to a shown job.
func withAgents(j *live.Job, a *history.Agents) *live.Job {
	j.Agent, j.Find, j.Name = a.View, a.Program.Search, a.Name
	j.Transcript, j.Events, j.Population = a.Transcript, a.Events, a.Program.Agents()
	if a.Run != nil {
		j.Crowd = a.Run.Crowd
	}
	return j
}
