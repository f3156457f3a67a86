package chain

import (
	"context"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// open connects the service db, if the test has one. The caller closes the pool.
func (st *stage) open(t testing.TB, s *Service) {
	t.Helper()
	if st.database == "" {
		return
	}
	d, err := database.Parse(st.database, "")
	if err != nil {
		t.Fatal(err)
	}
	client, err := service.NewPostgres(s.Name, d, database.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	st.pool = client
	s.ConnectPostgres(client, st.database)
}

func exec(t *testing.T, address string, statements ...string) {
	t.Helper()
	conn := pgtest.Connect(t, address)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, q := range statements {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// TestSQLOutput checks how args reach the database, and what expressions see of a result.
func TestSQLOutput(t *testing.T) {
	address := pgtest.Shared(t).Database(t)
	exec(t, address, "create table t (id int primary key, name text, data jsonb, tags text[], at timestamptz, ok bool)")
	functions := "mood = {'deep': [1, None], 'q': 'a\"b'}\n"
	for _, tt := range []struct{ step, shows, want string }{
		{
			`query: "insert into t values ($1, $2, $3, $4::text[], $5, $6)", args: ["${agent.index}", "${agent.id}", "${mood}", "${['x', 'y,\"z', None]}", "${now}", true]`,
			`steps.a`, `{"count":1,"rows":[],"first":null}`,
		},
		{
			`query: "select * from t"`, `steps.a.first`,
			`{"id":0,"name":"a0","data":{"q":"a\"b","deep":[1,null]},"tags":["x","y,\"z",null],"at":"2026-01-02T08:00:00Z","ok":true}`,
		},
		{`query: "select id from t where id = any($1) and name = $2", args: [[0, 5], "${agent.id}"]`, `[steps.a.count, steps.a.first.id, len(steps.a.rows)]`, `[1,0,1]`},
		{`query: "select id from t where id = $1", args: [99]`, `[steps.a.count, steps.a.first.id or "none", steps.a.rows]`, `[0,"none",[]]`},
		{`query: "select $1::jsonb j, $2::int[] a, $3::text t", args: [[1, {a: b}], [[1, 2], [3, 4]], [1]]`, `steps.a.first`, `{"j":[1,{"a":"b"}],"a":[[1,2],[3,4]],"t":"[1]"}`},
		{`query: "select $1::int a, $2::text b, $3::float8 c", args: [null, "${steps.none.x}", 1.5]`, `steps.a.first`, `{"a":null,"b":null,"c":1.5}`},
		{`query: "select 'x' || $1 as x", args: ["'; drop table t; --"]`, `steps.a.first.x`, `"x'; drop table t; --"`},
		{`query: "select nope", default: {count: 7}`, `steps.a`, `{"count":7}`},
		{`query: "delete from t returning id"`, `steps.a`, `{"count":1,"rows":[{"id":0}],"first":{"id":0}}`},
	} {
		row := stage{
			database: address, functions: functions,
			steps: "step none: {kind: emit, event: e, when: false}\nstep a: {kind: sql, service: db, " + tt.step + "}\nstep b: {kind: emit, event: e, data: '${" + tt.shows + "}'}",
		}.one(t)
		if got := events(&row); got != "e="+tt.want {
			t.Errorf("%s\n got %s\nwant %s; %s", tt.step, got, tt.want, row.Error)
		}
	}
}

// TestSQLErrors checks that an error contains neither the arguments of a step nor the database's address and password.
func TestSQLErrors(t *testing.T) {
	address := pgtest.Shared(t).Database(t)
	for _, tt := range []struct {
		step  string
		class engine.Class
		says  string
	}{
		{`query: "select $1::int", args: ["hunter2"]`, engine.ClientError, "invalid input syntax for type integer"},
		{`query: "select $1::jsonb", args: ["{hunter2"]`, engine.ClientError, "invalid input syntax for type json"},
		{`query: "select $1::int[]", args: [[1, "hunter2"]]`, engine.ClientError, "invalid input syntax for type integer"},
		{`query: "select $1::date", args: [{a: hunter2}]`, engine.ClientError, "invalid input syntax for type date"},
		{`query: "select $1::text[]", args: ["${[[[[[[[1]]]]]]]}"]`, engine.Script, "args[0]: an array of more than 6 dimensions"},
		{`query: "select $1::text", args: ["${[agent.id, fail]}"]`, engine.Script, "which is not data"},
		{`query: "select pg_sleep(9)", timeout: 20ms`, engine.Timeout, "timed out after 20 ms"},
		{`query: "select $1::int", args: [hunter], private: true`, engine.ClientError, "SQLSTATE 22P02"},
	} {
		row := stage{database: address, steps: "step a: {kind: sql, service: db, " + tt.step + "}"}.one(t)
		if row.Class != tt.class || !strings.Contains(row.Error, tt.says) || strings.Contains(row.Error, "hunter") || strings.Contains(row.Error, pgtest.Password) {
			t.Errorf("%s: class %q, %s; want %q, %s", tt.step, row.Class, row.Error, tt.class, tt.says)
		}
	}
}

func TestSQLMistakes(t *testing.T) {
	for _, tt := range []struct{ step, want string }{
		{`service: db`, "needs `query`"},
		{`query: select 1`, "needs `service`"},
		{`service: shop, query: select 1`, "the service shop is of kind http, this step needs postgres"},
		{`service: db, query: ""`, "an empty query"},
		{`service: db, query: [1]`, "`query` must be"},
		{`service: db, query: "select '${agent.id}'"`, "2:43: an expression in a query would let data become SQL (use $1 and `args`)"},
		{`service: db, query: "select 1; select 2"`, "it has more than one statement (a step for each)"},
		{`service: db, query: begin`, "a step cannot begin (its statement is a transaction of its own"},
		{`service: db, query: "select $2", args: [1]`, "the query has 2 parameters, `args` has 1 values"},
		{`service: db, query: "select 1", args: [1]`, "the query has 0 parameters, `args` has 1 values"},
		{`service: db, query: "select $1", args: {a: 1}`, "the args of a query are $1, $2 and so on"},
		{`service: db, query: "select $1", args: ["${nope}"]`, "undefined: nope"},
		{`service: db, query: "select 1", repeats: keyed`, "one of unsafe, harmless, never"},
		{`service: db, query: "select 1", json: {}`, "unknown key `json`"},
	} {
		st := stage{steps: "step a: {kind: sql, " + tt.step + "}"}
		_, report, _ := st.read(t)
		if err := report.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.step, err, tt.want)
		}
	}
	_, report, _ := (&stage{steps: "step a: {kind: http, service: db, get: /}"}).read(t)
	if err := report.Err(); err == nil || !strings.Contains(err.Error(), "the service db is of kind postgres, this step needs http") {
		t.Errorf("an http step on a database: %v", err)
	}
}

// ledger has steps that read and write; some of them fail. Repeating a write has the same result.
const ledger = `
step look: {kind: sql, service: db, query: "select name from people where id = $1", args: ["${agent.index}"]}
step note:
  kind: sql
  service: db
  query: "insert into visits values ($1, $2, $3) on conflict (agent) do update set agent = excluded.agent returning n"
  args: ["${agent.id}", "${steps.look.first.name}", "${int(uniform(0, 1000))}"]
step refused: {kind: sql, service: db, query: "insert into people values (1, 'twice')", on_error: continue}
step again:
  kind: for
  each: "[1, 2]"
  as: i
  do:
    step more: {kind: sql, service: db, query: "insert into more values ($1, $2) on conflict do nothing", args: ["${agent.id}", "${i}"]}
step told: {kind: emit, event: told, data: "${[steps.look.first.name, steps.note, steps.refused]}"}
`

// books creates the tables of a ledger in a database.
func books(t *testing.T, database, name string) (address string) {
	t.Helper()
	exec(t, database, "create schema "+name)
	address = database + "?search_path=" + name
	exec(t, address, "create table people (id int primary key, name text)", "create table visits (agent text primary key, name text, n int)",
		"create table more (agent text, i int, primary key (agent, i))", "insert into people select i, 'person ' || i from generate_series(0, 50) i")
	return address
}

// kept returns the rows that the ledgers have written.
func kept(t *testing.T, address string) (text string) {
	t.Helper()
	conn := pgtest.Connect(t, address)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	err := conn.QueryRow(t.Context(), `select (select coalesce(string_agg(v::text, ' ' order by agent), '') from visits v) ||
		(select coalesce(string_agg(m::text, ' ' order by agent, i), '') from more m)`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSQLIsTheSameAtAnyLimit compares the results of runs with limits of 1, 7 and 50.
func TestSQLIsTheSameAtAnyLimit(t *testing.T) {
	const agents = 40
	database := pgtest.Shared(t).Database(t)
	var want, wantRows string
	for _, limit := range []int{1, 7, 50} {
		address := books(t, database, "at"+itoa(limit))
		rows := stage{steps: ledger, database: address, agents: agents, change: func(s *engine.Settings) { s.Limit = limit }}.run(t)
		got, gotRows := enginetest.Results(rows), kept(t, address)
		if want == "" {
			want, wantRows = got, gotRows
			if strings.Count(want, "refused:failed:client_error") != agents || !strings.Contains(want, "person 39") || strings.Count(wantRows, "(") != 3*agents {
				t.Fatalf("%s\n%s", want, wantRows)
			}
		}
		if got != want || gotRows != wantRows {
			t.Errorf("at %d\n%s\n%s\nwant\n%s\n%s", limit, got, gotRows, want, wantRows)
		}
	}
}

// TestEveryCrashOfSQL kills a run after each row of its journal and resumes it. It checks that the results equal those
// of a run that was never killed, and that each row exists once.
func TestEveryCrashOfSQL(t *testing.T) {
	const agents = 2
	database := pgtest.Shared(t).Database(t)
	address := books(t, database, "alone")
	alone := stage{steps: ledger, database: address, agents: agents, journal: &enginetest.Journal{}}
	want := enginetest.Results(alone.run(t))
	wantRows, rows := kept(t, address), len(alone.journal.Rows())
	if rows < 10 {
		t.Fatalf("only %d rows", rows)
	}
	labels := map[engine.Label]int{}
	for dies := 1; dies <= rows; dies++ {
		st := alone
		st.database, st.journal = books(t, database, "dies"+itoa(dies)), &enginetest.Journal{DieAfter: dies}
		kill(t, st)
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
		if len(st.resume.Done) < agents && st.resume.Cycle == 0 {
			st.run(t)
		}
		if got, gotRows := enginetest.Results(st.journal.Sessions()), kept(t, st.database); got != want || gotRows != wantRows {
			t.Fatalf("killed after row %d:\n got %s\n%s\nwant %s\n%s", dies, got, gotRows, want, wantRows)
		}
		for _, row := range st.journal.Sessions() {
			for _, s := range row.Steps {
				labels[s.Label]++
			}
		}
	}
	if labels[engine.Replayed] == 0 || labels[engine.Unconfirmed] == 0 {
		t.Errorf("labels %v", labels)
	}
}
