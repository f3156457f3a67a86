package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// visitors is a scenario that writes to a database with statements that can be repeated safely.
const visitors = `
population: {count: 30}
clock: {cycles: 2}
services:
  db: {kind: postgres, url: "secret:THRONG_TEST_DB", limits: {connections: 5, burst: 2}}
chain visit:
  step look: {kind: sql, service: db, query: "select name from places where id = $1", args: ["${int(uniform(1, 6))}"]}
  step write:
    kind: sql
    service: db
    query: >-
      insert into visits values ($1, $2, $3, $4::text[]) on conflict (id) do update set id = excluded.id returning place
    args: ["${session.uuid}", "${agent.id}", "${steps.look.first.name}", ["${now.hour}", visit]]
    repeats: harmless
  step refused: {kind: sql, service: db, query: "insert into places values (1, 'again')", on_error: continue, when: agent.index % 3 == 0}
  step told: {kind: emit, event: visited, data: "${steps.write.first}"}
`

// place makes a schema in a database with the visitors' tables, and returns its address.
func place(t *testing.T, server *pgtest.Server, database, name string) (address string) {
	t.Helper()
	conn := pgtest.Connect(t, database)
	defer func() { _ = conn.Close(t.Context()) }()
	for _, q := range []string{
		"create schema " + name,
		"create table " + name + ".places (id int primary key, name text)",
		"insert into " + name + ".places select i, 'place ' || i from generate_series(1, 5) i",
		"create table " + name + ".visits (id uuid primary key, agent text, place text, tags text[])",
	} {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return database + "?search_path=" + name
}

// visits returns the written rows without their IDs, which differ from run to run, and the number of rows.
func visits(t *testing.T, address string) (text string, n int) {
	t.Helper()
	conn := pgtest.Connect(t, address)
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), "select string_agg(v::text, E'\n' order by v::text), count(*) from (select agent, place, tags from visits) v").Scan(&text, &n); err != nil {
		t.Fatal(err)
	}
	return text, n
}

// TestSQLSteps runs at limits of 1, 7 and 50, then kills throngctl and resumes. The results are equal, each row is written
// once, and the address with its password is stored nowhere.
func TestSQLSteps(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	server := pgtest.Shared(t)
	database := server.Database(t)
	file := write(t, filepath.Join(t.TempDir(), "visitors.yaml"), visitors)
	run := func(data string, more ...string) []string {
		return append([]string{"run", file, "--data", data, "--seed", "7", "--retry-wait", "1ms", "--export", filepath.Join(data, "out")}, more...)
	}
	var sessions, events, rows string
	for _, limit := range []string{"1", "7", "50"} {
		address, data := place(t, server, database, "at"+limit), t.TempDir()
		t.Setenv("THRONG_TEST_DB", address)
		code, out, stderr := ctl(t, run(data, "--max-concurrent", limit)...)
		if code != exitDone || !strings.Contains(out, "exact") || strings.Contains(out, "inexact") {
			t.Fatalf("at %s: exit code %d\n%s%s", limit, code, out, stderr)
		}
		written, n := visits(t, address)
		if n != 60 {
			t.Errorf("at %s: %d rows, want 60", limit, n)
		}
		if sessions == "" {
			sessions, events, rows = read(t, data, "out", "sessions.csv"), read(t, data, "out", "events.csv"), written
			if !strings.Contains(rows, "visit") || strings.Count(events, "place ") != 60 {
				t.Fatalf("events\n%s\nrows\n%s", events, rows)
			}
		}
		if got := read(t, data, "out", "sessions.csv"); got != sessions {
			t.Errorf("at %s: sessions.csv differs\n%s", limit, difference(sessions, got))
		}
		if got := read(t, data, "out", "events.csv"); got != events || written != rows {
			t.Errorf("at %s: events.csv or the rows differ\n%s\n%s", limit, difference(events, got), difference(rows, written))
		}
		checkNoPassword(t, data)
	}
	const seed = 20261121
	draw := rand.New(rand.NewPCG(seed, 0))
	for i := range 3 {
		kill := fmt.Sprintf("commit:%d", 5+draw.Int64N(30))
		t.Run(kill, func(t *testing.T) {
			data := t.TempDir()
			address := place(t, server, database, "killed"+strconv.Itoa(i))
			t.Setenv("THRONG_TEST_DB", address)
			cmd, out, stderr := process(t, []string{killEnv + "=" + kill}, run(data, "--max-concurrent", "3")...)
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the run was not killed: %v\n%s%s", err, out, stderr)
			}
			if _, n := visits(t, address); n == 0 || n == 60 {
				t.Errorf("%d rows at the kill: the test would prove little", n)
			}
			code, said, problems := ctl(t, "resume", "--data", data, "--max-concurrent", "5", "--export", filepath.Join(data, "out"))
			if code != exitDone {
				t.Fatalf("resume: exit code %d\n%s%s", code, said, problems)
			}
			written, _ := visits(t, address)
			for _, c := range []struct{ what, want, got string }{
				{"sessions.csv", sessions, read(t, data, "out", "sessions.csv")},
				{"events.csv", events, read(t, data, "out", "events.csv")},
				{"the rows", rows, written},
			} {
				if c.got != c.want {
					t.Errorf("%s differ\n%s", c.what, difference(c.want, c.got))
				}
			}
			checkNoPassword(t, data)
		})
	}
}

