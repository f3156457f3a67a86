package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
)

// orderDesk is a backend that keeps orders until they are deleted.
type orderDesk struct {
	*httptest.Server

	mu      sync.Mutex
	orders  map[string]string // id to buyer
	deletes int
	removed map[string]int // how often, by id
	stuck   string         // a buyer whose orders cannot be deleted
	fatal   int            // the deletion at which kill is called, before the response; 0 disables it
	kill    func()
}

func newOrderDesk(t *testing.T) *orderDesk {
	d := &orderDesk{orders: map[string]string{"other": "somebody else"}, removed: map[string]int{}}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *orderDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch r.Method {
	case http.MethodPost:
		id := fmt.Sprintf("o%d", len(d.orders))
		d.orders[id] = r.Header.Get("X-Buyer")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]string{"id": id})
	case http.MethodGet:
		if _, there := d.orders[strings.TrimPrefix(r.URL.Path, "/orders/")]; !there {
			w.WriteHeader(http.StatusNotFound)
		}
	case http.MethodDelete:
		d.deletes++
		id := strings.TrimPrefix(r.URL.Path, "/orders/")
		d.removed[id]++
		if d.deletes == d.fatal {
			delete(d.orders, id)
			d.kill()
			<-r.Context().Done() // its client is gone, and gets no answer
			return
		}
		if d.orders[id] == d.stuck {
			http.Error(w, "locked", http.StatusConflict)
			return
		}
		delete(d.orders, id)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (d *orderDesk) left() (orders, deletes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.orders), d.deletes
}

// killAt calls kill at the n-th deletion.
func (d *orderDesk) killAt(n int, kill func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fatal, d.kill = n, kill
}

func (d *orderDesk) stick(buyer string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stuck = buyer
}

// buyers is a scenario whose agents order once per cycle; the cleanup deletes the orders.
const buyers = `title: Buyers
clock: {cycles: 2}
population: {count: 6, id: "buyer-${agent.index + 1}"}
services: {desk: {kind: http, url: "%s", headers: {X-Buyer: "${agent.id}"}}}
chain buy:
  step order: {kind: http, service: desk, post: /orders, json: {}, expect: [201]}
  step ordered: {kind: emit, event: order, data: {id: "${steps.order.id}"}}
  step seen: {kind: emit, event: visit, data: "${session.uuid}"}
`

const buyersCleanup = `run: buy
cleanup: {chain: remove, events: order}
chain remove:
  step each_order:
    kind: for
    each: input.events
    as: made
    do:
      step cancel: {kind: http, service: desk, delete: "/orders/${made.data.id}", expect: [204, 404]}
`

// TestCleanup checks that the cleanup removes the orders of a run after a confirmation, once and no others, and that failed
// deletions are retried.
func TestCleanup(t *testing.T) {
	d := newOrderDesk(t)
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "buyers.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clean := func(code int, want string, orders, deletes int, args ...string) {
		t.Helper()
		got, out, stderr := ctl(t, append([]string{"cleanup", "--data", data, "--no-dashboard"}, args...)...)
		if n, m := d.left(); got != code || !strings.Contains(out+stderr, want) || n != orders || m != deletes {
			t.Errorf("cleanup %v: exit code %d, %d orders left after %d deletions, want %d, %d, %d and %q\n%s%s", args, got, n, m, code, orders, deletes, want, out, stderr)
		}
	}
	write(fmt.Sprintf(buyers, d.URL))
	if code, _, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard"); code != exitDone {
		t.Fatal(stderr)
	}
	clean(exitUsage, "the scenario defines no cleanup", 13, 0, file)

	write(strings.ReplaceAll(fmt.Sprintf(buyers+buyersCleanup, d.URL), "127.0.0.1", "localhost"))
	clean(exitUsage, "did not call it at that address", 13, 0, file)

	write(fmt.Sprintf(buyers+buyersCleanup, d.URL))
	clean(exitDone, "events: 12 order\n  sends: 12 requests\n", 13, 0, file)
	clean(exitDone, "Dry run: nothing was sent", 13, 0, file)
	clean(exitDone, "Dry run: nothing was sent", 13, 0, file, "--dry-run", "--yes")
	d.stick("buyer-3")
	clean(exitDone, "to remove: what 6 agents made in 12 sessions", 3, 11, file, "--yes") // buyer-3's first fails, its second is not tried
	d.stick("no-user")
	marked(t, data, "Cleaned up in part by run", "11 requests, 5 of 6 agents done.")
	clean(exitDone, "to remove: what 1 agent made in 2 sessions", 1, 13, file, "--yes")
	marked(t, data, "Cleaned up by run", ": 2 requests for 1 agent.")
	clean(exitDone, "nothing left to remove", 1, 13, file, "--yes")
	clean(exitDone, "Cleaned up by run", 1, 13, file)
	runs := listed(t, data)
	if code, _, stderr := ctl(t, "resume", "--data", data, "--no-dashboard", "--cycles", "3", "--as-it-was", string(runs[len(runs)-1].Run)); code != exitDone {
		t.Fatal(stderr)
	}
	clean(exitDone, "what 6 agents made in 6 sessions", 1, 19, file, "--yes") // of the third cycle alone
	for _, r := range runs {
		if r.Cleaned == nil {
			if code, _, stderr := ctl(t, "delete", "--data", data, "--yes", string(r.Run)); code != exitDone {
				t.Fatal(stderr)
			}
		}
	}

	if code, _, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard"); code != exitDone {
		t.Fatal(stderr)
	}
	code, out, stderr := ctl(t, "cleanup", "--data", data, file, "--json")
	var plan answer.Cleanup
	if err := json.Unmarshal([]byte(out), &plan); err != nil || code != exitDone || plan.Agents != 6 || plan.Events["order"] != 12 || plan.Sent || len(plan.Done) != 0 {
		t.Errorf("exit code %d, %v: %+v %s", code, err, plan, stderr)
	}
	if plan.Requests.Least != 12 || plan.Requests.Most != 12 || len(plan.Cleaned) != 0 {
		t.Errorf("got plan %+v", plan)
	}
	clean(exitDone, "12 order", 1, 31, string(plan.Run), "--yes")
}

