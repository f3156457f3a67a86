package service

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// serverOf returns a client of a new database of a server.
func serverOf(t *testing.T, server *pgtest.Server, limits database.Limits) (p *Postgres, address string) {
	t.Helper()
	address = server.Database(t)
	d, err := database.Parse(address, "")
	if err != nil {
		t.Fatal(err)
	}
	if p, err = NewPostgres("db", d, limits); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, address
}

// sql returns a statement; args are strings, or nil for NULL.
func sql(t *testing.T, query string, args ...any) database.Statement {
	t.Helper()
	q, err := database.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	s := database.Statement{Query: q}
	for _, arg := range args {
		if arg == nil {
			s.Args = append(s.Args, nil)
			continue
		}
		s.Args, s.Values = append(s.Args, []byte(arg.(string))), append(s.Values, arg.(string))
	}
	return s
}

// ask runs one statement in a session of its own and returns its row and answer.
func (p *Postgres) ask(t *testing.T, st stage, s database.Statement, change func(*Call)) (*engine.SessionRow, string) {
	t.Helper()
	var body string
	row := st.play(t, func(s1 *engine.Session) {
		c := callOf(s1, "step")
		c.Retry.Wait = 0
		if change != nil {
			change(c)
		}
		answer, err := p.Do(c, s)
		if answer != nil {
			body = string(answer.Body)
		}
		end(s1, c, err)
	})
	return row, body
}

// execute executes statements as the superuser, on a connection of its own.
func execute(t *testing.T, address string, statements ...string) {
	t.Helper()
	conn := pgtest.Connect(t, address)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, q := range statements {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// number returns the result of a query for one number.
func number(t *testing.T, address, query string) (n int) {
	t.Helper()
	conn := pgtest.Connect(t, address)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("not in time: %s", what)
			return
		}
	}
}

// TestValues checks the conversion of Postgres types.
func TestValues(t *testing.T) {
	p, _ := serverOf(t, pgtest.Shared(t), database.Limits{})
	for _, tt := range []struct{ query, want string }{
		{"1 a, -2::bigint b, 3::smallint c", `{"a":1,"b":-2,"c":3}`},
		{"true a, false b, null::int c", `{"a":true,"b":false,"c":null}`},
		{"1.5::float8 a, 1e20::float8 b, 'NaN'::float8 c, '-Infinity'::float4 d, 0.1::float4 e", `{"a":1.5,"b":1e+20,"c":"NaN","d":"-Infinity","e":0.1}`},
		{"12.30 a, 100000000000000000000000 b, 0.1234567890123456789012 c, 'NaN'::numeric d, -7.00 e", `{"a":12.30,"b":100000000000000000000000,"c":"0.1234567890123456789012","d":"NaN","e":-7.00}`},
		{`'a"b\c'::text a, 'x'::char(3) b, 'é'::varchar c, '' d`, `{"a":"a\"b\\c","b":"x  ","c":"é","d":""}`},
		{
			"'2026-01-02 08:00:00+02'::timestamptz a, '2026-01-02 08:00:00.5'::timestamp b, '2026-01-02'::date c, '08:00'::time d, 'infinity'::timestamptz e, '2026-01-01 BC'::timestamp f",
			`{"a":"2026-01-02T06:00:00Z","b":"2026-01-02T08:00:00.5","c":"2026-01-02","d":"08:00:00","e":"infinity","f":"2026-01-01 00:00:00 BC"}`,
		},
		{`'{"b": [1, null], "a": "x"}'::json a, '[1.0, {"k": true}]'::jsonb b, 'null'::jsonb c`, `{"a":{"b":[1,null],"a":"x"},"b":[1.0,{"k":true}],"c":null}`},
		{`array[1,null,3] a, '{}'::text[] b, array['a','b,c','"q"','NULL',''] c, array[[1,2],[3,4]] d, '[2:3]={5,6}'::int[] e`, `{"a":[1,null,3],"b":[],"c":["a","b,c","\"q\"","NULL",""],"d":[[1,2],[3,4]],"e":[5,6]}`},
		{`array['{"a": 1}'::jsonb] a, array[true,false] b, array['2026-01-02 08:00:00'::timestamptz] c`, `{"a":[{"a":1}],"b":[true,false],"c":["2026-01-02T08:00:00Z"]}`},
		{`'\x00ff'::bytea a, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid b, '10.0.0.1'::inet c, int4range(1, 3) d`, `{"a":"AP8=","b":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","c":"10.0.0.1","d":"[1,3)"}`},
	} {
		row, body := p.ask(t, stage{}, sql(t, "select "+tt.query), nil)
		if want := `{"count":1,"rows":[` + tt.want + `]}`; body != want {
			t.Errorf("%s\n got %s\nwant %s; %s", tt.query, body, want, row.Error)
		}
	}
}

