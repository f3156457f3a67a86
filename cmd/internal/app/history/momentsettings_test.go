package history

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// TestSettingsAtAMoment checks the settings between changes, also before the first: the settings of the record are the last
// ones.
func TestSettingsAtAMoment(t *testing.T) {
	l := &History{record: engine.RunRecord{Ended: afterNoon(60), Ending: engine.EndStopped, Reason: "enough"}}
	l.settings.Governor, l.settings.Ceiling, l.settings.Limit = "latency", 99, 98
	c := &engine.RunTimeline{Changes: []engine.ChangeRow{
		{At: afterNoon(10), What: engine.LimitChange, Old: "50", New: "40", Who: "resources", Why: "CPU 91%"},
		{At: afterNoon(20), What: "governor", Old: "resources", New: "latency", Who: "user"},
		{At: afterNoon(30), What: engine.CeilingSetting, Old: "372", New: "99", Who: "user"},
		{At: afterNoon(40), What: engine.PhaseChange, Old: "running", New: "paused", Why: "by hand"},
		{At: afterNoon(45), What: engine.PhaseChange, Old: "paused", New: "running"},
		{At: afterNoon(50), What: engine.LimitSetting, Old: engine.Automatic, New: "98", Who: "user", Why: "slider"},
		{At: afterNoon(57), What: engine.LimitSetting, Old: "98", New: engine.Automatic, Who: "user"},
	}}
	for _, want := range []struct {
		second         float64
		limit, ceiling int
		governor       string
		steer          string
		phase          engine.Phase
		changes        int
	}{
		{5, 50, 372, "resources", "", engine.Running, 0},
		{10, 40, 372, "resources", "CPU 91%", engine.Running, 1},
		{25, 40, 372, "latency", "", engine.Running, 2},
		{41, 40, 99, "latency", "", engine.Paused, 4},
		{55, 98, 99, engine.Manual, "", engine.Running, 6},
		{61, 98, 99, "latency", "", engine.Ended, 7},
	} {
		s := &engine.Snapshot{At: afterNoon(want.second), Phase: engine.Running, LimitState: engine.LimitState{Limit: l.settings.Limit, Ceiling: l.settings.Ceiling, Governor: l.settings.Governor}}
		l.applyChanges(s, c)
		if s.Limit != want.limit || s.Ceiling != want.ceiling || s.Governor != want.governor || s.Steer != want.steer || s.Phase != want.phase || len(s.Changes) != want.changes {
			t.Errorf("after %v s: limit %d of %d, %s %q, %s, %d changes; want %+v", want.second, s.Limit, s.Ceiling, s.Governor, s.Steer, s.Phase, len(s.Changes), want)
		}
	}
}

// BenchmarkMoment reads moments of a cycle with a million agents, each with five steps and an event: the first moment, which
// reads the sessions, and further ones.
func BenchmarkMoment(b *testing.B) {
	const agents, batch = 1_000_000, 5000
	s, err := scenario.Read("restful.yaml", func(string) ([]byte, error) {
		return []byte(strings.Replace(restful, "count: 20", "count: 1000000", 1)), nil
	}, nil)
	if err != nil {
		b.Fatal(err)
	}
	store, err := sqlite.Open(b.TempDir(), sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	settings := engine.DefaultSettings()
	settings.Cycles = 4
	record := engine.RunRecord{ID: "r", Source: s.Source, Settings: settings, Created: noon, Cycles: 4, Total: 4 * agents}
	if err := store.Create(b.Context(), record); err != nil {
		b.Fatal(err)
	}
	journal, err := store.Journal("r")
	if err != nil {
		b.Fatal(err)
	}
	steps := make([]engine.StepRecord, 5)
	for i := range steps {
		steps[i] = engine.StepRecord{Path: fmt.Sprintf("fill[%d].add", i), Attempts: 1, Statuses: []int{200}, Service: time.Millisecond}
	}
	journal.Append(engine.StartRow{At: noon})
	for from := 0; from < agents; from += batch {
		rows := make(engine.SessionRows, batch)
		for i := range rows {
			rows[i] = took(from+i, 0, float64(from+i)/1000, 5, engine.OK)
			rows[i].Steps, rows[i].Events = steps, []engine.Event{{Path: "fill[0].add", Name: "added", Data: []byte(`{"items":3}`)}}
		}
		if err := journal.Commit(b.Context(), rows); err != nil {
			b.Fatal(err)
		}
	}
	if err := journal.Commit(b.Context(), engine.BarrierRow{Cycle: 2, At: noon, Sessions: 3 * agents}); err != nil {
		b.Fatal(err)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := New(store, &record, s).Moment(b.Context(), afterNoon(500)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("further", func(b *testing.B) {
		history := New(store, &record, s)
		for b.Loop() {
			m, err := history.Moment(b.Context(), afterNoon(500))
			if err != nil || m.Snapshot.CycleEnded < 490_000 {
				b.Fatal(m.Snapshot.CycleEnded, err)
			}
		}
	})
	if err := journal.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

const restful = `
title: Nap
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 4}
population: {count: 20, id: "sleeper-${agent.index}"}
chain live:
  step rest: {kind: wait, for: 0.02}
  step wake: {kind: emit, event: woke, data: "${agent.index}"}
`
