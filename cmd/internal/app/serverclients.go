package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service"
)

// clientsEvery is the interval between queries for the clients of a server; clientsTimeout bounds one query.
const clientsEvery, clientsTimeout = 2 * time.Second, 2 * time.Second

// unknownClients stands for a server that was not queried or did not answer.
var unknownClients = engine.Connections{Server: -1, Max: -1}

// serverClients holds the number of clients of a server.
type serverClients struct {
	engine.Connections
	server string
}

// clientMonitor queries the database servers of a run's sql steps for their numbers of clients. Readers get the last
// result without waiting. It also limits each pool to its share of the free connections.
type clientMonitor struct {
	pools []*service.Postgres
	sink  func(server string) (own int) // connections that send results
	last  atomic.Pointer[serverClients]
	stop  context.CancelFunc
	ended chan struct{}
}

// startClientMonitor queries the servers until Stop.
func startClientMonitor(ctx context.Context, pools []*service.Postgres, sink func(server string) (own int)) *clientMonitor {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &clientMonitor{pools: pools, sink: sink, stop: stop, ended: make(chan struct{})}
	c.last.Store(&serverClients{Connections: unknownClients})
	go c.loop(ctx)
	return c
}

// Stop ends the queries and waits for the last one. Further calls do nothing.
func (c *clientMonitor) Stop() {
	c.stop()
	<-c.ended
}

func (c *clientMonitor) loop(ctx context.Context) {
	defer close(c.ended)
	tick := time.NewTicker(clientsEvery)
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

// count queries all servers and returns the fullest one. It skips servers that no statement has reached yet.
func (c *clientMonitor) count(ctx context.Context) serverClients {
	full := serverClients{Connections: unknownClients}
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

// own returns how many clients of a server belong to this run.
func (c *clientMonitor) own(at string) int {
	n := c.sink(at)
	for _, p := range c.pools {
		if server(p.Target()) == at {
			n += p.Open()
		}
	}
	return n
}

// fullest returns the clients of the fullest server at the last query; -1 before the first. Only Server and Max are set.
func (c *clientMonitor) fullest() serverClients { return *c.last.Load() }
