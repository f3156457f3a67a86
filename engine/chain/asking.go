package chain

import (
	"maps"
	"slices"
	"time"
)

// Asking is a step that asks a service.
type Asking struct {
	Path    string // from the chain down, without iterations
	Service *Service
	Writes  bool // it changes something at a service which is no model
	Tokens  int  // that a model's answer has at most; 0 is that the step does not say
}

// mostAsking bounds how many steps are looked at: chains that run each other may unfold to very many steps.
const mostAsking = 10_000

// Asking returns the steps that ask services, also those of the chains that it runs, in the order of the file.
func (c *Chain) Asking() []Asking {
	var all []Asking
	c.unfold("", mostAsking, func(path string, s *Step) {
		a, ok := s.action.(sender)
		if !ok {
			return
		}
		services, _ := a.asks()
		if len(services) == 0 || services[0] == nil {
			return
		}
		step := Asking{Path: path, Service: services[0], Writes: writes(a)}
		if c, ok := a.(*completion); ok {
			step.Tokens = c.most
		}
		all = append(all, step)
	})
	return all
}

// Endpoints returns what the steps of all chains that were read ask of an http service, such as "GET /products/{}", each
// once. known is false where some of it is found out when a step runs, or where it is asked in other ways too.
func (r *Reader) Endpoints(of *Service) (all []string, known bool) {
	known = of.Login == nil
	add := func(q *request, endpoint string) {
		if endpoint == "" {
			known = false
		} else if !slices.Contains(all, endpoint) {
			all = append(all, endpoint)
		}
		if v := q.treats().verify; v != nil {
			if path := v.request.target.template(); path != "" {
				all = append(all, v.request.method+" "+path)
			} else {
				known = false
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.chains)) {
		r.chains[name].Walk(func(_ string, s *Step) {
			a, ok := s.action.(sender)
			if !ok {
				return
			}
			services, _ := a.asks()
			if !slices.Contains(services, of) {
				return
			}
			if q, ok := a.(*request); ok {
				add(q, q.endpoint)
			} else {
				known = false
			}
		})
	}
	return all, known
}

// Thinks is how long the wait steps of a session take in all, if each runs once: between the two. all is false where that
// is a guess: times that are drawn count from nothing to the longest of some draws, and those that depend on what a session
// knows are left out.
func (c *Chain) Thinks() (least, most time.Duration, all bool) {
	all = true
	c.unfold("", mostAsking, func(path string, s *Step) {
		w, ok := s.action.(*wait)
		if !ok {
			return
		}
		if most += w.fixed; s.when == nil {
			least += w.fixed
		}
		if all = all && w.seconds == nil && s.when == nil; w.seconds != nil {
			most += w.longest(path)
		}
	})
	return least, most, all
}

// unfold calls f for every step, those of the chains that it runs too, and returns how many more it may be called for.
func (c *Chain) unfold(prefix string, room int, f func(path string, s *Step)) int {
	c.Walk(func(path string, s *Step) {
		if room--; room < 0 {
			return
		}
		f(prefix+path, s)
		if sub, ok := s.action.(*subchain); ok && sub.chain != nil {
			room = sub.chain.unfold(prefix+path+".", room, f)
		}
	})
	return room
}

// writes reports whether a step changes something at a service which is no model.
func writes(a sender) bool {
	asks, ok := a.(asker)
	return ok && asks.changes() != nil
}
