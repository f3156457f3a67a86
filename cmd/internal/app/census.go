package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service"
)

// censusEvery is how often the servers of sql steps are asked about their clients, censusTime how long one may take.
const censusEvery, censusTime = 2 * time.Second, 2 * time.Second

// unknownClients is a server that nobody has asked, or that did not answer.
var unknownClients = engine.Connections{Server: -1, Max: -1}

// headcount is how many clients a server has.
type headcount struct {
	engine.Connections
	server string
}

// census asks the database servers of a run's sql steps how many clients they have, for those who cannot wait, and has the
// pools keep to their share of what others leave.
type census struct {
	pools []*service.Postgres
	sink  func(server string) (own int) // connections that results are sent by
	last  atomic.Pointer[headcount]
	stop  context.CancelFunc
	ended chan struct{}
}

// startCensus asks from now on until Stop.
func startCensus(ctx context.Context, pools []*service.Postgres, sink func(server string) (own int)) *census {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &census{pools: pools, sink: sink, stop: stop, ended: make(chan struct{})}
	c.last.Store(&headcount{Connections: unknownClients})
	go c.ask(ctx)
	return c
}

// Stop waits until nothing is asked any more. A second one does nothing.
func (c *census) Stop() {
	c.stop()
	<-c.ended
}

func (c *census) ask(ctx context.Context) {
	defer close(c.ended)
	tick := time.NewTicker(censusEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fullest := c.count(ctx)
			c.last.Store(&fullest)
		case <-ctx.Done():
			return
		}
	}
}

// count asks all servers and returns the one that has the least left. One that no statement has reached yet is not asked.
func (c *census) count(ctx context.Context) headcount {
	full := headcount{Connections: unknownClients}
	for _, p := range c.pools {
		if p.Open() == 0 {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, censusTime)
		clients, err := p.Clients(asking)
		cancel()
		if err != nil {
			continue
		}
		at := server(p.Target())
		p.Share(clients, c.own(at))
		if float64(clients.All) > engine.ConnectionsWarn*float64(clients.Max) && !clients.Pooled {
			p.GiveBack()
		}
		if full.Server < 0 || clients.All*full.Max > full.Server*clients.Max {
			full.Server, full.Max, full.server = clients.All, clients.Max, at
		}
	}
	return full
}

// own is how many clients of a server are this run's.
func (c *census) own(at string) int {
	n := c.sink(at)
	for _, p := range c.pools {
		if server(p.Target()) == at {
			n += p.Open()
		}
	}
	return n
}

// Clients are those of the fullest server, as of a moment ago; -1 while nobody knows. Of the rest only Server and Max are
// set.
func (c *census) Clients() headcount { return *c.last.Load() }
