package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/storage/sqlite"
)

// listener writes changing requests to a file before they are answered: agent, cycle and step. The file survives a killed
// process.
func listener(path string) func(mock.Request) {
	if path == "" {
		return func(mock.Request) {}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return func(r mock.Request) {
		if r.Method == http.MethodGet || r.Path == "/auth/login" || r.Step == "" { // the last is refused unread, in an outage
			return
		}
		if _, err := fmt.Fprintf(file, "%s %d %s\n", r.User, r.Cycle, r.Step); err != nil {
			panic(err)
		}
	}
}

// serviceFault is a deliberate fault of a mock.
type serviceFault struct {
	fault string
	more  []string // flags
	why   string   // reason why the run may be inexact; "" if it must be exact
}

var serviceFaults = []serviceFault{
	{"rate_limited=0.005", nil, ""},
	{"server_error=0.05", nil, ""},
	{"hang=0.004", []string{"--session-timeout", "1500ms"}, "timed out"},
	{"cut=0.06", nil, ""},
	{"bad_body=0.05", nil, ""},
	{"outage=100ms+500ms", []string{"--retry-wait", "300ms"}, "outage that depends on wall time"},
	{"token_requests=5", nil, ""},
	{"quota=200", []string{"--llm-rate", "150"}, ""},
	{"capacity=2", []string{"--mock-latency", "local"}, ""},
}

// crowd is a scenario that runs under faults.
type crowd struct {
	name    string
	args    func(data string, more ...string) []string
	changes *regexp.Regexp // the steps whose requests change something
	step    string         // the last of them
	event   string         // event of a completed session
	want    int            // sessions of a run
}

var crowds = []crowd{
	{"shopping", func(data string, more ...string) []string {
		return append([]string{
			"run", "shopping", "--data", data, "--set", "agents=30", "--set", "eagerness=8", "--cycles", "3", "--seed", "7",
			"--mock-latency", "none", "--max-concurrent", "6", "--retry-wait", "1ms", "--no-dashboard",
		}, more...)
	}, regexp.MustCompile(`^(enter|fill_cart\[\d+\]\.add_cart|use_coupons\[\d+\]\.apply|checkout\.order)$`), "checkout.order", "order", 90},
	{"conversation", func(data string, more ...string) []string {
		return append([]string{
			"run", "conversation", "--data", data, "--set", "pairs=12", "--set", "turns=6", "--set", "words=8", "--cycles", "3", "--seed", "7",
			"--mock-latency", "none", "--max-concurrent", "6", "--retry-wait", "1ms", "--no-dashboard",
		}, more...)
	}, regexp.MustCompile(`^(talk\[\d+\]\.(first|second)|vector)$`), "", "conversation", 36},
}

// endured is the result of a crowd under a fault.
type endured struct {
	crowd, fault            string
	took                    time.Duration
	sessions, failed        int
	exact                   bool
	orders, events, doubled int64
	heard, journaled        int
}

// TestServiceFaults runs shoppers and talks under each fault of the mock, kills each run with SIGKILL and resumes it. The
// shop has one order per completed checkout, its requests match the journal, and exact runs have the results of a run
// without faults.
func TestServiceFaults(t *testing.T) {
	t.Parallel()
	signedIn := crowds[0]
	signedIn.name = "shopping, signed in"
	signedIn.args = func(data string, more ...string) []string {
		args := crowds[0].args(data, more...)
		args[1] = signInScenario(t, filepath.Dir(data))
		return args
	}
	var mu sync.Mutex
	var all []endured
	t.Run("all", func(t *testing.T) {
		for _, c := range []crowd{crowds[0], crowds[1], signedIn} {
			calm, changes := undisturbed(t, c)
			for i, f := range serviceFaults {
				tokens := strings.HasPrefix(f.fault, "token_requests")
				if tokens != (c.name == signedIn.name) { // the others do not sign in
					continue
				}
				t.Run(c.name+" "+f.fault, func(t *testing.T) {
					t.Parallel()
					draw := rand.New(rand.NewPCG(20261122, uint64(i)))
					e := c.endure(t, f, changes/4+draw.Int64N(changes/2), calm)
					mu.Lock()
					all = append(all, e)
					mu.Unlock()
				})
			}
		}
	})
	lines := []string{
		"| Scenario, killed and resumed | fault | took | sessions | failed | exact | orders in the shop | in events | duplicates | requests heard | in the journal |",
		"|---|---|---|---|---|---|---|---|---|---|---|",
	}
	for _, e := range all {
		lines = append(lines, fmt.Sprintf("| %s | %s | %.1f s | %d | %d | %t | %d | %d | %d | %d | %d |",
			e.crowd, e.fault, e.took.Seconds(), e.sessions, e.failed, e.exact, e.orders, e.events, e.doubled, e.heard, e.journaled))
	}
	slices.Sort(lines[2:])
	t.Logf("\n%s", strings.Join(lines, "\n"))
}

// signInScenario writes the built-in shoppers with a login instead of tokens, and returns the file.
func signInScenario(t *testing.T, dir string) string {
	t.Helper()
	built := filepath.Join("..", "..", "assets", "scenarios")
	text := strings.Replace(read(t, built, "shopping.yaml"), `auth: {user: "${agent.id}"}`,
		`auth: {login: {post: /auth/login, json: {user: "${agent.id}", password: secret:SHOP_PASSWORD}, token: body.access_token}}`, 1)
	if !strings.Contains(text, "SHOP_PASSWORD") {
		t.Fatal("the scenario's login has changed")
	}
	write(t, filepath.Join(dir, "shopping.star"), read(t, built, "shopping.star"))
	return write(t, filepath.Join(dir, "shopping.yaml"), text)
}

// results returns the exported files that must be the same in every run.
func results(t *testing.T, data string) string {
	t.Helper()
	return read(t, data, "out", "sessions.csv") + read(t, data, "out", "events.csv")
}

// undisturbed returns the results of a crowd without faults, and the number of changing requests.
func undisturbed(t *testing.T, c crowd) (calm string, changes int64) {
	t.Helper()
	data, count := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "count")
	cmd, out, stderr := process(t, []string{changesEnv + "=" + count}, c.args(data, "--export", filepath.Join(data, "out"))...)
	if err := cmd.Run(); err != nil || strings.Contains(out.String(), "inexact") {
		t.Fatalf("%s without faults: %v\n%s%s", c.name, err, out, stderr)
	}
	if _, err := fmt.Sscan(read(t, count), &changes); err != nil || changes < 200 {
		t.Fatalf("%d changes, %v: the test would prove little", changes, err)
	}
	return results(t, data), changes
}

