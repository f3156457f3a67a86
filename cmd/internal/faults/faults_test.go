package faults

import (
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// lengthEnv is the environment variable for the duration of each fault, such as 30s; the default is 1 s.
const lengthEnv = "THRONG_FAULT_LENGTH"

func TestMain(m *testing.M) {
	keyring.MockInit()
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they mostly wait
		panic(err)
	}
	os.Exit(m.Run())
}

func length(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(lengthEnv)
	if text == "" {
		return time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRemoteFaults executes a run under every fault between it and its database. Users get a message, no session fails, and
// afterwards the rows in PostgreSQL are equal to those of the run.
func TestRemoteFaults(t *testing.T) {
	var mu sync.Mutex
	var all []Row
	var slow, quick []Fault // to become visible
	for _, f := range Line {
		if strings.Contains(f.Says, "in time") {
			slow = append(slow, f)
		} else {
			quick = append(quick, f)
		}
	}
	t.Run("all", func(t *testing.T) {
		group := func(name string, server func(t *testing.T) Options, faults []Fault) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				o := server(t)
				for _, f := range faults {
					t.Run(f.Name, func(t *testing.T) {
						row := hold(t, &f, o)
						mu.Lock()
						all = append(all, row)
						mu.Unlock()
					})
				}
			})
		}
		shared := func(t *testing.T) Options { return Options{Server: pgtest.Shared(t)} }
		for _, f := range slow {
			group("line", shared, []Fault{f})
		}
		group("line", shared, quick)
		group("database", shared, Database[:len(Database)/2])
		group("database", shared, Database[len(Database)/2:])
		// The disk is last, because its server ends with it.
		group("server", func(t *testing.T) Options {
			return Options{Server: pgtest.New(t, pgtest.Options{TLS: true, MaxConnections: 20})}
		}, slices.Concat(Server, Certificates, []Fault{FullDisk()}))
	})
	order := map[string]int{}
	for _, faults := range [][]Fault{Line, Database, Server, Certificates, {FullDisk()}} {
		for _, f := range faults {
			order[f.Name] = len(order)
		}
	}
	slices.SortFunc(all, func(a, b Row) int { return order[a.Fault] - order[b.Fault] })
	lines := []string{Header}
	for _, r := range all {
		lines = append(lines, r.String())
	}
	t.Logf("\n%s", strings.Join(lines, "\n"))
	for _, r := range all {
		if r.Words != "" {
			t.Logf("%s: %s", r.Fault, r.Words)
		}
	}
}

// hold executes a run under a fault and checks the result.
func hold(t *testing.T, f *Fault, o Options) Row {
	t.Helper()
	r, s := f.Run(t, o, length(t))
	c := r.Counts
	if c.Doubled != 0 || c.Different != 0 {
		t.Errorf("%+v", c)
	}
	if f.Refuses {
		if r.Aside == 0 || c.Missing != 2*r.Aside { // a session with its event
			t.Errorf("%d sessions were rejected: %+v", r.Aside, c)
		}
	} else if c.Missing != 0 || c.Written != c.There || r.Aside != 0 {
		t.Errorf("%+v", r)
	}
	if c.Written < 600 {
		t.Errorf("%d rows are too few for a test", c.Written)
	}
	if length(t) >= Long && r.Under < r.Calm/4 { // shorter faults are over before other load on the machine is
		t.Errorf("the run made %.0f sessions a second before, and %.0f under the fault", r.Calm, r.Under)
	}
	for outcome, n := range s.Job.Run.Snapshot().Outcomes {
		if outcome != engine.OK && n > 0 {
			t.Errorf("%d sessions ended %v", n, outcome)
		}
	}
	if files := s.Leaks(pgtest.Password, Corrected); len(files) > 0 {
		t.Errorf("a password is in %v", files)
	}
	return r
}
