package scenario_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
)

// This example reads a scenario from its file, sets a parameter, and runs it as a program. If a scenario calls services,
// connect them first.
func Example() {
	files := fstest.MapFS{"greeters.yaml": {Data: []byte(`
title: Greeters
parameters:
  people: {default: 3, min: 1}
clock: {cycle: 1h, cycles: 2}
population: {count: "${params.people}", id: "person-${agent.index + 1}"}
chain greet:
  step stay: {kind: stop, when: agent.index == 0, because: too shy}
  step greet: {kind: emit, event: greeted, data: {hour: "${now.hour}"}}
`)}}
	read, err := scenario.Read("greeters.yaml", scenario.FS(files), map[string]string{"people": "5"})
	if err != nil {
		fmt.Println(err) // all errors together, each with its line
		return
	}
	settings := engine.DefaultSettings()
	settings.Cycles = read.Cycles
	program := read.Program(settings.Seed)
	run, err := run.Start(context.Background(), run.Config{ID: "greetings", Program: program, Agents: program.Agents(), Clock: read.Clock, Settings: settings})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := run.Wait()
	fmt.Println(read.Title, result.Ending, run.Snapshot().Outcomes[engine.OK], run.Snapshot().Outcomes[engine.Stopped])
	// Output: Greeters finished 8 2
}
