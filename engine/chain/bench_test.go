package chain

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// BenchmarkSession measures the time and allocations per session of the engine and a chain without services.
func BenchmarkSession(b *testing.B) {
	for _, bb := range []struct{ name, steps string }{
		{"empty", ""},
		{"stop", "step a: {kind: stop}"},
		{"skipped", "step a: {kind: stop, when: False}"},
		{"python", "step a: {kind: python, call: agent.index + 1}"},
		{"five python", `
step a: {kind: python, call: agent.index + 1}
step b: {kind: python, call: steps.a + 1}
step c: {kind: python, call: steps.b + 1}
step d: {kind: python, call: steps.c + 1}
step e: {kind: python, call: steps.d + 1}
`},
		{"five in parallel", `
step a: {kind: python, call: agent.index + 1, parallel: true}
step b: {kind: python, call: agent.index + 1, parallel: true}
step c: {kind: python, call: agent.index + 1, parallel: true}
step d: {kind: python, call: agent.index + 1, parallel: true}
step e: {kind: python, call: agent.index + 1, parallel: true}
`},
		{"for of ten", "step a: {kind: for, each: range(10), as: i, do: {step b: {kind: python, call: i}}}"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			st := stage{steps: bb.steps}
			c := &Chain{Name: "empty", Body: &Block{}}
			if bb.steps != "" {
				var err error
				if c, err = func() (*Chain, error) { c, report, _ := st.read(b); return c, report.Err() }(); err != nil {
					b.Fatal(err)
				}
			}
			settings := engine.DefaultSettings()
			settings.Metrics, settings.CheckpointEvery = false, 0
			b.ReportAllocs()
			b.ResetTimer()
			run, err := run.Start(b.Context(), run.Config{ID: "run", Program: program{chain: c}, Agents: b.N, Settings: settings})
			if err != nil {
				b.Fatal(err)
			}
			run.Wait()
		})
	}
}
