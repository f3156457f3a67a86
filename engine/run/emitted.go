package run

import "github.com/throng-sim/throng/engine"

// mostEmitted is how many of the newest events a snapshot lists.
const mostEmitted = 50

// emitted holds the newest events in a ring. It belongs to the core. It allocates only when it makes a list for snapshots.
type emitted struct {
	ring  [mostEmitted]engine.Emitted
	count int              // total so far
	shown []engine.Emitted // list of the last sample; shared with snapshots
	at    int              // count at that time
}

// add adds the events of an ended session. It skips events that later ones of the session would overwrite anyway.
func (e *emitted) add(r *engine.SessionRow) {
	for i := max(len(r.Events)-mostEmitted, 0); i < len(r.Events); i++ {
		e.ring[e.count%mostEmitted] = engine.Emitted{At: r.Started.Add(r.Total), Cycle: r.Cycle, Agent: r.Agent, Path: r.Events[i].Path, Event: r.Events[i].Name}
		e.count++
	}
}

// newest returns the newest events, oldest first. name, if set, returns the display name of an agent.
func (e *emitted) newest(name func(index int) (string, error)) []engine.Emitted {
	if e.at == e.count {
		return e.shown
	}
	from := max(e.count-mostEmitted, 0)
	all := make([]engine.Emitted, 0, e.count-from)
	for i := from; i < e.count; i++ {
		one := &e.ring[i%mostEmitted]
		if one.Name == "" && name != nil {
			if id, err := name(one.Agent); err == nil {
				one.Name = id
			}
		}
		all = append(all, *one)
	}
	e.shown, e.at = all, e.count
	return all
}
