package scenario

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// BenchmarkSession is what a scenario's empty and trivial chains cost a session, with the engine around.
func BenchmarkSession(b *testing.B) {
	for _, bb := range []struct{ name, chain string }{
		{"stop", "step a: {kind: stop}"},
		{"python", "step a: {kind: python, call: agent.index + 1}"},
		{"attributes", "step a: {kind: python, call: agent.x + agent.y}"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, err := read("population: {count: 1, attributes: {x: '${uniform(0, 1)}', y: '${uniform(0, 1)}'}}\nchain c: {"+bb.chain+"}", nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			settings := engine.DefaultSettings()
			settings.Metrics, settings.CheckpointEvery = false, 0
			b.ReportAllocs()
			b.ResetTimer()
			run, err := engine.Start(b.Context(), engine.Config{ID: "run", Program: s.Program(1), Agents: b.N, Settings: settings})
			if err != nil {
				b.Fatal(err)
			}
			run.Wait()
		})
	}
}

// BenchmarkShopping is a day of shoppers against the rehearsal on the same machine, journaled in memory or not.
func BenchmarkShopping(b *testing.B) {
	for _, bb := range []struct {
		name    string
		journal func() engine.Journal
	}{
		{"discard", func() engine.Journal { return nil }},
		{"journal", func() engine.Journal { return &enginetest.Journal{} }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var sessions, requests, journeys int64
			for b.Loop() {
				r, _ := day{set: map[string]string{"eagerness": "8"}, journal: bb.journal(), change: func(s *engine.Settings) { s.Cycles = 12 }}.run(b)
				sessions += r.Totals.Ended()
				requests += r.Totals.Requests
				journeys += r.Totals.Outcomes[engine.OK]
			}
			b.ReportMetric(float64(sessions)/b.Elapsed().Seconds(), "sessions/s")
			b.ReportMetric(float64(requests)/b.Elapsed().Seconds(), "requests/s")
			b.ReportMetric(float64(journeys)/b.Elapsed().Seconds(), "journeys/s")
		})
	}
}
