package experiments_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
)

// laboratoryVariable names the data folder and the experiment for a process that executes it, to be killed.
const laboratoryVariable = "THRONG_LABORATORY"

func TestMain(m *testing.M) {
	data, file, found := strings.Cut(os.Getenv(laboratoryVariable), "\n")
	if !found {
		os.Exit(m.Run())
	}
	if err := executeIn(data, file); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("ended")
}

func executeIn(data, file string) error {
	keyring.MockInit()
	a, err := app.Open(app.Options{Data: data, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	x, err := experiments.Open(a, file, experiments.Options{Trusted: true})
	if err != nil {
		return err
	}
	_, wait := x.Execute(context.Background(), nil, func(_ *experiments.Status, r *experiments.Run) { fmt.Println(r.State) })
	return wait()
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
		// It must not end before: on average, less than one of its runs ends before each kill.
		l.kill(1+random.IntN(3), time.Duration(random.IntN(10))*time.Millisecond)
	}
	if text != whole {
		t.Fatalf("the experiment is\n%s", text)
	}
	if got, _ := l.execute(); got != want {
		t.Errorf("killed:\n%s\nundisturbed:\n%s", got, want)
	}
}

// kill executes the experiment in another process, and kills it some time after some changes of its runs.
func (l *laboratory) kill(changes int, after time.Duration) {
	l.t.Helper()
	p := exec.CommandContext(l.t.Context(), os.Args[0])
	p.Env = append(os.Environ(), laboratoryVariable+"="+l.data+"\n"+filepath.Join(l.dir, "dice.experiment.yaml"))
	out, err := p.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		l.t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if text := lines.Text(); strings.HasPrefix(text, "error:") || text == "ended" {
			l.t.Fatal(text)
		}
		if changes--; changes == 0 {
			time.Sleep(after)
			if err := p.Process.Kill(); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	if p.Wait() == nil {
		l.t.Fatal("the process ended before it was killed")
	}
}
