package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/runbundle"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine/scenario"
)

// loadScenario reads a scenario with the additions of a run and the connectors of the settings.
func loadScenario(t *terminal, file string, x scenario.Extras) (s *scenario.Scenario, err error) {
	if err := runbundle.CheckScenario(file); err != nil {
		return nil, err
	}
	if x.Connectors, err = authoring.Connectors(t.data); err != nil {
		return nil, err
	}
	return authoring.LoadWith(file, x)
}

// runAlone runs a chain once, for one agent or for each row of a payload, and prints only its result.
func runAlone(ctx context.Context, t *terminal, l app.Launch, out output, flag databaseFlag) error {
	r := answer.NewReports()
	l.Watch = r.Add
	if l.Resume != "" && l.Scenario.Rows() {
		fmt.Fprintln(t.err, "Rows that finished earlier are not shown again.")
	}
	quiet := *t
	quiet.out = io.Discard
	err := carryOut(ctx, &quiet, l, out, flag)
	var code exitError
	cut := err != nil
	switch {
	case err == nil:
	case !errors.As(err, &code):
		return err
	case code == exitFailed && r.Len() == l.Scenario.Agents: // every session failed
		cut = false
	case code == exitInterrupted:
		fmt.Fprintln(t.err, "Interrupted. Resume with: throngctl resume")
	default:
		fmt.Fprintln(t.err, "The run did not finish. Show why with: throngctl export --what run")
	}
	shown, printErr := r.Print(t.out, l.Scenario.Rows(), cut)
	switch {
	case printErr != nil:
		return printErr
	case err == nil && !shown:
		return exitError(exitFailed)
	}
	return err
}
