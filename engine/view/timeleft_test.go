package view

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		name            string
		phase           engine.Phase
		ended, total    int64
		elapsed, remain time.Duration
		percent, want   string
	}{
		{"first seconds", engine.Running, 600, 1000, 9 * time.Second, 6 * time.Second, "60%", Estimating},
		{"under 5%", engine.Running, 49, 1000, time.Hour, 5 * time.Hour, "4%", Estimating},
		{"unknown", engine.Running, 500, 1000, time.Hour, -1, "50%", Estimating},
		{"seconds", engine.Running, 900, 1000, time.Minute, 12 * time.Second, "90%", "10 s left"},
		{"minutes", engine.Running, 500, 1000, time.Minute, 37*time.Minute + 40*time.Second, "50%", "38 min left"},
		{"hours", engine.Running, 500, 1000, time.Minute, 5*time.Hour + 20*time.Minute, "50%", "5 h left"},
		{"the last session is missing", engine.Running, 9999, 10000, time.Minute, time.Second, "99%", "a few seconds left"},
		{"by the clock", engine.Running, 500, 0, 15 * time.Minute, 45 * time.Minute, "25%", "45 min left"},
		{"paused", engine.Paused, 500, 1000, time.Minute, time.Minute, "50%", ""},
		{"ended", engine.Ended, 1000, 1000, time.Minute, 0, "100%", ""},
	} {
		s := &engine.Snapshot{Phase: c.phase, SessionCounts: engine.SessionCounts{Ended: c.ended, Total: c.total}, Pace: engine.Pace{Elapsed: c.elapsed, Remaining: c.remain}}
		if got := TimeLeft(s); got != c.want || SharePercent(s) != c.percent {
			t.Errorf("%s: %q at %s, want %q at %s", c.name, got, SharePercent(s), c.want, c.percent)
		}
		if p := NewProgress(s); p.TimeLeft() != c.want {
			t.Errorf("%s: the progress says %q", c.name, p.TimeLeft())
		}
	}
}
