// Package merged shows the clients that a coordinator and its workers have of a service as one service.
package merged

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Service is a service of a run over several workers. The coordinator's client owns the limits and sends nothing; the workers' clients
// send the requests. It is safe for concurrent use.
type Service struct {
	own   engine.Service
	hooks Hooks

	mu      sync.Mutex
	workers map[string]Report // newest
	past    counts            // of workers that are gone
	moves   []engine.ChangeRow
}

var _ engine.Service = (*Service)(nil)

// Hooks pass changes on to all workers. They must not block.
type Hooks struct {
	// Tune receives a value that every worker's client must be tuned to. A worker that joins later needs the values of Tunables.
	Tune func(service, name, value string)
	// Renew is for the Renew of every worker's client.
	Renew func(service string)
}

// New returns a service without workers.
func New(own engine.Service, h Hooks) *Service {
	return &Service{own: own, hooks: h, workers: map[string]Report{}}
}

// Report is the state of a worker's client. It is plain data.
type Report struct {
	At    time.Time // by the worker's clock
	State engine.ServiceState
	// Replies and Retries are those of State, which are not encoded there.
	Replies engine.Replies
	Retries int64
	Moves   []engine.ChangeRow // since the last report
}

// ReportOf returns the state and the moves of a client.
func ReportOf(s engine.Service, now time.Time) Report {
	state := s.State(now)
	return Report{At: now, State: state, Replies: state.Replies, Retries: state.Retries, Moves: s.Moves()}
}

// counts are figures that only grow.
type counts struct {
	failures, refused, retries int64
	replies                    engine.Replies
}

func (c *counts) add(r *Report) {
	c.failures += r.State.Failures
	c.refused += r.State.Refused
	c.retries += r.Retries
	for i, n := range r.Replies {
		c.replies[i] += n
	}
}

// learner is a client that leaves out what models refuse.
type learner interface {
	// Teach adds refused fields, in the format of the tunable "unsupported", and returns all of them before and after.
	Teach(fields string) (old, now string)
}

// Put replaces the state of a worker, and adds its moves.
func (s *Service) Put(worker string, r Report) {
	late := time.Since(r.At) // of the worker's clock
	if !r.State.NextProbe.IsZero() {
		r.State.NextProbe = r.State.NextProbe.Add(late)
	}
	var learned []engine.ChangeRow
	s.mu.Lock()
	if before, ok := s.workers[worker]; ok && (r.State.Failures < before.State.Failures || r.Replies[engine.Reply2xx] < before.Replies[engine.Reply2xx]) {
		s.past.add(&before) // the worker has started again
	}
	for _, m := range r.Moves {
		m.At = m.At.Add(late)
		m.Why = worker + ": " + m.Why
		if l, ok := s.own.(learner); ok && strings.HasSuffix(m.What, ".unsupported") {
			if m.Old, m.New = l.Teach(m.New); m.Old == m.New {
				continue // another worker has learned it too
			}
			learned = append(learned, m)
		}
		s.moves = append(s.moves, m)
	}
	r.Moves = nil
	s.workers[worker] = r
	s.mu.Unlock()
	for _, m := range learned {
		s.hooks.Tune(r.State.Name, m.What, m.New)
	}
}

// Forget removes a worker. Its counts stay.
func (s *Service) Forget(worker string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.workers[worker]; ok {
		s.past.add(&r)
		delete(s.workers, worker)
	}
}

// State implements [engine.Service]. The limits are the coordinator's; requests in flight, waiting and counted are those of all
// workers; the breaker is the worst.
func (s *Service) State(now time.Time) engine.ServiceState {
	state := s.own.State(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	state.InFlight, state.Waiting = 0, 0
	sum := s.past
	away := 0
	for _, worker := range slices.Sorted(maps.Keys(s.workers)) {
		r := s.workers[worker]
		state.InFlight += r.State.InFlight
		state.Waiting += r.State.Waiting
		sum.add(&r)
		if state.RateWhy == "" && r.State.RateWhy != "" {
			state.RateWhy = worker + ": " + r.State.RateWhy
		}
		if r.State.Breaker != engine.BreakerClosed {
			away++
		}
		if r.State.Breaker > state.Breaker {
			state.Breaker, state.BreakerWhy, state.NextProbe = r.State.Breaker, worker+": "+r.State.BreakerWhy, r.State.NextProbe
		}
	}
	if away > 1 {
		state.BreakerWhy += fmt.Sprintf(" (the same on %d of %d workers)", away, len(s.workers))
	}
	state.Failures += sum.failures
	state.Refused += sum.refused
	state.Retries += sum.retries
	for i, n := range sum.replies {
		state.Replies[i] += n
	}
	return state
}

// Tunables implements [engine.Service].
func (s *Service) Tunables() []engine.Tunable { return s.own.Tunables() }

// Tune implements [engine.Service]. The value applies to the coordinator's client and to those of all workers.
func (s *Service) Tune(name, value string) (old string, err error) {
	state := s.own.State(time.Now())
	if n, err := strconv.Atoi(value); err == nil && state.Kind == "postgres" && strings.HasSuffix(name, ".connections") {
		s.mu.Lock()
		workers := len(s.workers)
		s.mu.Unlock()
		if n >= 1 && n < workers {
			return "", &engine.FieldError{
				Field: name, Problem: fmt.Sprintf("%d workers cannot share %d connections", workers, n), Hint: fmt.Sprintf("at least %d, or fewer workers", workers),
			}
		}
	}
	if old, err = s.own.Tune(name, value); err == nil {
		s.hooks.Tune(state.Name, name, value)
	}
	return old, err
}

// Renew implements [engine.Service].
func (s *Service) Renew() {
	s.own.Renew()
	s.hooks.Renew(s.own.State(time.Now()).Name)
}

// Moves implements [engine.Service]. Those of workers begin with the worker's name in their reason.
func (s *Service) Moves() []engine.ChangeRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	moves := append(s.own.Moves(), s.moves...)
	s.moves = nil
	return moves
}
