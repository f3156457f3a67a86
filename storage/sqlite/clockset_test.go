package sqlite

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestTimeAcrossASetClock kills a process that worked for 31 minutes, while the wall clock was set back by an hour after the first one:
// the run was in progress for 31 minutes, as its own clock measured.
func TestTimeAcrossASetClock(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	j := newRun(t, s, "r")
	began := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	set := began.Add(time.Minute - time.Hour)
	session := func(agent int, started time.Time) engine.SessionRows {
		return engine.SessionRows{{Place: engine.Place{Agent: agent}, Outcome: engine.OK, Started: started, Total: 20 * time.Second}}
	}
	j.Append(engine.StartRow{At: began})
	j.Append(session(0, began.Add(30*time.Second)))
	j.Append(engine.MetricsRow{At: began.Add(59 * time.Second)})
	j.Append(engine.ChangeRow{At: set, What: engine.ClockChange, New: "-1h0m0s"})
	j.Append(session(1, began.Add(50*time.Second))) // it ended after the clock was set
	j.Append(engine.MetricsRow{At: set.Add(10 * time.Minute)})
	j.Append(session(2, set.Add(29*time.Minute)))
	j.Append(engine.BarrierRow{At: set.Add(30 * time.Minute)})
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	res, err := s.Resume(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got := res.State.Totals.Peaks.Elapsed; got != 31*time.Minute {
		t.Errorf("got %v, want 31m", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
