package app

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// TestBestEarlierRun checks that a forecast prefers the newest finished run with the same parameters to newer ones that were stopped.
func TestBestEarlierRun(t *testing.T) {
	source := func(agents string) engine.Source {
		return engine.Source{Hash: "h", Parameters: map[string]string{"agents": agents}}
	}
	run := func(id engine.RunID, agents string, ending engine.Ending, done int64) engine.RunRecord {
		return engine.RunRecord{ID: id, Source: source(agents), Ending: ending, Done: done}
	}
	stopped, small := run("stopped", "40", engine.EndStopped, 500), run("small", "4", engine.EndFinished, 8)
	finished, older := run("finished", "40", engine.EndFinished, 900), run("older", "40", engine.EndFinished, 900)
	going := run("going", "40", engine.NotEnded, 900)
	going.InProgress = true
	l := Forecaster{Population: Population{Services: Services{Scenario: &scenario.Scenario{Source: source("40")}}}}
	for _, c := range []struct {
		runs []engine.RunRecord
		want engine.RunID
	}{
		{[]engine.RunRecord{going, stopped, small, finished, older}, "finished"},
		{[]engine.RunRecord{stopped, small}, "small"},
		{[]engine.RunRecord{going, stopped}, "stopped"},
		{[]engine.RunRecord{going}, ""},
	} {
		var got engine.RunID
		if r := l.best(c.runs); r != nil {
			got = r.ID
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
