package experiments_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
)

// TestSharedPrefixes checks that runs which differ only from a cycle on are forks, and that they have the results of whole runs.
func TestSharedPrefixes(t *testing.T) {
	sharing := strings.NewReplacer("  params.bonus: [0, 1]\n", "  settings.cycles: [2, 5, 9]\n", "settings: {cycles: 3}\n", "", ", params.bonus: 0", "", "seeds: 4", "seeds: 2").Replace(diceExperiment)
	l := newLaboratory(t, sharing)
	table, done := l.execute()
	if done != 18 {
		t.Errorf("%d runs", done)
	}
	l.open(func(x *experiments.Experiment) {
		s, err := x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		forks := 0
		for _, r := range s.Runs {
			if r.Record.Parent != "" {
				forks++
			}
		}
		if forks != 12 {
			t.Errorf("%d runs of 18 are forks, want 12", forks)
		}
	})
	for _, cycles := range []string{"2", "5", "9"} {
		whole, _ := newLaboratory(t, strings.Replace(sharing, "[2, 5, 9]", "["+cycles+"]", 1)).execute()
		for _, line := range strings.Split(whole, "\n")[1:] {
			if _, run, found := strings.Cut(line, ","+cycles+","); found {
				_, run, _ = strings.Cut(run, ",") // the design has other points before it
				if !strings.Contains(table, run) {
					t.Errorf("as a whole run:\n%s\nnot in\n%s", run, table)
				}
			}
		}
	}
}

// TestChangeInTheCourse changes a parameter at the start of a cycle. Before it, the run is that of the baseline.
func TestChangeInTheCourse(t *testing.T) {
	l := newLaboratory(t, strings.NewReplacer("[4, 6, 20]", "{at: 2, levels: [6, 1000000]}", "  params.bonus: [0, 1]\n", "", ", params.bonus: 0", "", "seeds: 4", "seeds: 2").Replace(diceExperiment))
	table, _ := l.execute()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 5 {
		t.Fatalf("the table is\n%s", table)
	}
	l.open(func(x *experiments.Experiment) {
		s, err := x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Runs {
			if changed := r.Values[0].Text != "6"; changed != (r.Record.Parent != "") || changed && r.Record.ForkCycle != 2 {
				t.Errorf("%v is run %+v", r.Values, r.Record.Ancestry)
			}
		}
	})
	for _, line := range lines[1:] {
		cells := strings.Split(line, ",")
		mean := cells[len(cells)-2]
		if big := len(strings.Split(mean, ".")[0]) > 4; big != (cells[2] == "1000000") {
			t.Errorf("%s", line)
		}
	}
}

// TestFailedRuns checks that a run that fails is tried twice, and then left out.
func TestFailedRuns(t *testing.T) {
	l := newLaboratory(t, strings.NewReplacer("[4, 6, 20]", "[4, 6, 0]", "seeds: 4", "seeds: 2").Replace(diceExperiment))
	l.write("dice.yaml", strings.Replace(dice, "params.sides + 1)", "params.sides + 1 // (1 if params.sides else 0))", 1))
	table, done := l.execute()
	if done != 8 || strings.Count(table, ",failed,,,,") != 4 {
		t.Errorf("%d runs are done:\n%s", done, table)
	}
	l.open(func(x *experiments.Experiment) {
		s, err := x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Runs {
			if failed := r.State == experiments.Failed; failed && (r.Tries != 2 || r.Why == "") {
				t.Errorf("it failed %d times: %q", r.Tries, r.Why)
			}
		}
	})
	if _, done := l.execute(); done != 0 {
		t.Errorf("%d runs are executed again", done)
	}
}

// TestBudgetOfTime checks that no run starts when the time is used up, and that more time continues the experiment.
func TestBudgetOfTime(t *testing.T) {
	l := newLaboratory(t, diceExperiment+"budget: {time: 1ms}\n")
	l.open(func(x *experiments.Experiment) {
		_, wait := x.Execute(t.Context(), experiments.Events{})
		if err := wait(); !errors.Is(err, experiments.ErrStopped) || !strings.Contains(err.Error(), "larger `time`") {
			t.Errorf("it ended with %v", err)
		}
		s, err := x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if done, of := s.Count(experiments.Done); done != 1 || of != 24 {
			t.Errorf("%d of %d runs are done", done, of)
		}
	})
	l.write("dice.experiment.yaml", diceExperiment+"budget: {time: 1h}\n")
	if _, done := l.execute(); done != 23 {
		t.Errorf("%d runs are executed with more time", done)
	}
}
