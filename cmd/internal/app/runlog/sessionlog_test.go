package runlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestSessionsAreLogged checks the lines of failures, chains and cycles, and the limit of lines per second.
func TestSessionsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		at := func(level slog.Level) engine.Journal {
			log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}))
			return Journal(engine.Discard, log, func(i int) (string, error) { return fmt.Sprintf("shopper-%d", i+1), nil }, "shop")
		}
		row := engine.SessionRow{
			Place: engine.Place{Cycle: 2, Agent: 6}, Outcome: engine.OK, Total: 6234 * time.Millisecond,
			Steps: []engine.StepRecord{{Parallel: true}, {Parallel: true}, {Parallel: true}, {}, {Status: engine.StepSkipped}},
		}
		failed := engine.SessionRow{
			Place: engine.Place{Cycle: 2, Agent: 7}, Outcome: engine.Failed, Class: engine.ServerError, Path: "order", Error: "500", Total: time.Second,
		}
		late := failed
		late.Outcome, late.Class, late.Error = engine.TimedOut, engine.Timeout, "no answer"
		barrier := engine.BarrierRow{Cycle: 2, Took: 3 * time.Second, Work: engine.CycleWork{OK: 370, Failed: 1, TimedOut: 1, Busy: 30 * time.Second, Flow: engine.Flow{Parallel: 9, Sequential: 4}}}
		const (
			chain = "level=INFO msg=\"completed in 6,234 ms\" chain=shop cycle=2 agent=shopper-7 steps=\"3 steps in parallel, 1 in sequence\" outcome=ok\n"
			bad   = "level=ERROR msg=\"session failed\" chain=shop cycle=2 agent=shopper-8 step=order class=server_error error=500 took=\"1,000 ms\"\n" +
				"level=ERROR msg=\"session timed out\" chain=shop cycle=2 agent=shopper-8 step=order class=timeout error=\"no answer\" took=\"1,000 ms\"\n"
			cycle = "level=INFO msg=\"cycle 2: 370 completed, 1 failed, 1 timed out\" cycle=2 took=\"3,000 ms\" parallel_steps=9 sequential_steps=4 step_errors=0 step_timeouts=0 speedup=10\n"
		)
		for level, want := range map[slog.Level]string{slog.LevelInfo: chain + bad + cycle, slog.LevelError: bad} {
			out.Reset()
			j := at(level)
			j.Append(engine.SessionRows{row, failed, late})
			if err := j.Commit(t.Context(), barrier); err != nil || out.String() != want {
				t.Errorf("%v: %v\n%s\nwant\n%s", level, err, out.String(), want)
			}
		}
		out.Reset()
		j := at(slog.LevelInfo)
		for range 250 {
			j.Append(engine.SessionRows{row, failed})
		}
		time.Sleep(time.Second)
		j.Append(engine.SessionRows{row}, barrier)
		if n := strings.Count(out.String(), "completed in"); n != 101 {
			t.Errorf("%d sessions are logged of 251 in two seconds", n)
		}
		if n := strings.Count(out.String(), "level=ERROR"); n != 100 || !strings.Contains(out.String(), "failures_not_logged=150 sessions_not_logged=150") {
			t.Errorf("%d failures are logged of 250 in one second:\n%s", n, out.String())
		}
	})
	if j := Journal(engine.Discard, slog.New(slog.DiscardHandler), nil, ""); j != engine.Discard {
		t.Error("without a log, the journal is wrapped")
	}
}
