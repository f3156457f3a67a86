package run_test

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

func TestPassed(t *testing.T) {
	passed, failed, unknown := engine.Judgment{Passed: true}, engine.Judgment{}, engine.Judgment{Unknown: true}
	for _, c := range []struct {
		ending  engine.Ending
		verdict []engine.Judgment
		want    bool
	}{
		{engine.EndFinished, nil, true},
		{engine.EndFinished, []engine.Judgment{passed, unknown}, true},
		{engine.EndFinished, []engine.Judgment{passed, failed}, false},
		{engine.EndStopped, []engine.Judgment{passed}, false},
	} {
		r := run.Result{Ending: c.ending, Verdict: c.verdict}
		if got := r.Passed(); got != c.want {
			t.Errorf("%v with %+v: passed %v, want %v", c.ending, c.verdict, got, c.want)
		}
	}
}
