package view

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestVerdict(t *testing.T) {
	judgment := func(passed bool) engine.Judgment {
		return engine.Judgment{Criterion: engine.Criterion{Metric: "error_rate", Text: "< 5%"}, Shown: "25%", Passed: passed}
	}
	met, missed, unknown := judgment(true), judgment(false), engine.Judgment{Unknown: true}
	var fine, bad engine.Totals
	fine.Outcomes[engine.OK] = 1000
	bad.Outcomes[engine.OK], bad.Outcomes[engine.Failed] = 990, 10
	const exact, calm = "; the result is exact.", "; no session failed; the result is exact."
	for _, c := range []struct {
		name   string
		run    engine.RunRecord
		totals engine.Totals
		want   Mark
	}{
		{"all met", engine.RunRecord{Verdict: []engine.Judgment{met, met, met}, Ending: engine.EndFinished}, fine, Mark{Good, "All 3 criteria met" + calm}},
		{"the only one", engine.RunRecord{Verdict: []engine.Judgment{met}, Ending: engine.EndFinished}, fine, Mark{Good, "The success criterion is met" + calm}},
		{"missed", engine.RunRecord{Verdict: []engine.Judgment{met, missed, missed}, Ending: engine.EndFinished}, bad, Mark{
			Bad, "2 of 3 criteria missed (error_rate was 25%, wanted < 5%); 10 of 1,000 sessions failed or timed out" + exact,
		}},
		{"the only one missed", engine.RunRecord{Verdict: []engine.Judgment{missed}, Ending: engine.EndFinished}, fine, Mark{
			Bad, "1 of 1 criterion missed (error_rate was 25%, wanted < 5%)" + calm,
		}},
		{"both met", engine.RunRecord{Verdict: []engine.Judgment{met, met}, Ending: engine.EndFinished}, fine, Mark{Good, "Both criteria met" + calm}},
		{"unknown", engine.RunRecord{Verdict: []engine.Judgment{unknown, met}, Ending: engine.EndFinished}, fine, Mark{Warn, "1 of 2 criteria met, 1 unknown" + calm}},
		{"stopped", engine.RunRecord{Verdict: []engine.Judgment{met}, Ending: engine.EndStopped}, fine, Mark{Warn, "The run was stopped: the success criterion is met" + calm}},
		{"failed", engine.RunRecord{Verdict: []engine.Judgment{met}, Ending: engine.EndFailed}, fine, Mark{Bad, "Failed: the success criterion is met" + calm}},
		{"none", engine.RunRecord{Ending: engine.EndFinished}, fine, Mark{Plain, "No success criteria" + calm}},
		{"inexact", engine.RunRecord{Ending: engine.EndFinished, Inexact: &engine.Inexact{}}, fine, Mark{Plain, "No success criteria; no session failed; the result is inexact."}},
		{"in progress", engine.RunRecord{InProgress: true}, fine, Mark{Plain, "In progress. Success criteria are evaluated at the end."}},
		{"interrupted", engine.RunRecord{}, fine, Mark{Plain, "Interrupted. Resume the run to evaluate its success criteria."}},
	} {
		if got := Verdict(&c.run, &c.totals); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := CriteriaMet(&c.run); got != (c.name == "all met" || c.name == "both met" || c.name == "the only one" || c.name == "stopped" || c.name == "failed") {
			t.Errorf("%s: criteria met %v", c.name, got)
		}
	}
}

func TestFormatNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.12345: "0.123", 12.345: "12.3", 1234.5: "1,235", -1234567: "-1,234,567", 1e20: "1e+20"} {
		if got := FormatNumber(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}
