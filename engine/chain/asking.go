package chain

import (
	"maps"
	"slices"
	"time"
)

// Asking is a step that sends requests to a service.
type Asking struct {
	Path    string // path from the chain down, without iterations
	Service *Service
	Writes  bool // it changes something at a service that is not a model
	Embeds  bool // it asks for embeddings
	Tokens  int  // token limit of a model's answer; 0 if the step sets none
}

// maxVisited limits how many steps a traversal visits, because chains that run each other may unfold to very many.
const maxVisited = 10_000

// Asking returns the steps that send requests to services, including those of the chains that it runs, in file order.
func (c *Chain) Asking() []Asking {
	var all []Asking
	c.unfold("", maxVisited, func(path string, s *Step) {
		of := s.primary()
		if of == nil {
			return
		}
		step := Asking{Path: path, Service: of, Writes: writes(s.action)}
		switch a := s.action.(type) {
		case *completion:
			step.Tokens = a.MaxTokens
		case *embed, *recollect:
			step.Embeds = true
		}
		all = append(all, step)
	})
	return all
}

// Endpoints returns the distinct requests that all chains send to an http service, such as "GET /products/{}". known
// is false if some are computed at run time, or if the service is used in other ways too.
func (r *Reader) Endpoints(of *Service) (all []string, known bool) {
	known = of.Login == nil
	add := func(q *request, endpoint string) {
		if endpoint == "" {
			known = false
		} else if !slices.Contains(all, endpoint) {
			all = append(all, endpoint)
		}
		if v := q.repeatPolicy().verify; v != nil {
			if path := v.request.target.Template(); path != "" {
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

// Thinking is the total time of a session's wait steps, if each runs once.
type Thinking struct {
	Least, Mean, Most time.Duration
	Exact             bool // nothing is drawn or depends on the session
}

// Thinks returns the time of a session's wait steps. Drawn times count as in a sample, and at least 0. Times that depend on the session
// are omitted.
func (c *Chain) Thinks() Thinking {
	t := Thinking{Exact: true}
	c.unfold("", maxVisited, func(path string, s *Step) {
		w, ok := s.action.(*wait)
		if !ok {
			return
		}
		mean, most := w.fixed, w.fixed
		if s.when == nil {
			t.Least += w.fixed
		}
		if w.seconds != nil {
			mean, most = w.sample(path)
		}
		t.Mean, t.Most, t.Exact = t.Mean+mean, t.Most+most, t.Exact && w.seconds == nil && s.when == nil
	})
	return t
}

// unfold calls f for every step, including those of the chains that it runs, and returns the remaining number of
// calls.
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

// writes reports whether a step changes something at a service that is not a model.
func writes(a action) bool {
	asks, ok := a.(asker)
	return ok && asks.changes() != nil
}
