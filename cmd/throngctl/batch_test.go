package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/mock/batchmock"
)

// Prices in a table of LiteLLM's format: batches cost half.
const batchPrices = `{"mock-1": {"input_cost_per_token": 2e-6, "output_cost_per_token": 1e-5,
	"input_cost_per_token_batches": 1e-6, "output_cost_per_token_batches": 5e-6}}`

// batchDays is a scenario whose sessions call the model twice, with results that depend on the answers.
const batchDays = `title: Batched days
clock: {cycle: 1d, cycles: 4}
population: {count: 40}
services:
  model: {kind: llm, url: "%s", model: mock-1, auth: {bearer: secret:BATCH_KEY}%s}
chain day:
  step think: {kind: llm, service: model, prompt: "Agent ${agent.index} on ${now}", answer: {mood: [happy, sad], score: int}}
  step again: {kind: llm, service: model, prompt: "And after ${steps.think.mood}, ${agent.index}?", max_tokens: 30, stream: true}
  step said: {kind: emit, event: said, data: {mood: "${steps.think.mood}", text: "${steps.again.text}"}}
`

// batchKey is the key of the model server of these tests.
const batchKey = "rig"

// batchRig is a model server outside of the process that is killed, and the data folder of the run.
type batchRig struct {
	model *mock.Model
	data  string
	asked atomic.Pointer[func()] // called at a request of the batch API, before its answer
}

func newBatchRig(t *testing.T, cfg batchmock.Config) *batchRig {
	t.Helper()
	r := &batchRig{data: t.TempDir()}
	model, err := mock.StartModel(mock.ModelConfig{Secret: batchKey, Seed: 7, Batches: cfg, OnRequest: func(q mock.Request) {
		if f := r.asked.Load(); f != nil && batchmock.Serves(strings.TrimPrefix(q.Path, "/v1/")) {
			(*f)()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	r.model = model
	if err := os.WriteFile(filepath.Join(r.data, "prices.json"), []byte(batchPrices), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// scenario writes the scenario and returns its file.
func (r *batchRig) scenario(t *testing.T, options string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "days.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, batchDays, r.model.URL(), options), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (r *batchRig) run(file string, more ...string) []string {
	return append([]string{"run", file, "--data", r.data, "--seed", "7", "--max-concurrent", "6", "--no-adaptive", "--retry-wait", "1ms", "--llm-rate", "10000", "--no-dashboard"}, more...)
}

// batchTotals are the figures of a run's model calls.
type batchTotals struct {
	Totals struct {
		Models struct {
			Calls   int64   `json:"calls"`
			Input   int64   `json:"input_tokens"`
			Output  int64   `json:"output_tokens"`
			USD     float64 `json:"cost_usd"`
			Batched int64   `json:"batched_calls"`
			Again   int64   `json:"calls_again"`
		}
	}
}

func batchTotalsOf(t *testing.T, out string) (m batchTotals) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, out, "run.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// checkBill compares what a run has spent with what the server answered.
func (r *batchRig) checkBill(t *testing.T, out string) {
	t.Helper()
	s, m := r.model.Stats().Batches, batchTotalsOf(t, out).Totals.Models
	bill := float64(s.PromptTokens)*1e-6 + float64(s.CompletionTokens)*5e-6
	if m.Calls != s.Requests || m.Batched != s.Requests || m.Input != s.PromptTokens || m.Output != s.CompletionTokens || math.Abs(m.USD-bill) > 1e-9 || m.Again != 0 {
		t.Errorf("the run has %+v; the server answered %+v for $%.6f", m, s, bill)
	}
}

// TestBatchesChangeNothing compares the results of a run without batches, and of runs with them and what can happen to them.
func TestBatchesChangeNothing(t *testing.T) {
	t.Parallel()
	r := newBatchRig(t, batchmock.Config{})
	alone := t.TempDir()
	if code, out, stderr := ctl(t, r.run(r.scenario(t, ""), "--export", alone)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for name, cfg := range map[string]batchmock.Config{
		"in order":   {},
		"disordered": {Delay: 30 * time.Millisecond, Shuffled: true, Doubled: 0.3},
		"incomplete": {Expired: 0.1, Failed: 0.1, Doubled: 0.1, Shuffled: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newBatchRig(t, cfg)
			out := t.TempDir()
			code, stdout, stderr := ctl(t, r.run(r.scenario(t, ", batch: {poll: 10ms}"), "--export", out)...)
			if code != exitDone || !strings.Contains(stdout, " in batches") {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
			if a, b := outcomesOf(t, alone), outcomesOf(t, out); a != b {
				t.Errorf("the results differ\n%s", difference(a, b))
			}
			s := r.model.Stats()
			if s.Batches.Most < 40 || s.PromptTokens != 0 {
				t.Errorf("%+v; the first batch has a call of each of 40 sessions, though 6 may be in flight, and no call is sent alone", s)
			}
			if name != "incomplete" { // errors cost nothing
				r.checkBill(t, out)
			}
		})
	}
}

func outcomesOf(t *testing.T, out string) string {
	t.Helper()
	return read(t, out, "sessions.csv") + read(t, out, "events.csv")
}

// TestKilledBatches kills the process while it uploads, creates, polls and downloads batches, resumes it, and compares results and
// spending with the server's.
func TestKilledBatches(t *testing.T) {
	t.Parallel()
	const kills, seed = 20, 20261128
	whole, out := t.TempDir(), t.TempDir()
	alone := newBatchRig(t, batchmock.Config{})
	if code, stdout, stderr := ctl(t, alone.run(alone.scenario(t, ", batch: {poll: 10ms}"), "--export", whole)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	r := newBatchRig(t, batchmock.Config{Delay: 30 * time.Millisecond, Shuffled: true, Doubled: 0.2})
	random := rand.New(rand.NewPCG(seed, 1))
	args := r.run(r.scenario(t, ", batch: {poll: 10ms, size: 10}"))
	for kill := range kills {
		cmd, stdout, stderr := process(t, nil, args...)
		left := new(atomic.Int64)
		left.Store(int64(1 + random.IntN(8)))
		stop := func() {
			if left.Add(-1) == 0 {
				_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
			}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.asked.Store(&stop)
		err := cmd.Wait()
		r.asked.Store(nil)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("kill %d: the process was not killed: %v\n%s%s", kill, err, stdout, stderr)
		}
		args = []string{"resume", "--data", r.data, "--no-dashboard"}
	}
	code, stdout, stderr := ctl(t, append(args, "--export", out)...)
	if code != exitDone || !strings.Contains(stdout, "exact") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if a, b := outcomesOf(t, whole), outcomesOf(t, out); a != b {
		t.Errorf("the results differ\n%s", difference(a, b))
	}
	r.checkBill(t, out)
	if s := r.model.Stats().Batches; s.Requests != 2*4*40 {
		t.Errorf("the server answered %d calls, want %d", s.Requests, 2*4*40)
	}
}
