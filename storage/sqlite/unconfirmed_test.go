package sqlite

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestUnconfirmed checks that a request that may have been executed twice is listed once, makes its run inexact although its
// session has not ended, also after a resume, and is deleted with its run.
func TestUnconfirmed(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	row := func(agent int, path string) engine.UnconfirmedRow {
		return engine.UnconfirmedRow{Place: engine.Place{Agent: agent}, At: at, Path: path, Request: "POST /" + path}
	}
	for _, r := range []engine.UnconfirmedRow{row(4, "order"), row(2, "pay"), row(4, "order")} {
		if err := j.Commit(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Unconfirmed(t.Context(), "r", 1)
	if err != nil || got.All != 2 || len(got.First) != 1 || got.First[0] != row(4, "order") {
		t.Errorf("listed %+v, %v", got, err)
	}
	want := (&engine.UnconfirmedRow{Place: engine.Place{Agent: 2}, Path: "pay"}).Inexact().String()
	if r, err := s.Run(t.Context(), "r"); err != nil || r.Inexact.String() != want {
		t.Errorf("the run is %v, %v; want %s", r.Inexact, err, want)
	}
	if res, err := s.Resume(t.Context(), "r"); err != nil || res.State.Totals.Inexact.String() != want || res.AtBarrier.Inexact != nil {
		t.Errorf("resumed it is %v, %v; want %s", res.State.Totals.Inexact, err, want)
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := s.file.Row(t.Context(), `SELECT count(*) FROM unconfirmed`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
}
