package postgres

import (
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestArrived reads the result of a run that was sent, without times and labels, and removes the run.
func TestArrived(t *testing.T) {
	d, l := newDatabase(t, pgtest.Shared(t)), newLocal(t)
	l.add(20)
	p := l.push(d.url)
	p.Start()
	must(t, p.Drain(t.Context(), run))

	arrived := func() []string {
		t.Helper()
		rows, err := Arrived(t.Context(), Config{URL: d.url}, run)
		must(t, err)
		return rows
	}
	change := func(query string) {
		t.Helper()
		_, err := d.Exec(t.Context(), query)
		must(t, err)
	}
	first := arrived()
	if len(first) != 1+20+60 || strings.Contains(strings.Join(first, "\n"), string(run)) {
		t.Errorf("%d rows:\n%s", len(first), strings.Join(first, "\n"))
	}
	change(`UPDATE throng.sessions SET started = now(), total_ms = 7, label = 'replayed', replayed = 2`)
	if got := arrived(); !slices.Equal(got, first) {
		t.Errorf("times and labels are included:\n%s", strings.Join(got, "\n"))
	}
	change(`UPDATE throng.events SET data = '{"order":"another"}' WHERE agent_index = 3 AND sequence = 2`)
	if got := arrived(); slices.Equal(got, first) {
		t.Error("another event is not included")
	}

	change(`INSERT INTO throng.checkpoints (run, number, cycle, done, total, kept, reason, size_bytes) VALUES ('other', 1, 0, 0, 0, 0, 'by hand', 0)`)
	if _, err := Remove(t.Context(), Config{URL: d.url}, run); err != nil {
		t.Fatal(err)
	}
	if left := arrived(); len(left) > 0 {
		t.Errorf("after the removal there are %q", left)
	}
	if n := ask[int](d, `SELECT count(*) FROM throng.checkpoints`); n != 1 {
		t.Errorf("%d checkpoints of another run are left", n)
	}
}
