package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// walk returns a session with steps and their outcomes: "ok browse", "failed pay".
func walk(cycle, agent, take int, outcome engine.Outcome, steps ...string) engine.SessionRow {
	s := engine.SessionRow{Place: engine.Place{Cycle: cycle, Agent: agent, Take: take}, Outcome: outcome, Started: epoch}
	for _, step := range steps {
		status, path, _ := strings.Cut(step, " ")
		for k := engine.StepOK; k <= engine.StepCanceled; k++ {
			if k.String() == status {
				s.Steps = append(s.Steps, engine.StepRecord{Path: path, Status: k})
			}
		}
	}
	if outcome == engine.OK {
		s.Acted = true
		s.Events = []engine.Event{{Path: "pay", Name: "bought"}, {Path: "pay", Name: "bought"}, {Path: "pay", Name: "thanked"}}
	}
	return s
}

// TestQuestions queries the views for a run of two cycles with a session of two takes, which is sent twice.
func TestQuestions(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	must(t, l.journal.Commit(t.Context(), engine.SessionRows{
		walk(0, 0, 0, engine.OK, "ok browse", "ok cart[0].add", "ok cart[1].add", "ok pay"),
		walk(0, 1, 0, engine.Failed, "ok browse", "ok cart[0].add", "failed cart[1].add", "canceled cart[2].add", "canceled pay"),
		walk(0, 2, 0, engine.TimedOut, "timeout browse", "canceled pay"),
		walk(0, 2, 1, engine.OK, "ok browse", "skipped cart", "ok pay"),
		walk(0, 3, 0, engine.Canceled),
	}, engine.SessionRows{
		walk(1, 0, 0, engine.Stopped, "ok browse"),
		walk(1, 1, 0, engine.OK, "ok browse", "ok cart[0].add", "ok pay"),
		walk(1, 2, 0, engine.Stopped, "ok browse"),
	}))
	for range 2 {
		p := l.push(d.url)
		p.Start()
		must(t, p.Drain(t.Context(), run))
		must(t, p.Close(t.Context()))
		_, err := d.Exec(t.Context(), `SELECT 1`)
		must(t, err)
		must(t, l.Subscribe(t.Context(), run, "again"))
	}
	for _, c := range []struct {
		query string
		want  []string
	}{
		{
			`SELECT concat_ws(' ', cycle, sessions, orders, round(share::numeric, 2)) FROM throng.orders_per_cycle WHERE run = $1 ORDER BY cycle`,
			[]string{"0 4 2 0.50", "1 3 1 0.33"},
		},
		{
			`SELECT concat_ws(' ', cycle, event, events, agents) FROM throng.events_per_cycle WHERE run = $1 ORDER BY cycle, event`,
			[]string{"0 bought 4 2", "0 thanked 2 2", "1 bought 2 1", "1 thanked 1 1"},
		},
		{
			`SELECT concat_ws(' ', step, reached, passed, lost, round(share::numeric, 2)) FROM throng.steps_funnel WHERE run = $1 ORDER BY place`,
			[]string{"browse 6 6 0 1.00", "cart.add 3 2 1 0.50", "pay 3 3 0 0.50"},
		},
		{
			`SELECT concat_ws(' ', agent, sessions, ok, stopped, failed, timeout, canceled, acted, outcome) FROM throng.agents_by_outcome WHERE run = $1 ORDER BY agent_index`,
			[]string{"agent 0 2 1 1 0 0 0 1 acted", "agent 1 2 1 0 1 0 0 1 failed", "agent 2 2 1 1 0 0 0 1 acted", "agent 3 1 0 0 0 0 1 0 canceled"},
		},
	} {
		rows, err := d.Query(t.Context(), c.query, string(run))
		must(t, err)
		var got []string
		for rows.Next() {
			var row string
			must(t, rows.Scan(&row))
			got = append(got, row)
		}
		must(t, rows.Err())
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.query, got, c.want)
		}
	}
	if n := ask[int](d, `SELECT count(*) FROM throng.sessions s WHERE trail IS NOT NULL AND NOT EXISTS (SELECT FROM throng.trails t WHERE t.run = s.run AND t.trail = s.trail)`); n > 0 {
		t.Errorf("%d sessions have a missing trail", n)
	}
}

// TestTrails checks that sessions whose loops only differ in the number of iterations have the same trail, and others have
// different ones.
func TestTrails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ways trails
		seen := map[string]int64{}
		ids := map[int64]string{}
		for range rapid.IntRange(1, 30).Draw(t, "sessions") {
			var s engine.SessionRow
			var way []string
			for i, name := range []string{"a", "b", "c"} {
				status := engine.StepStatus(rapid.IntRange(0, 4).Draw(t, "status"))
				for k := range rapid.IntRange(1, 3).Draw(t, "rounds") {
					s.Steps = append(s.Steps, engine.StepRecord{Path: fmt.Sprintf("%s[%d].x", name, k), Status: status})
				}
				way = append(way, fmt.Sprint(i, name, status))
			}
			id, ok := ways.of(&s)
			key := strings.Join(way, " ")
			if was, known := seen[key]; !ok || known && was != id || ids[id] != "" && ids[id] != key {
				t.Fatalf("%s has id %d (%t), was %d; that id is of %s", key, id, ok, was, ids[id])
			}
			seen[key], ids[id] = id, key
		}
		if len(ways.rows) != 3*len(seen) {
			t.Errorf("%d rows are sent for %d trails with three steps", len(ways.rows), len(seen))
		}
	})
}
