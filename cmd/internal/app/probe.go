package app

import (
	"github.com/throng-sim/throng/cmd/internal/app/clients"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/machine"
)

// probe returns the probe that measures the surroundings of a run. Connections and writes are those to remote databases:
// of the sink and of sql steps. Without remote databases, they are those of the local store. The clients are those of the
// sink's server or, without a sink, of the fullest server of sql steps.
func (l assembly) probe(j *Job) engine.Probe {
	probe := engine.Probe{Host: machine.Host(l.Data), Writer: l.Store.Worked, Window: l.Window}
	if l.Host != nil {
		probe.Host = l.Host
	}
	if l.Crew != nil {
		probe.Workers = l.Crew.Workers
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
		c, at := clients.Unknown, ""
		if sends {
			c = l.sinkStatus()
			at = clients.Server(j.Target)
		}
		if c.Server < 0 && j.clients != nil {
			full := j.clients.Fullest()
			c.Server, c.Max, at = full.Server, full.Max, full.At
			c.InUse, c.Idle = 0, 0
			if sends && clients.Server(j.Target) == at {
				c.InUse, c.Idle = c.Pool.InUse, c.Pool.Idle
			}
		}
		for _, p := range j.pools {
			c.Own += p.Open()
			c.Pool.Add(p.Pool())
			if clients.Server(p.Target()) == at {
				inUse, idle := p.Held()
				c.InUse += inUse
				c.Idle += idle
			}
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

// sinkStatus returns the connections that send the results.
func (l assembly) sinkStatus() engine.Connections {
	s, _ := l.Remote.Status()
	if !s.Connected {
		return engine.Connections{Own: s.Connections, Server: -1, Max: -1, Pool: s.Pool}
	}
	c := engine.Connections{Own: s.Connections, Server: s.Clients, Max: s.MaxConnections, Pool: s.Pool}
	if !s.Pooled {
		c.InUse, c.Idle = s.Pool.InUse, s.Pool.Idle
	}
	return c
}

// sinkAt returns how many clients of a server send the results of a run.
func (l assembly) sinkAt(j *Job, at string) int {
	if j.Target == "" || clients.Server(j.Target) != at {
		return 0
	}
	s, _ := l.Remote.Status()
	return s.Connections
}

func (l assembly) unsent() int64 {
	s, ok := l.Remote.Status()
	if !ok {
		return -1
	}
	return s.Unsent
}
