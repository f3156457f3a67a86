package main

import (
	"fmt"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// BenchmarkWorld measures the cost per session of worlds of rule agents that remember and send messages, without a journal.
func BenchmarkWorld(b *testing.B) {
	for name, world := range map[string]string{"wealth": wealthWorld, "messages": talkingWorld} {
		b.Run(name, func(b *testing.B) {
			t := trial{dir: b.TempDir(), text: fmt.Sprintf(world, worldAgents)}
			s, err := t.load()
			if err != nil {
				b.Fatal(err)
			}
			settings := engine.DefaultSettings()
			settings.Metrics, settings.CheckpointEvery, settings.Cycles = false, 0, (b.N+worldAgents-1)/worldAgents
			b.ReportAllocs()
			b.ResetTimer()
			run, err := run.Start(b.Context(), run.Config{ID: "world", Program: s.Program(1), Agents: s.Agents, Clock: s.Clock, Settings: settings})
			if err != nil {
				b.Fatal(err)
			}
			if r := run.Wait(); r.Totals.Outcomes[engine.OK] != int64(worldAgents*settings.Cycles) {
				b.Fatalf("sessions ended as %v", r.Totals.Outcomes)
			}
		})
	}
}
