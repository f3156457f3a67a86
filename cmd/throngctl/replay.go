package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// replayFlag selects the run whose recording answers requests.
type replayFlag struct {
	Replay string `placeholder:"RUN" help:"Answer all requests from the recording of an earlier run (see --record). Scenario and settings default to those of that run." group:"Run settings"`
}

// recorded returns the run to replay, or nil.
func (f replayFlag) recorded(ctx context.Context, t *terminal) (of *engine.RunRecord, err error) {
	if f.Replay == "" {
		return nil, nil //nolint:nilnil // not a replay
	}
	err = t.with(ctx, f.Replay, func(_ *sqlite.Store, r engine.RunRecord) error {
		of = &r
		return nil
	})
	return of, err
}

// scenario reads the file, or the scenario of the recorded run for a replay without a file.
func (c *runCmd) scenario(t *terminal, of *engine.RunRecord) (*scenario.Scenario, error) {
	payload, err := authoring.Payload(c.Payload)
	if err != nil {
		return nil, err
	}
	x := scenario.Extras{Parameters: c.Set, Chain: c.Chain, Payload: payload}
	switch {
	case of == nil && c.File == "":
		return nil, &engine.FieldError{Problem: "no scenario given", Hint: "name a file, or a built-in scenario: " + strings.Join(authoring.BuiltIn(), ", ")}
	case of == nil:
		return loadScenario(t, c.File, x)
	case c.File != "":
		x.Parameters = app.RecordedParameters(of)
		maps.Copy(x.Parameters, c.Set)
		return loadScenario(t, c.File, x)
	case len(c.Set) > 0 || c.Chain != "" || c.Payload != "":
		return nil, &engine.FieldError{
			Field: "replay", Problem: "the scenario kept with run " + string(of.ID) + " is replayed as it ran", Hint: "leave out --set, --chain and --payload, or name the file",
		}
	}
	s, err := scenario.Restore(of.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario kept with run %s: %w", of.ID, err)
	}
	return s, nil
}

// settings returns the settings of the run. A replay takes values that are not given from the recorded run.
func (c *runCmd) settings(t *terminal, s *scenario.Scenario, of *engine.RunRecord) (settings engine.Settings, err error) {
	layers := config.Layers{Flags: c.Into(flags.Given(c.Settings.Plugins, c.Fixed.Plugins)), Env: os.Getenv}
	if of != nil {
		base := app.ReplaySettings(of)
		layers.Run = &base
	} else {
		layers.File = s.Settings()
		if layers.Saved, err = config.LoadSaved(t.data); err != nil {
			return settings, err
		}
	}
	if settings, _, err = layers.Resolve(); err != nil {
		return settings, err
	}
	agents, err := c.agents()
	if err != nil {
		return settings, err
	}
	if of == nil || len(agents) > 0 {
		settings.Agents = agents
	}
	if of == nil || c.Filter != "" {
		settings.Filter = c.Filter
	}
	c.ApplyTo(&settings)
	config.Schedule(&settings, s)
	return settings, nil
}

// recording describes the recording of a run and how to replay it, or returns "".
func recording(ctx context.Context, store *sqlite.Store, job *app.Job, ending engine.Ending) string {
	if !job.Run.Settings().Record {
		return ""
	}
	size, err := store.RecordingSize(ctx, job.Run.ID())
	if err != nil {
		return ""
	}
	text := fmt.Sprintf("All answers are recorded, %s", engine.FormatBytes(size))
	if ending != engine.EndFinished {
		return text + "; they can be replayed when the run has finished"
	}
	return fmt.Sprintf("%s; replay them with: throngctl run --replay %s", text, job.Run.ID())
}
