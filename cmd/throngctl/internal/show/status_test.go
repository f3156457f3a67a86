package show

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestEndedSaysHowToContinue checks that a run of an experiment is continued by the experiment, and others by themselves.
func TestEndedSaysHowToContinue(t *testing.T) {
	for _, c := range []struct {
		experiment string
		ending     engine.Ending
		want       string // "" if there is nothing to continue
	}{
		{"", engine.EndStopped, "resume with: throngctl resume r"},
		{"", engine.EndOutOfBudget, "with a larger budget"},
		{"Prices", engine.NotEnded, `belongs to the experiment "Prices": throngctl experiment run FILE`},
		{"Prices", engine.EndFinished, ""},
	} {
		var out strings.Builder
		r := engine.RunRecord{ID: "r", Ending: c.ending}
		r.Experiment = c.experiment
		Ended(&out, &r)
		if got := out.String(); !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "throngctl") {
			t.Errorf("%+v:\n%s", c, got)
		}
	}
}
