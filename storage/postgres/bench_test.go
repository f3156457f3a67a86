package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// bareRows are the rows of a run for pgx.
func bareRows(b *testing.B, l *local) (sessions, events [][]any) {
	b.Helper()
	p, err := l.Delivery(b.Context(), run, "bench", storage.Cursor{}, 1<<30)
	must(b, err)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	var ways trails
	for s, err := range p.Sessions {
		must(b, err)
		trail, _ := ways.of(s)
		agent, _ := names.Agent(s.Agent)
		session := names.Session(s.Cycle, s.Agent)
		sessions = append(sessions, []any{
			string(run), s.Cycle, s.Agent, s.Take, agent, session, s.Outcome.String(), nil, nil, nil, nil, len(s.Steps), len(s.Events), s.Acted,
			s.Started, ms(s.Queue), ms(s.Throttled), ms(s.Service), ms(s.Total), 6, 0, 0, 0, 0, 0, engine.Fresh.String(),
			0, 0, 0, 0, 0, 0, 0, trail,
		})
		for i, e := range s.Events {
			events = append(events, []any{string(run), s.Cycle, s.Agent, s.Take, i, agent, session, e.Path, e.Name, string(e.Data)})
		}
	}
	return sessions, events
}

// BenchmarkPush drains the outbox of a run and, alternating with that, copies the same rows with pgx only to tables with the
// same columns and key: NUMBERS 9. It reports medians.
func BenchmarkPush(b *testing.B) {
	const agents = 100_000
	l := newLocal(b)
	l.add(agents)
	must(b, l.Subscribe(b.Context(), run, "bench"))
	sessions, events := bareRows(b, l)
	server := pgtest.Shared(b)
	rows := float64(len(sessions) + len(events))
	var pusher, bare, ratio []float64
	for b.Loop() {
		ours := rows / pushAll(b, l, newDatabase(b, server), int(rows)).Seconds()
		theirs := rows / copyAll(b, newDatabase(b, server), sessions, events).Seconds()
		pusher, bare, ratio = append(pusher, ours), append(bare, theirs), append(ratio, ours/theirs)
	}
	b.ReportMetric(median(pusher), "rows/s")
	b.ReportMetric(median(bare), "bare-rows/s")
	b.ReportMetric(median(ratio), "of-bare")
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

func pushAll(b *testing.B, l *local, d *database, rows int) time.Duration {
	b.Helper()
	p, err := NewPusher(l.pusherConfig(d.url))
	must(b, err)
	p.Start()
	must(b, p.Drain(b.Context(), run)) // connects
	must(b, l.Subscribe(b.Context(), run, p.Target()))
	began := time.Now()
	must(b, p.Drain(b.Context(), run))
	took := time.Since(began)
	if n := ask[int](d, `SELECT (SELECT count(*) FROM throng.sessions) + (SELECT count(*) FROM throng.events)`); n != rows {
		b.Fatalf("%d rows arrived, want %d", n, rows)
	}
	must(b, p.Close(b.Context()))
	return took
}

func copyAll(b *testing.B, d *database, sessions, events [][]any) time.Duration {
	b.Helper()
	must(b, migrate(b.Context(), d.Conn))
	began := time.Now()
	for _, t := range []struct {
		copied
		rows [][]any
	}{{sessionsTable, sessions}, {eventsTable, events}} {
		_, err := d.CopyFrom(b.Context(), pgx.Identifier{"throng", t.name}, t.columns, pgx.CopyFromRows(t.rows))
		must(b, err)
	}
	return time.Since(began)
}
