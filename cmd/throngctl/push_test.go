package main

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	neturl "net/url"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestPush runs while the database is down, sends the results twice later, and compares the rows with the export.
func TestPush(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	server := pgtest.New(t, pgtest.Options{})
	url := server.Database(t)
	data, out := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "out")

	code, stdout, stderr := ctl(t, "push", "--check", "--database-url", url, "--data", data)
	if code != exitDone || !strings.Contains(stdout, "PostgreSQL") || !strings.Contains(stdout, "may create the schema throng") {
		t.Fatalf("push --check: code %d\n%s%s", code, stdout, stderr)
	}
	server.Stop(t)
	if code, stdout, stderr = ctl(t, "push", "--check", "--database-url", url, "--data", data); code == exitDone {
		t.Errorf("push --check of a server that is down: code 0\n%s%s", stdout, stderr)
	}
	code, stdout, stderr = ctl(t, day(data, "--database-url", url, "--export", out)...)
	if code != exitDone || !strings.Contains(stderr, "Not all results are in") || !strings.Contains(stderr, "throngctl push") {
		t.Fatalf("run without the server: code %d\n%s%s", code, stdout, stderr)
	}
	t.Setenv("THRONG_DATABASE_URL", url)
	if code, stdout, stderr = ctl(t, "status", "--data", data); code != exitDone || !strings.Contains(stdout, "rows are not in") {
		t.Errorf("status of unsent rows: code %d\n%s%s", code, stdout, stderr)
	}
	t.Setenv("THRONG_DATABASE_URL", "")
	server.Start(t)
	u, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("THRONG_DATABASE_PASSWORD", pgtest.Password)
	parts := []string{"--database-host", u.Hostname(), "--database-port", u.Port(), "--database-user", pgtest.User, "--database-name", strings.Trim(u.Path, "/")}
	for _, where := range [][]string{{"--database-url", url}, parts} {
		code, stdout, stderr = ctl(t, append([]string{"push", "--data", data}, where...)...)
		if code != exitDone || !strings.Contains(stdout, "90 sessions") {
			t.Fatalf("push: code %d\n%s%s", code, stdout, stderr)
		}
	}
	t.Setenv("THRONG_DATABASE_URL", url)
	if code, stdout, stderr = ctl(t, "status", "--data", data); code != exitDone || !strings.Contains(stdout, "all rows are in") {
		t.Errorf("status of sent rows: code %d\n%s%s", code, stdout, stderr)
	}
	t.Setenv("THRONG_DATABASE_URL", "")
	for file, table := range map[string]string{"sessions.csv": "sessions", "events.csv": "events"} {
		rows, err := csv.NewReader(strings.NewReader(read(t, out, file))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		rows = withoutSimulated(rows)
		if len(rows) < 30 {
			t.Fatalf("%s has only %d rows", file, len(rows))
		}
		got := sent(t, url, table, rows[0])
		if !slices.EqualFunc(got, rows[1:], slices.Equal[[]string]) {
			t.Errorf("%s: %d rows in the database, %d exported, or they differ", table, len(got), len(rows)-1)
		}
	}
	code, stdout, stderr = ctl(t, "audit", "--database-url", url, "--data", data)
	if code != exitDone || !strings.Contains(stdout, "sent: sessions") || !strings.Contains(stdout, "all equal") {
		t.Errorf("audit of sent rows: code %d\n%s%s", code, stdout, stderr)
	}
	conn := pgtest.Connect(t, url)
	if _, err := conn.Exec(t.Context(), `UPDATE throng.sessions SET requests = requests + 1 WHERE cycle = 1 AND agent_index = 3`); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = ctl(t, "audit", "--database-url", url, "--data", data)
	for _, want := range []string{"sent: sessions: requests", "cycle 1, agent 3, take 0", "sent: sessions: sum of requests", "2 of them differ"} {
		if code != exitFailed || !strings.Contains(stdout, want) {
			t.Errorf("audit of a changed row: code %d, want %q\n%s%s", code, want, stdout, stderr)
		}
	}
	code, _, stderr = ctl(t, "push", "--data", data)
	if code != exitUsage || !strings.Contains(stderr, "--database-url") {
		t.Errorf("push without a database: code %d, %s", code, stderr)
	}
}

