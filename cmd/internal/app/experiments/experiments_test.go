package experiments_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/storage"
)

const dice = `
title: Dice
parameters:
  sides: {default: 6}
  bonus: {default: 0}
population: {count: 20}
acted: rolled
chain play:
  step roll: {kind: emit, event: rolled, data: "${{'value': int(uniform(1, params.sides + 1)) + params.bonus}}"}
  step keep: {kind: remember, set: {last: "${int(uniform(1, 101))}"}}
`

const diceExperiment = `
title: Do more sides pay?
scenario: dice.yaml
vary:
  params.sides: [4, 6, 20]
  params.bonus: [0, 1]
replicates: {seeds: 4}
baseline: {params.sides: 6, params.bonus: 0}
measures: [acted, events.rolled, events.rolled.value.mean, memory.last.mean]
settings: {cycles: 3}
parallel: 1
`

// laboratory is a folder with a scenario and an experiment, and a store.
type laboratory struct {
	t    *testing.T
	dir  string
	data string
}

func newLaboratory(t *testing.T, text string) *laboratory {
	t.Helper()
	keyring.MockInit()
	l := &laboratory{t, t.TempDir(), t.TempDir()}
	l.write("dice.yaml", dice)
	l.write("dice.experiment.yaml", text)
	return l
}

func (l *laboratory) write(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// open opens the experiment. The app is closed at the end of f.
func (l *laboratory) open(f func(x *experiments.Experiment)) {
	l.t.Helper()
	a, err := app.Open(app.Options{Data: l.data, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		l.t.Fatal(err)
	}
	x, err := experiments.Open(a, filepath.Join(l.dir, "dice.experiment.yaml"), experiments.Options{Trusted: true})
	if err != nil {
		l.t.Fatal(err)
	}
	f(x)
	if err := a.Close(); err != nil {
		l.t.Error(err)
	}
}

// execute executes the experiment to its end and returns its table and the number of runs that changed their state to done.
func (l *laboratory) execute() (table string, done int) {
	l.t.Helper()
	l.open(func(x *experiments.Experiment) {
		_, wait := x.Execute(l.t.Context(), experiments.Events{Changed: func(_ *experiments.Status, r *experiments.Run) {
			if r.State == experiments.Done {
				done++
			}
		}})
		if err := wait(); err != nil {
			l.t.Fatal(err)
		}
		table = tableOf(l.t, x)
	})
	return table, done
}

func tableOf(t *testing.T, x *experiments.Experiment) string {
	t.Helper()
	s, err := x.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	measured, err := x.Table(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	sheet := x.Findings(measured).Sheet()
	if err := storage.WriteSheet(&out, &sheet, storage.CSV); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestExperiment executes an experiment, and again: nothing is left to do.
func TestExperiment(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	table, done := l.execute()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if done != 24 || len(lines) != 25 || strings.Count(table, ",done,") != 24 {
		t.Fatalf("%d runs:\n%s", done, table)
	}
	if want := "experiment,point,params.bonus,params.sides,replicate,seed,run,state,acted,events.rolled,events.rolled.value.mean,memory.last.mean"; lines[0] != want {
		t.Errorf("the header is %s", lines[0])
	}
	for _, line := range lines[1:] {
		if cells := strings.Split(line, ","); cells[8] != "1" || cells[9] != "60" || cells[11] == "" {
			t.Errorf("%s", line)
		}
	}
	if again, done := l.execute(); done != 0 || again != table {
		t.Errorf("executed again, %d runs are new:\n%s", done, again)
	}
}

// TestParallelRuns checks that runs at the same time have the same results.
func TestParallelRuns(t *testing.T) {
	table, _ := newLaboratory(t, diceExperiment).execute()
	parallel, _ := newLaboratory(t, strings.Replace(diceExperiment, "parallel: 1", "parallel: 4", 1)).execute()
	if table != parallel {
		t.Errorf("one by one:\n%s\nfour at the same time:\n%s", table, parallel)
	}
}

// TestExtension adds seeds, then a level, then a measure. Only what is new runs, and the table is that of the whole experiment.
func TestExtension(t *testing.T) {
	bigger := strings.NewReplacer("seeds: 4", "seeds: 6", "[4, 6, 20]", "[4, 6, 20, 100]", "[acted,", "[error_rate, acted,")
	want, _ := newLaboratory(t, bigger.Replace(diceExperiment)).execute()
	l := newLaboratory(t, diceExperiment)
	l.execute()
	for _, step := range []struct {
		was, is string
		runs    int
	}{{"seeds: 4", "seeds: 6", 12}, {"[4, 6, 20]", "[4, 6, 20, 100]", 12}, {"[acted,", "[error_rate, acted,", 0}} {
		text, err := os.ReadFile(filepath.Join(l.dir, "dice.experiment.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		l.write("dice.experiment.yaml", strings.Replace(string(text), step.was, step.is, 1))
		if _, done := l.execute(); done != step.runs {
			t.Errorf("with %s, %d runs are new, want %d", step.is, done, step.runs)
		}
	}
	if got, _ := l.execute(); got != want {
		t.Errorf("extended:\n%s\nin one go:\n%s", got, want)
	}
}

// TestStoppedExperiment stops an experiment after each of its runs. It continues with the next one.
func TestStoppedExperiment(t *testing.T) {
	want, _ := newLaboratory(t, diceExperiment).execute()
	l := newLaboratory(t, diceExperiment)
	stops := 0
	for ended := false; !ended; {
		l.open(func(x *experiments.Experiment) {
			ready, cut := make(chan *experiments.Execution, 1), stops%2 == 1
			execution, wait := x.Execute(context.WithoutCancel(t.Context()), experiments.Events{Changed: func(_ *experiments.Status, r *experiments.Run) {
				if r.State == experiments.Done {
					go func() { e := <-ready; e.Stop(cut, "test", "by a test"); ready <- e }()
				}
			}})
			ready <- execution
			switch err := wait(); {
			case errors.Is(err, experiments.ErrStopped):
				stops++
			case err != nil:
				t.Fatal(err)
			default:
				ended = true
			}
			if ended {
				if got := tableOf(t, x); got != want {
					t.Errorf("stopped %d times:\n%s\nundisturbed:\n%s", stops, got, want)
				}
			}
		})
	}
	if stops < 3 {
		t.Errorf("stopped only %d times", stops)
	}
}

// TestMeasuredOnce checks that a run is measured once, also after its file has changed.
func TestMeasuredOnce(t *testing.T) {
	l := newLaboratory(t, diceExperiment)
	l.execute()
	l.open(func(x *experiments.Experiment) {
		values := func() *float64 {
			s, err := x.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			table, err := x.Table(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			return &table.Values[0][0][0]
		}
		first := values()
		if values() != first {
			t.Error("it is measured twice")
		}
		reopen := func(text string) {
			l.write("dice.experiment.yaml", text)
			var err error
			if x, err = x.Reopen(); err != nil {
				t.Fatal(err)
			}
		}
		if reopen(strings.Replace(diceExperiment, "seeds: 4", "seeds: 5", 1)); values() != first {
			t.Error("it is measured again for another seed")
		}
		if reopen(strings.Replace(diceExperiment, "[acted,", "[error_rate, acted,", 1)); *values() != 0 {
			t.Error("the first measure is not the new one")
		}
	})
}
