package service

import (
	"slices"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/database"
)

var (
	_ engine.Service = (*HTTP)(nil)
	_ engine.Service = (*LLM)(nil)
	_ engine.Service = (*Postgres)(nil)
)

// State implements [engine.Service].
func (h *HTTP) State(now time.Time) engine.ServiceState {
	t := &h.transport
	s := engine.ServiceState{Name: h.name, Kind: h.kind}
	s.Refused = t.rejected.Load()
	t.limits.Fill(&s, now)
	t.breaker.Fill(&s, now)
	t.answers.fill(&s)
	return s
}

// Tunables implements [engine.Service]: rate, max-rate, timeout, connections (concurrent for models), breaker.
func (h *HTTP) Tunables() []engine.Tunable { return h.tunables().list() }

// Tune implements [engine.Service]. A new timeout applies to attempts that begin from now on, of steps without their own.
func (h *HTTP) Tune(name, value string) (old string, err error) {
	return h.tunables().tune(name, value)
}

func (h *HTTP) tunables() tunables {
	atOnce := "connections"
	if h.kind == kindLLM {
		atOnce = "concurrent"
	}
	t := &h.transport
	return tunables{h.name, append(
		rateTunables(h),
		timeTunable(h.patience, func(d time.Duration) { t.patience.Store(int64(d)) }),
		countTunable(atOnce, mostCalls, t.control.Connections, t.control.SetConnections),
		breakerTunable(t.breaker),
	)}
}

// Renew implements [engine.Service]. It closes idle connections, because open ones may be dead, and resets the breaker, refusals
// and exhausted quotas. A call that must be sent at most once waits for its response.
func (h *HTTP) Renew() {
	h.pool.CloseIdleConnections()
	if h.direct != nil {
		h.direct.CloseIdle()
	}
	h.transport.breaker.Wake()
	h.transport.control.Resume(time.Now())
	h.transport.renewal.renew()
}

// Moves implements [engine.Service].
func (h *HTTP) Moves() []engine.ChangeRow {
	return slices.Concat(h.transport.breaker.Moves(), h.transport.openFiles.Taken(), h.transport.control.Moves(h.name))
}

// State implements [engine.Service].
func (p *Postgres) State(now time.Time) engine.ServiceState {
	s := engine.ServiceState{Name: p.name, Kind: "postgres"}
	s.Bound, s.InFlight, s.Waiting = p.pool.Limit.State()
	s.RateWhy = p.pool.WhyFull()
	p.breaker.Fill(&s, now)
	p.answers.fill(&s)
	return s
}

// Tunables implements [engine.Service]: timeout, connections, breaker.
func (p *Postgres) Tunables() []engine.Tunable { return p.tunables().list() }

// Tune implements [engine.Service]. A new timeout applies to attempts that begin from now on, of steps without their own.
func (p *Postgres) Tune(name, value string) (old string, err error) {
	return p.tunables().tune(name, value)
}

func (p *Postgres) tunables() tunables {
	return tunables{p.name, []tunable{
		timeTunable(func() time.Duration { return time.Duration(p.timeout.Load()) }, func(d time.Duration) { p.timeout.Store(int64(d)) }),
		countTunable("connections", database.MostConnections, p.pool.Connections, p.pool.SetConnections),
		breakerTunable(p.breaker),
	}}
}

// Renew implements [engine.Service]. Statements that only read are sent again, and no statement uses a connection that was open
// before. The breaker is reset.
func (p *Postgres) Renew() {
	p.pool.Reset()
	p.breaker.Wake()
	p.renewal.renew()
}

// Moves implements [engine.Service].
func (p *Postgres) Moves() []engine.ChangeRow {
	moves := append(p.breaker.Moves(), p.openFiles.Taken()...)
	for _, m := range p.pool.Moves() {
		moves = append(moves, engine.ChangeRow{
			At: m.At, What: p.name + " connections", Old: strconv.Itoa(m.Old), New: strconv.Itoa(m.Now), Who: "the server's room", Why: m.Why,
		})
	}
	return moves
}
