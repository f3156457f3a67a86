package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/engine/mock"
)

// observed runs ctl and returns its results with the number of requests that the mock received.
func observed(args ...string) (code int, stdout, stderr string, requests int64) {
	var out, err bytes.Buffer
	var n atomic.Int64
	code = execute(args, &terminal{
		in: strings.NewReader(""), out: &out, err: &err, hooks: hooks{trusts: true, onRequest: func(mock.Request) { n.Add(1) }},
	})
	return code, out.String(), err.String(), n.Load()
}

// spent returns the spent budget in run.json.
func spent(t *testing.T, data string) (s struct {
	USD      float64
	Tokens   int64
	Requests int64
},
) {
	t.Helper()
	var m struct {
		Totals struct{ Spent json.RawMessage }
	}
	if err := json.Unmarshal([]byte(read(t, data, "out", "run.json")), &m); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(m.Totals.Spent, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// shop returns a run of a short day of shoppers with faults, except those after which the HTTP library retries by itself.
func shop(data string, more ...string) []string {
	return append([]string{
		"run", "shopping", "--data", data, "--set", "agents=30", "--set", "eagerness=8", "--cycles", "3", "--seed", "7",
		"--mock-latency", "none", "--max-concurrent", "8", "--retry-wait", "1ms", "--mock-fault", "server_error=0.05", "--mock-fault", "bad_body=0.03",
	}, more...)
}

// TestBudgetOfRequests checks that the shop receives no more requests than the budget allows, and that a run with one
// budget after another has the results of an uninterrupted run.
func TestBudgetOfRequests(t *testing.T) {
	undisturbed := t.TempDir()
	if code, out, stderr := ctl(t, shop(undisturbed, "--export", filepath.Join(undisturbed, "out"))...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	data := t.TempDir()
	code, out, stderr, seen := observed(shop(data, "--max-requests", "50")...)
	if code != exitFailed || seen > 50 || seen < 40 {
		t.Fatalf("exit code %d after %d requests\n%s%s", code, seen, out, stderr)
	}
	for _, want := range []string{
		"out of budget after ", ": the budget of 50 requests is used up: 50 spent\n", "  budget         50 of 50 requests\n", "which run again on resume", "result         exact",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if !regexp.MustCompile(`resume with: throngctl resume \S+ --max-requests 100\n$`).MatchString(out) {
		t.Errorf("there is no resume command:\n%s", out)
	}
	_, runs, _ := ctl(t, "runs", "--data", data)
	if !strings.Contains(runs, "out of budget") {
		t.Errorf("runs:\n%s", runs)
	}
	code, _, stderr = ctl(t, "resume", "--data", data)
	if code != exitUsage || !strings.Contains(stderr, "max-requests: 50 of 50 requests are spent") || !strings.Contains(stderr, "--max-requests 100") {
		t.Errorf("with the same budget: exit code %d\n%s", code, stderr)
	}
	for budget := int64(200); code != exitDone; budget += 150 {
		if budget > 3000 {
			t.Fatal("the run does not end")
		}
		var more int64
		code, out, stderr, more = observed("resume", "--data", data, "--max-requests", fmt.Sprint(budget), "--max-concurrent", "3", "--export", filepath.Join(data, "out"))
		if seen += more; seen > budget || code == exitUsage || strings.Contains(out, "inexact") {
			t.Fatalf("exit code %d after %d requests of %d\n%s%s", code, seen, budget, out, stderr)
		}
		if s := spent(t, data); s.Requests > seen {
			t.Errorf("recorded %d requests, the shop received %d", s.Requests, seen)
		}
	}
	for _, file := range []string{"sessions.csv", "events.csv"} {
		if want, got := read(t, undisturbed, "out", file), read(t, data, "out", file); got != want {
			t.Errorf("%s differs\n%s", file, difference(want, got))
		}
	}
	if s := spent(t, data); s.Requests != seen {
		t.Errorf("recorded %d requests, the shop received %d", s.Requests, seen)
	}
}

// TestBudgetAfterAKill checks that requests of the killed process count, except those in flight that were not journaled.
func TestBudgetAfterAKill(t *testing.T) {
	const killed, budget, atOnce = 120, 200, 8
	data, count := t.TempDir(), filepath.Join(t.TempDir(), "count")
	cmd, out, stderr := process(t, []string{killEnv + fmt.Sprintf("=request:%d", killed)}, shop(data, "--max-requests", fmt.Sprint(budget))...)
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the run was not killed: %v\n%s%s", err, out, stderr)
	}
	cmd, out, stderr = process(t, []string{countEnv + "=" + count}, "resume", "--data", data)
	if err := cmd.Run(); err == nil || !strings.Contains(out.String(), "budget         200 of 200 requests") {
		t.Fatalf("ended with %v\n%s%s", err, out, stderr)
	}
	requests := counts(t, count)[prove.Request]
	// A session sends at most this many requests between two intents, or when it logs in. The end of the budget cancels
	// sessions that are about to send one; whether they have sent it is not always known.
	const unknown = 5 * atOnce
	if all := killed + requests; all < budget-atOnce || all > budget+unknown {
		t.Errorf("the shop received %d requests, with a budget of %d and up to %d uncounted", all, budget, unknown)
	}
}

// TestBudgetOfTokens checks the token budget of model calls. Each call reserves the tokens that it may use.
func TestBudgetOfTokens(t *testing.T) {
	talk := func(data string, more ...string) []string {
		return append([]string{
			"run", "conversation", "--data", data, "--set", "pairs=8", "--seed", "7", "--mock-latency", "none", "--export", filepath.Join(data, "out"),
		}, more...)
	}
	undisturbed := t.TempDir()
	if code, out, stderr := ctl(t, talk(undisturbed)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	all := spent(t, undisturbed).Tokens
	budget := all / 2
	data := t.TempDir()
	code, out, stderr := ctl(t, talk(data, "--max-tokens", fmt.Sprint(budget))...)
	if code != exitFailed || !strings.Contains(out, " tokens is used up: ") || !strings.Contains(out, "the next call may ") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if s := spent(t, data); s.Tokens > budget || s.Tokens < budget/2 {
		t.Errorf("%d tokens of %d were spent", s.Tokens, budget)
	}
	code, _, stderr = ctl(t, "resume", "--data", data)
	if code != exitUsage || !strings.Contains(stderr, "max-tokens: ") {
		t.Errorf("with the same budget: exit code %d\n%s", code, stderr)
	}
	code, out, stderr = ctl(t, "resume", "--data", data, "--max-tokens", fmt.Sprint(2*all), "--export", filepath.Join(data, "out"))
	if code != exitDone || strings.Contains(out, "inexact") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if want, got := read(t, undisturbed, "out", "sessions.csv"), read(t, data, "out", "sessions.csv"); got != want {
		t.Errorf("sessions.csv differs\n%s", difference(want, got))
	}
	if s := spent(t, data); s.Tokens != all {
		t.Errorf("recorded %d tokens, an uninterrupted run uses %d", s.Tokens, all)
	}
}

// TestBudgetOfMoney checks the cost budget with a server whose models have a price, then with models that have none.
func TestBudgetOfMoney(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":4}}`))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "asks.yaml")
	text := "title: Asks\npopulation: {count: 100}\nservices:\n  model: {kind: llm, url: " + server.URL + "/v1, model: [mine-1]}\n" +
		"chain ask:\n  step a: {kind: llm, service: model, prompt: Yes or no, max_tokens: 6}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	run := []string{"run", file, "--data", data, "--budget", "0.002", "--llm-rate", "10000", "--export", filepath.Join(data, "out")}
	prices := `{"mine-1": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5}}`
	if err := os.WriteFile(filepath.Join(data, "prices.json"), []byte(prices), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := ctl(t, run...) // each costs $0.00005
	if code != exitFailed || !strings.Contains(out, "the budget of $0.002 is used up: $0.00") || !strings.Contains(out, "--budget 0.004\n") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if n := calls.Load(); n > 40 || n < 36 {
		t.Errorf("%d calls for $0.002, want at most 40", n)
	}
	if s := spent(t, data); s.USD > 0.002 || s.Requests != calls.Load() {
		t.Errorf("recorded %+v for %d calls", s, calls.Load())
	}
	code, out, stderr = ctl(t, "resume", "--data", data, "--budget", "1")
	if code != exitDone || calls.Load() != 100 || !strings.Contains(out, "$0.005 of $1.00") {
		t.Errorf("exit code %d after %d calls\n%s%s", code, calls.Load(), out, stderr)
	}
}

// TestBudgetWithSharedCalls checks that a step that continues without an answer fails if the budget is the reason. Results
// equal those of an undisturbed run with shared calls, failover and concurrent steps.
func TestBudgetWithSharedCalls(t *testing.T) {
	t.Parallel()
	run := func(data string, more ...string) []string {
		return append([]string{
			"run", filepath.Join("testdata", "careful.yaml"), "--data", data, "--seed", "7", "--mock-latency", "none", "--retry-wait", "1ms", "--retries", "2",
			"--export", filepath.Join(data, "out"), "--mock-fault", "server_error=0.1", "--mock-fault", "bad_body=0.1",
		}, more...)
	}
	undisturbed := t.TempDir()
	if code, out, stderr := ctl(t, run(undisturbed)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	want := read(t, undisturbed, "out", "sessions.csv") + read(t, undisturbed, "out", "events.csv")
	all := spent(t, undisturbed)
	for _, flag := range []string{"--max-requests", "--max-tokens"} {
		data, bound := t.TempDir(), map[string]int64{"--max-requests": all.Requests, "--max-tokens": all.Tokens}[flag]
		step := bound/6 + 10
		code, out, stderr := ctl(t, run(data, flag, fmt.Sprint(step), "--max-concurrent", "4")...)
		for budget := 2 * step; code == exitFailed && strings.Contains(out, "resume with") && budget < 20*step; budget += step {
			code, out, stderr = ctl(t, "resume", "--data", data, flag, fmt.Sprint(budget), "--export", filepath.Join(data, "out"))
		}
		if code != exitDone {
			t.Fatalf("%s: exit code %d\n%s%s", flag, code, out, stderr)
		}
		if got := read(t, data, "out", "sessions.csv") + read(t, data, "out", "events.csv"); got != want {
			t.Errorf("%s: the results differ\n%s", flag, difference(want, got))
		}
	}
}