// TestPushOfRefusedRows checks the error if the database rejects rows.
func TestPushOfRefusedRows(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	server := pgtest.Shared(t)
	url := server.Database(t)
	data := filepath.Join(t.TempDir(), "data")
	if code, stdout, stderr := ctl(t, day(data, "--database-url", url)...); code != exitDone || !strings.Contains(stdout, "All results are in") {
		t.Fatalf("run: code %d\n%s%s", code, stdout, stderr)
	}
	conn := pgtest.Connect(t, url)
	if _, err := conn.Exec(t.Context(), `ALTER TABLE throng.sessions ADD CHECK (agent_index <> 3) NOT VALID`); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ctl(t, day(data, "--database-url", url)...)
	if code != exitDone || strings.Contains(stdout, "All results are in") || !strings.Contains(stderr, "rejected 3 rows") {
		t.Errorf("run: code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := ctl(t, day(data)...); code != exitDone {
		t.Fatalf("run: code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = ctl(t, "push", "--database-url", url, "--data", data)
	if code == exitDone || !strings.Contains(stderr, "rejected 3 rows") || !strings.Contains(stderr, "agent 3") {
		t.Errorf("push: code %d\n%s%s", code, stdout, stderr)
	}
}

// sent returns the columns of a table as text, in the order of the export.
func sent(t *testing.T, url, table string, columns []string) (all [][]string) {
	t.Helper()
	conn := pgtest.Connect(t, url)
	order := "cycle, agent_index"
	if table == "events" {
		order += ", sequence"
	}
	rows, err := conn.Query(t.Context(), `SELECT `+strings.Join(sentColumns(table, columns), ", ")+` FROM throng.`+table+` ORDER BY `+order)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row := make([]string, len(columns))
		to := make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// sentColumns returns the expressions of exported columns. The database has the fields of events in one column, and no
// simulated time, which is empty in what sent returns.
func sentColumns(table string, columns []string) []string {
	base := []string{"cycle", "agent_index", "agent", "session", "sequence", "step", "event"}
	all := make([]string, len(columns))
	for i, name := range columns {
		switch {
		case table != "events" || slices.Contains(base, name):
			all[i] = `coalesce("` + name + `"::text, '')`
		case name == "simulated_time":
			all[i] = `''`
		default:
			all[i] = `coalesce(data::json ->> '` + name + `', '')`
		}
	}
	return all
}

// withoutSimulated empties the column of the simulated time.
func withoutSimulated(rows [][]string) [][]string {
	if i := slices.Index(rows[0], "simulated_time"); i >= 0 {
		for _, row := range rows[1:] {
			row[i] = ""
		}
	}
	return rows
}

// TestTheDatabaseOfOtherProgramsIsOfferedOnce runs with DATABASE_URL in the environment. Results are not sent there, and a
// hint how to use it is printed once.
func TestTheDatabaseOfOtherProgramsIsOfferedOnce(t *testing.T) {
	keyring.MockInit()
	t.Setenv("THRONG_DATABASE_URL", "")
	t.Setenv("DATABASE_URL", "postgres://me:hush-hush@127.0.0.1:1/app")
	data := t.TempDir()
	args := []string{"run", "shopping", "--data", data, "--cycles", "1", "--set", "agents=2", "--mock-latency", "none", "--no-dashboard"}
	const line = "DATABASE_URL points to 127.0.0.1:1/app. Throng does not use it."
	for i, want := range []int{1, 0} {
		code, out, stderr := ctl(t, args...)
		if code != exitDone || strings.Count(stderr, line) != want || strings.Contains(out+stderr, "hush") {
			t.Errorf("run %d: exit code %d, want the offer %d times\n%s%s", i, code, want, out, stderr)
		}
	}
}
