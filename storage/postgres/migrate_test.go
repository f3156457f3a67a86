package postgres

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestMigrateConcurrently migrates an empty database from several processes.
func TestMigrateConcurrently(t *testing.T) {
	d := newDatabase(t, pgtest.Shared(t))
	var all sync.WaitGroup
	for range 6 {
		conn := pgtest.Connect(t, d.url)
		all.Go(func() {
			if err := errors.Join(migrate(t.Context(), conn), migrate(t.Context(), conn), conn.Close(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := ask[string](d, `SELECT string_agg(version || ' ' || name, ', ') FROM throng.migrations`); got != "1 schema" {
		t.Errorf("got %s", got)
	}
}

func TestMigrateLeavesNewer(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	_, err := d.Exec(t.Context(), `INSERT INTO throng.migrations (version, name) VALUES (99, 'tomorrow')`)
	must(t, err)
	if err := migrate(t.Context(), d.Conn); !errors.Is(err, engine.ErrNewer) || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("got %v", err)
	}
	l.add(10)
	p := l.push(d.url)
	p.Start()
	if err := p.Drain(t.Context(), run); !errors.Is(err, engine.ErrNewer) {
		t.Errorf("got %v", err)
	}
	if n := ask[int](d, `SELECT count(*) FROM throng.sessions`); n != 0 {
		t.Errorf("%d rows were sent", n)
	}
	if r, err := Check(t.Context(), Config{URL: d.url}); !errors.Is(err, engine.ErrNewer) || r.Schema != 99 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestColumnsAreThere compares the tables with the copied columns, and requires comments.
func TestColumnsAreThere(t *testing.T) {
	d := newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	for _, table := range []copied{sessionsTable, eventsTable, metricsTable} {
		var got []string
		must(t, d.QueryRow(t.Context(), `SELECT array_agg(column_name::text ORDER BY column_name COLLATE "C") FROM information_schema.columns
			WHERE table_schema = 'throng' AND table_name = $1`, table.name).Scan(&got))
		if want := slices.Sorted(slices.Values(table.columns)); !slices.Equal(got, want) {
			t.Errorf("%s: got  %v\nwant %v", table.name, got, table.columns)
		}
	}
	var without []string
	must(t, d.QueryRow(t.Context(), `SELECT array_agg(relname::text) FROM pg_class WHERE relnamespace = 'throng'::regnamespace AND relkind IN ('r', 'v')
		AND obj_description(oid, 'pg_class') IS NULL`).Scan(&without))
	if len(without) > 0 {
		t.Errorf("tables and views without a comment: %v", without)
	}
	without = nil
	must(t, d.QueryRow(t.Context(), `SELECT array_agg(attrelid::regclass || '.' || attname) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE relnamespace = 'throng'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped
		AND coalesce(col_description(attrelid, attnum), '') = ''`).Scan(&without))
	if len(without) > 0 {
		t.Errorf("columns without a comment: %v", without)
	}
}

// TestDroppedSchema drops the schema during a push: it is created again.
func TestDroppedSchema(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	p := l.push(d.url)
	p.Start()
	must(t, p.Drain(t.Context(), run))
	_, err := d.Exec(t.Context(), `DROP SCHEMA throng CASCADE`)
	must(t, err)
	l.add(100)
	if err := p.Drain(t.Context(), run); err == nil {
		t.Error("rows were sent without a schema")
	}
	must(t, p.Drain(t.Context(), run))
	arrived(t, l, d)
}
