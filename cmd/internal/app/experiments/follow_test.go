package experiments_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/engine/experiment"
)

// steered is an execution whose events a test waits for.
type steered struct {
	*experiments.Execution
	t      *testing.T
	x      *experiments.Experiment
	look   chan time.Time
	done   chan string // identities of runs that are done, in order
	states chan string // other changes: "paused by …", "continued", "running", "skipped", or a warning
	wait   func() error
	onDone func() error // called with each run that is done; may be nil
}

// steer executes the experiment until f has returned, and returns the error of the execution.
func (l *laboratory) steer(f func(s *steered)) (result error) {
	l.t.Helper()
	a, err := app.Open(app.Options{Data: l.data, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		l.t.Fatal(err)
	}
	s := &steered{t: l.t, look: make(chan time.Time), done: make(chan string, 1000), states: make(chan string, 1000)}
	s.x, err = experiments.Open(a, filepath.Join(l.dir, "dice.experiment.yaml"), experiments.Options{Trusted: true, Look: s.look})
	if err != nil {
		l.t.Fatal(err)
	}
	f(s)
	if s.wait != nil {
		result = s.wait()
	}
	if err := a.Close(); err != nil {
		l.t.Error(err)
	}
	return result
}

// execute begins the execution.
func (s *steered) execute() {
	s.Execution, s.wait = s.x.Execute(s.t.Context(), experiments.Events{
		Paused: func(who string) {
			if who == "" {
				s.states <- "continued"
			} else {
				s.states <- "paused by " + who
			}
		},
		Warn: func(text string) { s.states <- text },
		Changed: func(_ *experiments.Status, r *experiments.Run) {
			if r.State == experiments.Skipped || r.State == experiments.Running {
				s.states <- string(r.State)
			}
			if r.State == experiments.Done {
				s.done <- r.ID
				if s.onDone != nil {
					if err := s.onDone(); err != nil {
						s.t.Error(err)
					}
				}
			}
		},
	})
}

// until waits for a state that contains a text.
func (s *steered) until(text string) {
	s.t.Helper()
	for state := range s.states {
		if strings.Contains(state, text) {
			return
		}
	}
}

func (s *steered) count(state experiments.State) (n, of int) {
	s.t.Helper()
	status, err := s.x.Status(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return status.Count(state)
}

// TestPausedExperiment pauses an experiment before it begins. It starts no run, also after another start, until it is resumed by orders.
func TestPausedExperiment(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	if err := l.steer(func(s *steered) {
		if err := s.x.Orders.Pause("test"); err != nil {
			t.Fatal(err)
		}
		s.execute()
		s.until("paused by test")
		s.look <- time.Time{} // it looks, and waits
		if !s.Stop(false, "test", "enough") {
			t.Error("it waits for its turn")
		}
	}); !errors.Is(err, experiments.ErrStopped) || !strings.Contains(err.Error(), "enough") {
		t.Errorf("it ended with %v", err)
	}
	if err := l.steer(func(s *steered) {
		s.execute()
		s.until("paused by test")
		if n, of := s.count(experiments.Waiting); n != of || of != 24 {
			t.Errorf("%d of %d runs wait", n, of)
		}
		if all, err := steering.List(l.data); err != nil || len(all) != 1 || all[0].State != steering.Paused || all[0].Progress.All != 24 {
			t.Errorf("listed %+v, %v", all, err)
		}
		if err := s.x.Orders.Resume(); err != nil { // by another process
			t.Fatal(err)
		}
		s.look <- time.Time{}
		s.until("continued")
	}); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if all, err := steering.List(l.data); err != nil || len(all) != 1 || all[0].State != steering.Complete || all[0].Progress.Done != 24 {
		t.Errorf("listed %+v, %v", all, err)
	}
}

// TestPauseByTwo pauses an experiment by an order and in its own process, and stops it by an order after its first run.
func TestPauseByTwo(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	if err := l.steer(func(s *steered) {
		orders := s.x.Orders
		if err := orders.Pause("test"); err != nil {
			t.Fatal(err)
		}
		s.onDone = func() error { return orders.Stop("other", "by an order", false) }
		s.execute()
		s.until("paused by test")
		if err := errors.Join(s.Pause("window"), orders.Resume()); err != nil {
			t.Fatal(err)
		}
		s.look <- time.Time{}
		s.until("paused by window")
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
		s.until("continued")
	}); !errors.Is(err, experiments.ErrStopped) || !strings.Contains(err.Error(), "by an order") {
		t.Errorf("it ended with %v", err)
	}
	if _, done := l.execute(); done != 23 { // an earlier order does not stop it again
		t.Errorf("%d runs were left to do", done)
	}
}

// TestSkippedRuns skips runs and executes others first. Statistics leave the skipped ones out until they are taken back.
func TestSkippedRuns(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	var skipped, first []string
	if err := l.steer(func(s *steered) {
		status, err := s.x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range status.Runs {
			switch r.Replicate {
			case 1:
				skipped = append(skipped, r.ID)
			case 3:
				first = append(first, r.ID)
			}
		}
		if err := errors.Join(s.x.Orders.Skip(skipped, false), s.x.Orders.First(first)); err != nil {
			t.Fatal(err)
		}
		s.execute()
		var order []string
		for range first {
			order = append(order, <-s.done)
		}
		if !slices.Equal(order, first) {
			t.Errorf("executed first: %v, want %v", order, first)
		}
	}); err != nil {
		t.Errorf("it ended with %v", err)
	}
	l.open(func(x *experiments.Experiment) {
		if table := tableOf(t, x); strings.Count(table, ",skipped,,,,") != 6 || strings.Count(table, ",done,") != 18 {
			t.Errorf("the table is\n%s", table)
		}
		if err := x.Orders.Skip(skipped, true); err != nil {
			t.Fatal(err)
		}
	})
	if _, done := l.execute(); done != 6 {
		t.Errorf("%d runs are executed afterwards", done)
	}
}

// twoLongRuns does not end during a test.
var twoLongRuns = strings.NewReplacer("cycles: 3", "cycles: 100000", "[4, 6, 20]", "[4, 6]", "  params.bonus: [0, 1]\n", "", ", params.bonus: 0", "", "seeds: 4", "seeds: 1").Replace(diceExperiment)

// TestTakenBackInProgress skips the run in progress and takes it back, perhaps before it has ended. The experiment continues.
func TestTakenBackInProgress(t *testing.T) {
	l := newLaboratory(t, twoLongRuns)
	if err := l.steer(func(s *steered) {
		s.execute()
		s.until("running")
		status, err := s.x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		run := []string{status.Runs[0].ID}
		if err := s.x.Orders.Skip(run, false); err != nil {
			t.Fatal(err)
		}
		s.look <- time.Time{}
		s.look <- time.Time{} // it has followed the order before
		if err := s.x.Orders.Skip(run, true); err != nil {
			t.Fatal(err)
		}
		s.look <- time.Time{}
		s.until("running")
		s.Stop(true, "test", "enough")
	}); !errors.Is(err, experiments.ErrStopped) || !strings.Contains(err.Error(), "enough") {
		t.Errorf("it ended with %v", err)
	}
}

// TestSkipInProgress skips the run in progress. It ends, and the others continue.
func TestSkipInProgress(t *testing.T) {
	l := newLaboratory(t, twoLongRuns)
	if err := l.steer(func(s *steered) {
		s.execute()
		for range 2 {
			for n := 0; n == 0; n, _ = s.count(experiments.Running) {
				s.look <- time.Time{}
			}
			status, err := s.x.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range status.Runs {
				if r.State == experiments.Running {
					if err := s.x.Orders.Skip([]string{r.ID}, false); err != nil {
						t.Fatal(err)
					}
				}
			}
			s.Look() // it may have followed the order by itself, and ended
			s.until("skipped")
		}
	}); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestFileChanges extends an experiment while it is paused, and breaks its file. The extended one is executed.
func TestFileChanges(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	path := filepath.Join(l.dir, "dice.experiment.yaml")
	if err := l.steer(func(s *steered) {
		if err := s.x.Orders.Pause("test"); err != nil {
			t.Fatal(err)
		}
		s.execute()
		s.until("paused by test")
		if _, err := experiments.Extend(l.data, path, experiment.Changes{Seeds: 1, Levels: []experiment.Level{{Factor: "params.sides", Value: "8"}}, Measures: []string{"error_rate"}}); err != nil {
			t.Fatal(err)
		}
		for s.Experiment() == s.x {
			s.look <- time.Time{}
		}
		extended, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l.write("dice.experiment.yaml", "scenario: dice.yaml\nvary: 7\n")
		s.look <- time.Time{}
		s.until("continues as it was")
		l.write("dice.yaml", strings.Replace(dice, "count: 20", "count: 21", 1))
		l.write("dice.experiment.yaml", string(extended)+"\n")
		s.look <- time.Time{}
		s.until("its scenario changed")
		l.write("dice.yaml", dice)
		l.write("dice.experiment.yaml", string(extended))
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
	}); err != nil {
		t.Errorf("it ended with %v", err)
	}
	got, done := l.execute()
	if done != 0 || strings.Count(got, ",done,") != 40 {
		t.Errorf("%d runs are new:\n%s", done, got)
	}
	if _, err := experiments.Extend(l.data, path, experiment.Changes{Levels: []experiment.Level{{Factor: "params.sides", Value: "many"}}}); err == nil || !strings.Contains(err.Error(), "was not changed") {
		t.Errorf("extended by a text: %v", err)
	}
}

// TestDamagedRecord checks that an experiment is executed without its record.
func TestDamagedRecord(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	if err := l.steer(func(s *steered) {
		records, err := filepath.Glob(filepath.Join(l.data, "experiments", "*.json"))
		if err != nil || len(records) != 1 {
			t.Fatalf("the records are %v, %v", records, err)
		}
		if err := os.WriteFile(records[0], []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.execute()
		s.until("damaged")
	}); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestSkippedParents checks that runs which fork a skipped one are skipped with it.
func TestSkippedParents(t *testing.T) {
	l := newLaboratory(t, strings.NewReplacer("  params.bonus: [0, 1]\n", "  settings.cycles: [2, 5]\n", "settings: {cycles: 3}\n", "", ", params.bonus: 0", "", "seeds: 4", "seeds: 1").Replace(diceExperiment))
	l.open(func(x *experiments.Experiment) {
		s, err := x.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		parent := s.Runs[slices.IndexFunc(s.Runs, func(r *experiments.Run) bool { return r.Parent != "" })].Parent
		if err := x.Orders.Skip([]string{parent}, false); err != nil {
			t.Fatal(err)
		}
		if s, err = x.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, _ := s.Count(experiments.Skipped); n != 2 {
			t.Errorf("%d runs are skipped", n)
		}
	})
	if _, done := l.execute(); done != 4 {
		t.Errorf("%d runs were executed", done)
	}
}

// TestTwoProcesses steers an experiment that another process executes.
func TestTwoProcesses(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	file := filepath.Join(l.dir, "dice.experiment.yaml")
	orders, err := steering.Of(l.data, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := orders.Pause("test"); err != nil {
		t.Fatal(err)
	}
	p := l.executing("0") // no commit has this number, so it is not killed
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	for looks := time.NewTicker(10 * time.Millisecond); ; <-looks.C {
		if by := orders.Executing(); by != nil && by.Process == p.Process.Pid {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		default:
		}
	}
	if err := orders.Forget(); err == nil {
		t.Error("it was forgotten while it was in progress")
	}
	if err := orders.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if all, err := steering.List(l.data); err != nil || len(all) != 1 || all[0].State != steering.Complete || all[0].Progress.Done != 24 {
		t.Errorf("listed %+v, %v", all, err)
	}
}
