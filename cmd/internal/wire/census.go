package wire

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

// census asks the database servers of a run's sql steps how many clients they have, for those who cannot wait.
type census struct {
	pools []*service.Postgres
	last  atomic.Pointer[engine.Connections]
	stop  context.CancelFunc
	ended chan struct{}
}

// startCensus asks from now on until Stop.
func startCensus(ctx context.Context, pools []*service.Postgres) *census {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &census{pools: pools, stop: stop, ended: make(chan struct{})}
	c.last.Store(&unknownClients)
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
			fullest := c.fullest(ctx)
			c.last.Store(&fullest)
		case <-ctx.Done():
			return
		}
	}
}

// fullest is the server that has the least left. One that no statement has reached yet is not asked.
func (c *census) fullest(ctx context.Context) engine.Connections {
	full := unknownClients
	for _, p := range c.pools {
		if p.Open() == 0 {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, censusTime)
		clients, most, err := p.Clients(asking)
		cancel()
		if err == nil && (full.Server < 0 || clients*full.Max > full.Server*most) {
			full.Server, full.Max = clients, most
		}
	}
	return full
}

// Clients are those of the fullest server, as of a moment ago; -1 while nobody knows. Own is not set.
func (c *census) Clients() engine.Connections { return *c.last.Load() }
