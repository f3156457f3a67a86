package desk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/setup"
)

// TestResumeOutOfBudget checks that a run that is out of budget resumes with a larger budget, and that the same budget or
// an invalid one is an error of the right field.
func TestResumeOutOfBudget(t *testing.T) {
	d := open(t, t.TempDir())
	launch(t, d, func(o *setup.Order) { o.Settings.Budget.Requests = 20 })
	id := liveDesk{d}.Job().ID()
	<-d.Settled()
	record, err := d.store.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if setting, unit, larger := record.Bound(); setting != "max-requests" || unit != "requests" || larger != "40" {
		t.Fatalf("got ending %v (%s): %q, %q, %q", record.Ending, record.Reason, setting, unit, larger)
	}
	for bound, field := range map[string]string{"": "max-requests", "20": "max-requests", "a few": "--max-requests"} {
		_, err := runsDesk{d}.Resume(t.Context(), id, runs.Resumption{Bound: bound})
		if mistake, ok := errors.AsType[*engine.FieldError](err); !ok || mistake.Field != field {
			t.Errorf("with %q: %v", bound, err)
		}
	}
	if _, err := (runsDesk{d}).Resume(t.Context(), id, runs.Resumption{Bound: "40"}); err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	s := liveDesk{d}.Job().Snapshot()
	if s.Ending != engine.EndOutOfBudget || !strings.Contains(s.Reason, "40 requests is used up") || s.Budget.Spent.Requests != 40 {
		t.Errorf("got ending %v: %s; spent %+v", s.Ending, s.Reason, s.Budget.Spent)
	}
}

// TestMakeLonger checks that a finished run can be resumed with more cycles, that the same number or fewer is an error, and
// that the results equal those of a run that had this length from the start.
func TestMakeLonger(t *testing.T) {
	d := open(t, t.TempDir())
	var ids []engine.RunID
	for _, cycles := range []int{2, 4} {
		launch(t, d, func(o *setup.Order) { o.Settings.Cycles, o.Settings.Seed = cycles, 7 })
		ids = append(ids, liveDesk{d}.Job().ID())
		<-d.Settled()
	}
	for bound, field := range map[string]string{"": "run", "2": "run", "1": "cycles", "a few": "--cycles"} {
		_, err := runsDesk{d}.Resume(t.Context(), ids[0], runs.Resumption{Bound: bound})
		if mistake, ok := errors.AsType[*engine.FieldError](err); !ok || mistake.Field != field {
			t.Errorf("with %q: %v", bound, err)
		}
	}
	if _, err := (runsDesk{d}).Resume(t.Context(), ids[0], runs.Resumption{Bound: "4"}); err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	var files []string
	for _, id := range ids {
		dir, err := runsDesk{d}.ExportAs(t.Context(), id, t.TempDir(), "csv")
		if err != nil {
			t.Fatal(err)
		}
		both := ""
		for _, name := range []string{"sessions.csv", "events.csv"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			both += string(text)
		}
		files = append(files, both)
	}
	if files[0] != files[1] || strings.Count(files[0], "\n") < 4 {
		t.Errorf("extended run: got\n%s\nwant\n%s", files[0], files[1])
	}
}
