package wire

import (
	"github.com/throng-sim/throng/engine"
)

// probe tells the run what it cannot know of itself. Without a remote database its connections are the local store's.
func (l Launch) probe() engine.Probe {
	return engine.Probe{
		Host:        engine.HostSampler(l.Data),
		Connections: func() (own, server int) { return l.Store.Connections(), -1 },
		Writes:      l.Store.Written,
	}
}
