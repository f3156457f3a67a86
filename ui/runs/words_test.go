package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

func TestState(t *testing.T) {
	for _, c := range []struct {
		inProgress bool
		ending     engine.Ending
		word       string
		tone       widgets.Tone
	}{
		{true, engine.NotEnded, "in progress", widgets.Accent},
		{true, engine.EndStopped, "in progress", widgets.Accent},
		{false, engine.NotEnded, "interrupted", widgets.Warning},
		{false, engine.EndFinished, "finished", widgets.Good},
		{false, engine.EndStopped, "stopped", widgets.Quiet},
		{false, engine.EndFailed, "failed", widgets.Bad},
		{false, engine.EndOutOfBudget, "out of budget", widgets.Warning},
	} {
		if word, tone := words.State(&engine.RunRecord{InProgress: c.inProgress, Ending: c.ending}); word != c.word || tone != c.tone {
			t.Errorf("in progress %v, ending %q: %q in tone %d, want %q in %d", c.inProgress, c.ending, word, tone, c.word, c.tone)
		}
	}
	for failed, want := range map[int64]widgets.Tone{0: widgets.Good, 9: widgets.Good, 10: widgets.Bad} {
		r := engine.RunRecord{Ending: engine.EndFinished, Done: 10, Tally: engine.Tally{Failed: failed}}
		if word, tone := words.State(&r); word != "finished" || tone != want {
			t.Errorf("%d of 10 sessions failed: %q in tone %d, want finished in %d", failed, word, tone, want)
		}
	}
}

func finished(r *engine.RunRecord) {
	r.Ending, r.Reason, r.Cycle, r.Done = engine.EndFinished, "all cycles are done", r.Cycles, r.Total
}

func TestResuming(t *testing.T) {
	const where = "Resume continues with the first step that is not done."
	newest, older := points("r")[0], points("r")[1]
	last, end := newest, older
	last.Cycle, end.Cycle = 24, 24
	for _, c := range []struct {
		name       string
		run        func(*engine.RunRecord)
		checkpoint *engine.CheckpointRecord
		busy       engine.RunID
		want       string
		possible   way
		longer     bool
	}{
		{name: "interrupted", checkpoint: &newest, want: where + " The 116 sessions completed since this checkpoint", possible: fromEnd},
		{name: "one since", run: func(r *engine.RunRecord) { r.Done = 701 }, checkpoint: &newest, want: where + " The session completed since this checkpoint", possible: fromEnd},
		{name: "none since", run: func(r *engine.RunRecord) { r.Done = 700 }, checkpoint: &newest, want: where, possible: fromEnd},
		{name: "without a checkpoint", want: where + " The 816 sessions completed since the start of the run", possible: fromEnd},
		{name: "stopped", run: func(r *engine.RunRecord) { r.Ending = engine.EndStopped }, want: where + " The 816", possible: fromEnd},
		{name: "failed", run: func(r *engine.RunRecord) { r.Ending = engine.EndFailed }, want: where + " The 816", possible: fromEnd},
		{name: "older", checkpoint: &older, want: "Resume continues from the start of cycle 0 as a new run with the same scenario and settings: no session is kept, and the 300 already done in cycle 0 run again. This run stays as it is.", possible: fromBefore},
		{name: "finished", run: finished, want: "This run is complete. To extend it", possible: fromEnd},
		{name: "finished, with a checkpoint", run: finished, checkpoint: &newest, want: "This run is complete. Resume continues from the start of cycle 1 as a new run", possible: fromBefore},
		{name: "finished, and longer", run: finished, checkpoint: &newest, longer: true, want: "Resume extends this run", possible: fromEnd},
		{name: "finished, checkpoint at its end", run: finished, checkpoint: &last, want: "This run is complete. To extend it", possible: fromEnd},
		{name: "extended, older checkpoint at its end", run: finished, checkpoint: &end, want: "This checkpoint is at the end of the run."},
		{name: "of another machine", run: func(r *engine.RunRecord) { r.Fetched = &engine.Fetched{Database: "db"} }, checkpoint: &newest, want: "This run belongs to another machine. Resume continues from this checkpoint", possible: fromBefore},
		{name: "of another machine, without a checkpoint", run: func(r *engine.RunRecord) { r.Fetched = &engine.Fetched{Database: "db"} }, want: "This run belongs to another machine, and none"},
		{name: "finished, older", run: finished, checkpoint: &older, want: "Resume continues from the start of cycle 0", possible: fromBefore},
		{name: "finished, and another in progress", run: finished, busy: "other", want: "Run other is in progress"},
		{name: "without agents", run: func(r *engine.RunRecord) {
			r.Ending, r.Reason = engine.EndFinished, "no active agents"
		}, want: "This run is complete: no active agents."},
		{name: "without agents, with a checkpoint", run: func(r *engine.RunRecord) {
			r.Ending, r.Reason = engine.EndFinished, "no active agents"
		}, checkpoint: &newest, want: "This run is complete: no active agents. Choose an earlier"},
		{name: "killed before its end", run: func(r *engine.RunRecord) { r.Cycle = 24 }, want: where, possible: fromEnd},
		{name: "by the clock", run: func(r *engine.RunRecord) { r.Cycle, r.Cycles = 24, 0 }, want: where, possible: fromEnd},
		{name: "in progress here", run: func(r *engine.RunRecord) { r.InProgress = true }, busy: "r", want: "This run is in progress"},
		{name: "in progress elsewhere", run: func(r *engine.RunRecord) { r.InProgress = true }, want: "Another process"},
		{name: "waiting", run: func(r *engine.RunRecord) { r.Queued = "abcd" }, busy: "other", want: "This run waits in the queue"},
		{name: "another in progress", busy: "other", want: "Run other is in progress"},
		{name: "damaged", run: func(r *engine.RunRecord) { r.Damage = "unexpected EOF" }, want: "The stored data of this run is damaged"},
	} {
		r := record("r")
		if c.run != nil {
			c.run(&r)
		}
		text, possible := resuming(&r, c.checkpoint, c.busy, c.longer)
		if possible != c.possible || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %d, %q; want %d, %q", c.name, possible, text, c.possible, c.want)
		}
	}
}