// endure runs a crowd under a fault, kills it between a change and its answer, resumes it and compares the shop with the
// journal.
func (c *crowd) endure(t *testing.T, f serviceFault, killAt int64, calm string) endured {
	t.Helper()
	data, heard := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "heard")
	began := time.Now()
	args := append([]string{"--mock-fault", f.fault}, f.more...)
	cmd, out, stderr := process(t, []string{killEnv + "=change:" + strconv.FormatInt(killAt, 10), heardEnv + "=" + heard}, c.args(data, args...)...)
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the run was not killed: %v\n%s%s", err, out, stderr)
	}
	cmd, out, stderr = process(t, []string{heardEnv + "=" + heard}, "resume", "--data", data, "--no-dashboard", "--export", filepath.Join(data, "out"))
	if err := cmd.Run(); err != nil && f.why == "" {
		t.Fatalf("resume: %v\n%s%s", err, out, stderr)
	}
	e := endured{crowd: c.name, fault: f.fault, took: time.Since(began), exact: !strings.Contains(out.String(), "inexact")}
	if got := results(t, data); e.exact && got != calm {
		t.Errorf("an exact run differs from one without faults\n%s", difference(calm, got))
	}
	if !e.exact && (f.why == "" || !strings.Contains(out.String(), f.why)) {
		t.Errorf("inexact, want the reason %q\n%s", f.why, out)
	}
	failedAt := c.count(t, data, &e)
	c.reconcileOrders(t, data, &e, failedAt)
	c.reconcileRequests(t, data, heard, &e)
	return e
}

