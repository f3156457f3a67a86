package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// everything returns the number of rows of a run in all tables.
func everything(d *database, id engine.RunID) (n int64) {
	d.t.Helper()
	for _, table := range []string{"runs WHERE id", "sessions WHERE run", "events WHERE run", "metrics WHERE run", "checkpoints WHERE run", "trails WHERE run", "checkpoint_parts WHERE run"} {
		n += ask[int64](d, `SELECT count(*) FROM throng.`+table+` = $1`, string(id))
	}
	return n
}

// TestRemove deletes the rows of one of two runs, which can be sent again.
func TestRemove(t *testing.T) {
	d, l := newDatabase(t, pgtest.Shared(t)), newLocal(t)
	varied(l)
	l.add(removeRows + 1) // more than one statement deletes
	p := l.push(d.url)
	other := l.create("20260301-120000-efgh")
	must(t, other.Commit(t.Context(), engine.SessionRows{shopping(l.random)}))
	must(t, l.Subscribe(t.Context(), "20260301-120000-efgh", p.Target()))
	p.Start()
	must(t, p.Drain(t.Context(), run))
	must(t, p.Drain(t.Context(), "20260301-120000-efgh"))
	must(t, p.Close(t.Context()))
	all, others := everything(d, run), everything(d, "20260301-120000-efgh")

	c := Config{URL: d.url}
	w, err := Weigh(t.Context(), c, run)
	if err != nil || w.Sessions <= removeRows || w.Events == 0 || w.Rows != all {
		t.Errorf("%d rows exist; the weight is %+v, %v", all, w, err)
	}
	must(t, l.Unsubscribe(t.Context(), run, p.Target()))
	if n, err := Remove(t.Context(), c, run); err != nil || n != all {
		t.Errorf("%d rows were removed, %v, want %d", n, err, all)
	}
	if left := everything(d, run); left != 0 {
		t.Errorf("%d rows are left", left)
	}
	if n := everything(d, "20260301-120000-efgh"); n != others || others == 0 {
		t.Errorf("the other run has %d rows, before %d", n, others)
	}
	if n, err := Remove(t.Context(), c, run); err != nil || n != 0 {
		t.Errorf("again: %d rows, %v", n, err)
	}
	again := l.push(d.url)
	again.Start()
	must(t, again.Drain(t.Context(), run))
	if n := everything(d, run); n != all {
		t.Errorf("sent again: %d rows, want %d", n, all)
	}
}

// TestRemoveNeedsRights checks that nothing is deleted without the right to delete.
func TestRemoveNeedsRights(t *testing.T) {
	server := pgtest.Shared(t)
	d, l := newDatabase(t, server), newLocal(t)
	l.add(3)
	p := l.push(d.url)
	p.Start()
	must(t, p.Drain(t.Context(), run))
	role := server.Role(t)
	for _, q := range []string{`GRANT USAGE ON SCHEMA throng TO ` + role, `GRANT SELECT ON ALL TABLES IN SCHEMA throng TO ` + role} {
		if _, err := d.Exec(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
	c := Config{URL: server.URL(role, d.Config().Database)}
	if w, err := Weigh(t.Context(), c, run); err != nil || w.Sessions != 3 {
		t.Errorf("weighed %+v, %v", w, err)
	}
	if _, err := Remove(t.Context(), c, run); err == nil || !strings.Contains(err.Error(), "GRANT DELETE ON ALL TABLES IN SCHEMA throng TO") {
		t.Errorf("got %v", err)
	}
	if n := ask[int](d, `SELECT count(*) FROM throng.sessions`); n != 3 {
		t.Errorf("%d sessions are left", n)
	}
}

// TestRemoveWithoutSchema removes a run from a database without the schema.
func TestRemoveWithoutSchema(t *testing.T) {
	d := newDatabase(t, pgtest.Shared(t))
	if n, err := Remove(t.Context(), Config{URL: d.url}, run); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
}
