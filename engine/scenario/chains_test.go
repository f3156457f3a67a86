package scenario

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// several is a scenario whose first chain runs the others, in groups that use everything that steps can see.
const several = `
run: day
population: {count: 20, attributes: {mood: "${pick(['good', 'bad'])}", luck: "${uniform(0, 1)}"}}
chain errand:
  step go: {kind: remember, set: {seen: "${agent.mood}"}, note: "${input}"}
  step tell: {kind: emit, event: errand, data: "${[input, agent.memory.seen, agent.notes, agent.luck]}"}
chain day:
  step wake: {kind: remember, set: {luck: "${agent.luck}"}}
  step shop: {kind: chain, target: errand, input: shop, parallel: true}
  step bank: {kind: chain, target: errand, input: "${agent.id}", parallel: true}
  step home: {kind: emit, event: home, depends_on: [shop], data: "${[agent.notes, session.uuid, now.hour, uniform(0, 1), agent.mood]}"}
  step rest: {kind: chain, target: later, parallel: true}
  step sleep: {kind: emit, event: sleep, data: "${[agent.memory, agent.notes, previous.rest]}"}
chain later:
  step a: {kind: python, call: "agent.id + agent.mood"}
`

// TestChainsOfAFile checks that chains run each other in any order, and that a session with groups has the same result
// in both modes.
func TestChainsOfAFile(t *testing.T) {
	var want string
	for _, sequential := range []bool{false, true} {
		s, err := read(several, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Chain.Name != "day" {
			t.Fatalf("runs %s", s.Chain.Name)
		}
		settings := engine.DefaultSettings()
		settings.Cycles, settings.Metrics, settings.CheckpointEvery, settings.SequentialSteps = 2, false, 0, sequential
		journal := &enginetest.Journal{}
		run, err := run.Start(t.Context(), run.Config{
			ID: "run", Program: s.Program(settings.Seed), Agents: s.Agents, Settings: settings, Journal: journal, Clock: s.Clock,
		})
		if err != nil {
			t.Fatal(err)
		}
		run.Wait()
		got := enginetest.Results(journal.Sessions())
		if want == "" {
			want = got
		}
		if got != want || strings.Count(got, " ok ") != 40 || strings.Count(got, "errand [") != 80 {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// TestChainsThatRunThemselves checks that cycles through several chains are errors of the file.
func TestChainsThatRunThemselves(t *testing.T) {
	_, err := read("chain a: {step x: {kind: chain, target: b}}\nchain b: {step y: {kind: chain, target: a}}", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "a cycle of chains: a runs b, b runs a") {
		t.Errorf("got %v", err)
	}
}