// TestStatements checks the results and effects of statements.
func TestStatements(t *testing.T) {
	p, address := serverOf(t, pgtest.Shared(t), database.Limits{})
	execute(t, address, "create table notes (id int primary key, of text, data jsonb, tags text[])")
	for _, tt := range []struct {
		s       database.Statement
		want    string
		journal int // intents
		written int64
	}{
		{sql(t, "insert into notes values ($1, $2, $3, $4)", "1", "a", `{"x": [1]}`, `{"p","q,r"}`), `{"count":1,"rows":[]}`, 1, 1},
		{sql(t, "insert into notes values ($1, $2), ($3, $2) returning id, of", "2", nil, "3"), `{"count":2,"rows":[{"id":2,"of":null},{"id":3,"of":null}]}`, 1, 2},
		{sql(t, "insert into notes values ($1) on conflict do nothing", "2"), `{"count":0,"rows":[]}`, 1, 0},
		{sql(t, "update notes set of = $1 where id > $2", "b", "1"), `{"count":2,"rows":[]}`, 1, 2},
		{sql(t, "select id, data->'x' x, tags from notes where of = any($1) order by 1", `{"a","c"}`), `{"count":1,"rows":[{"id":1,"x":[1],"tags":["p","q,r"]}]}`, 0, 0},
		{sql(t, " -- all\n (select count(*) n from notes);"), `{"count":1,"rows":[{"n":3}]}`, 0, 0},
		{sql(t, "with gone as (delete from notes where id = 3 returning id) select id from gone"), `{"count":1,"rows":[{"id":3}]}`, 1, 0},
		{sql(t, "values ($1::int), (2)", "1"), `{"count":2,"rows":[{"column1":1},{"column1":2}]}`, 0, 0},
		{sql(t, "show timezone"), `{"count":1,"rows":[{"TimeZone":"UTC"}]}`, 0, 0},
		{sql(t, "table notes limit 0"), `{"count":0,"rows":[]}`, 0, 0},
		{sql(t, "select from notes limit 1"), `{"count":1,"rows":[{}]}`, 0, 0},
		{sql(t, "select count(*) n from pg_prepared_statements"), `{"count":1,"rows":[{"n":0}]}`, 0, 0}, // a pooler would not keep them
		{sql(t, "create table more (x int)"), `{"count":0,"rows":[]}`, 1, 0},
		{sql(t, "do $$ begin insert into more values (1); end $$"), `{"count":0,"rows":[]}`, 1, 0},
	} {
		before, st := p.Written(), stage{journal: &enginetest.Journal{}}
		row, body := p.ask(t, st, tt.s, nil)
		if body != tt.want || row.Outcome != engine.OK {
			t.Errorf("%s\n got %s\nwant %s; %s", tt.s.Query.Text, body, tt.want, row.Error)
		}
		if n := len(enginetest.Of[engine.IntentRow](st.journal)); n != tt.journal || p.Written()-before != tt.written {
			t.Errorf("%s: %d intents, %d rows written; want %d, %d", tt.s.Query.Text, n, p.Written()-before, tt.journal, tt.written)
		}
	}
}

