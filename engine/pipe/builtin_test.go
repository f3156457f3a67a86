package pipe_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/pipe"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
)

// workerEnv has a process of this test execute sessions: it holds the assembly, as JSON.
const workerEnv = "THRONG_TEST_PIPE_WORKER"

func TestMain(m *testing.M) {
	if of := os.Getenv(workerEnv); of != "" {
		if err := work(of); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// assembly is what a process must know to execute sessions of a built-in scenario.
type assembly struct {
	File       string
	Set        map[string]string
	Seed       uint64
	Shop       string // address of the mock shop, and its secret
	ShopToken  string
	Model      string // likewise
	ModelToken string
}

// assemble loads the scenario and connects its services to the mocks.
func (a *assembly) assemble() (s *scenario.Scenario, closeAll func(), err error) {
	if s, err = scenario.Load("../../assets/scenarios/"+a.File, a.Set); err != nil {
		return nil, nil, err
	}
	var clients []interface{ Close() }
	closeAll = func() {
		for _, c := range clients {
			c.Close()
		}
	}
	for _, of := range s.Services {
		if of.Kind == "llm" {
			client, err := service.NewLLM(service.LLMConfig{Name: of.Name, Base: a.Model, Limits: of.Limits, Mocks: true})
			if err != nil {
				return nil, nil, err
			}
			of.ConnectLLM(client, a.ModelToken)
			clients = append(clients, client)
			continue
		}
		client, err := service.NewHTTP(of.Name, a.Shop, of.Limits, true)
		if err != nil {
			return nil, nil, err
		}
		of.Simulation = true
		of.Connect(client, a.ShopToken)
		clients = append(clients, client)
	}
	return s, closeAll, nil
}

// work executes sessions until standard input is closed.
func work(of string) error {
	var a assembly
	if err := json.Unmarshal([]byte(of), &a); err != nil {
		return err
	}
	s, closeAll, err := a.assemble()
	if err != nil {
		return err
	}
	defer closeAll()
	return pipe.Serve(context.Background(), os.Stdin, os.Stdout, s.Program(a.Seed))
}

// child starts a worker process and returns the pool that it is.
func (a *assembly) child(t *testing.T) func(run.PoolConfig) (run.WorkerPool, error) {
	t.Helper()
	return func(cfg run.PoolConfig) (run.WorkerPool, error) {
		env, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		worker := exec.CommandContext(t.Context(), self)
		worker.Env = append(os.Environ(), workerEnv+"="+string(env))
		worker.Stderr = os.Stderr
		in, err := worker.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := worker.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := worker.Start(); err != nil {
			return nil, err
		}
		t.Cleanup(func() {
			if err := worker.Wait(); err != nil && t.Context().Err() == nil {
				t.Errorf("the worker process: %v", err)
			}
		})
		return pipe.New(cfg, out, in)
	}
}

// outcome is the outcome of a run as text: its results and the requests to services.
type outcome struct{ results, totals string }

// live runs a built-in scenario with a limit, in worker processes or in this one.
func live(t *testing.T, file string, set map[string]string, limit int, apart bool, change func(*engine.Settings)) outcome {
	t.Helper()
	shop, err := mock.Start(mock.Config{Seed: 7, Faults: mock.Faults{ServerError: 0.05, Cut: 0.05, BadBody: 0.05}})
	if err != nil {
		t.Fatal(err)
	}
	model, err := mock.StartModel(mock.ModelConfig{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, server := range []io.Closer{shop, model} {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	a := &assembly{file, set, 7, shop.URL(), shop.Secret(), model.URL(), model.Secret()}
	s, closeAll, err := a.assemble()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles, settings.Metrics, settings.CheckpointEvery = a.Seed, max(s.Cycles, 1), false, 0
	settings.Limit, settings.Ceiling, settings.Retry.Attempts, settings.Retry.Wait = limit, max(limit, 100), 20, time.Millisecond
	settings.Sequential = s.Sequential
	if change != nil {
		change(&settings)
	}
	j := &enginetest.Journal{Settings: settings}
	cfg := run.Config{
		ID: "test", Program: s.Program(a.Seed), Agents: s.Agents, Clock: s.Clock, Settings: settings, Success: s.Success, Journal: j,
	}
	if apart {
		cfg.Program, cfg.Pool = nil, a.child(t) // nothing can be executed here
	}
	run, err := run.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Wait()
	if r.Ending != engine.EndFinished || r.Totals.Inexact != nil || r.Totals.Ended() == 0 {
		t.Fatalf("%s, limit %d: %v %s, %d sessions, %v, %+v", file, limit, r.Ending, r.Reason, r.Totals.Ended(), r.Totals.Inexact, run.Snapshot().Errors)
	}
	asked := r.Totals.AllRequests()
	return outcome{
		results: enginetest.Results(j.Sessions()),
		totals:  fmt.Sprint(r.Totals.Outcomes, r.Totals.Errors, r.Totals.Acted, r.Totals.Events, asked.Usage, r.Totals.Spent().Usage, shop.Orders()),
	}
}

// difference returns the first line in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return " got " + a[i] + "\nwant " + b[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// TestBuiltInsInAnotherProcess checks that the built-in scenarios produce the same bytes whether a child process or
// this one executes their sessions, at any limit.
func TestBuiltInsInAnotherProcess(t *testing.T) {
	for _, c := range []struct {
		name, file string
		set        map[string]string
		limits     []int
		change     func(*engine.Settings)
	}{
		{"shopping", "shopping.yaml", map[string]string{"agents": "20", "eagerness": "10"}, []int{1, 7, 50}, func(s *engine.Settings) { s.Cycles = 2 }},
		{"shopping in waves", "shopping.yaml", map[string]string{"agents": "20", "eagerness": "10"}, []int{7}, func(s *engine.Settings) { s.Cycles, s.Batch = 2, 6 }},
		{"conversation", "conversation.yaml", map[string]string{"pairs": "6"}, []int{1, 6}, nil},
		{"world", "world.yaml", nil, []int{1, 4, 50}, nil},
		{"sequential world", "world.yaml", nil, []int{3}, func(s *engine.Settings) { s.Sequential = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := live(t, c.file, c.set, 5, false, c.change)
			for _, limit := range c.limits {
				got := live(t, c.file, c.set, limit, true, c.change)
				if got.results != want.results {
					t.Errorf("limit %d: results differ:\n%s", limit, difference(got.results, want.results))
				}
				if got.totals != want.totals {
					t.Errorf("limit %d: totals\n%s, want\n%s", limit, got.totals, want.totals)
				}
			}
		})
	}
}
