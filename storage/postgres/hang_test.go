package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/enginetest/proxy"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestServerThatHangs checks that the journal does not wait for a server that stops responding for a whole run, during
// a batch. Rows accumulate, and all of them arrive after the server responds again, without manual action.
func TestServerThatHangs(t *testing.T) {
	server := pgtest.Shared(t)
	l, d := newLocal(t), newDatabase(t, server)
	line := proxy.NewLine(t, server.Address())
	p := l.push(strings.Replace(d.url, server.Address(), line.Addr().String(), 1), func(c *PusherConfig) {
		c.Every, c.Database.Statement = 20*time.Millisecond, time.Second
	})
	p.Start()
	must(t, p.Drain(t.Context(), run)) // connects
	line.Silence()
	for range 40 {
		l.add(100) // would wait forever if it waited for the server
		p.Nudge()
	}
	until(t, "the outage is noticed", func() bool {
		s := p.Status()
		return strings.Contains(s.Error, "does not answer in time") && !s.Since.IsZero() && s.Unsent >= 4000
	})
	if n := ask[int](d, `SELECT count(*) FROM throng.sessions`); n != 0 {
		t.Errorf("%d sessions arrived during the outage", n)
	}
	line.Be(proxy.Trouble{})
	until(t, "all rows are there", func() bool { s := p.Status(); return s.Error == "" && s.Connected && s.Unsent == 0 })
	arrived(t, l, d)
	must(t, p.Close(t.Context()))
}

// TestBatchesBySizeAndAge checks that a batch is sent when enough rows wait or one has waited long enough, and not
// before.
func TestBatchesBySizeAndAge(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	rows := func() int { return ask[int](d, `SELECT count(*) FROM throng.sessions`) }
	p := l.push(d.url, func(c *PusherConfig) { c.Every, c.Rows = time.Hour, 500 })
	p.Start()
	must(t, p.Drain(t.Context(), run))
	l.add(400)
	until(t, "rows are counted", func() bool { return p.Status().Unsent == 400 })
	if n := rows(); n != 0 {
		t.Errorf("%d sessions were sent, of 400", n)
	}
	l.add(100)
	until(t, "500 are sent", func() bool { return rows() == 500 })
	must(t, p.Close(t.Context()))

	p = l.push(d.url, func(c *PusherConfig) { c.Every, c.Rows = 50*time.Millisecond, 1<<30 })
	p.Start()
	l.add(1)
	until(t, "one is sent because of its age", func() bool { return rows() == 501 })
	must(t, p.Close(t.Context()))
}
