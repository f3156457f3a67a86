package govern

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Fractions of the database server's connections: 50, 53 and 55 of 60.
const (
	connectionsWarn     = engine.ConnectionsWarn // the limit grows only below
	connectionsHigh     = 53. / 60               // the limit shrinks above
	connectionsCritical = 55. / 60
	connectionsFair     = 6. / 60 // Throng may always use these, whatever other clients use
)

const (
	connectionsWait = 5 * time.Second // between moves: sessions and pools release connections slowly
	// vainShare is the share of the connections that fewer sessions should have released. Below it, they released none.
	vainShare = 1. / 3
)

// connections leaves room for other clients of the database server. Throng's idle connections count as free: the pools close them first.
// If fewer sessions release no connections, others use them, and the limit returns to its old value.
type connections struct {
	want  int
	why   string
	limit int
	since time.Duration // since the limit moved
	ended int64
	seen  spell // connections in use on the server, without Throng's idle ones
	held  spell // connections in use by Throng

	top  *moment // before the first of a series of decreases; nil: no decrease
	vain bool    // fewer sessions released no connections, and the server is still full
}

// moment is the state before the limit decreased.
type moment struct {
	limit    int
	inFlight float64
	seen     float64
}

func (c *connections) afresh() { c.since, c.ended, c.seen, c.held = 0, 0, spell{}, spell{} }

func (c *connections) restart(limit int) {
	c.afresh()
	c.want, c.why, c.limit, c.top, c.vain = limit, "", limit, nil, false
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
	used := taken(k)
	if c.since > settles {
		c.seen.add(r.Span, used, r.InFlight)
		c.held.add(r.Span, float64(k.InUse), r.InFlight)
	}
	most := float64(k.Max)
	switch {
	case c.since < connectionsWait || c.seen.lasts == 0:
	case c.seen.mean() > connectionsHigh*most || used > connectionsCritical*most:
		c.lower(r)
	case c.seen.mean() < connectionsWarn*most && used < connectionsWarn*most:
		c.vain = false
		if c.ended > 0 && r.Busy >= busyEnough && r.Limit >= c.want && float64(k.Server) < connectionsWarn*most {
			c.higher(r)
		}
	}
	if c.seen.lasts > 3*connectionsWait {
		c.seen, c.held = spell{}, spell{}
	}
	return c.want, c.why
}

// taken returns the number of the server's connections in use by all clients.
func taken(k engine.Connections) float64 { return float64(max(k.Server-k.Idle, 0)) }

// room returns the number of sessions in flight at which the server reaches the warning, or Throng its fair share, given the connections
// of each session. It returns -1 if sessions hold no connections.
func (c *connections) room(k engine.Connections) float64 {
	each := c.held.sum / max(c.held.inFlight, 1)
	if each == 0 {
		return -1
	}
	most := float64(k.Max)
	others := c.seen.mean() - c.held.mean()
	return max(connectionsWarn*most-others, connectionsFair*most) / each
}

// lower shrinks to the sessions that fit their connections. If sessions hold less than their share, they may still fill the server
// through a service: then it shrinks in proportion to the connections in use, and checks whether that releases any.
func (c *connections) lower(r *engine.Reading) {
	k := r.Connections
	inFlight := min(r.Limit, max(1, c.seen.peak))
	room := c.room(k)
	factor := room / float64(inFlight)
	if through := room < 0 || factor >= 1; !through {
		c.top = nil
	} else {
		if c.vain = c.vain || c.inVain(); c.vain {
			c.giveUp()
			return
		}
		if c.top == nil {
			c.top = &moment{r.Limit, c.inFlight(), c.seen.mean()}
		}
		factor = connectionsWarn * float64(k.Max) / c.seen.mean()
	}
	c.want = max(shrunk(inFlight, factor), 1)
	c.why = fmt.Sprintf("%.0f of the server's %d connections in use", c.seen.mean(), k.Max)
	if k.Own >= 0 {
		c.why += fmt.Sprintf(", %.0f by Throng", c.held.mean())
	}
	c.afresh()
}

// inFlight returns the mean of the sessions in flight.
func (c *connections) inFlight() float64 { return c.seen.inFlight / c.seen.lasts.Seconds() }

// inVain reports whether the reduction of sessions since the first decrease released far fewer connections than their share.
func (c *connections) inVain() bool {
	if c.top == nil {
		return false
	}
	fewer := 1 - c.inFlight()/max(c.top.inFlight, 1)
	return fewer > 0 && c.top.seen-c.seen.mean() < vainShare*fewer*c.top.seen
}

// giveUp returns to the limit before the first decrease.
func (c *connections) giveUp() {
	if c.top != nil && c.want < c.top.limit {
		c.want = c.top.limit
		c.why = fmt.Sprintf("fewer sessions released no connections of the server: other programs hold them (%.0f in use)", c.seen.mean())
	}
	c.top = nil
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
		return // so close to the bound, it observes for longer
	}
	c.want, c.top = int(to), nil
	c.why = fmt.Sprintf("%.0f of the server's %d connections in use, below %.0f", c.seen.mean(), k.Max, connectionsWarn*float64(k.Max))
	c.afresh()
}
