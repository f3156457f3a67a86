package main

import (
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// killing returns a proof with a short day of shopping whose processes are killed.
func killing(kills int) prove.Config {
	return prove.Config{Run: day("")[1:], Kills: kills, Seed: 20261120}
}

// proved runs a proof as throngctl prove does. The folders and rows of its trials are removed.
func proved(t *testing.T, c prove.Config) *prove.Report {
	t.Helper()
	t.Logf("seed %d", c.Seed)
	c.Program, c.AtOnce = self(t), runtime.NumCPU()
	c.Env = append(c.Env, asToolEnv+"=1")
	r, err := prove.Prove(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Trials {
		if trial := &r.Trials[i]; trial.First != "" {
			t.Errorf("%s: %s", trial.Describe(), trial.First)
		}
	}
	if r.Kills() != c.Kills || r.Sum().Resumes < c.Kills/2 {
		t.Errorf("%d kills and %d resumes of %d", r.Kills(), r.Sum().Resumes, c.Kills)
	}
	return r
}

// TestKilledRunsEndAsIfNothingHappened kills throngctl at 20 seeded commits and requests, resumes, and compares the
// results, the agents' memory, and every change in the shop with those of an uninterrupted run.
func TestKilledRunsEndAsIfNothingHappened(t *testing.T) {
	t.Parallel()
	r := proved(t, killing(20))
	if s := r.Sum(); s.Commits < 5 || s.Commits > 15 || s.Replayed == 0 || s.SentAgain == 0 || s.Confirmed == 0 {
		t.Errorf("the test proves little: %+v", s)
	}
	for _, m := range []prove.Moment{prove.Sending, prove.Request, prove.Answer, prove.Commit} {
		if r.Counts[m] < 30 {
			t.Errorf("there were %d moments %s", r.Counts[m], m)
		}
	}
}

// TestKilledRunsAreTheSameInPostgres also compares the rows in a database, and checks that a proof leaves none there.
func TestKilledRunsAreTheSameInPostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.New(t, pgtest.Options{})
	c := killing(6)
	c.Database = config.Database{URL: server.Database(t)}
	proved(t, c)
	noRows(t, c.Database.URL)

	// An aborted proof leaves no rows either.
	broken := errors.New("broken")
	c.Program, c.Env, c.Between = self(t), []string{asToolEnv + "=1"}, func(string) error { return broken }
	if _, err := prove.Prove(t.Context(), c); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	noRows(t, c.Database.URL)
}

// noRows checks that the tables of a database are empty.
func noRows(t *testing.T, url string) {
	t.Helper()
	var left int
	if err := pgtest.Connect(t, url).QueryRow(t.Context(), `SELECT (SELECT count(*) FROM throng.runs) + (SELECT count(*) FROM throng.sessions) +
		(SELECT count(*) FROM throng.events) + (SELECT count(*) FROM throng.metrics) + (SELECT count(*) FROM throng.checkpoints)`).Scan(&left); err != nil || left > 0 {
		t.Errorf("%d rows were not removed: %v", left, err)
	}
}

// TestBrokenEngineIsFound breaks parts that make a resume exact, and checks that the proof fails.
func TestBrokenEngineIsFound(t *testing.T) {
	t.Parallel()
	forget := func(dir string) (err error) {
		db, err := sql.Open("sqlite3", filepath.Join(dir, "throng.db"))
		if err != nil {
			return err
		}
		_, err = db.ExecContext(t.Context(), `DELETE FROM deltas`)
		return errors.Join(err, db.Close())
	}
	for _, tt := range []struct {
		name    string
		env     []string
		between func(dir string) error
		in      string // a file that differs
		says    string // message of a resumed run that detects the problem, which not every trial does
	}{
		{"requests without idempotency keys", []string{breakEnv + "=keys"}, nil, "", "the mock shop's log lacks"},
		{"a journal without the agents' memory", nil, forget, "memory.jsonl", ""},
		{"a shop that lost its orders", nil, func(dir string) error { return os.RemoveAll(filepath.Join(dir, "mock")) }, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := killing(8)
			c.Run = append(c.Run, "--set=agents=12")
			c.Program, c.AtOnce, c.Between, c.Env = self(t), runtime.NumCPU(), tt.between, append(tt.env, asToolEnv+"=1")
			r, err := prove.Prove(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			found := r.Failed()
			if found == nil {
				t.Fatalf("%d kills found nothing", r.Kills())
			}
			if tt.says != "" {
				if !strings.Contains(found.First, tt.says) && found.Lost+found.Doubled == 0 {
					t.Errorf("%s found %+v, want %s", found.Describe(), found.Difference, tt.says)
				}
				return
			}
			if tt.in != "" && !slices.Contains(found.Parts, tt.in) || found.Lost+found.Doubled == 0 {
				t.Errorf("%s found %+v, want %s", found.Describe(), found.Difference, tt.in)
			}
		})
	}
}

// checkOrders compares the orders in the shop of a run with those that its sessions report.
func checkOrders(t *testing.T, data, events string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(data, "mock", "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs of the shop: %v %v", logs, err)
	}
	shop, err := mock.Start(mock.Config{Seed: 7, Log: logs[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
	}()
	want := map[string]int64{}
	rows, err := csv.NewReader(strings.NewReader(events)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		if row[6] == "order" {
			want[row[2]]++
		}
	}
	got := shop.Orders()
	for user, n := range got.ByUser {
		if n != want[user] {
			t.Errorf("the shop holds %d orders of %s, the run completed %d checkouts", n, user, want[user])
		}
	}
	for user, n := range want {
		if got.ByUser[user] != n {
			t.Errorf("the shop holds %d orders of %s, the run completed %d checkouts", got.ByUser[user], user, n)
		}
	}
}

// difference returns the first lines in which two texts differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\nwant %s\n got %s", i+1, a, b)
		}
	}
	return "no difference"
}

