package runlog

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestLog checks that each event is logged once.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	c := New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	at := time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)
	s := &engine.Snapshot{At: at, Phase: engine.Running}
	for _, step := range []struct {
		change func()
		want   string
	}{
		{func() {}, "level=INFO msg=phase phase=running why=\"\"\n"},
		{func() {}, ""},
		{
			func() {
				s.Changes = append(s.Changes, engine.ChangeRow{At: at, Cycle: 2, What: engine.LimitSetting, Old: "50", New: "30", Who: "ann", Why: "lunch"})
			},
			"level=INFO msg=changed what=max-concurrent old=50 new=30 who=ann why=lunch cycle=2\n",
		},
		{func() { s.Breaker, s.BreakerWhy = engine.BreakerOpen, "half failed" }, "level=WARN msg=\"breaker of the run\" state=open why=\"half failed\"\n"},
		{
			func() {
				s.Services = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerHalfOpen}, {Name: "model"}}
			},
			"level=WARN msg=\"breaker of a service\" service=shop state=half-open why=\"\"\n",
		},
		{func() { s.LastCheckpoint, s.Checkpoints = at, 1 }, "level=INFO msg=checkpoint number=1 cycle=0 done=0 took=0s\n"},
		{func() { s.Budget.Short = "dollars" }, "level=WARN msg=budget short=dollars\n"},
		{func() { s.Stall = &engine.Stall{Since: at, Why: "shop"} }, "level=WARN msg=\"no session ends\" since=2030-03-01T12:00:00.000Z why=shop\n"},
		{
			func() {
				s.Errors = []engine.ErrorNote{{Class: engine.Timeout, Count: 5, Name: "ann", Path: "enter", Message: "slow"}}
			},
			"level=WARN msg=\"sessions fail\" class=timeout count=5 cycle=0 agent=ann step=enter error=slow\n",
		},
		{func() { s.Errors = []engine.ErrorNote{{Class: engine.Timeout, Count: 9}} }, ""},
		{func() { s.Phase, s.Ending = engine.Ended, engine.EndFailed }, "level=ERROR msg=ended ending=failed why=\"\" sessions=0 requests=0 refused=0 took=0s result=exact\n"},
	} {
		out.Reset()
		step.change()
		c.see(s)
		if got := out.String(); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
	if strings.Contains(out.String(), "msg=changed") {
		t.Error("a change is logged twice")
	}
}
