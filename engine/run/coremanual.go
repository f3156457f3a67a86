package run

import (
	"encoding/json"
	"fmt"

	"github.com/throng-sim/throng/engine"
)

// manual handles the orders of people about single agents.
type manual struct{ core *core }

// retire takes an agent out of the run from the next cycle on.
func (m *manual) retire(o *retireOrder) error {
	c := m.core
	if err := m.check(); err != nil {
		return err
	}
	agent, retired := o.agent, c.roster.retiredFrom
	if !c.roster.has(agent) {
		return &engine.FieldError{Field: "agent", Problem: fmt.Sprintf("no active agent has index %d", agent), Hint: ""}
	}
	from := c.cycles.nextBarrier()
	switch was, already := retired[agent]; {
	case already && !o.inFlight:
		return &engine.FieldError{Field: "agent", Problem: c.agentName(agent) + " is retired already", Hint: fmt.Sprintf("from cycle %d on", was)}
	case already:
		from = was
	case !o.inFlight && !c.cycles.mayReach(from):
		return &engine.FieldError{Field: "agent", Problem: "no further cycle begins: there is nothing to retire from", Hint: ""}
	}
	since := engine.Inexact{Cycle: from, Agent: agent, Why: "an agent was retired by hand"}
	if o.inFlight {
		since.Cycle = c.cycles.number
	}
	retired[agent] = from
	c.tally.planned = c.roster.total(c.cfg.Settings.Cycles)
	m.commitOrder(engine.RetireChange, engine.AgentChange{Cycle: from, Agent: agent}, o.who, since,
		ticket{kind: retireTicket, place: engine.Place{Agent: agent}, inFlight: o.inFlight, answer: o.answer})
	return nil
}

// requeue runs a failed session of the open cycle again.
func (m *manual) requeue(o *requeueOrder) error {
	c := m.core
	if err := m.check(); err != nil {
		return err
	}
	cy, agent := &c.cycles, o.agent
	end, ok := cy.failed[agent]
	switch {
	case cy.open == nil || cy.closing:
		return &engine.FieldError{Field: "agent", Problem: "the cycle is closed: its sessions stay as they are", Hint: "requeue while the cycle is open"}
	case !ok:
		return &engine.FieldError{Field: "agent", Problem: c.agentName(agent) + " has no failed session in this cycle", Hint: "only failed sessions can be requeued"}
	}
	c.tally.totals.Withdraw(agent, end, &c.tally.atBarrier.Totals)
	delete(cy.failed, agent)
	c.emit(withdrawSession{agent})
	c.tally.started--
	take := engine.Place{Cycle: cy.number, Agent: agent, Take: end.Take + 1}
	since := engine.Inexact{Cycle: cy.number, Agent: agent, Why: "a session was requeued by hand"}
	m.commitOrder(engine.RequeueChange, engine.AgentChange(take), o.who, since, ticket{kind: requeueTicket, place: take, answer: o.answer})
	return nil
}

// inject puts a message into inboxes. It takes effect in the next cycle, so its results follow it in the journal.
func (m *manual) inject(o *injectOrder) error {
	c := m.core
	if err := m.check(); err != nil {
		return err
	}
	i := engine.Injection{Cycle: c.cycles.nextBarrier(), To: o.message.To, Body: o.message.Body}
	if !c.cycles.mayReach(i.Cycle) {
		return &engine.FieldError{Field: "message", Problem: "no further cycle begins, so no agent would read it", Hint: ""}
	}
	text, err := json.Marshal(engine.InjectionText{Cycle: i.Cycle, To: i.To, Body: i.Body})
	if err != nil {
		return err
	}
	since := engine.Inexact{Cycle: i.Cycle, Why: "a message was injected by hand"}
	row := c.changes.stamp(engine.ChangeRow{What: engine.InjectChange, Old: o.to, New: string(text), Who: o.who, Inexact: &since})
	m.commit(row, ticket{kind: injectTicket, answer: o.answer})
	c.memory.inject(i)
	return nil
}

// check returns an error if it is too late for orders about agents because no further barrier will come.
func (m *manual) check() error {
	c := m.core
	if c.life.abandoned || c.life.phase == engine.Draining {
		return engine.ErrEnded
	}
	return nil
}

// commitOrder journals a manual order about an agent.
func (m *manual) commitOrder(what string, text engine.AgentChange, who string, since engine.Inexact, t ticket) {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // cannot fail: the text is three numbers
	}
	m.commit(m.core.changes.stamp(engine.ChangeRow{What: what, Old: m.core.agentName(text.Agent), New: string(data), Who: who, Inexact: &since}), t)
}

// commit journals a change with a ticket that comes back once the change is durable.
func (m *manual) commit(row engine.ChangeRow, t ticket) {
	c := m.core
	c.cycles.pendingOrders++
	c.changes.show(row)
	c.emit(writeRow{row, t})
	c.emit(publish{})
}