// checkNoPassword searches all files below a folder for the password of the database, also in escaped form.
func checkNoPassword(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, password := range []string{pgtest.Password, "open%20sesame"} {
			if bytes.Contains(content, []byte(password)) {
				t.Errorf("%s contains the password", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSQLServiceElsewhere checks the errors before a database that the user has not allowed is called.
func TestSQLServiceElsewhere(t *testing.T) {
	keyring.MockInit()
	t.Setenv("THRONG_DATABASE_URL", "")
	file := write(t, filepath.Join(t.TempDir(), "visitors.yaml"), visitors)
	for _, tt := range []struct {
		secret string
		args   []string
		says   string
	}{
		{"", nil, "the secret THRONG_TEST_DB is neither in the environment nor in the keychain"},
		{"postgres://app:hunter2@db.example/shop", nil, "to allow it: --allow db.example"},
		{"postgres://app:hunter2@127.0.0.1/shop?host=db.example", nil, "--allow db.example"},
		{"mysql://app:hunter2@127.0.0.1/shop", nil, "does not begin with postgres://"},
		{"postgres://app@127.0.0.1/shop", []string{"--service", "db=postgres://app:hunter2@127.0.0.1/shop"}, "an address must not contain a password"},
		{"postgres://app@127.0.0.1/shop", []string{"--service", "db=mock:shop"}, "does not begin with postgres://"},
		{"postgres://app@127.0.0.1/shop", []string{"--service", "db=postgres://app@db.example/shop"}, "--allow db.example"},
		{"postgres://app@127.0.0.1/shop", []string{"--service", "db=secret:THRONG_TEST_NONE"}, "the secret THRONG_TEST_NONE is neither"},
	} {
		t.Setenv("THRONG_TEST_DB", tt.secret)
		code, out, stderr := ctl(t, append([]string{"run", file, "--data", t.TempDir()}, tt.args...)...)
		if code != exitUsage || !strings.Contains(stderr, tt.says) || strings.Contains(out+stderr, "hunter2") {
			t.Errorf("%s %q: exit code %d\n%s%s\nwant %s", tt.secret, tt.args, code, out, stderr, tt.says)
		}
	}
	code, out, _ := ctl(t, "validate", file)
	if code != exitDone || !strings.Contains(out, "secret:THRONG_TEST_DB") {
		t.Errorf("validate: exit code %d\n%s", code, out)
	}
}
