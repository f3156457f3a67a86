package app

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

const nap = `
title: Nap
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 4}
population: {count: 20, id: "sleeper-${agent.index}"}
chain live:
  step rest: {kind: wait, for: 0.02}
  step wake: {kind: emit, event: woke, data: "${agent.index}"}
`

// TestLookBackOnAResumedRun stops a run, goes on with it, and asks what it was doing all along: every answer is what
// its sessions' own times say, and nobody works on it in between.
func TestLookBackOnAResumedRun(t *testing.T) {
	s, err := scenario.Read("nap.yaml", func(string) ([]byte, error) { return []byte(nap), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	l := Launch{Store: store, Data: data, Trusted: true, Scenario: s, Settings: engine.DefaultSettings()}
	l.Settings.Cycles, l.Settings.Limit = s.Cycles, 7
	enough, count := make(chan struct{}), atomic.Int64{}
	l.Watch = func(*chain.Report) {
		if count.Add(1) == 30 {
			close(enough)
		}
	}
	job, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-enough
	if err := job.Run.Stop("test", "enough"); err != nil {
		t.Fatal(err)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	l.Resume, l.Watch = job.Record.ID, nil
	again, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again.Run.Wait()
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	record, err := store.Run(t.Context(), job.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	back := NewLookback(store, &record, s)
	course, err := back.Course(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(course.Stretches) != 2 || len(course.Barriers) != 4 || len(course.Checkpoints) == 0 {
		t.Fatalf("%d stretches, %d barriers, %d checkpoints", len(course.Stretches), len(course.Barriers), len(course.Checkpoints))
	}
	first, second := course.Stretches[0], course.Stretches[1]
	between := first.To.Add(second.From.Sub(first.To) / 2)
	if !course.Idle(between) || course.Idle(first.From.Add(time.Millisecond)) || !first.To.Before(second.From) {
		t.Errorf("the stretches are %v", course.Stretches)
	}
	checkMoments(t, store, back, course)

	end, err := back.Moment(t.Context(), second.To)
	if err != nil {
		t.Fatal(err)
	}
	if p := end.Snapshot; p.Ended != 80 || p.Phase != engine.Ended || p.Ending != engine.EndFinished || p.Cycle != 3 || p.CycleEnded != 20 || p.Events != 20 ||
		len(p.Emitted) != 20 || p.Emitted[0].Who() == "" || p.SimTime != s.Clock.At(3) || p.Checkpoints != len(course.Checkpoints) {
		t.Errorf("at the end it is %+v", p)
	}
}

// checkMoments compares with what the sessions themselves say, at the moments at which anything changes.
func checkMoments(t *testing.T, store *sqlite.Store, back *Lookback, course *engine.Course) {
	t.Helper()
	var all []engine.SessionRow
	var moments []time.Time
	for r, err := range store.Sessions(t.Context(), back.run, 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, engine.SessionRow{Place: r.Place, Outcome: r.Outcome, Started: r.Started, Total: r.Total})
		moments = append(moments, r.Started, r.Started.Add(r.Total).Add(time.Microsecond))
	}
	slices.SortFunc(moments, time.Time.Compare)
	for i := 0; i < len(moments); i += 3 {
		at := moments[i].Truncate(time.Microsecond)
		m, err := back.Moment(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		ended := int64(0)
		want := make([]engine.AgentState, 20)
		for k := range all {
			r := &all[k]
			end := r.Started.UnixMicro() + r.Total.Microseconds()
			if at.UnixMicro() >= end {
				ended++
			}
			switch {
			case r.Cycle != m.Crowd.Cycle || at.UnixMicro() < r.Started.UnixMicro():
			case at.UnixMicro() < end:
				want[r.Agent] = engine.AgentInFlight
			default:
				want[r.Agent] = engine.AgentOK
			}
		}
		if !slices.Equal(m.Crowd.States, want) {
			t.Errorf("at %v, cycle %d: %v, want %v", at, m.Crowd.Cycle, m.Crowd.States, want)
		}
		if m.Snapshot.Ended != ended || m.Snapshot.InFlight > 7 || m.Idle {
			t.Errorf("at %v: %d sessions ended, want %d; %d in flight; idle %v", at, m.Snapshot.Ended, ended, m.Snapshot.InFlight, m.Idle)
		}
		if got := m.Snapshot.Elapsed; got != course.Elapsed(at) || got > course.Stretches[1].To.Sub(course.Stretches[0].From) {
			t.Errorf("at %v it has worked for %v", at, got)
		}
	}
}

// TestSettingsAtAMoment is what was in force between changes: also before the first, as a run's own settings are the last.
func TestSettingsAtAMoment(t *testing.T) {
	l := &Lookback{record: engine.RunRecord{Ended: afterNoon(60), Ending: engine.EndStopped, Reason: "enough"}}
	l.settings.Governor, l.settings.Ceiling, l.settings.Limit = "latency", 99, 98
	c := &engine.Course{Changes: []engine.ChangeRow{
		{At: afterNoon(10), What: engine.LimitSetting, Old: "50", New: "40", Who: "resources", Why: "CPU 91 %"},
		{At: afterNoon(20), What: "governor", Old: "resources", New: "latency", Who: "user"},
		{At: afterNoon(30), What: engine.CeilingSetting, Old: "372", New: "99", Who: "user"},
		{At: afterNoon(40), What: engine.PhaseChange, Old: "running", New: "paused", Why: "by hand"},
		{At: afterNoon(45), What: engine.PhaseChange, Old: "paused", New: "running"},
		{At: afterNoon(50), What: engine.LimitSetting, Old: "40", New: "98", Who: "user", Why: "slider"},
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
		{10, 40, 372, "resources", "CPU 91 %", engine.Running, 1},
		{25, 40, 372, "latency", "", engine.Running, 2},
		{41, 40, 99, "latency", "", engine.Paused, 4},
		{55, 98, 99, "latency", "", engine.Running, 6},
		{61, 98, 99, "latency", "", engine.Ended, 6},
	} {
		s := &engine.Snapshot{At: afterNoon(want.second), Phase: engine.Running, Limit: l.settings.Limit, Ceiling: l.settings.Ceiling, Governor: l.settings.Governor}
		l.hear(s, c)
		if s.Limit != want.limit || s.Ceiling != want.ceiling || s.Governor != want.governor || s.Steer != want.steer || s.Phase != want.phase || len(s.Changes) != want.changes {
			t.Errorf("after %v s: limit %d of %d, %s %q, %s, %d changes; want %+v", want.second, s.Limit, s.Ceiling, s.Governor, s.Steer, s.Phase, len(s.Changes), want)
		}
	}
}

// BenchmarkMoment is a moment of a cycle with a million agents, each of whom did five steps and emitted an event: the
// first of a cycle, which is read, and further ones.
func BenchmarkMoment(b *testing.B) {
	const agents, batch = 1_000_000, 5000
	s, err := scenario.Read("nap.yaml", func(string) ([]byte, error) {
		return []byte(strings.Replace(nap, "count: 20", "count: 1000000", 1)), nil
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
			if _, err := NewLookback(store, &record, s).Moment(b.Context(), afterNoon(500)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("further", func(b *testing.B) {
		back := NewLookback(store, &record, s)
		for b.Loop() {
			m, err := back.Moment(b.Context(), afterNoon(500))
			if err != nil || m.Snapshot.CycleEnded < 490_000 {
				b.Fatal(m.Snapshot.CycleEnded, err)
			}
		}
	})
	if err := journal.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
