package sqlite

import (
	"log/slog"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestCycleSessions reads a cycle in two calls: the second returns newer rows, including further takes.
func TestCycleSessions(t *testing.T) {
	s, err := Open(t.TempDir(), Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := s.Create(t.Context(), engine.RunRecord{ID: "r", Created: began}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	commit := func(rows ...engine.Row) {
		t.Helper()
		if err := j.Commit(t.Context(), rows...); err != nil {
			t.Fatal(err)
		}
	}
	row := func(cycle, agent, take int) engine.SessionRow {
		return engine.SessionRow{Place: engine.Place{Cycle: cycle, Agent: agent, Take: take}, Outcome: engine.Failed, Started: began, Total: time.Second}
	}
	var got []engine.Place
	read := func(cycle int, behind int64) int64 {
		t.Helper()
		got = nil
		pos, err := s.CycleSessions(t.Context(), "r", cycle, behind, func(r *engine.SessionRow) { got = append(got, r.Place) })
		if err != nil {
			t.Fatal(err)
		}
		return pos
	}
	if pos := read(1, 0); pos != 0 || len(got) != 0 {
		t.Errorf("an empty cycle has %v, up to %d", got, pos)
	}
	commit(engine.SessionRows{row(0, 9, 0), row(0, 2, 0)})
	commit(engine.SessionRows{row(1, 4, 0), row(1, 3, 0)})
	pos := read(1, 0)
	if len(got) != 2 || got[0].Agent == got[1].Agent {
		t.Errorf("got %v", got)
	}
	commit(engine.SessionRows{row(1, 4, 1)}, engine.SessionRows{row(2, 1, 0)})
	if newer := read(1, pos); newer <= pos || len(got) != 1 || got[0] != (engine.Place{Cycle: 1, Agent: 4, Take: 1}) {
		t.Errorf("newer rows are %v, up to %d after %d", got, newer, pos)
	}
	if read(0, 0); len(got) != 2 {
		t.Errorf("cycle 0 has %v", got)
	}
	if _, err := s.CycleSessions(t.Context(), "unknown", 0, 0, nil); err == nil {
		t.Error("an unknown run was read")
	}

	for i := range 10 {
		commit(engine.MetricsRow{At: began.Add(time.Duration(i) * time.Second), Limit: i})
	}
	rows, err := s.LastMetrics(t.Context(), "r", began.Add(6500*time.Millisecond), 3)
	if err != nil || len(rows) != 3 || rows[0].Limit != 4 || rows[2].Limit != 6 || !rows[2].At.Equal(began.Add(6*time.Second)) {
		t.Errorf("the last three are %+v, %v", rows, err)
	}
	if rows, err = s.LastMetrics(t.Context(), "r", began.Add(-time.Second), 3); err != nil || len(rows) != 0 {
		t.Errorf("before the first there are %+v, %v", rows, err)
	}
}
