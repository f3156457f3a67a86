package view

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
)

// TestSurveysCountAgents checks that a survey shows agents and answers, without cycles, in a snapshot, a record and a progress.
func TestSurveysCountAgents(t *testing.T) {
	s := &engine.Snapshot{
		SessionCounts: engine.SessionCounts{Ended: 12, Total: 20, Survey: true}, CycleState: engine.CycleState{Cycle: 2, Cycles: 3},
		Metrics: engine.MetricsRow{Acted: 11},
	}
	r := &engine.RunRecord{
		Done: 12, Total: 20, Cycle: 2, Cycles: 3, Ancestry: engine.Ancestry{Parent: "p", ForkCycle: 2}, Tally: engine.Tally{Acted: 11, Failed: 1},
		Source: engine.Source{Baseline: engine.Baseline{Acted: outcomes.SurveyAnswer}},
	}
	r.Settings.Cycles = 3
	p, status := NewProgress(s), OfRecord(r, &engine.Totals{}, r.Created)
	for name, d := range map[string]Done{"snapshot": DoneIn(s), "record": DoneOf(r), "progress": p.Done(), "status": status.Done()} {
		if got := d.WithCycles(2, 3); got != "12 of 20 agents asked, 11 answered" || d.Brief() != "12 (60%)" {
			t.Errorf("%s: %s, %s", name, got, d.Brief())
		}
	}
	if got := Outcome(r); got != "11 answered, 1 failure" {
		t.Errorf("outcome %q", got)
	}
	if got := OriginSentence(r, "A study"); got != "Asks the agents of A study after 2 cycles." {
		t.Errorf("origin %q", got)
	}
	r.ForkCycle = 0
	if got := Origin(r, ""); got != "asks the agents of run p before the first cycle" {
		t.Errorf("origin %q", got)
	}
	for _, d := range Differences(r) {
		if d == "cycles 3" {
			t.Errorf("differences %q", Differences(r))
		}
	}
	r.Parent = ""
	if IsSurvey(r) || DoneOf(r).WithCycles(2, 3) != "12 of 20 sessions, 2 of 3 cycles done" {
		t.Errorf("a run with such events is taken for a survey: %s", DoneOf(r))
	}
}
