package postgres

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// varied journals a run with values in all columns, and a session with two takes.
func varied(l *local) {
	outcomes := []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Canceled}
	for cycle := range 3 {
		var rows engine.SessionRows
		for agent := range 60 {
			s := shopping(l.random)
			s.Place = engine.Place{Cycle: cycle, Agent: agent}
			s.Started = epoch.Add(time.Duration(cycle*1000+agent) * 1234567 * time.Microsecond)
			s.Throttled = time.Duration(l.random.Int64N(1e7))
			s.Outcome = outcomes[l.random.IntN(len(outcomes))]
			switch s.Outcome {
			case engine.Failed:
				s.Class, s.Path, s.Error = engine.BadAnswer, "pay", "no JSON:\n\"<html>\", \\N"
			case engine.TimedOut:
				s.Class, s.Path = engine.Timeout, "checkout"
			case engine.Stopped:
				s.Path, s.Because = "choose", "=broke, \"really\""
			default:
			}
			s.Acted = s.Outcome == engine.OK
			s.Steps[1].Statuses, s.Steps[1].Attempts = []int{429, 503, 200}, 2
			s.Steps[2].Label = engine.Label(l.random.IntN(4))
			s.Steps[2].Usage = used(agent)
			if agent%5 == 0 {
				s.Steps, s.Events = nil, nil
			} else {
				s.Events[0].Data, s.Events[1].Data = nil, []byte(` {"b": 1.50, "a":[-5 , "böse €"]} `)
			}
			rows = append(rows, s)
			if agent%7 == 0 {
				s.Take, s.Outcome, s.Class, s.Events = 1, engine.OK, engine.NoError, nil
				rows = append(rows, s)
			}
		}
		l.journal.Append(rows, engine.BarrierRow{Cycle: cycle, At: epoch}, engine.CheckpointRow{
			At: epoch.Add(time.Duration(cycle) * time.Minute), Cycle: cycle + 1, Done: int64(60 * (cycle + 1)), Total: 180, Reason: "by time",
			State: engine.State{Totals: engine.Totals{Acted: int64(cycle)}},
		})
	}
	for i := range 20 {
		m := engine.MetricsRow{
			At:          epoch.Add(time.Duration(i) * time.Second),
			Cycle:       i / 7,
			Phase:       engine.Running,
			Ended:       int64(i),
			Acted:       1,
			Limit:       50,
			InFlight:    3,
			SecondTimes: engine.SecondTimes{Total: engine.Quantiles{Count: int64(i % 2), Mean: 1234567, P50: 1e6, P95: 2e6, P99: 3e6, Max: 4e9}, Speedup: 1.5 * float64(i), Queue: engine.Quantiles{Count: int64(i % 2), P50: 1e6, P95: 2e6, P99: 3e6, Max: 4e9}},
			SecondRates: engine.SecondRates{SessionsPerSec: 1.0004 * float64(i), WritesPerSec: math.NaN()},
			Counters:    engine.Counters{Errors: engine.Errors{engine.Panic: 3}, Usage: *used(i), Flow: engine.Flow{Parallel: int64(i), Sequential: 4, Failed: 1, Chains: int64(i), Busy: 3 * time.Second, Wall: time.Second}},
			Host:        engine.HostMetrics{CPU: 12.3456, ProcessCPU: -1, Memory: 123456789, NetIn: 1e6},
			DatabaseUse: engine.DatabaseUse{Connections: -1, ServerConnections: 12, ServerMax: 60, Pool: engine.Pool{Size: 8 * (i % 2), InUse: i, Idle: 2}, Unsent: int64(i)},
			Lag:         time.Second,
		}
		if i == 0 {
			m.Phase, m.Total = engine.Paused, engine.Quantiles{}
		}
		l.journal.Append(m)
	}
	must(l.t, l.journal.Commit(l.t.Context(), engine.EndRow{
		At: epoch.Add(time.Hour), Ending: engine.EndFinished, Reason: "all cycles done", Totals: engine.Totals{Acted: 17, Inexact: &engine.Inexact{Cycle: 1, Agent: 2, Path: "pay", Why: "timed out"}},
		Verdict: []engine.Judgment{{Criterion: engine.Criterion{Text: "error_rate < 5%"}, Value: math.NaN(), Shown: "not known", Unknown: true}},
	}))
}

