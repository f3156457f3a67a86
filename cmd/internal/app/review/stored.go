// Package review reads stored runs: names, reports, comparisons and audits.
package review

import (
	"context"
	"fmt"
	"io"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service/redact"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Names returns the names of a run's agents and sessions, from the scenario stored with the run.
func Names(ctx context.Context, store storage.Reader, run engine.RunID) (storage.Names, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return storage.Names{}, err
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return storage.Names{}, fmt.Errorf("the scenario stored with run %s: %w", run, err)
	}
	seed := record.Settings.Seed
	program := s.Program(seed)
	names := storage.Names{
		Agent:   program.AgentID,
		Session: func(cycle, agent int) string { return engine.SeedUUID(seed, cycle, agent) },
		Clock:   s.Clock, Acted: s.Acted, Steps: map[string]engine.GraphStep{},
	}
	names.People = people(program, record.Settings)
	graph := program.Graph()
	graph.Walk(func(step *engine.GraphStep) {
		names.Steps[step.Path] = engine.GraphStep{Kind: step.Kind, Service: step.Service, Endpoint: step.Endpoint}
	})
	if s.Written() {
		names.Personas = func(w io.Writer) error { return s.ExportPersonas(w, seed) }
	}
	return names, nil
}

// people returns the agents that a run chooses. Values whose names are those of secrets are hidden, as in the window.
func people(program *scenario.Program, settings engine.Settings) *storage.People {
	attributes := program.Attributes()
	return &storage.People{Attributes: attributes, Each: func(ctx context.Context, next func(int, [][]byte) error) error {
		chosen, err := program.Choose(ctx, &settings)
		if err != nil {
			return err
		}
		among := program.Agents()
		if chosen != nil {
			among = len(chosen)
		}
		for i := range among {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if chosen != nil {
				i = chosen[i]
			}
			if err := next(i, shown(attributes, program.Values(i, attributes))); err != nil {
				return err
			}
		}
		return nil
	}}
}

// shown hides secrets in the values of attributes.
func shown(attributes []string, values [][]byte) [][]byte {
	for i, text := range values {
		switch {
		case text == nil:
		case redact.IsSecret(attributes[i]):
			values[i] = []byte(`"` + redact.Mark + `"`)
		default:
			values[i] = []byte(redact.Unnamed(redact.Unmarked(string(text))))
		}
	}
	return values
}

// Export writes the results of a run to a folder. If they are not in this store, the error is a *engine.FieldError.
func Export(ctx context.Context, store *sqlite.Store, run engine.RunID, dir string, format storage.Format) error {
	record, err := store.Run(ctx, run)
	if err == nil {
		err = CheckHere(&record)
	}
	if err != nil {
		return err
	}
	names, err := Names(ctx, store, record.ID)
	if err != nil {
		return err
	}
	return storage.ExportAllAs(ctx, dir, format, store, record.ID, names, about.Version())
}
