package sqlite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestJournaledIsInOrder reads every kind of row in the order in which they were written.
func TestJournaledIsInOrder(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	defer closeStore(t, s)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := s.Create(t.Context(), engine.RunRecord{ID: "run", Created: at, Settings: engine.DefaultSettings(), Cycles: 2}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal("run")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	write := func(row engine.Row) {
		t.Helper()
		if rows, ok := row.(engine.SessionRows); ok {
			for i := range rows {
				want = append(want, describe(rows[i:i+1]))
			}
		} else {
			want = append(want, describe(row))
		}
		j.Append(row)
	}
	write(engine.StartRow{At: at})
	for cycle := range 3 {
		for agent := range 1500 { // more than a page of packs
			p := engine.Place{Cycle: cycle, Agent: agent}
			if agent%500 == 0 {
				write(engine.IntentRow{Place: p, Path: "buy"})
				write(engine.AnswerRow{Place: p, Entry: engine.Entry{Path: "buy", Attempts: 1}})
				write(engine.MetricsRow{At: at.Add(time.Duration(agent) * time.Second), Cycle: cycle, Ended: int64(agent)})
			}
			if agent%2 == 0 {
				write(engine.SessionRows{
					{Place: p, Outcome: engine.Failed, Class: engine.Network},
					{Place: engine.Place{Cycle: cycle, Agent: agent, Take: 1}, Outcome: engine.OK, Started: at, Total: time.Second},
				})
			}
			if agent%300 == 0 { // creates many packs
				write(engine.ChangeRow{At: at, Cycle: cycle, What: engine.LimitSetting, New: fmt.Sprint(agent)})
			}
		}
		if cycle == 2 {
			break // the cycle stays open with its requests
		}
		write(engine.BarrierRow{Cycle: cycle, At: at, Active: 750})
	}
	if err := j.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for row, err := range s.Journaled(t.Context(), "run") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, describe(row))
	}
	swept := func(rows []string) []string { // requests are tested elsewhere; their packs precede sessions
		return slices.DeleteFunc(slices.Clone(rows), func(text string) bool { return text[0] == 'i' || text[0] == 'a' })
	}
	if g, w := swept(got), swept(want); !slices.Equal(g, w) {
		t.Errorf("read %d of %d rows, or in another order", len(g), len(w))
	}
	requests := 0
	for _, text := range got {
		if text[0] == 'i' || text[0] == 'a' {
			requests++
		}
	}
	if requests < 6 {
		t.Errorf("read %d requests, want those of the current cycle", requests)
	}
	for _, err := range s.Journaled(t.Context(), "run") { // leaving the loop early is fine
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	places := []engine.Place{}
	for row, err := range s.Takes(t.Context(), "run") {
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, row.Place)
	}
	if len(places) != 3*1500 || places[1] != (engine.Place{Take: 1}) || places[2] != (engine.Place{Agent: 2}) {
		t.Errorf("%d takes, the first %v", len(places), places[:min(len(places), 3)])
	}
	sessions, events, err := s.Counters(t.Context(), "run")
	if err != nil || sessions != 3*750 || events != 0 {
		t.Errorf("%d sessions, %d events, %v", sessions, events, err)
	}
}

// describe formats a row as a line.
func describe(row engine.Row) string {
	switch r := row.(type) {
	case engine.SessionRows:
		return fmt.Sprint("session ", r[0].Place, r[0].Outcome)
	case engine.IntentRow:
		return fmt.Sprint("intent ", r.Place)
	case engine.AnswerRow:
		return fmt.Sprint("answer ", r.Place)
	case engine.MetricsRow:
		return fmt.Sprint("metrics ", r.Cycle, r.Ended)
	case engine.ChangeRow:
		return fmt.Sprint("change ", r.Cycle, r.New)
	default:
		return fmt.Sprintf("row %T", row)
	}
}
