package scenario

import (
	"fmt"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// BenchmarkWorld measures the cost per session of worlds of 100,000 rule agents that remember and send messages.
func BenchmarkWorld(b *testing.B) {
	const agents = 100_000
	for _, bb := range []struct{ name, world string }{
		{"wealth", `
population: {count: %[1]d, id: "a${agent.index}"}
functions: |
  def wealth(agent):
      return get(agent.memory, "wealth", 1) + len(agent.inbox)
chain trade:
  step count: {kind: python, call: wealth(agent)}
  step pay: {kind: say, when: steps.count > 0, to: "a${int(uniform(0, %[1]d))}", text: "1"}
  step keep: {kind: remember, set: {wealth: "${steps.count - (1 if steps.count > 0 else 0)}"}}
`},
		{"messages", `
population: {count: %[1]d, id: "a${agent.index}"}
chain talk:
  step tell:
    kind: for
    each: "[1, 10, 100, 1000, 10000, 20000, 30000, 40000, 50000, 60000]"
    as: away
    do:
      step one: {kind: say, to: "a${(agent.index + away) %% %[1]d}", text: hello}
`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, err := read(fmt.Sprintf(bb.world, agents), nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			settings := engine.DefaultSettings()
			settings.Metrics, settings.CheckpointEvery, settings.Cycles = false, 0, (b.N+agents-1)/agents
			b.ReportAllocs()
			b.ResetTimer()
			run, err := run.Start(b.Context(), run.Config{ID: "run", Program: s.Program(1), Agents: agents, Clock: s.Clock, Settings: settings})
			if err != nil {
				b.Fatal(err)
			}
			if r := run.Wait(); r.Totals.Outcomes[engine.OK] != int64(agents*settings.Cycles) {
				b.Fatalf("sessions ended as %v", r.Totals.Outcomes)
			}
		})
	}
}