// count returns the numbers of sessions and events, and the agents that failed at the last step that changes something.
func (c *crowd) count(t *testing.T, data string, e *endured) (failedAt map[string]int64) {
	t.Helper()
	failedAt = map[string]int64{}
	rows, err := csv.NewReader(strings.NewReader(read(t, data, "out", "sessions.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	column := func(name string) int { return slices.Index(rows[0], name) }
	agent, outcome, step := column("agent"), column("outcome"), column("step")
	for _, row := range rows[1:] {
		e.sessions++
		if seen[row[0]+" "+row[1]] {
			t.Errorf("two rows for a session: %v", row)
		}
		seen[row[0]+" "+row[1]] = true
		if row[outcome] == "failed" || row[outcome] == "timeout" {
			e.failed++
			if row[step] == c.step {
				failedAt[row[agent]]++
			}
		}
	}
	if e.sessions != c.want {
		t.Errorf("%d sessions, want %d", e.sessions, c.want)
	}
	return failedAt
}

// reconcileOrders compares the shop's orders with the sessions: one order per completed session, and no others except for
// sessions that failed before they received the answer.
func (c *crowd) reconcileOrders(t *testing.T, data string, e *endured, failedAt map[string]int64) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(read(t, data, "out", "events.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	completed := map[string]int64{}
	for _, row := range rows[1:] {
		if row[slices.Index(rows[0], "event")] == c.event {
			completed[row[slices.Index(rows[0], "agent")]]++
			e.events++
		}
	}
	if c.step == "" { // a model keeps nothing
		return
	}
	logs, err := filepath.Glob(filepath.Join(data, "mock", "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs of the shop: %v %v", logs, err)
	}
	shop, err := mock.Start(mock.Config{Seed: 7, Log: logs[0]})
	if err != nil {
		t.Fatal(err)
	}
	orders := shop.Orders()
	if err := shop.Close(); err != nil {
		t.Error(err)
	}
	e.orders, e.doubled = orders.Total, orders.DoubledKeys
	for i := range 30 {
		user := fmt.Sprintf("shopper-%d", i+1)
		if extra := orders.ByUser[user] - completed[user]; extra < 0 || extra > failedAt[user] {
			t.Errorf("%s has %d orders and completed %d checkouts; %d failed at ordering", user, orders.ByUser[user], completed[user], failedAt[user])
		}
	}
	if e.doubled != 0 || e.orders < 10 {
		t.Errorf("%d orders, %d doubled", e.orders, e.doubled)
	}
}

// reconcileRequests compares the requests that the mock received, and how often, with those in the journal.
func (c *crowd) reconcileRequests(t *testing.T, data, heard string, e *endured) {
	t.Helper()
	there := map[string]bool{}
	for line := range strings.Lines(read(t, heard)) {
		there[strings.TrimSpace(line)] = true
	}
	store, err := sqlite.Open(data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	runs, err := store.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	names, err := review.Names(t.Context(), store, runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	journal := map[string]bool{}
	for s, err := range store.Sessions(t.Context(), runs[0].ID, 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		agent, err := names.Agent(s.Agent)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range s.Steps {
			if c.changes.MatchString(step.Path) && (step.Attempts > 0 || step.Label != engine.Fresh) {
				journal[fmt.Sprintf("%s %d %s", agent, s.Cycle, step.Path)] = true
			}
		}
	}
	e.heard, e.journaled = len(there), len(journal)
	for key := range there {
		if !journal[key] {
			t.Errorf("the mock received %s, which is not in the journal", key)
		}
	}
	for key := range journal {
		if !there[key] {
			t.Errorf("the journal has request %s, the mock does not", key)
		}
	}
}