// TestSameResultAtAnyConcurrency checks that a seed has the same results at limits of 1, 3 and 50.
func TestSameResultAtAnyConcurrency(t *testing.T) {
	type result struct{ sessions, events string }
	var first result
	for i, n := range []string{"50", "3", "1"} {
		data := t.TempDir()
		code, out, stderr := ctl(t, day(data, "--max-concurrent", n, "--export", filepath.Join(data, "out"))...)
		if code != exitDone {
			t.Fatalf("exit code %d at %s\n%s%s", code, n, out, stderr)
		}
		got := result{read(t, data, "out", "sessions.csv"), read(t, data, "out", "events.csv")}
		if i == 0 {
			first = got
			continue
		}
		if got.sessions != first.sessions {
			t.Errorf("sessions.csv at %s differs\n%s", n, difference(first.sessions, got.sessions))
		}
		if got.events != first.events {
			t.Errorf("events.csv at %s differs\n%s", n, difference(first.events, got.events))
		}
	}
	for _, outcome := range []string{",order,", ",abandoned,"} {
		if !strings.Contains(first.events, outcome) {
			t.Errorf("no event %s in a day", outcome)
		}
	}
	if !strings.Contains(first.sessions, "stayed home") {
		t.Error("no agent stayed home")
	}
	if _, err := os.Stat("throng.db"); err == nil {
		t.Error("the store was made in the working directory")
	}
}

// TestResumeWithAnotherLength checks that a killed run can be resumed with fewer cycles, but not fewer than are done, and
// that the store has the new number.
func TestResumeWithAnotherLength(t *testing.T) {
	data := t.TempDir()
	killed(t, "commit:60", "run", "shopping", "--data", data, "--set", "agents=3", "--cycles", "90", "--mock-latency", "none", "--max-concurrent", "2", "--no-adaptive", "--no-dashboard")
	if code, out, stderr := ctl(t, "resume", "--data", data, "--cycles", "1"); code != exitUsage || !strings.Contains(stderr, "more than 1") {
		t.Errorf("resumed with fewer cycles than are done: exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr := ctl(t, "resume", "--data", data, "--cycles", "80"); code != exitDone {
		t.Errorf("resumed with fewer cycles: exit code %d\n%s%s", code, out, stderr)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, "80/80") {
		t.Errorf("80/80 is not in\n%s", out)
	}
}
