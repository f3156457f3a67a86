package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// A retirement and a requeueing as a change says them: Cycle is the first without the agent, or the open one.
type handText struct {
	Cycle int `json:"cycle"`
	Agent int `json:"agent"`
	Take  int `json:"take,omitempty"` // that is made again
}

// SessionEnd is what a session counts in the totals for its being the last take.
type SessionEnd struct {
	Take    int
	Outcome Outcome
	Class   Class
	Acted   bool
	Events  int64
}

// EndOf is what a session row counts so.
func EndOf(r *SessionRow) SessionEnd {
	return SessionEnd{r.Take, r.Outcome, r.Class, r.Acted, int64(len(r.Events))}
}

// Retire takes an agent out of the run and waits until that is durable: from the next cycle on it takes no part, and its
// session in flight, if it waits for anything, ends at once as cancelled. One that it has still to begin in the open
// cycle it has. The run is inexact from then on. Mistakes are *FieldError.
func (r *Run) Retire(ctx context.Context, agent int, who string) error {
	return r.byHand(ctx, func(l *loop, then func(error)) error { return l.retire(agent, who, then) })
}

// Requeue has an agent's session of the open cycle, which failed or timed out, made again, and waits until that order is
// durable. The second take has the same idempotency keys and draws; it counts in the place of the
// first in results, outcomes and errors, while the requests, tokens and times of both count. The run is inexact from
// then on. Mistakes are *FieldError: once its cycle is closed a session stays as it is.
func (r *Run) Requeue(ctx context.Context, agent int, who string) error {
	return r.byHand(ctx, func(l *loop, then func(error)) error { return l.requeue(agent, who, then) })
}

// byHand has the loop carry out f, and waits for what that has journaled.
func (r *Run) byHand(ctx context.Context, f func(l *loop, then func(error)) error) error {
	saved := make(chan error, 1)
	err := r.order(func(l *loop) error {
		if l.abandoned || l.phase == Draining {
			return ErrEnded
		}
		return f(l, func(err error) { saved <- err })
	})
	if err != nil {
		return err
	}
	return r.hear(ctx, saved)
}

// nextBarrier is the first cycle that finds what is ordered now.
func (l *loop) nextBarrier() int {
	if l.cycle == nil && len(l.firstDone) == 0 && len(l.r.prefixes) == 0 {
		return l.number // none of its sessions has begun
	}
	return l.number + 1
}

// comes reports whether a cycle may ever begin.
func (l *loop) comes(cycle int) bool {
	n := l.cfg.Settings.Cycles
	return n == 0 || cycle < n
}

func (l *loop) retire(agent int, who string, then func(error)) error {
	if !l.roster.has(agent) {
		return &FieldError{"agent", fmt.Sprintf("nobody with index %d takes part", agent), ""}
	}
	from := l.nextBarrier()
	inFlight := l.r.slots.holds(agent)
	switch was, gone := l.roster.gone[agent]; {
	case gone && !inFlight:
		return &FieldError{"agent", l.called(agent) + " is retired already", fmt.Sprintf("from cycle %d on", was)}
	case gone:
		from = was
	case !inFlight && !l.comes(from):
		return &FieldError{"agent", "no further cycle begins: there is nothing to retire from", ""}
	}
	since := Inexact{Cycle: from, Agent: agent, Why: "an agent was retired by hand"}
	if inFlight {
		since.Cycle = l.number
	}
	l.roster.gone[agent] = from
	l.sessions.total = l.roster.total(l.cfg.Settings.Cycles)
	l.commitHand(RetireChange, handText{Cycle: from, Agent: agent}, who, since, func(err error) {
		if err == nil && inFlight { // so that no session is cancelled for nobody knows what
			l.r.slots.cancel(agent, ErrRetired)
		}
		then(err)
	})
	return nil
}

