package scenario

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// Asking is how many of a sample of sessions reach a request.
type Asking struct{ Asks, Sessions int }

// SampleAsking runs the beginnings of up to so many sessions over the cycles of a run, without memory, until they would send their first
// request or run a python step. A session that fails counts as one that asks. It takes little longer than the given time.
func (p *Program) SampleAsking(ctx context.Context, set *engine.Settings, cycles, sessions int, within time.Duration) (a Asking) {
	if p.s.Agents == 0 {
		return a
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	all := p.s.Agents * max(cycles, 1)
	n := min(sessions, all)
	var row engine.SessionRow
	s := engine.NewSession(dryHost{settings: set, ctx: ctx}, drySlot{ctx: ctx}, &row)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		at := int(int64(i) * int64(all) / int64(n)) // cycle by cycle, with other agents in each
		cycle, agent := at/p.s.Agents, at%p.s.Agents
		s.Reset(engine.Place{Cycle: cycle, Agent: agent}, p.s.Clock.At(cycle), nil)
		a.Sessions++
		v, err := p.enter(s)
		if err != nil {
			a.Asks++
			continue
		}
		v.in.Dry = true
		p.s.Chain.Run(s, &v.in)
		if asks := row.Outcome == engine.Stopped && row.Because == chain.Asks; asks || !row.Outcome.Commits() {
			a.Asks++
		}
	}
	return a
}

// dryHost is the run of sessions that send nothing. They use no other methods.
type dryHost struct {
	engine.Host
	settings *engine.Settings
	ctx      context.Context
}

func (dryHost) Run() engine.HostRun                                       { return engine.HostRun{} }
func (h dryHost) Context() context.Context                                { return h.ctx }
func (h dryHost) Settings() *engine.Settings                              { return h.settings }
func (dryHost) Injected() []engine.Injection                              { return nil }
func (dryHost) Keeps() bool                                               { return false }
func (dryHost) Traced(int, bool) bool                                     { return false }
func (dryHost) Sleep(context.Context, time.Duration) error                { return nil }
func (dryHost) Recorded(context.Context, int, int) (engine.Prefix, error) { return nil, nil }

// drySlot is the slot of these sessions.
type drySlot struct{ ctx context.Context }

func (s drySlot) Start() *clock.Clock         { return clock.New(s.ctx, 0, nil) }
func (drySlot) Show(func(d *engine.Activity)) {}
func (drySlot) Trail() *engine.Trail          { return nil }
func (drySlot) Memory() engine.MemoryClaims   { return nil }
func (drySlot) Park() (back func())           { return func() {} }
func (drySlot) Idle() bool                    { return false }
