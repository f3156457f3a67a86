package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// compared returns which rows and columns differ between the database and the store, as table and name, and the number of
// compared values.
func (l *local) compared(url string) (differ []string, n int) {
	l.t.Helper()
	must(l.t, Compare(l.t.Context(), Config{URL: url}, l, run, names, func(table, figure, where string, same bool, there, here any) {
		if slices.ContainsFunc([]string{"sum of ", "that ", "all takes", "of last takes"}, func(sum string) bool { return strings.HasPrefix(figure, sum) }) {
			return // the totals of varied do not belong to its sessions
		}
		n++
		if !same {
			differ = append(differ, fmt.Sprintf("%s %s %s: %v, %v", table, figure, where, there, here))
		}
	}))
	return differ, n
}

// TestCompareFindsDamage changes each column of each table in the database, removes rows and adds some.
func TestCompareFindsDamage(t *testing.T) {
	l := newLocal(t)
	varied(l)
	d := newDatabase(t, pgtest.Shared(t))
	err := Compare(t.Context(), Config{URL: d.url}, l, run, names, nil)
	if err == nil {
		t.Error("a database without the schema was compared")
	}
	p := l.push(d.url)
	p.Start()
	must(t, p.Drain(t.Context(), run))
	if differ, n := l.compared(d.url); len(differ) > 0 || n < 500 {
		t.Errorf("of %d compared values differ:\n%s", n, strings.Join(differ, "\n"))
	}
	if err := Compare(t.Context(), Config{URL: d.url}, l, "20260301-120000-none", names, nil); err == nil {
		t.Error("an unknown run was compared")
	}

	damage := func(name, statement string) {
		t.Helper()
		tx, err := d.Begin(t.Context())
		must(t, err)
		_, err = tx.Exec(t.Context(), statement)
		must(t, err)
		must(t, tx.Commit(t.Context()))
		differ, _ := l.compared(d.url)
		if !strings.Contains(strings.Join(differ, "\n"), name) {
			t.Errorf("after %s these differ, want %s:\n%s", statement, name, strings.Join(differ, "\n"))
		}
	}
	keep := func(table string) { must1(t, d, "CREATE TABLE kept_"+table+" AS TABLE throng."+table) }
	restore := func(table string) {
		must1(t, d, "TRUNCATE throng."+table)
		must1(t, d, "INSERT INTO throng."+table+" SELECT * FROM kept_"+table)
	}
	first := map[string]string{
		"sessions": "cycle = 1 AND agent_index = 8 AND take = 0",
		"events":   "cycle = 1 AND agent_index = 8 AND take = 0 AND sequence = 1",
		"metrics":  "at = (SELECT min(at) FROM throng.metrics)",
	}
	for table, where := range first {
		keep(table)
		columns := map[string][]string{"sessions": sessionsTable.columns, "events": eventsTable.columns, "metrics": metricsTable.columns}[table]
		for i, c := range columns {
			if table == "metrics" && i > 3 && i%9 > 0 { // similar columns are tested once
				continue
			}
			value := ask[string](d, "SELECT data_type FROM information_schema.columns WHERE table_schema = 'throng' AND table_name = $1 AND column_name = $2", table, c)
			to := map[string]string{
				"text": "'other'", "integer": "77777", "bigint": "77777", "double precision": "0.125", "boolean": "NOT \"" + c + "\"", "numeric": "0.5",
				"json": "'[1]'", "timestamp with time zone": "timestamptz '2001-01-01 00:00:00Z'",
			}[value]
			want := table + " " + c
			if slices.Contains([]string{"run", "agent_index", "take", "sequence", "at"}, c) || c == "cycle" && table != "metrics" {
				want = table + " rows"
			}
			damage(want, fmt.Sprintf(`UPDATE throng.%s SET "%s" = %s WHERE %s`, table, c, to, where))
			restore(table)
		}
		damage(table+" rows", "DELETE FROM throng."+table+" WHERE "+where)
		restore(table)
	}
	keep("runs")
	for _, c := range []string{"title = 'x'", "done = done + 1", "total = 7", "cycle = 9", "inexact = '{}'"} {
		damage(strings.Fields(c)[0], "UPDATE throng.runs SET "+c)
		restore("runs")
	}
	keep("checkpoints")
	damage("checkpoints rows", "UPDATE throng.checkpoints SET done = done + 1 WHERE number = 2")
	restore("checkpoints")
	damage("checkpoints rows", "DELETE FROM throng.checkpoints WHERE number = 3")
	restore("checkpoints")

	// As sent by an older Throng without trails.
	damage("sessions trail", "UPDATE throng.sessions SET trail = NULL WHERE "+first["sessions"])
	must1(t, d, "DELETE FROM throng.trails")
	must1(t, d, "UPDATE throng.sessions SET trail = NULL")
	if differ, _ := l.compared(d.url); len(differ) > 0 {
		t.Errorf("of the rows of an older Throng differ:\n%s", strings.Join(differ, "\n"))
	}
}

// TestTotalsOfOlderThrong checks that totals which the sender did not know are equal if they are 0.
func TestTotalsOfOlderThrong(t *testing.T) {
	for here, same := range map[string]bool{
		`{"sessions":3,"labels":{"fresh":2}}`:                 true,
		`{"sessions":3,"labels":{"fresh":2,"recorded":0}}`:    true,
		`{"sessions":3,"labels":{"fresh":2,"recorded":1}}`:    false,
		`{"sessions":3,"labels":{"fresh":1}}`:                 false,
		`{"sessions":4,"labels":{"fresh":2}}`:                 false,
		`{"labels":{"fresh":2}}`:                              false,
		`{"sessions":3,"labels":{"fresh":2},"asked":{"n":1}}`: false,
	} {
		if sameTotals(`{"sessions":3,"labels":{"fresh":2}}`, here) != same {
			t.Errorf("%s: want %t", here, same)
		}
	}
}

func must1(t *testing.T, d *database, statement string) {
	t.Helper()
	_, err := d.Exec(t.Context(), statement)
	must(t, err)
}

// TestCompareOfAnotherRun checks the error for a run that was never sent.
func TestCompareOfAnotherRun(t *testing.T) {
	l := newLocal(t)
	l.add(3)
	d := newDatabase(t, pgtest.Shared(t))
	p := l.push(d.url)
	p.Start()
	must(t, p.Drain(t.Context(), run))
	must(t, l.create("20260301-120000-efgh").Close(t.Context()))
	err := Compare(t.Context(), Config{URL: d.url}, l, "20260301-120000-efgh", names, nil)
	if field, ok := errors.AsType[*engine.FieldError](err); !ok || !strings.Contains(field.Hint, "throngctl push") {
		t.Errorf("an unknown run: %v", err)
	}
}
