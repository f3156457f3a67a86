package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// examplesFolder has scenarios that users can copy.
var examplesFolder = filepath.Join("..", "..", "examples")

// TestExamples validates each scenario in the folder examples, and runs it with a limit of one session and of many. The
// results must be equal.
func TestExamples(t *testing.T) {
	runs := map[string]func(t *testing.T) (args []string){
		"rest-shop.yaml":     func(t *testing.T) []string { return atShop(t, &ownShop{}) },
		"persona-study.yaml": func(*testing.T) []string { return []string{"--set", "provider=mock", "--cycles", "1"} },
		"sql-load.yaml": func(t *testing.T) []string {
			t.Setenv("LOAD_DB", loadDatabase(t))
			return []string{"--set", "clients=30", "--cycles", "2"}
		},
		"login-order.yaml": func(t *testing.T) []string {
			t.Setenv("SHOP_PASSWORD", "a-long-password")
			shop := &ownShop{loses: true}
			t.Cleanup(func() { shop.check(t, 10) })
			return append(atShop(t, shop), "--set", "customers=5", "--retry-wait", "1ms")
		},
		"soak.yaml": func(*testing.T) []string {
			return []string{"--set", "visitors=100", "--set", "rate=1", "--set", "think_seconds=0", "--cycles", "4"}
		},
	}
	files, err := filepath.Glob(filepath.Join(examplesFolder, "*.yaml"))
	if err != nil || len(files) != len(runs) {
		t.Fatalf("%d scenarios, %d of them are run, %v", len(files), len(runs), err)
	}
	list := read(t, examplesFolder, "README.md")
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(list, "("+name+")") {
				t.Errorf("README.md does not list %s", name)
			}
			if code, out, stderr := ctl(t, "validate", file); code != exitDone {
				t.Fatalf("validate: exit code %d\n%s%s", code, out, stderr)
			}
			var first string
			for _, limit := range []string{"1", "20"} {
				out := t.TempDir()
				code, said, stderr := ctl(t, append([]string{
					"run", file, "--data", t.TempDir(), "--mock-latency", "none", "--no-dashboard", "--max-concurrent", limit, "--seed", "3", "--export", out,
				}, runs[name](t)...)...)
				_, exported := os.Stat(filepath.Join(out, "events.csv"))
				if slow := missed(said); exported != nil || code != exitDone && len(slow) == 0 || slices.ContainsFunc(slow, notOfTime) || !strings.Contains(said, " exact\n") {
					t.Fatalf("exit code %d\n%s%s", code, said, stderr)
				}
				events := read(t, out, "events.csv")
				if strings.Count(events, "\n") < 3 {
					t.Errorf("only these events:\n%s", events)
				}
				if first == "" {
					first = events
				} else if events != first {
					t.Errorf("with %s sessions at a time\n%s\nwith one\n%s", limit, events, first)
				}
			}
		})
	}
}

// missed returns the criteria that failed according to a summary.
func missed(summary string) (metrics []string) {
	for line := range strings.Lines(summary) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "FAIL" {
			metrics = append(metrics, words[1])
		}
	}
	return metrics
}

// notOfTime reports whether a criterion does not depend on latency, which can be high on a busy machine.
func notOfTime(metric string) bool { return metric != "request_p95" && metric != "request_p99" }

// atShop starts a shop and returns the flags for a run that uses it.
func atShop(t *testing.T, shop *ownShop) []string {
	t.Helper()
	server := httptest.NewServer(shop)
	t.Cleanup(server.Close)
	return []string{"--service", "shop=" + server.URL, "--allow", strings.TrimPrefix(server.URL, "http://")}
}

// loadDatabase returns the address of a database with the tables of the example.
func loadDatabase(t *testing.T) string {
	t.Helper()
	address := pgtest.Shared(t).Database(t)
	conn := pgtest.Connect(t, address)
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), read(t, examplesFolder, "sql-load.sql")); err != nil {
		t.Fatal(err)
	}
	return address
}

// ownShop is the backend of the examples: products, carts, logins and orders. It has no idempotency keys. If loses is set,
// it executes every third order but answers 504.
type ownShop struct {
	mu     sync.Mutex
	loses  bool
	lost   int
	carts  map[string][]string // products by session
	orders map[string]int      // how many by reference
}

// check fails the test unless each of n orders was placed once, some of them with a lost answer.
func (s *ownShop) check(t *testing.T, n int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.orders) != n || s.lost == 0 {
		t.Errorf("%d orders, want %d; %d lost answers", len(s.orders), n, s.lost)
	}
	for reference, times := range s.orders {
		if times != 1 {
			t.Errorf("order %s was placed %d times", reference, times)
		}
	}
}

type product struct {
	ID    string `json:"id"`
	Price int    `json:"price"`
}

// ServeHTTP implements [http.Handler].
func (s *ownShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch r.Method + " " + parts[0] {
	case "GET products":
		if len(parts) == 2 {
			respond(w, http.StatusOK, product{parts[1], 20})
			return
		}
		respond(w, http.StatusOK, []product{{"tea", 12}, {"lamp", 35}, {"chair", 90}})
	case "PUT carts":
		respond(w, http.StatusOK, map[string]any{"owner": parts[1]})
	case "POST login":
		var login struct{ User, Password string }
		if json.NewDecoder(r.Body).Decode(&login) != nil || login.Password != os.Getenv("SHOP_PASSWORD") {
			respond(w, http.StatusUnauthorized, map[string]any{"detail": "wrong password"})
			return
		}
		respond(w, http.StatusOK, map[string]any{"token": "token-of-" + login.User})
	default:
		s.member(w, r, parts)
	}
}

// member answers requests that need a login.
func (s *ownShop) member(w http.ResponseWriter, r *http.Request, parts []string) {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer token-of-customer-") {
		respond(w, http.StatusUnauthorized, map[string]any{"detail": "no token"})
		return
	}
	type order struct {
		Reference string `json:"reference"`
		Items     int    `json:"items"`
	}
	switch r.Method + " " + parts[0] {
	case "PUT cart":
		if s.carts == nil {
			s.carts, s.orders = map[string][]string{}, map[string]int{}
		}
		if !slices.Contains(s.carts[parts[1]], parts[2]) {
			s.carts[parts[1]] = append(s.carts[parts[1]], parts[2])
		}
		respond(w, http.StatusOK, map[string]any{"items": len(s.carts[parts[1]])})
	case "POST orders":
		var o order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			respond(w, http.StatusBadRequest, map[string]any{"detail": err.Error()})
			return
		}
		s.orders[o.Reference]++
		if s.loses && len(s.orders)%3 == 0 {
			s.lost++
			respond(w, http.StatusGatewayTimeout, map[string]any{"detail": "too slow"})
			return
		}
		respond(w, http.StatusCreated, order{o.Reference, len(s.carts[o.Reference])})
	case "GET orders":
		found := []order{}
		if reference := r.URL.Query().Get("reference"); s.orders[reference] > 0 {
			found = append(found, order{reference, len(s.carts[reference])})
		}
		respond(w, http.StatusOK, found)
	default:
		http.NotFound(w, r)
	}
}
