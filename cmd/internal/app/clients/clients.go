// Package clients counts the clients of the database servers that a run uses.
package clients

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service"
)

// clientsEvery is the interval between queries for the clients of a server; clientsTimeout bounds one query.
const clientsEvery, clientsTimeout = 2 * time.Second, 2 * time.Second

// Unknown stands for a server that was not queried or did not answer.
var Unknown = engine.Connections{Server: -1, Max: -1}

// Clients is the number of clients of a server.
type Clients struct {
	engine.Connections
	At string // the server
}

// Monitor queries the database servers of a run's sql steps for their numbers of clients. Readers get the last
// result without waiting. It also limits each pool to its share of the free connections.
type Monitor struct {
	pools []*service.Postgres
	sink  func(server string) (own int) // connections that send results
	last  atomic.Pointer[Clients]
	stop  context.CancelFunc
	ended chan struct{}
}

// Start queries the servers until Stop.
func Start(ctx context.Context, pools []*service.Postgres, sink func(server string) (own int)) *Monitor {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Monitor{pools: pools, sink: sink, stop: stop, ended: make(chan struct{})}
	c.last.Store(&Clients{Connections: Unknown})
	go c.loop(ctx)
	return c
}

// Stop ends the queries and waits for the last one. Further calls do nothing.
func (c *Monitor) Stop() {
	c.stop()
	<-c.ended
}

func (c *Monitor) loop(ctx context.Context) {
	defer close(c.ended)
	tick := time.NewTicker(clientsEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.Count(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// Count queries all servers, and keeps and returns the fullest one. It skips servers that no statement has reached yet.
func (c *Monitor) Count(ctx context.Context) Clients {
	full := Clients{Connections: Unknown}
	for _, p := range c.pools {
		if p.Open() == 0 {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, clientsTimeout)
		clients, err := p.Clients(asking)
		cancel()
		if err != nil {
			continue
		}
		at := Server(p.Target())
		p.Share(clients, c.own(at))
		if float64(clients.All) > engine.ConnectionsWarn*float64(clients.Max) && !clients.Pooled {
			p.GiveBack()
		}
		if full.Server < 0 || clients.All*full.Max > full.Server*clients.Max {
			full.Server, full.Max, full.At = clients.All, clients.Max, at
		}
	}
	c.last.Store(&full)
	return full
}

// own returns how many clients of a server belong to this run.
func (c *Monitor) own(at string) int {
	n := c.sink(at)
	for _, p := range c.pools {
		if Server(p.Target()) == at {
			n += p.Open()
		}
	}
	return n
}

// Fullest returns the clients of the fullest server at the last query; -1 before the first. Only Server and Max are set.
func (c *Monitor) Fullest() Clients { return *c.last.Load() }

// Server returns the server of a target: its host and port.
func Server(target string) string {
	host, _, _ := strings.Cut(target, "/")
	return host
}
