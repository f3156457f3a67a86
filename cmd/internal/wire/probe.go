package wire

import (
	"github.com/throng-sim/throng/engine"
)

// probe tells the run what it cannot know of itself. Without a remote database its connections and writes are the
// local store's.
func (l Launch) probe(target string) engine.Probe {
	probe := engine.Probe{
		Host:        engine.HostSampler(l.Data),
		Connections: func() engine.Connections { return engine.Connections{Own: l.Store.Connections(), Server: -1, Max: -1} },
		Writes:      l.Store.Written,
	}
	if target == "" {
		return probe
	}
	probe.Connections = func() engine.Connections {
		s, _ := l.Remote.Status()
		if !s.Connected {
			return engine.Connections{Own: s.Connections, Server: -1, Max: -1}
		}
		return engine.Connections{Own: s.Connections, Server: s.Clients, Max: s.MaxConnections}
	}
	probe.Writes = l.Remote.Sent
	probe.Unsent = func() int64 {
		s, ok := l.Remote.Status()
		if !ok {
			return -1
		}
		return s.Unsent
	}
	return probe
}
