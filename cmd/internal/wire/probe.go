package wire

import (
	"github.com/throng-sim/throng/engine"
)

// probe tells the run what it cannot know of itself. Its connections and writes are those to remote databases, of the
// sink and of sql steps; where there is none they are the local store's. The server whose clients are counted is the
// sink's, if there is one, else that of the sql steps that has the least left.
func (l Launch) probe(j *Job) engine.Probe {
	probe := engine.Probe{Host: engine.HostSampler(l.Data), Writer: l.Store.Worked, Window: l.Window}
	if l.Host != nil {
		probe.Host = l.Host
	}
	sends := j.Target != ""
	switch {
	case sends:
		probe.Unsent = l.unsent
	case len(j.pools) == 0:
		probe.Connections = func() engine.Connections { return engine.Connections{Own: l.Store.Connections(), Server: -1, Max: -1} }
		probe.Writes = l.Store.Written
		return probe
	}
	probe.Connections = func() engine.Connections {
		c := unknownClients
		if sends {
			c = l.sinkStatus()
		}
		if c.Server < 0 && j.census != nil {
			own, pool := c.Own, c.Pool
			c = j.census.Clients()
			c.Own, c.Pool = own, pool
		}
		for _, p := range j.pools {
			c.Own += p.Open()
			c.Pool.Add(p.Pool())
		}
		return c
	}
	probe.Writes = func() (n int64) {
		if sends {
			n = l.Remote.Sent()
		}
		for _, p := range j.pools {
			n += p.Written()
		}
		return n
	}
	return probe
}

// sinkStatus are those that send the results.
func (l Launch) sinkStatus() engine.Connections {
	s, _ := l.Remote.Status()
	if !s.Connected {
		return engine.Connections{Own: s.Connections, Server: -1, Max: -1, Pool: s.Pool}
	}
	return engine.Connections{Own: s.Connections, Server: s.Clients, Max: s.MaxConnections, Pool: s.Pool}
}

func (l Launch) unsent() int64 {
	s, ok := l.Remote.Status()
	if !ok {
		return -1
	}
	return s.Unsent
}