// used returns usages of all sizes; some have no price.
func used(i int) *engine.Usage {
	u := &engine.Usage{Calls: int64(i), Input: int64(i) << 33, Output: 7, Hits: int64(i % 3)}
	for range i {
		u.Cost = u.Cost*13 + 7
	}
	u.Cost = (u.Cost & math.MaxInt64 % 1e16) / []int64{1, 1000, 1e9, 1e12}[i%4] * []int64{1, 1000, 1e9, 0}[i%4]
	if i%6 == 5 {
		u.Unpriced = 1
	}
	return u
}

// lastTake is the condition for sessions and events that are in the CSV files.
const lastTake = ` WHERE run = $1 AND take = (SELECT max(take) FROM throng.sessions WHERE (run, cycle, agent_index) = (x.run, x.cycle, x.agent_index)) `

// TestPushIsTheExport pushes a run and makes the rows of its CSV files by SELECT.
func TestPushIsTheExport(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	varied(l)
	p := l.push(d.url)
	p.Start()
	must(t, p.Drain(t.Context(), run))

	const stamp = `to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
	for _, file := range []struct {
		name    string
		export  func(w *bytes.Buffer) error
		from    string
		instead map[string]string // SQL expressions for columns that the table does not have
	}{
		{"sessions.csv", func(w *bytes.Buffer) error { return storage.ExportSessions(t.Context(), w, l, run, names) }, `sessions x` + lastTake + `ORDER BY cycle, agent_index`, nil},
		{"events.csv", func(w *bytes.Buffer) error { return storage.ExportEmitted(t.Context(), w, l, run, names) }, `events x` + lastTake + `ORDER BY cycle, agent_index, sequence`, nil},
		{"timings.csv", func(w *bytes.Buffer) error {
			return storage.Export(t.Context(), w, storage.CSV, "timings", l, run, names)
		}, `sessions x` + lastTake + `ORDER BY cycle, agent_index`, map[string]string{"started": fmt.Sprintf(stamp, "started")}},
		{"metrics.csv", func(w *bytes.Buffer) error {
			return storage.Export(t.Context(), w, storage.CSV, "metrics", l, run, names)
		}, `metrics WHERE run = $1 ORDER BY at`, map[string]string{"timestamp": fmt.Sprintf(stamp, "at")}},
	} {
		t.Run(file.name, func(t *testing.T) {
			var out bytes.Buffer
			must(t, file.export(&out))
			rows, err := csv.NewReader(&out).ReadAll()
			must(t, err)
			var columns []string
			for _, name := range rows[0] {
				if instead, ok := file.instead[name]; ok {
					columns = append(columns, instead)
				} else {
					columns = append(columns, `"`+name+`"::text`)
				}
			}
			got := table(t, d, `SELECT ARRAY[`+strings.Join(columns, ",")+`] FROM throng.`+file.from, string(run))
			if len(got) != len(rows)-1 || len(got) == 0 {
				t.Fatalf("got %d rows, want %d", len(got), len(rows)-1)
			}
			for i, want := range rows[1:] {
				for k, cell := range want {
					if len(cell) > 1 && strings.ContainsRune("=+-@\t\r", rune(cell[1])) {
						cell = strings.TrimPrefix(cell, "'") // for spreadsheets
					}
					if got[i][k] != cell {
						t.Errorf("row %d, %s: got %q, want %q", i, rows[0][k], got[i][k], cell)
					}
				}
			}
		})
	}

	if n, want := ask[int](d, `SELECT count(*) FROM throng.sessions`), 3*(60+9); n != want {
		t.Errorf("got %d takes of sessions, want %d", n, want)
	}
	if got := ask[string](d, `SELECT string_agg(concat_ws(' ', number, cycle, done, total, reason, at AT TIME ZONE 'UTC'), '; ' ORDER BY number) FROM throng.checkpoints WHERE size_bytes > 0`); got !=
		"1 1 60 180 by time 2026-03-01 12:00:00; 2 2 120 180 by time 2026-03-01 12:01:00; 3 3 180 180 by time 2026-03-01 12:02:00" {
		t.Errorf("got checkpoints %s", got)
	}
	record, err := l.Run(t.Context(), run)
	must(t, err)
	since := record.Inexact
	for query, want := range map[string]string{
		`concat_ws('|', id, title, scenario, scenario_hash, seed, ending, reason, cycle, cycles, done, total, parent, fork_cycle, throng_version)`: string(run) + "|Shoppers|shop.yaml|ab12|18446744073709551615|finished|all cycles done|3|3|180|180|0|v1.2.3",
		`parameters`:                      `{"odd":"no json","shops":3}`,
		`inexact`:                         fmt.Sprintf(`{"cycle":%d,"agent_index":%d,"step":%q,"why":%q}`, since.Cycle, since.Agent, since.Path, since.Why),
		`verdict`:                         `[{"metric":"","criterion":"error_rate \u003c 5%","value":null,"shown":"not known","passed":null}]`,
		`totals->>'acted'`:                "17",
		`settings->>'keep_checkpoints'`:   "10",
		`(ended - created)::text`:         "01:00:00",
		`created AT TIME ZONE 'UTC'`:      "2026-03-01 12:00:00",
		`(changed > 1700000000000000)`:    "true",
		`(parent IS NULL)`:                "true",
		`json_typeof(settings)`:           "object",
		`(SELECT count(*) FROM pg_class)`: ask[string](d, `SELECT count(*)::text FROM pg_class`),
	} {
		if got := ask[string](d, `SELECT (`+query+`)::text FROM throng.runs`); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

// table reads rows of texts; NULL is an empty text.
func table(t *testing.T, d *database, query string, args ...any) (all [][]string) {
	t.Helper()
	rows, err := d.Query(t.Context(), query, args...)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var row []*string
		must(t, rows.Scan(&row))
		texts := make([]string, len(row))
		for i, cell := range row {
			if cell != nil {
				texts[i] = *cell
			}
		}
		all = append(all, texts)
	}
	must(t, rows.Err())
	return all
}

// arrived checks that all sessions of a local store, and their events, are in a database once.
func arrived(t testing.TB, l *local, d *database) {
	t.Helper()
	if got := ask[int](d, `SELECT count(*) FROM throng.sessions`); got != l.agents { // the key keeps them from being twice
		t.Errorf("%d sessions arrived, want %d", got, l.agents)
	}
	if got := ask[int](d, `SELECT count(*) FROM throng.events`); got != 3*l.agents {
		t.Errorf("%d events arrived, want %d", got, 3*l.agents)
	}
	if got := ask[int](d, `SELECT count(*) FROM throng.sessions s WHERE events <> (SELECT count(*) FROM throng.events e
		WHERE (e.run, e.cycle, e.agent_index, e.take) = (s.run, s.cycle, s.agent_index, s.take))`); got != 0 {
		t.Errorf("%d sessions lack an event", got)
	}
}

// TestBatchesOfAnySize sends the same rows in batches of all sizes, several times, with and without a stage.
func TestBatchesOfAnySize(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	for range 4 {
		l.add(50)
	}
	must(t, l.Subscribe(t.Context(), run, "x"))
	rapid.Check(t, func(rt *rapid.T) {
		_, err := d.Exec(t.Context(), `TRUNCATE throng.runs, throng.sessions, throng.events, throng.trails`)
		must(t, err)
		var deliveries []*storage.Delivery
		rows := rapid.IntRange(1, 300).Draw(rt, "rows")
		for after := (storage.Cursor{}); ; after = deliveries[len(deliveries)-1].Cursor {
			p, err := l.Delivery(t.Context(), run, "x", after, rows)
			must(t, err)
			if deliveries = append(deliveries, p); !p.Full {
				break
			}
		}
		var b batch
		fresh := int64(0)
		for _, i := range append(rapid.SliceOfN(rapid.IntRange(0, len(deliveries)-1), 0, 2).Draw(rt, "first"), rapid.Permutation(order(len(deliveries))).Draw(rt, "order")...) {
			must(t, b.fill(run, deliveries[i], names, maker{version: "v1"}))
			s := sending{batch: &b, conn: d.Conn, staged: rapid.Bool().Draw(rt, "staged")}
			units := b.all()
			at := rapid.IntRange(0, units.len()).Draw(rt, "cut")
			must(t, s.send(t.Context(), span{0, at}))
			must(t, s.send(t.Context(), span{at, units.to}))
			fresh += s.rows - int64(len(b.head))
		}
		arrived(t, l, d)
		if want := int64(4 * l.agents); fresh != want {
			rt.Errorf("%d rows were counted as new, want %d", fresh, want)
		}
	})
}

func order(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestReplacedTexts sends texts that PostgreSQL rejects.
func TestReplacedTexts(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	bad := "a\x00b\xff\xfec\xed\xa0\x80"
	s := shopping(l.random)
	s.Path, s.Because, s.Error = bad, bad, bad
	s.Steps, s.Events = nil, []engine.Event{
		{Path: bad, Name: bad, Data: []byte(`{"a":"` + "\xff" + `"}`)},
		{Path: "x", Name: "y", Data: []byte("not json \x00\xff")},
		{Path: "x", Name: "y", Data: []byte(`{"a":"\u0000 \ud800"}`)},
		{Path: "x", Name: "y", Data: []byte(`{"a":1`)},
		{Path: "x", Name: "y", Data: bytes.Repeat([]byte("["), 20000)},
		{Path: "x", Name: "y", Data: []byte(`-1e400`)},
	}
	must(t, l.journal.Commit(t.Context(), engine.SessionRows{s}, engine.CheckpointRow{Reason: bad}, engine.EndRow{Ending: engine.EndFailed, Reason: bad}))
	p := l.push(d.url, func(c *PusherConfig) {
		c.Version = bad
		c.Names = func(context.Context, engine.RunID) (storage.Names, error) {
			return storage.Names{Agent: func(int) (string, error) { return bad, nil }, Session: names.Session}, nil
		}
	})
	p.Start()
	must(t, p.Drain(t.Context(), run))
	if s := p.Status(); s.SetAside != 0 || s.Error != "" {
		t.Errorf("got %+v", s)
	}
	const mended = "a\uFFFDb\uFFFDc\uFFFD"
	for _, column := range []string{"sessions.agent", "sessions.step", "sessions.because", "sessions.error", "events.event", "runs.reason", "checkpoints.reason", "runs.throng_version"} {
		name, column, _ := strings.Cut(column, ".")
		if got := ask[string](d, `SELECT min(`+column+`) FILTER (WHERE `+column+` <> 'y') FROM throng.`+name); got != mended {
			t.Errorf("%s.%s: got %q, want %q", name, column, got, mended)
		}
	}
	for i, want := range []string{`{"a":"` + "\uFFFD" + `"}`, `"not json ` + "\uFFFD\uFFFD" + `"`, `{"a":"\u0000 \ud800"}`, `"{\"a\":1"`, "", "-1e400"} {
		if got := ask[string](d, `SELECT data::text FROM throng.events WHERE sequence = $1`, i); want != "" && got != want {
			t.Errorf("event %d: got %s, want %s", i, got, want)
		}
	}
}

// TestReplacedTextsAreAccepted sends arbitrary texts to the server after sanitizing them.
func TestReplacedTextsAreAccepted(t *testing.T) {
	d := newDatabase(t, pgtest.Shared(t))
	piece := rapid.SampledFrom([]string{"{", "}", "[", "]", `"`, ",", ":", "1", "-", ".5", "e9", "null", "tru", "e", " ", "\x00", "\xff", "\xed\xa0\x80", "ü", `\u0000`, `\ud800`, `\`, "\n", "\x7f", "a"})
	rapid.Check(t, func(rt *rapid.T) {
		var texts, docs []string
		for _, pieces := range rapid.SliceOfN(rapid.SliceOfN(piece, 1, 12), 20, 20).Draw(rt, "texts") {
			text := strings.Join(pieces, "")
			texts, docs = append(texts, sanitize(text)), append(docs, string(sanitizeJSON([]byte(text))))
		}
		if n := ask[int](d, `SELECT count(t::json) + count(u) FROM unnest($1::text[], $2::text[]) x (t, u)`, docs, texts); n != 40 {
			rt.Errorf("%d of 40 were accepted", n)
		}
	})
}

func FuzzMendJSON(f *testing.F) {
	for _, text := range []string{`{"a":1}`, "", "\x00", "\xff", `"\ud800"`, "[[[", `"` + "\xed\xa0\x80" + `"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := sanitizeJSON(data)
		if !json.Valid(got) || bytes.ContainsRune(got, 0) || sanitize(string(got)) != string(got) {
			t.Errorf("%q became %q", data, got)
		}
		if json.Valid(data) && sanitize(string(data)) == string(data) && !bytes.Equal(got, data) {
			t.Errorf("%q was changed to %q", data, got)
		}
	})
}

// TestPoisonedRows makes the server reject some rows: they are skipped, and all others arrive.
func TestPoisonedRows(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	for _, q := range []string{`ALTER TABLE throng.sessions ADD CHECK (agent_index NOT IN (0, 700, 701, 1999))`, `ALTER TABLE throng.metrics ADD CHECK (in_flight < 5)`} {
		_, err := d.Exec(t.Context(), q)
		must(t, err)
	}
	l.add(2000)
	must(t, l.journal.Commit(t.Context(), engine.MetricsRow{At: epoch, InFlight: 9}, engine.MetricsRow{At: epoch.Add(time.Second)}))
	var log bytes.Buffer
	p := l.push(d.url, logTo(&log))
	p.Start()
	must(t, p.Drain(t.Context(), run))
	if got := ask[int](d, `SELECT count(*) FROM throng.sessions`); got != 1996 {
		t.Errorf("%d sessions arrived, want 1996", got)
	}
	if got := ask[int](d, `SELECT count(*) FROM throng.metrics`); got != 1 {
		t.Errorf("%d metrics arrived, want 1", got)
	}
	if s := p.Status(); s.SetAside != 5 || !strings.Contains(s.Refused, "metrics of 2026-03-01T12:00:00Z") || s.Sent <= 1996*4 || s.Sent > 1996*4+5 {
		t.Errorf("got %+v", s)
	}
	must(t, p.Close(t.Context()))
	for _, agent := range []int{0, 700, 701, 1999} {
		if !strings.Contains(log.String(), fmt.Sprintf("agent %d, take 0", agent)) {
			t.Errorf("the log does not name agent %d:\n%s", agent, &log)
		}
	}
}

// TestOtherEncoding sends to a database that cannot store every character.
func TestOtherEncoding(t *testing.T) {
	url := pgtest.Shared(t).Database(t, "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	d := &database{pgtest.Connect(t, url+"?client_encoding=UTF8"), t, url}
	l := newLocal(t)
	rows := engine.SessionRows{shopping(l.random), shopping(l.random), shopping(l.random)}
	for i := range rows {
		rows[i].Agent, rows[i].Because = i, []string{"böse", "€", ""}[i]
	}
	l.journal.Append(rows)
	must(t, l.journal.Commit(t.Context()))
	p := l.push(url)
	p.Start()
	must(t, p.Drain(t.Context(), run))
	if got := ask[string](d, `SELECT string_agg(agent_index || coalesce(because, ''), ' ' ORDER BY agent_index) FROM throng.sessions`); got != "0böse 2" {
		t.Errorf("got %s", got)
	}
	if s := p.Status(); s.SetAside != 1 || !strings.Contains(s.Refused, "session of cycle 0, agent 1, take 0") {
		t.Errorf("got %+v", s)
	}
	must(t, p.Close(t.Context()))
	must(t, d.Close(t.Context()))
}

// TestNoRowIsTaken makes the server reject every row: this is not considered an error of the rows, and they are kept.
func TestNoRowIsTaken(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	_, err := d.Exec(t.Context(), `ALTER TABLE throng.sessions ADD CONSTRAINT never CHECK (agent_index < 0)`)
	must(t, err)
	l.add(300)
	p := l.push(d.url)
	p.Start()
	if err := p.Drain(t.Context(), run); err == nil || !strings.Contains(err.Error(), "300 rows of run") || !strings.Contains(err.Error(), "kept and sent later") {
		t.Errorf("got %v", err)
	}
	if s := p.Status(); s.SetAside != 0 || !strings.Contains(s.Error, "never") {
		t.Errorf("got %+v", s)
	}
	_, err = d.Exec(t.Context(), `ALTER TABLE throng.sessions DROP CONSTRAINT never`)
	must(t, err)
	must(t, p.Drain(t.Context(), run))
	arrived(t, l, d)
}
