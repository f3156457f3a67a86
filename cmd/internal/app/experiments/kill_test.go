package experiments_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/storage/sqlite"
)

// laboratoryVariable names the data folder and the experiment for a process that executes it, to be killed.
const laboratoryVariable = "THRONG_LABORATORY"

func TestMain(m *testing.M) {
	order := strings.Split(os.Getenv(laboratoryVariable), "\n")
	if len(order) != 3 {
		os.Exit(m.Run())
	}
	fmt.Println(executeIn(order[0], order[1], order[2]))
}

// executeIn executes an experiment. The process kills itself after a number of commits.
func executeIn(data, file, commits string) error {
	keyring.MockInit()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	a, err := app.Open(app.Options{Data: data, Logger: slog.New(slog.DiscardHandler), Store: sqlite.Options{OnCommit: func(n int64) {
		if strconv.FormatInt(n, 10) == commits {
			_ = self.Kill() // if it fails, the experiment ends, which is reported
		}
	}}})
	if err != nil {
		return err
	}
	x, err := experiments.Open(a, file, experiments.Options{Trusted: true})
	if err != nil {
		return err
	}
	_, wait := x.Execute(context.Background(), experiments.Events{})
	return errors.Join(wait(), errors.New("it ended before it was killed"))
}

// TestKilledExperiment kills the process of an experiment of 60 runs 20 times, extends the experiment twice and adds a point to it.
// Its table is that of the undisturbed experiment, byte for byte.
func TestKilledExperiment(t *testing.T) {
	smaller := strings.NewReplacer("[4, 6, 20]", "[4, 6]", "seeds: 4", "seeds: 6", "cycles: 3", "cycles: 40", "parallel: 1", "parallel: 2").Replace(diceExperiment)
	whole := strings.NewReplacer("[4, 6]", "[4, 6, 20]", "seeds: 6", "seeds: 10").Replace(smaller)
	want, _ := newLaboratory(t, whole).execute()
	l := newLaboratory(t, smaller)
	extensions := map[int][2]string{5: {"seeds: 6", "seeds: 8"}, 10: {"seeds: 8", "seeds: 10"}, 15: {"[4, 6]", "[4, 6, 20]"}}
	text, random := smaller, rand.New(rand.NewPCG(1, 2))
	for kills := range 20 {
		if e, ok := extensions[kills]; ok {
			text = strings.Replace(text, e[0], e[1], 1)
			l.write("dice.experiment.yaml", text)
		}
		l.kill(1 + random.IntN(60)) // a run has more than 40 commits, so an experiment of 24 runs does not end before
	}
	if all, err := steering.List(l.data); err != nil || len(all) != 1 || all[0].State != steering.Stopped {
		t.Errorf("after it was killed, it is listed as %+v, %v", all, err)
	}
	if text != whole {
		t.Fatalf("the experiment is\n%s", text)
	}
	if got, _ := l.execute(); got != want {
		t.Errorf("killed:\n%s\nundisturbed:\n%s", got, want)
	}
}

// kill executes the experiment in another process, which is killed after some commits.
func (l *laboratory) kill(commits int) {
	l.t.Helper()
	if out, err := l.executing(strconv.Itoa(commits)).CombinedOutput(); err == nil || len(out) > 0 {
		l.t.Fatalf("it was not killed: %v\n%s", err, out)
	}
}

// executing returns a process that executes the experiment, and kills itself after some commits.
func (l *laboratory) executing(commits string) *exec.Cmd {
	p := exec.CommandContext(l.t.Context(), os.Args[0])
	p.Env = append(os.Environ(), laboratoryVariable+"="+strings.Join([]string{l.data, filepath.Join(l.dir, "dice.experiment.yaml"), commits}, "\n"))
	return p
}
