package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestServerThatHangs has a server go silent for the whole of a run, with a batch on its way: the journal waits for
// nothing, the rows pile up, and all arrive once it speaks again, though nobody connects anew by hand.
func TestServerThatHangs(t *testing.T) {
	server := pgtest.Shared(t)
	l, d := newLocal(t), newDatabase(t, server)
	line := pgtest.NewLine(t, server.Address())
	p := l.push(strings.Replace(d.url, server.Address(), line.Addr().String(), 1), func(c *PusherConfig) {
		c.Every, c.Database.Statement = 20*time.Millisecond, time.Second
	})
	p.Start()
	must(t, p.Drain(t.Context(), run)) // it is connected
	line.Silence()
	for range 40 {
		l.add(100) // would wait for ever if it waited for the server
		p.Nudge()
	}
	until(t, "the silence is seen", func() bool {
		s := p.Status()
		return strings.Contains(s.Error, "does not answer in time") && !s.Since.IsZero() && s.Unsent >= 4000
	})
	if n := ask[int](d, `SELECT count(*) FROM throng.sessions`); n != 0 {
		t.Errorf("%d sessions arrived through a silent line", n)
	}
	line.Be(pgtest.Trouble{})
	until(t, "all rows are there", func() bool { s := p.Status(); return s.Error == "" && s.Connected && s.Unsent == 0 })
	arrived(t, l, d)
	must(t, p.Close(t.Context()))
}

// TestBatchesBySizeAndAge sends when enough rows wait, or one for long enough, and not before.
func TestBatchesBySizeAndAge(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	rows := func() int { return ask[int](d, `SELECT count(*) FROM throng.sessions`) }
	p := l.push(d.url, func(c *PusherConfig) { c.Every, c.Rows = time.Hour, 500 })
	p.Start()
	must(t, p.Drain(t.Context(), run))
	l.add(400)
	until(t, "they are counted", func() bool { return p.Status().Unsent == 400 })
	if n := rows(); n != 0 {
		t.Errorf("%d sessions were sent, of 400", n)
	}
	l.add(100)
	until(t, "500 are sent", func() bool { return rows() == 500 })
	must(t, p.Close(t.Context()))

	p = l.push(d.url, func(c *PusherConfig) { c.Every, c.Rows = 50*time.Millisecond, 1<<30 })
	p.Start()
	l.add(1)
	until(t, "one is sent for its age", func() bool { return rows() == 501 })
	must(t, p.Close(t.Context()))
}
