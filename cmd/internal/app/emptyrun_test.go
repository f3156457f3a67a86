package app

import (
	"log/slog"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// BenchmarkShortRun measures a run of 100 agents and one cycle without requests, from its start in the store to its end.
func BenchmarkShortRun(b *testing.B) {
	keyring.MockInit()
	const text = `
population: {count: 100}
chain c: {step a: {kind: emit, event: e}}
`
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		b.Fatal(err)
	}
	data := b.TempDir()
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l := Launch{Services: Services{Data: data, Scenario: s, Settings: engine.DefaultSettings()}, Store: store, Trusted: true}
		l.Settings.Cycles = 1
		job, err := l.Start(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if n := job.Run.Wait().Totals.Outcomes[engine.OK]; n != 100 {
			b.Fatalf("%d sessions", n)
		}
		if err := job.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
}
