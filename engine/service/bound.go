package service

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
)

// Bound is how many calls may go on at once over all services that share it.
type Bound struct{ limit *concurrency.Limit }

var _ engine.Service = (*Bound)(nil)

// NewBound returns a bound of n calls.
func NewBound(n int) *Bound { return &Bound{concurrency.NewLimit(n)} }

// State implements [engine.Service].
func (b *Bound) State(time.Time) engine.ServiceState {
	s := engine.ServiceState{Name: "all models", Kind: "bound"}
	s.Bound, s.InFlight, s.Waiting = b.limit.State()
	return s
}

// Tunables implements [engine.Service]: it is the run's setting max-llm-calls.
func (b *Bound) Tunables() []engine.Tunable { return b.tunables().list() }

// Tune implements [engine.Service].
func (b *Bound) Tune(name, value string) (old string, err error) {
	return b.tunables().tune(name, value)
}

func (b *Bound) tunables() tunables {
	return tunables{"", []tunable{countTunable("max-llm-calls", mostCalls, func() int { n, _, _ := b.limit.State(); return n }, b.limit.SetLimit)}}
}

// Renew implements [engine.Service]. There is nothing to be done: its services have the requests.
func (b *Bound) Renew() {}

// Moves implements [engine.Service].
func (b *Bound) Moves() []engine.ChangeRow { return nil }
