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
)

// orderDesk is a backend that keeps orders until they are deleted.
type orderDesk struct {
	*httptest.Server

	mu      sync.Mutex
	orders  map[string]string // id to buyer
	deletes int
	stuck   string // a buyer whose orders cannot be deleted
}

func newOrderDesk(t *testing.T) *orderDesk {
	d := &orderDesk{orders: map[string]string{"other": "somebody else"}}
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
	case http.MethodDelete:
		d.deletes++
		id := strings.TrimPrefix(r.URL.Path, "/orders/")
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

func (d *orderDesk) stick(buyer string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stuck = buyer
}

// buyers order once a cycle; the cleanup deletes what they ordered.
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

// TestCleanup: what a run's agents made at the backend is removed once confirmed, once, and nothing else; what could not be
// removed is tried again.
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
	clean(exitUsage, "the scenario names no cleanup", 13, 0, file)

	write(strings.ReplaceAll(fmt.Sprintf(buyers+buyersCleanup, d.URL), "127.0.0.1", "localhost"))
	clean(exitUsage, "did not ask it at that address", 13, 0, file)

	write(fmt.Sprintf(buyers+buyersCleanup, d.URL))
	clean(exitDone, "events: 12 order\n", 13, 0, file)
	clean(exitDone, "dry run: nothing was sent", 13, 0, file)
	clean(exitDone, "dry run: nothing was sent", 13, 0, file, "--dry-run", "--yes")
	d.stick("buyer-3")
	clean(exitDone, "to remove: what 6 agents made in 12 sessions", 3, 11, file, "--yes") // buyer-3's first fails, its second is not tried
	d.stick("nobody")
	clean(exitDone, "to remove: what 1 agents made in 2 sessions", 1, 13, file, "--yes")
	clean(exitDone, "nothing is left to remove", 1, 13, file, "--yes")
	clean(exitDone, "cleaned up by run", 1, 13, file)

	if code, _, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard"); code != exitDone {
		t.Fatal(stderr)
	}
	code, out, stderr := ctl(t, "cleanup", "--data", data, file, "--json")
	var plan cleanupJSON
	if err := json.Unmarshal([]byte(out), &plan); err != nil || code != exitDone || plan.Agents != 6 || plan.Events["order"] != 12 || plan.Sent || len(plan.Done) != 0 {
		t.Errorf("exit code %d, %v: %+v %s", code, err, plan, stderr)
	}
	clean(exitDone, "12 order", 1, 25, string(plan.Run), "--yes")
}

// TestCleanupOfMocks: the mocks keep nothing after a run.
func TestCleanupOfMocks(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "buyers.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(buyers+buyersCleanup, "rehearsal:shop")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, _ = ctl(t, "run", file, "--data", data, "--no-dashboard", "--rehearsal", "none", "--breaker", "off", "--retries", "1")
	if code, _, stderr := ctl(t, "cleanup", file, "--data", data, "--yes"); code != exitUsage || !strings.Contains(stderr, "asked only the mocks") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