func (l *loop) requeue(agent int, who string, then func(error)) error {
	end, ok := l.bad[agent]
	switch {
	case l.cycle == nil || l.closing:
		return &FieldError{"agent", "the cycle is closed: its sessions stay as they are", "requeue while the cycle goes on"}
	case !ok:
		return &FieldError{"agent", l.called(agent) + " has no session in this cycle that ended badly", "only such a session can be made again"}
	}
	l.totals.withdraw(agent, end, &l.atBarrier.Totals)
	delete(l.bad, agent)
	l.r.attendance.again(agent)
	l.sessions.begun--
	l.requeueing++
	c, take := l.cycle, Place{l.number, agent, end.Take + 1}
	since := Inexact{Cycle: l.number, Agent: agent, Why: "a session was requeued by hand"}
	l.commitHand(RequeueChange, handText(take), who, since, func(err error) {
		l.requeueing--
		if err == nil { // nothing of the take is journaled before the order
			c.again.add(take)
		}
		then(err)
	})
	return nil
}

// commitHand journals what a person ordered of an agent; then hears whether it is durable.
func (l *loop) commitHand(what string, text handText, who string, since Inexact, then func(error)) {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // three numbers
	}
	row := l.stamped(ChangeRow{What: what, Old: l.called(text.Agent), New: string(data), Who: who, Inexact: &since})
	l.show(row)
	l.commit(l.ctx, row, then)
	l.publish()
}

// called is an agent for people.
func (l *loop) called(agent int) string {
	n := ErrorNote{Agent: agent, Count: 1}
	l.name(&n)
	return n.Who()
}

// Hear takes in a change that the journal holds: what was ordered of agents, and what services were tuned to. The order
// of changes matters.
func (res *Resumption) Hear(c *ChangeRow) error {
	switch c.What {
	case InjectChange:
		i, _, err := ReadInjection(c.What, c.New)
		res.Injected = append(res.Injected, i)
		return err
	case RetireChange, RequeueChange:
		var t handText
		if err := json.Unmarshal([]byte(c.New), &t); err != nil {
			return fmt.Errorf("a change by hand cannot be read: %w", err)
		}
		if c.What == RetireChange {
			put(&res.Retired, t.Agent, t.Cycle)
			return nil
		}
		put(&res.Requeued, Place{Cycle: t.Cycle, Agent: t.Agent}, t.Take)
	case PhaseChange, StallChange, SleepChange, exactnessChange:
	default:
		res.Tuned = slices.DeleteFunc(res.Tuned, func(t Tunable) bool { return t.Name == c.What })
		res.Tuned = append(res.Tuned, Tunable{Name: c.What, Value: c.New})
	}
	return nil
}

func put[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}

// Superseded reports whether a later take of a session was ordered.
func (res *Resumption) Superseded(p Place) bool {
	return p.Take < res.Requeued[Place{Cycle: p.Cycle, Agent: p.Agent}]
}

// Count adds a session of the journal to totals, of which before are those at the start of its cycle.
func (res *Resumption) Count(t *Totals, r *SessionRow, before *Totals) {
	t.Add(r)
	if res.Superseded(r.Place) {
		t.withdraw(r.Agent, EndOf(r), before)
	}
}

// restore sets services to what people tuned them to in earlier processes. What a service does not know any more, or
// takes no more, stays as the scenario says.
func (l *loop) restore(tuned []Tunable) {
	for _, t := range tuned {
		if s := l.serviceOf(t.Name); s != nil {
			_, _ = s.Tune(t.Name, t.Value)
		}
	}
}

// withdraw takes out what a session counted for its being the last take, as another follows: its ending, its events and
// whether it acted. What it asked and took stays. before are the totals at the start of its cycle.
func (t *Totals) withdraw(agent int, e SessionEnd, before *Totals) {
	t.Outcomes[e.Outcome]--
	if e.Outcome == Failed || e.Outcome == TimedOut {
		t.Errors[e.Class]--
		if !before.hasFailed(agent) {
			t.FailedAgents[agent/64] &^= 1 << (agent % 64)
		}
	}
	if e.Acted {
		t.Acted--
	}
	t.Events -= e.Events
}

// hasFailed reports whether an agent had a session that failed or timed out.
func (t *Totals) hasFailed(agent int) bool {
	return agent/64 < len(t.FailedAgents) && t.FailedAgents[agent/64]&(1<<(agent%64)) != 0
}