// TestTroubleOfStatements checks the classes of failures, whether they are retried, and that their texts contain neither the step's
// values nor the password.
func TestTroubleOfStatements(t *testing.T) {
	p, address := serverOf(t, pgtest.Shared(t), database.Limits{})
	execute(t, address,
		"create table u (id int primary key, name text check (name <> 'no'))", "insert into u values (1, 'x')", "create sequence calls",
		`create function flaky(state text, good int) returns int language plpgsql as $$
			begin if nextval('calls') < good then raise exception 'come again' using errcode = state; end if; return 7; end $$`,
		"create function refuse(what text) returns int language plpgsql as $$ begin raise exception 'no stock of % for 7', what; end $$",
	)
	for _, tt := range []struct {
		s        database.Statement
		class    engine.Class
		attempts int
		says     string
	}{
		{sql(t, "selec 1"), engine.ClientError, 1, `syntax error at or near "selec" (SQLSTATE 42601)`},
		{sql(t, "select * from nowhere"), engine.ClientError, 1, `relation "nowhere" does not exist`},
		{sql(t, "insert into u values ($1, $2)", "1", "hunter2"), engine.ClientError, 1, "duplicate key value violates unique constraint"},
		{sql(t, "select $1::int", "hunter2"), engine.ClientError, 1, "invalid input syntax for type integer: …"},
		{sql(t, "select * from u where id = $1", "9h9"), engine.ClientError, 1, "invalid input syntax"},
		{sql(t, "insert into u values (2, refuse($1)::text)", "hunter2"), engine.ClientError, 1, "no stock of … for 7 (SQLSTATE P0001)"},
		{sql(t, "select refuse($1)", "7"), engine.ClientError, 1, "no stock of … for … (SQLSTATE P0001)"},
		{sql(t, "select $1::text[]", `["hunter2"]`), engine.ClientError, 1, "$1::text[]"},
		{sql(t, "select flaky('40001', 1)"), engine.ClientError, 1, "repeats: unsafe"},
		{sql(t, "select 1 a, 2 a"), engine.ClientError, 1, "two columns have one name, a"},
		{sql(t, "select g from generate_series(1, 10001) g"), engine.ClientError, 1, "LIMIT"},
		{sql(t, "select repeat('x', 40000) x from generate_series(1, 1000)"), engine.ClientError, 1, "32 MB"},
		{sql(t, "insert into u select g from generate_series(100, 20000) g returning id"), engine.ClientError, 1, "LIMIT"},
	} {
		row, body := p.ask(t, stage{}, tt.s, nil)
		if row.Class != tt.class || row.Steps[0].Attempts != tt.attempts || !strings.Contains(row.Error, tt.says) || body != "" {
			t.Errorf("%s: class %q, %d attempts, %s; want %q, %d, %s", tt.s.Query.Text, row.Class, row.Steps[0].Attempts, row.Error, tt.class, tt.attempts, tt.says)
		}
		if row.Steps[0].Label != engine.Fresh || strings.Contains(row.Error, "is not known") {
			t.Errorf("%s: the server answered, got %v: %s", tt.s.Query.Text, row.Steps[0].Label, row.Error)
		}
		if strings.Contains(row.Error, "hunter2") || strings.Contains(row.Error, "9h9") || strings.Contains(row.Error, pgtest.Password) {
			t.Errorf("%s reveals too much: %s", tt.s.Query.Text, row.Error)
		}
	}
	if n := number(t, address, "select count(*) from u"); n != 1+19901 {
		t.Errorf("%d rows: a statement whose answer is too long is done all the same", n)
	}
	for _, tt := range []struct {
		state    string
		class    engine.Class
		attempts int
	}{
		{"40001", engine.NoError, 3},
		{"40P01", engine.NoError, 3},
		{"53300", engine.NoError, 3},
		{"57P01", engine.NoError, 3},
		{"57014", engine.NoError, 3},
		{"55P03", engine.NoError, 3},
		{"23505", engine.ClientError, 1},
		{"P0001", engine.ClientError, 1},
	} {
		for _, once := range []bool{false, true} { // an error means that nothing was done
			execute(t, address, "alter sequence calls restart")
			s := sql(t, "select flaky($1, 3)", tt.state)
			s.Changes = true
			row, _ := p.ask(t, stage{}, s, func(c *Call) { c.Once = once })
			if got := row.Steps[0]; row.Class != tt.class || got.Attempts != tt.attempts || got.Label != engine.Fresh {
				t.Errorf("%s: class %q, %d attempts, %v; want %q, %d: %s", tt.state, row.Class, got.Attempts, got.Label, tt.class, tt.attempts, row.Error)
			}
		}
	}
	row, _ := p.ask(t, stage{}, sql(t, "select refuse('a')"), func(c *Call) { c.Private = true })
	if row.Error != "SQLSTATE P0001" {
		t.Errorf("a private step reveals %s", row.Error)
	}
}

