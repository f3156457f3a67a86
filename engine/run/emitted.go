package run

import "github.com/throng-sim/throng/engine"

// maxEmitted is how many of the newest events a snapshot lists.
const maxEmitted = 50

// emitted holds the newest events in a ring. It belongs to the core. It allocates for the first event and when it makes a
// list for snapshots.
type emitted struct {
	ring        []engine.Emitted // nil until the first event
	count       int              // total so far
	listed      []engine.Emitted // list of the last sample; shared with snapshots
	listedCount int              // count at that time
}

// add adds the events of an ended session. It skips events that later ones of the session would overwrite anyway.
func (e *emitted) add(r *engine.SessionRow) {
	if e.ring == nil && len(r.Events) > 0 {
		e.ring = make([]engine.Emitted, maxEmitted)
	}
	for i := max(len(r.Events)-maxEmitted, 0); i < len(r.Events); i++ {
		e.ring[e.count%maxEmitted] = engine.Emitted{At: r.Started.Add(r.Total), Cycle: r.Cycle, Agent: r.Agent, Path: r.Events[i].Path, Event: r.Events[i].Name}
		e.count++
	}
}

// list returns the newest events, oldest first. name, if set, returns the display name of an agent.
func (e *emitted) list(name func(index int) (string, error)) []engine.Emitted {
	if e.listedCount == e.count {
		return e.listed
	}
	from := max(e.count-maxEmitted, 0)
	all := make([]engine.Emitted, 0, e.count-from)
	for i := from; i < e.count; i++ {
		one := &e.ring[i%maxEmitted]
		if one.Name == "" && name != nil {
			if id, err := name(one.Agent); err == nil {
				one.Name = id
			}
		}
		all = append(all, *one)
	}
	e.listed, e.listedCount = all, e.count
	return all
}