// listed returns the runs of a folder.
func listed(t *testing.T, data string) (runs []answer.Run) {
	t.Helper()
	_, out, stderr := ctl(t, "runs", "--data", data, "--json")
	if err := json.Unmarshal([]byte(out), &runs); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	return runs
}

// marked checks that the only run that was cleaned up is marked as such everywhere.
func marked(t *testing.T, data string, says ...string) {
	t.Helper()
	var run engine.RunID
	for _, r := range listed(t, data) {
		if len(r.Cleaned) > 0 {
			run = r.Run
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	_, runs, _ := ctl(t, "runs", "--data", data)
	if code, out, stderr := ctl(t, "export", string(run), "--data", data, "-o", dir); code != exitDone {
		t.Fatal(out, stderr)
	}
	if code, out, stderr := ctl(t, "report", string(run), "--data", data, "-o", filepath.Join(dir, "report.html")); code != exitDone {
		t.Fatal(out, stderr)
	}
	for _, text := range says {
		for where, all := range map[string]string{"runs": runs, "the report": read(t, dir, "report.html")} {
			if !strings.Contains(all, text) {
				t.Errorf("%s does not contain %q:\n%s", where, text, all[:min(len(all), 3000)])
			}
		}
	}
	if m := read(t, dir, "run.json"); !strings.Contains(m, `"cleaned": [`) || !strings.Contains(m, `"by": "`) {
		t.Errorf("run.json is not marked:\n%s", m)
	}
}

// verified is a cleanup of buyers that checks whether an order is gone before deleting it again.
const verified = `
      step cancel: {kind: http, service: desk, delete: "/orders/${made.data.id}", expect: [204, 404],
        verify: {get: "/orders/${made.data.id}", expect: [200, 404], done: status == 404, after: 100ms}}
`

// TestKilledCleanup kills a cleanup while a deletion waits for its answer. The resumed cleanup deletes nothing twice.
func TestKilledCleanup(t *testing.T) {
	t.Parallel()
	d, data := newOrderDesk(t), filepath.Join(t.TempDir(), "data")
	file := scenarioFile(t, fmt.Sprintf(buyers+strings.Split(buyersCleanup, "\n      step cancel")[0]+verified, d.URL))
	if code, _, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard"); code != exitDone {
		t.Fatal(stderr)
	}
	cmd, out, stderr := process(t, nil, "cleanup", file, "--data", data, "--yes", "--no-dashboard", "--max-concurrent", "1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.killAt(6, func() { _ = cmd.Process.Kill() })
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() >= 0 {
		t.Fatalf("the process was not killed: %v\n%s%s", err, out, stderr)
	}
	killed := listed(t, data)
	if state := killed[0].State; state != "interrupted" || len(killed[1].Cleaned) != 1 || killed[1].Cleaned[0].Ending != "" {
		t.Errorf("after the kill: %+v", killed)
	}
	if _, says, _ := ctl(t, "runs", "--data", data); !strings.Contains(says, "(cleanup begun)") || !strings.Contains(says, "has not finished. To resume it: throngctl cleanup "+string(killed[1].Run)+".") {
		t.Errorf("runs:\n%s", says)
	}
	if orders, _ := d.left(); orders != 7 {
		t.Errorf("%d orders are left of 13 after 6 deletions", orders)
	}
	_, plan, _ := ctl(t, "cleanup", file, "--data", data)
	if !strings.Contains(plan, "resume cleanup run "+string(killed[0].Run)) || !strings.Contains(plan, "what 4 agents made in 8 sessions") || !strings.Contains(plan, "sends: up to 8 requests") {
		t.Errorf("the plan of the rest is\n%s", plan)
	}
	if code, out, stderr := ctl(t, "cleanup", file, "--data", data, "--yes", "--no-dashboard"); code != exitDone {
		t.Fatal(out, stderr)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.orders) != 1 || len(d.removed) != 12 || d.deletes != 12 {
		t.Errorf("%d orders are left after %d deletions: %v", len(d.orders), d.deletes, d.removed)
	}
	after := listed(t, data)
	if len(after) != 2 || after[0].Exact == nil || !*after[0].Exact || !after[1].Cleaned[0].Whole() || after[1].Cleaned[0].Requests < 12 {
		t.Errorf("after the resume: %+v", after)
	}
}

// TestCleanupOfMocks checks that a run that called only mocks needs no cleanup.
func TestCleanupOfMocks(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "buyers.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(buyers+buyersCleanup, "mock:shop")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, _ = ctl(t, "run", file, "--data", data, "--no-dashboard", "--mock-latency", "none", "--breaker", "off", "--retries", "1")
	if code, _, stderr := ctl(t, "cleanup", file, "--data", data, "--yes"); code != exitUsage || !strings.Contains(stderr, "called only mocks") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
