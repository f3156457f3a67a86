package service

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
)

// Bound is a concurrency limit that services share.
type Bound struct{ limit *concurrency.Limit }

var _ engine.Service = (*Bound)(nil)

// NewBound returns a limit of n calls.
func NewBound(n int) *Bound { return &Bound{concurrency.NewLimit(n)} }

// State implements [engine.Service].
func (b *Bound) State(time.Time) engine.ServiceState {
	s := engine.ServiceState{Name: "all models", Kind: "bound"}
	s.Bound, s.InFlight, s.Waiting = b.limit.State()
	return s
}

// Tunables implements [engine.Service]: the run's setting max-llm-calls.
func (b *Bound) Tunables() []engine.Tunable { return b.tunables().list() }

// Tune implements [engine.Service].
func (b *Bound) Tune(name, value string) (old string, err error) {
	return b.tunables().tune(name, value)
}

func (b *Bound) tunables() tunables {
	return tunables{"", []tunable{countTunable("max-llm-calls", mostCalls, func() int { n, _, _ := b.limit.State(); return n }, b.limit.SetLimit)}}
}

// Renew implements [engine.Service]. It does nothing, because the requests belong to the services.
func (b *Bound) Renew() {}

// Moves implements [engine.Service].
func (b *Bound) Moves() []engine.ChangeRow { return nil }
