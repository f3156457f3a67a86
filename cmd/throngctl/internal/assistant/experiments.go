package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine/experiment"
)

type (
	experimentInput struct {
		File string `json:"file" jsonschema:"path of an experiment file; the tool validate checks it, and the guide describes it"`
	}
	executeInput struct {
		experimentInput
		BudgetUSD float64 `json:"budget_usd,omitempty" jsonschema:"the amount for models in US dollars that the person agreed to; needed if the experiment can cost money. The file must set a budget of at most this amount"`
	}
	lookInput struct {
		experimentInput
		WaitSeconds float64 `json:"wait_seconds,omitempty" jsonschema:"wait for the end of an experiment that this server started, up to this many seconds (at most 50)"`
	}
)

// check refuses files that cannot be experiments.
func (in experimentInput) check() error {
	if !strings.HasSuffix(in.File, experiment.Ending) {
		return fmt.Errorf("the name of an experiment ends in %s; for a scenario, use the tool run", experiment.Ending)
	}
	return nil
}

// of returns the command line of a command about an experiment.
func (in experimentInput) of(name string) []string {
	return command("experiment", []string{name, in.File})
}

// readingExperiments adds the tools about experiments that change nothing.
func (s *server) readingExperiments(m *sdk.Server) {
	read := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	add(s, m, read, "experiments", "List the experiments that were opened on this machine.", func(struct{}) []string {
		return command("experiment", []string{"list"})
	})
	sdk.AddTool(m, tool("experiment", "Show how many runs of an experiment are done, which run, failed or were interrupted, and a forecast of what is missing.", read),
		func(ctx context.Context, _ *sdk.CallToolRequest, in lookInput) (*sdk.CallToolResult, any, error) {
			return s.reply(s.experiment(ctx, in))
		})
	add(s, m, read, "experiment_compare", "Compare the points of an experiment: each measure with its interval, and its difference from the baseline.", func(in experimentInput) []string {
		return in.of("compare")
	})
}

// changingExperiments adds the tools that start and stop experiments.
func (s *server) changingExperiments(m *sdk.Server) {
	no := false
	sdk.AddTool(m, tool("experiment_run", "Execute the runs of an experiment that are missing. It returns when it has started; the tool experiment waits for its end.", &sdk.ToolAnnotations{DestructiveHint: &no}),
		func(ctx context.Context, _ *sdk.CallToolRequest, in executeInput) (*sdk.CallToolResult, any, error) {
			return s.reply(s.executeExperiment(ctx, in))
		})
	add(s, m, &sdk.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}, "experiment_stop", "Stop an experiment; experiment_run continues it.",
		func(in experimentInput) []string { return in.of("stop") })
}

// experiment returns the state of an experiment, without the runs that are done or wait: there can be thousands.
func (s *server) experiment(ctx context.Context, in lookInput) ([]byte, error) {
	if own := s.own(in.File); own != nil && in.WaitSeconds > 0 {
		within, end := context.WithTimeout(ctx, min(time.Duration(in.WaitSeconds*float64(time.Second)), mostWait))
		defer end()
		own.wait(within)
	}
	state, err := s.stateOf(ctx, in.experimentInput)
	if err != nil {
		return nil, err
	}
	state.List = slices.DeleteFunc(state.List, func(r answer.ExperimentRun) bool {
		return r.State == string(experiments.Done) || r.State == string(experiments.Waiting)
	})
	return json.Marshal(state)
}

func (s *server) stateOf(ctx context.Context, in experimentInput) (state answer.Experiment, err error) {
	args := in.of("status")
	if err := errors.Join(plain(args), in.check()); err != nil {
		return state, err
	}
	text, err := s.execute(ctx, args...)
	if err != nil {
		return state, err
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return state, fmt.Errorf("the answer of throngctl experiment status: %w", err)
	}
	return state, nil
}

// executeExperiment starts an experiment, if it is free or its file has a budget that the person agreed to.
func (s *server) executeExperiment(ctx context.Context, in executeInput) ([]byte, error) {
	state, err := s.stateOf(ctx, in.experimentInput)
	if err != nil {
		return nil, err
	}
	if state.Forecast == nil {
		return json.Marshal(map[string]string{"event": "done", "text": "No run is missing; the tool experiment_compare shows the answer."})
	}
	if err := affordable(&state, in.BudgetUSD); err != nil {
		return nil, err
	}
	if s.own(in.File) != nil {
		return nil, errors.New("it is in progress already; the tool experiment shows it, and experiment_stop stops it")
	}
	text, err := s.begin(ctx, &child{stop: []string{"experiment", "stop"}, run: in.File}, in.of("run"))
	var first struct{ Identity string } // of a run that changed
	if err != nil || json.Unmarshal(text, &first) != nil || first.Identity == "" {
		return text, err
	}
	return s.experiment(ctx, lookInput{experimentInput: in.experimentInput})
}

// affordable returns an error if an experiment may cost money and no budget was agreed to, or if its file allows more than that.
func affordable(state *answer.Experiment, agreed float64) error {
	f := state.Forecast
	switch free := f.Tokens.Known() && f.Tokens.High == 0 || f.Cost.Known() && f.Cost.High == 0; {
	case free && agreed == 0:
		return nil
	case agreed <= 0 && f.Cost.Known():
		return fmt.Errorf("the experiment may cost up to $%.2f for models; %s", max(f.Cost.High, 0.01), ask)
	case agreed <= 0:
		return fmt.Errorf("the price of a model is not known, so the experiment may cost money; %s", ask)
	case state.BudgetUSD == 0 || state.BudgetUSD > agreed:
		return fmt.Errorf("nothing was started: the file has no budget of at most $%g, the amount agreed to; write budget: {usd: %g} in it", agreed, agreed)
	}
	return nil
}