// TestUnreachableDatabase checks the error of a step whose database cannot be reached or refuses the connection.
func TestUnreachableDatabase(t *testing.T) {
	server := pgtest.Shared(t)
	u, err := url.Parse(server.URL(pgtest.User, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(u *url.URL)) string { v := *u; change(&v); return v.String() }
	for _, tt := range []struct {
		address, says string
		class         engine.Class
		attempts      int
	}{
		{with(func(u *url.URL) { u.Path = "gone" }), `database "gone" does not exist`, engine.ClientError, 1},
		{with(func(u *url.URL) { u.User = url.UserPassword(pgtest.User, "hunter2") }), "refuses the connection", engine.ClientError, 1},
		{with(func(u *url.URL) { u.Host = "127.0.0.1:1" }), "nothing answers at 127.0.0.1:1/postgres", engine.Network, 5},
		{with(func(u *url.URL) { u.RawQuery = "sslmode=require" }), "offers no encryption", engine.Network, 5},
	} {
		d, err := database.Parse(tt.address, "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPostgres("db", d, database.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		row, _ := p.ask(t, stage{}, sql(t, "insert into x values (1)"), func(c *Call) { c.Once = true })
		if row.Class != tt.class || row.Steps[0].Attempts != tt.attempts || !strings.Contains(row.Error, tt.says) {
			t.Errorf("class %q, %d attempts: %s; want %q, %d, %s", row.Class, row.Steps[0].Attempts, row.Error, tt.class, tt.attempts, tt.says)
		}
		if strings.Contains(row.Error, "hunter2") || strings.Contains(row.Error, pgtest.Password) {
			t.Errorf("the password is shown: %s", row.Error)
		}
		if text, err := d.Check(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), pgtest.Password) {
			t.Errorf("check: %s, %v", text, err)
		}
		p.Close()
	}
	d, err := database.Parse(u.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := d.Check(t.Context()); err != nil || !strings.Contains(text, "PostgreSQL ") || !strings.Contains(text, " connections free, not encrypted") {
		t.Errorf("check: %s, %v", text, err)
	}
}

// TestTimeoutsCancel checks that the server cancels a statement that timed out.
func TestTimeoutsCancel(t *testing.T) {
	p, address := serverOf(t, pgtest.Shared(t), database.Limits{})
	execute(t, address, "create table t (x int)")
	for _, tt := range []struct {
		query string
		label engine.Label
	}{{"select pg_sleep(100)", engine.Fresh}, {"insert into t select 1 from pg_sleep(100)", engine.Unconfirmed}} {
		row, _ := p.ask(t, stage{}, sql(t, tt.query), func(c *Call) { c.Timeout, c.Retry.Attempts = 500*time.Millisecond, 2 })
		if row.Class != engine.Timeout || row.Steps[0].Attempts != 2 || row.Steps[0].Label != tt.label {
			t.Errorf("%s: class %q, %d attempts, %v: %s", tt.query, row.Class, row.Steps[0].Attempts, row.Steps[0].Label, row.Error)
		}
	}
	row, _ := p.ask(t, stage{}, sql(t, "insert into t select 1 from pg_sleep(100)"), func(c *Call) { c.Timeout, c.Once = 500*time.Millisecond, true })
	if row.Class != engine.Timeout || row.Steps[0].Attempts != 1 || row.Steps[0].Label != engine.NotRepeated || !strings.Contains(row.Error, "is not known") {
		t.Errorf("a statement that must not be repeated: class %q, %d attempts, %v: %s", row.Class, row.Steps[0].Attempts, row.Steps[0].Label, row.Error)
	}
	until(t, "the server still sleeps", func() bool {
		return number(t, address, "select count(*) from pg_stat_activity where query like '%pg_sleep(100)%' and state = 'active' and pid <> pg_backend_pid()") == 0
	})
}

// TestPoolBursts runs 61 concurrent statements: 60 have connections, one waits with its clock paused; later the pool shrinks to 50.
func TestPoolBursts(t *testing.T) {
	p, address := serverOf(t, pgtest.New(t, pgtest.Options{MaxConnections: 100}), database.Limits{BurstIdle: 50 * time.Millisecond, Timeout: 10 * time.Minute})
	lock := pgtest.Connect(t, address)
	exec := func(q string) {
		if _, err := lock.Exec(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	exec("select pg_advisory_lock(1)")
	const all = 61
	var held int
	var failed []error
	row := stage{}.play(t, func(s *engine.Session) {
		var running sync.WaitGroup
		var mu sync.Mutex
		for i := range all {
			c := callOf(s, fmt.Sprintf("step%d", i))
			running.Go(func() {
				_, err := p.Do(c, sql(t, "select pg_advisory_xact_lock_shared(1)"))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed = append(failed, err)
				}
				if c.Record.Throttled > 0 {
					held++
				}
			})
			if i < all-1 { // one after the other, because a busy machine does not connect 60 in time
				until(t, "one more at work", func() bool { return p.Pool().InUse == i+1 })
			}
		}
		until(t, "60 at work and one that waits", func() bool {
			_, in, waiting := p.pool.Limit.State()
			return in == 60 && waiting == 1 && p.Open() == 60
		})
		exec("select pg_advisory_unlock(1)")
		running.Wait()
		s.Row.Outcome = engine.OK
	})
	if row == nil || len(failed) > 0 || held != 1 {
		t.Errorf("%d failed, %d were held; want none and one: %v", len(failed), held, failed)
	}
	until(t, "the burst is closed", func() bool { return p.Open() == 50 })
	if err := lock.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestPoolIsFull checks a step that waits too long for a connection.
func TestPoolIsFull(t *testing.T) {
	p, _ := serverOf(t, pgtest.Shared(t), database.Limits{Connections: 1, Burst: -1, Wait: 20 * time.Millisecond})
	if !p.pool.Limit.TryAcquire() {
		t.Fatal("no place in an empty pool")
	}
	row, _ := p.ask(t, stage{}, sql(t, "select 1"), nil)
	if row.Class != engine.RateLimited || row.Steps[0].Attempts != 0 || !strings.Contains(row.Error, "all 1 and 0 more were in use for 20 ms") {
		t.Errorf("class %q, %d attempts: %s", row.Class, row.Steps[0].Attempts, row.Error)
	}
	if row.Throttled < 20*time.Millisecond {
		t.Errorf("held for %s", row.Throttled)
	}
	p.pool.Limit.Release()
	if _, body := p.ask(t, stage{}, sql(t, "select 1 a"), nil); body != `{"count":1,"rows":[{"a":1}]}` {
		t.Errorf("then %s", body)
	}
}

// TestPoolIsWaitedFor checks that a step waits for a connection without limit, as for any other slot.
func TestPoolIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := database.Parse("postgres://u@127.0.0.1:1/d", "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPostgres("db", d, database.Limits{Connections: 1, Burst: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if !p.pool.Limit.TryAcquire() {
			t.Fatal("no place in an empty pool")
		}
		time.AfterFunc(time.Hour, p.pool.Limit.Release)
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			err := p.enter(c.Clock.Context(), c)
			if err == nil {
				p.pool.Limit.Release()
			}
			end(s, c, err)
		})
		if row.Outcome != engine.OK || row.Throttled != time.Hour {
			t.Errorf("%s %q, held for %s", row.Outcome, row.Error, row.Throttled)
		}
	})
}

