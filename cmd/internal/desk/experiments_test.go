package desk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/throng-sim/throng/ui/experiments"
)

// TestExperimentEndsWithTheWindow checks that closing the window stops an experiment, which the next window can continue.
func TestExperimentEndsWithTheWindow(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "eager.experiment.yaml")
	if err := os.WriteFile(file, []byte("scenario: shopping\nvary: {params.eagerness: [1, 4]}\nreplicates: {seeds: 1}\nsettings: {cycles: 100000}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, data)
	desk := d.Screens().Experiments
	if _, err := desk.Open(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := desk.Run(t.Context(), file, nil); err != nil {
		t.Fatal(err)
	}
	setup := setupDesk{d}
	for setup.InProgress() == "" { // it waits for its turn
		runtime.Gosched()
	}
	if got := setup.InProgress(); got != "The experiment “eager” is in progress." {
		t.Errorf("in progress is %q", got)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	again, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	all, err := again.Screens().Experiments.List(t.Context())
	if err != nil || len(all) != 1 || all[0].State != experiments.Partial && all[0].State != experiments.Ready || all[0].Total != 2 {
		t.Errorf("listed %+v, %v", all, err)
	}
	if scenarios, err := again.Screens().Designer.Scenarios(t.Context()); err != nil || len(scenarios) == 0 {
		t.Errorf("scenarios %v, %v", scenarios, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
