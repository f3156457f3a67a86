package govern

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Shares of the connections that a database server takes, as they are of 60: 50, 53 and 55.
const (
	connectionsWarn     = 50. / 60 // it grows only below
	connectionsHigh     = 53. / 60 // above, it shrinks, before they are
	connectionsCritical = 55. / 60
)

const connectionsWait = 5 * time.Second // between moves: sessions and pools take a while to let go

// connections leaves the database server's other clients room: what they hold counts as theirs, what Throng holds as
// that of the sessions in flight.
type connections struct {
	want  int
	why   string
	limit int
	since time.Duration // the limit moved
	ended int64
	seen  spell // of those in use on the server
	own   spell
}

func (c *connections) afresh() { c.since, c.ended, c.seen, c.own = 0, 0, spell{}, spell{} }

func (c *connections) restart(limit int) {
	c.afresh()
	c.want, c.why, c.limit = limit, "", limit
}

func (c *connections) next(r *engine.Reading, _ bounds) (int, string) {
	k := r.Connections
	if k.Server < 0 || k.Max <= 0 {
		c.afresh()
		return silent, ""
	}
	if r.Limit != c.limit {
		c.afresh()
		c.limit = r.Limit
	}
	c.want = max(c.want, r.Limit)
	c.since += r.Span
	c.ended += r.Ended
	if c.since > settles {
		c.seen.add(r.Span, float64(k.Server), r.InFlight)
		c.own.add(r.Span, float64(max(k.Own, 0)), r.InFlight)
	}
	most := float64(k.Max)
	switch {
	case c.since < connectionsWait || c.seen.lasts == 0:
	case c.seen.mean() > connectionsHigh*most || float64(k.Server) > connectionsCritical*most:
		c.lower(r)
	case c.seen.mean() < connectionsWarn*most && float64(k.Server) < connectionsWarn*most &&
		c.ended > 0 && r.Busy >= busyEnough && r.Limit >= c.want:
		c.higher(r)
	}
	if c.seen.lasts > 3*connectionsWait {
		c.seen, c.own = spell{}, spell{}
	}
	return c.want, c.why
}

// room is how many sessions could be in flight with the server at the warning, for what each holds. -1: they hold none.
func (c *connections) room(k engine.Connections) float64 {
	held := c.own.sum / max(c.own.inFlight, 1)
	if held == 0 {
		return -1
	}
	others := c.seen.mean() - c.own.mean()
	return max(connectionsWarn*float64(k.Max)-others, 0) / held
}

func (c *connections) lower(r *engine.Reading) {
	k := r.Connections
	inFlight := min(r.Limit, max(1, c.seen.peak))
	factor := connectionsWarn * float64(k.Max) / c.seen.mean() // all of them for the sessions, at worst through a service
	if room := c.room(k); room >= 0 {
		factor = room / float64(inFlight)
	}
	c.want = max(shrunk(inFlight, factor), 1)
	c.why = fmt.Sprintf("%.0f of the server's %d connections in use", c.seen.mean(), k.Max)
	if k.Own >= 0 {
		c.why += fmt.Sprintf(", %.0f by Throng", c.own.mean())
	}
	c.afresh()
}

func (c *connections) higher(r *engine.Reading) {
	k := r.Connections
	n := float64(r.Limit)
	to := 1.25 * n
	if room := c.room(k); room >= 0 {
		to = min(2*n, room)
	}
	if to < n+1 || to < 1.25*n && c.seen.lasts < 2*connectionsWait {
		return // so near it takes a longer look
	}
	c.want = int(to)
	c.why = fmt.Sprintf("%.0f of the server's %d connections in use, below %.0f", c.seen.mean(), k.Max, connectionsWarn*float64(k.Max))
	c.afresh()
}
