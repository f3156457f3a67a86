package app

import (
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/history"
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

// TestHistoryOfAResumedRun stops and resumes a run and reads its history. Every moment must agree with the times of the
// sessions, and no session runs between the two processes.
func TestHistoryOfAResumedRun(t *testing.T) {
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
	l := Launch{Services: Services{Data: data, Scenario: s, Settings: engine.DefaultSettings()}, Store: store, Trusted: true}
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
	back := history.New(store, &record, s)
	timeline, err := back.Timeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(timeline.Stretches) != 2 || len(timeline.Barriers) != 4 || len(timeline.Checkpoints) == 0 {
		t.Fatalf("%d stretches, %d barriers, %d checkpoints", len(timeline.Stretches), len(timeline.Barriers), len(timeline.Checkpoints))
	}
	first, second := timeline.Stretches[0], timeline.Stretches[1]
	between := first.To.Add(second.From.Sub(first.To) / 2)
	if !timeline.Idle(between) || timeline.Idle(first.From.Add(time.Millisecond)) || !first.To.Before(second.From) {
		t.Errorf("the stretches are %v", timeline.Stretches)
	}
	checkMoments(t, store, back, job.Record.ID, timeline)

	end, err := back.Moment(t.Context(), second.To)
	if err != nil {
		t.Fatal(err)
	}
	if p := end.Snapshot; p.Ended != 80 || p.Phase != engine.Ended || p.Ending != engine.EndFinished || p.Cycle != 3 || p.CycleEnded != 20 || p.Events != 20 ||
		len(p.Emitted) != 20 || p.Emitted[0].AgentName() == "" || p.SimTime != s.Clock.At(3) || p.Checkpoints != len(timeline.Checkpoints) {
		t.Errorf("at the end: got %+v", p)
	}
}

// checkMoments compares the history with the sessions, at all moments at which anything changes.
func checkMoments(t *testing.T, store *sqlite.Store, back *history.History, run engine.RunID, timeline *engine.RunTimeline) {
	t.Helper()
	var all []engine.SessionRow
	var moments []time.Time
	for r, err := range store.Sessions(t.Context(), run, 0, 0) {
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
		if got := m.Snapshot.Elapsed; got != timeline.Elapsed(at) || got > timeline.Stretches[1].To.Sub(timeline.Stretches[0].From) {
			t.Errorf("at %v: got a working time of %v", at, got)
		}
	}
}