// TestServerRestarts checks that sessions survive a restart of the server.
func TestServerRestarts(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	p, address := serverOf(t, server, database.Limits{})
	hurry(p.breaker)
	execute(t, address, "create table t (x int primary key)")
	const all = 300
	var failed []error
	stage{}.play(t, func(s *engine.Session) {
		var mu sync.Mutex
		var running sync.WaitGroup
		next := make(chan *Call)
		for range 8 {
			running.Go(func() {
				for c := range next {
					c.Retry = engine.Retry{Attempts: 50, Wait: 20 * time.Millisecond, Max: 200 * time.Millisecond}
					if _, err := p.Do(c, sql(t, "insert into t values ($1) on conflict do nothing", c.Path)); err != nil {
						mu.Lock()
						failed = append(failed, err)
						mu.Unlock()
					}
				}
			})
		}
		for i := range all {
			if i == all/2 {
				server.Stop(t)
				running.Go(func() { server.Start(t) })
			}
			next <- callOf(s, fmt.Sprint(i))
		}
		close(next)
		running.Wait()
		s.Row.Outcome = engine.OK
	})
	if n := number(t, address, "select count(*) from t"); len(failed) > 0 || n != all {
		t.Errorf("%d rows, want %d; failed: %v", n, all, failed)
	}
}
