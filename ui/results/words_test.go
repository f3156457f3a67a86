package results

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

func TestCriteriaSayTheirVerdict(t *testing.T) {
	rows := criteriaRows([]engine.Judgment{criterion("memory", "< 1GB", "0.5 GB", true), criterion("cycle_time", "< 1s", "2s", false), {Unknown: true, Shown: "unknown"}})
	for i, want := range []string{"pass", "FAIL", "unknown"} {
		if c := rows[i].Cells[0]; c.Text != want || c.Icon == nil {
			t.Errorf("criterion %d: %q, want %q with an icon", i, c.Text, want)
		}
	}
}

func TestHeadline(t *testing.T) {
	totals := some()
	for _, c := range []struct {
		name string
		run  engine.RunRecord
		want string
	}{
		{"finished", engine.RunRecord{Ending: engine.EndFinished, Total: 8928, Reason: "all cycles are done"}, "after 51 s, 100 of 8,928 sessions"},
		{"stopped", engine.RunRecord{Ending: engine.EndStopped, Total: 8928, Reason: "by hand"}, "after 51 s, 100 of 8,928 sessions: by hand"},
		{"without a plan", engine.RunRecord{Ending: engine.EndFinished}, "after 51 s, 100 sessions"},
		{"in progress", engine.RunRecord{InProgress: true, Total: 200, Reason: "by hand"}, "100 of 200 sessions so far"},
	} {
		if got := headline(&c.run, &totals); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	var one engine.Totals
	one.Outcomes[engine.OK] = 1
	if got, want := headline(&engine.RunRecord{Ending: engine.EndFinished, Total: 1}, &one), "1 of 1 session"; got != want {
		t.Errorf("of one: %q, want %q", got, want)
	}
}

func TestExactness(t *testing.T) {
	inexact := &engine.Inexact{Cycle: 3, Agent: 17, Path: "pay", Why: "timed out"}
	for _, c := range []struct {
		run  engine.RunRecord
		want string
		tone widgets.Tone
	}{
		{engine.RunRecord{Ending: engine.EndFinished}, "", widgets.Good},
		{engine.RunRecord{InProgress: true}, "The result is exact so far.", widgets.Good},
		{engine.RunRecord{Ending: engine.EndFinished, Inexact: inexact}, "The result is inexact since cycle 3, agent 17, step pay: timed out.", widgets.Warning},
	} {
		if text, tone := exactness(&c.run, &engine.Totals{}); text != c.want || tone != c.tone {
			t.Errorf("%q in tone %d, want %q in %d", text, tone, c.want, c.tone)
		}
	}
}

func TestFiguresThatWereNotMeasured(t *testing.T) {
	var none engine.Totals
	for _, row := range latencyRows(&none) {
		for _, c := range row.Cells[1:] {
			if c.Text != unknown {
				t.Errorf("without a session %s is %q", row.Key, c.Text)
			}
		}
	}
	for _, f := range peakFigures {
		if got := f.value(&none); got != unknown && f.name != "behind schedule" {
			t.Errorf("%s is %q, and was not measured", f.name, got)
		}
	}
}

// TestCleaned checks the summary of a run's cleanups, and the warning about one that is not complete.
func TestCleaned(t *testing.T) {
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.Local)
	for _, c := range []struct {
		of   []engine.Cleaned
		want string
		tone widgets.Tone
	}{
		{nil, "", widgets.Quiet},
		{
			[]engine.Cleaned{{By: "c1", At: at, Ending: "finished", Agents: 1, Done: 1, Requests: 1234}},
			"Cleaned up by run c1 on 2026-11-25 12:00:00: 1,234 requests for 1 agent.", widgets.Quiet,
		},
		{
			[]engine.Cleaned{{By: "c1", At: at, Ending: "finished", Agents: 6, Done: 5, Requests: 11}},
			"Cleaned up in part by run c1 on 2026-11-25 12:00:00: 11 requests, 5 of 6 agents done. To clean up the rest: throngctl cleanup r1.", widgets.Warning,
		},
		{
			[]engine.Cleaned{{By: "c1", At: at, Agents: 6}},
			"Cleanup run c1 started on 2026-11-25 12:00:00 and has not finished. To resume it: throngctl cleanup r1.", widgets.Warning,
		},
		{
			[]engine.Cleaned{{By: "c1", At: at, Ending: "stopped", Agents: 6, Done: 1, Requests: 1}},
			"Cleanup run c1 ended early on 2026-11-25 12:00:00 (stopped): 1 request, 1 of 6 agents done. To resume it: throngctl cleanup r1.", widgets.Warning,
		},
	} {
		if got, tone := cleaned(&engine.RunRecord{ID: "r1", Cleaned: c.of}); got != c.want || tone != c.tone {
			t.Errorf("%q in tone %d, want %q in %d", got, tone, c.want, c.tone)
		}
	}
}
