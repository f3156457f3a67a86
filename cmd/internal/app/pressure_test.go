package app

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// follow polls a run several times a second until a condition holds.
func follow(t *testing.T, job *Job, what string, holds func(s *engine.Snapshot) bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(3 * time.Minute)
	defer late.Stop()
	for !holds(job.Run.Snapshot()) {
		select {
		case <-tick.C:
		case <-job.Run.Done():
			t.Fatalf("the run ended before: %s", what)
		case <-late.C:
			t.Fatalf("timed out: %s", what)
		}
	}
}

// lowered returns the changes with which a governor lowered the limit.
func lowered(s *engine.Snapshot) (all []engine.ChangeRow) {
	for _, c := range s.Changes {
		was, _ := strconv.Atoi(c.Old)
		now, err := strconv.Atoi(c.New)
		if c.What == engine.LimitSetting && err == nil && now < was {
			all = append(all, c)
		}
	}
	return all
}

// hogs keeps all cores busy with other programs at the lowest priority until the test ends.
func hogs(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh to keep the cores busy")
	}
	for range runtime.NumCPU() {
		cmd := exec.Command("nice", "-n", "19", "sh", "-c", "while :; do :; done") //nolint:noctx // ended below
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // the error says that it was killed
		})
	}
}

var throngUses = regexp.MustCompile(`Throng uses (\d+) %`)

// TestOtherProgramsThrottleNothing fills the machine with other programs during a run that waits for a slow service. Health
// names them, but the limit stays, and they are not the bottleneck.
func TestOtherProgramsThrottleNothing(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	text := `
population: {count: 1000}
services: {shop: {kind: http, url: "` + slow.URL + `"}}
chain c: {step look: {kind: http, service: shop, get: /}}
`
	job, _ := started(t, text, func(l *Launch) {
		s := &l.Settings
		s.Governor, s.Limit, s.Floor, s.Ceiling, s.Cycles = "resources", 10, 1, 10, 1000
	})
	hogs(t)
	vitals, full, seen := health.Vitals{}, 0, time.Time{}
	follow(t, job, "8 s in which the machine was full", func(s *engine.Snapshot) bool {
		if m := &s.Metrics; m.At.After(seen) {
			seen = m.At
			vitals.See(s)
			if m.Host.CPU > 90 && m.Host.ProcessCPU/float64(m.Host.Cores) < 10 {
				full++
			}
		}
		return full >= 8
	})
	s := job.Run.Snapshot()
	for _, c := range lowered(s) { // only for its own CPU use: at the start, or under the race detector
		if m := throngUses.FindStringSubmatch(c.Why); m == nil || len(m[1]) < 2 || m[1] < "25" {
			t.Errorf("%s → %s: %s", c.Old, c.New, c.Why)
		}
	}
	if text := health.Find(health.Judge(s, &vitals, time.Minute), health.MetricCPU).Value; !strings.Contains(text, "by other programs") {
		t.Errorf("the CPU is %q, which names no other programs", text)
	}
	if b := vitals.Bottleneck(s); b.Kind == health.BoundByOthers || b.Kind == health.BoundByMachine {
		t.Errorf("%s", b)
	}
	if err := job.Run.Stop("test", "it is enough"); err != nil {
		t.Error(err)
	}
	<-job.Run.Done()
}

// TestIdleConnectionsAreClosedFirst fills a server with other clients while a run holds idle connections. The run closes
// these, the pool keeps to its share, and the governor does not lower the limit.
func TestIdleConnectionsAreClosedFirst(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{MaxConnections: 40})
	address := server.Database(t)
	const text = `
population: {count: 300}
services: {db: {kind: postgres, url: "secret:DB"}}
chain c:
  step ask: {kind: sql, service: db, query: "select pg_sleep(0.02)"}
  step think: {kind: wait, for: "${0.3}"}
`
	for range 10 {
		pgtest.Connect(t, address)
	}
	job, _ := started(t, text, func(l *Launch) {
		s := &l.Settings
		s.Governor, s.Limit, s.Floor, s.Ceiling, s.Cycles = "connections", 30, 1, 30, 1000
		l.Secrets.Env = func(string) string { return address }
	})
	pool := job.pools[0]
	size := func(s *engine.Snapshot) int { return s.Metrics.Pool.Size }
	// Of 40 connections, 3 are reserved for superusers and 10 belong to others. 70% of the other 27 are 18; 1 is for monitoring.
	follow(t, job, "the pool has its share", func(s *engine.Snapshot) bool { return size(s) == 17 && pool.Open() >= 10 })
	for range 11 {
		pgtest.Connect(t, address)
	}
	follow(t, job, "the share is that of what others leave", func(s *engine.Snapshot) bool { return size(s) == 10 })
	follow(t, job, "idle connections are closed", func(*engine.Snapshot) bool { return pool.Open() <= 11 })
	ended := job.Run.Snapshot().Ended
	follow(t, job, "the run continues", func(s *engine.Snapshot) bool { return s.Ended >= ended+100 })
	s := job.Run.Snapshot()
	if moves := lowered(s); len(moves) > 0 || s.Limit != 30 {
		t.Errorf("the limit is %d, after %+v", s.Limit, moves)
	}
	if err := job.Run.Stop("test", "it is enough"); err != nil {
		t.Error(err)
	}
	if r := job.Run.Wait(); r.Totals.Bad() > 0 {
		t.Errorf("%+v", r.Totals.Outcomes)
	}
}

// TestRunThroughFullPooler runs far more concurrent sessions than a pooler accepts clients. All sessions succeed, and the
// result is exact.
func TestRunThroughFullPooler(t *testing.T) {
	server := pgtest.Shared(t)
	address := server.Pooler(t, 2, "max_client_conn = 6").URL(t, server.Database(t)) + "?sslmode=disable"
	const text = `
population: {count: 200}
services: {db: {kind: postgres, url: "secret:DB"}}
chain c: {step ask: {kind: sql, service: db, query: "select pg_sleep(0.01)", retry: {attempts: 1}}}
`
	job := launched(t, text, func(l *Launch) {
		s := &l.Settings
		s.Governor, s.Limit, s.Floor, s.Ceiling = engine.Adaptive, 40, 1, 40
		l.Secrets.Env = func(string) string { return address }
	})
	r := job.Run.Wait()
	if r.Totals.Outcomes[engine.OK] != 200 || r.Totals.Retries > 0 || r.Totals.Waits[engine.ThrottledBySlots] == 0 {
		t.Errorf("%+v, %d retries, %v waited for a connection", r.Totals.Outcomes, r.Totals.Retries, r.Totals.Waits[engine.ThrottledBySlots])
	}
}