func TestFacts(t *testing.T) {
	r := record("r")
	r.Ending, r.Ended, r.Reason = engine.EndStopped, began.Add(time.Hour), "by hand"
	r.Inexact = &engine.Inexact{Cycle: 3, Agent: 17, Path: "pay", Why: "timed out"}
	r.Parent, r.ForkCycle, r.ForkedAt, r.Kept = "parent", 2, r.Created, 744
	r.Settings.Cycles, r.Settings.Hours, r.Settings.TimeScale, r.Settings.Remote = 0, 6, 24, true
	got := map[string]string{}
	for _, f := range facts(&r, "Shoppers") {
		got[f.name] = f.value
	}
	for name, want := range map[string]string{
		"Run": "r", "Ended": "2026-01-02 16:04:05", "Result": "inexact since cycle 3", "Continues": "Shoppers from " + r.Created.Local().Format(time.TimeOnly), "Kept": "744 sessions before cycle 2", "Random seed": "7",
		"Scenario": "shopping.yaml", "Parameters": "agents = 372", "": "shop = corner", "Length": "6 hours of wall time", "Time scale": "24 (simulated time per wall time)", "Results": "also sent to the database",
	} {
		if got[name] != want {
			t.Errorf("%q is %q, want %q", name, got[name], want)
		}
	}
	if got, want := because(&r), "End reason: by hand\nInexact: since cycle 3, agent 17, step pay: timed out"; got != want {
		t.Errorf("the reasons are %q, want %q", got, want)
	}
	killed := record("k")
	if got, want := because(&killed), "End reason: "+view.Unstopped; got != want {
		t.Errorf("after a kill: got %q, want %q", got, want)
	}
	r.InProgress = true
	if got := because(&r); strings.Contains(got, "by hand") {
		t.Errorf("a resumed run: got %q", got)
	}
	for _, f := range facts(&r, "Shoppers") {
		if f.name == "Ended" {
			t.Error("a resumed run has an end")
		}
	}
}

// TestFactsOfSurveys checks that a survey says whose agents it asks, and nothing of cycles.
func TestFactsOfSurveys(t *testing.T) {
	r := record("r")
	r.Source.Baseline.Acted = "survey_answer"
	r.Parent, r.ForkCycle, r.ForkedAt = "parent", 2, r.Created
	r.Settings.Cycles, r.Settings.Hours = 3, 0
	got := map[string]string{}
	for _, f := range facts(&r, "") {
		got[f.name] = f.value
	}
	for name, want := range map[string]string{"Asks agents of": "run parent", "As they were": "after 2 cycles", "Length": "", "Kept": "", "Continues": ""} {
		if got[name] != want {
			t.Errorf("%q is %q, want %q", name, got[name], want)
		}
	}
	if got := progressTip(&r); strings.Contains(got, "cycle") || !strings.Contains(got, "agents asked") {
		t.Errorf("the progress is %q", got)
	}
}

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]int{"": 0, " 7 ": 7, "1": 1, "1,000,000": 1_000_000} {
		if got, err := parseLimit(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-5", "7.5", "x", "1000001", "99999999999999999999"} {
		if got, err := parseLimit(text); err == nil {
			t.Errorf("%q is taken as %d", text, got)
		}
	}
}

func TestDoomedText(t *testing.T) {
	want := "1 session, 0 events, 1 checkpoint, about 42 kB of run r.\nYou can restore it from the trash for 30 days."
	if got := footprintText("r", view.Footprint{Sessions: 1, Checkpoints: 1, Bytes: 42_000}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
