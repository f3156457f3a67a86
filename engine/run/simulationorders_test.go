package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// live runs the process until it has ended or crashed.
func (p *process) live() error {
	if p.trace != nil {
		p.trace("process %d, limit %d, fleet %v", p.processes, p.limit, p.params.fleet)
	}
	p.step(started{})
	for p.core.life.phase != engine.Ended && p.err == nil {
		if p.steps++; p.steps > p.maxSteps() {
			p.fail("the process never ends: %v, %d sessions in flight, %d rows in the backlog", p.core.life.phase, p.workers.busy(), len(p.backlog))
		}
		if p.params.crashes > 0 && p.draw.IntN(60) == 0 {
			p.params.crashes--
			p.crashed = true
			if p.trace != nil {
				p.trace("crash: %d rows durable of %d", p.journal.durable, len(p.journal.rows))
			}
			return nil
		}
		p.act()
	}
	if p.err == nil {
		p.checkEnd()
	}
	return p.err
}

// maxSteps bounds the steps of a process. The messages of a fleet are steps, too.
func (p *process) maxSteps() int {
	if p.params.fleet {
		return 200_000
	}
	return 20_000
}

// ordersEvery is how many chances for an order come before one is given. A fleet needs more time to follow it.
func (p *process) ordersEvery() int {
	if p.params.fleet {
		return 60
	}
	return 6
}

// act performs one of the possible actions at random.
func (p *process) act() {
	d := p.draw
	p.at = p.at.Add(time.Duration(1+d.IntN(2000)) * time.Microsecond)
	for range 8 {
		switch d.IntN(8) {
		case 0, 1:
			if p.workers.act() {
				return
			}
		case 2, 3:
			if len(p.inTransit) > 0 {
				f := p.deliver(p.workers.delivers(d.IntN(len(p.inTransit))))
				p.step(f)
				if p.faults.deliverTwice && len(f.batch.rows) > 0 {
					p.step(f)
				}
				clear(f.batch.rows) // the batch is reused
				return
			}
		case 4, 5:
			if len(p.async) > 0 {
				e := p.async[0]
				p.async = p.async[1:]
				p.step(e)
				return
			}
		case 6:
			if p.writing == nil && len(p.backlog) > 0 {
				p.write()
				return
			}
			if d.IntN(3) > 0 && p.completeWrite() {
				return
			}
		case 7:
			if d.IntN(p.ordersEvery()) == 0 && p.orders > 0 {
				p.orders--
				p.order()
				return
			}
		}
	}
	p.advanceTime()
}

// advanceTime advances the time to the next event.
func (p *process) advanceTime() {
	next, which := p.tick, numTimers
	for t, at := range p.timers {
		if !at.IsZero() && at.Before(next) {
			next, which = at, timer(t)
		}
	}
	if at, ok := p.workers.next(); ok && at.Before(next) {
		p.at = maxTime(p.at, at)
		p.workers.act()
		return
	}
	p.at = maxTime(p.at, next)
	if which < numTimers {
		p.timers[which] = time.Time{}
		p.step(expired{which})
		return
	}
	p.tick = p.at.Add(publishEvery)
	if p.draw.IntN(4) == 0 {
		p.step(sampled{})
	} else {
		p.step(ticked{})
	}
	if p.draw.IntN(4) == 0 {
		p.journal.sync()
	}
	if p.orders <= 0 {
		p.removeObstacles()
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// removeObstacles removes everything that would keep the run from ending.
func (p *process) removeObstacles() {
	p.workers.removeObstacles()
	if p.journal.broken {
		p.journal.broken = false
		p.step(journalTrouble{})
	}
	if p.core.life.pausedByUser || p.core.life.selfPaused() {
		p.step(resumeOrder{"simulation"})
	}
	if p.core.limit.set == 0 {
		p.setLimit(1 + p.draw.IntN(8))
	}
}

func (p *process) setLimit(n int) {
	next := p.core.cfg.Settings
	next.Limit = max(n, 1)
	p.limit = n
	p.step(setOrder{next: next, limit: n, namesLimit: true, who: "simulation"})
}

// order issues an order or changes the state of the journal.
func (p *process) order() {
	d := p.draw
	which := d.IntN(16)
	if p.core.life.writingEnd && which != 6 && which != 8 {
		return // the node refuses such orders
	}
	switch which {
	case 0, 1, 2:
		p.setLimit(d.IntN(12))
	case 3:
		p.step(pauseOrder{"simulation", "lunch"})
	case 4, 5:
		p.step(resumeOrder{"simulation"})
	case 6:
		p.journal.broken = !p.journal.broken
		var err error
		if p.journal.broken {
			err = engine.ErrNoRoom
		}
		p.step(journalTrouble{err})
	case 7:
		p.step(checkpointOrder{manualReason, p.id()})
	case 8:
		p.orderEnding(d.IntN(8))
	default:
		if p.params.manual {
			p.orderManual(d.IntN(5))
		}
	}
}

func (p *process) id() answerID {
	p.ids++
	p.expect.unanswered[p.ids] = true
	return p.ids
}

// orderEnding issues an order that ends the process.
func (p *process) orderEnding(which int) {
	switch which {
	case 0, 1, 2:
		p.step(stopOrder{"simulation", "enough"})
	case 3:
		p.step(stopOrder{"simulation", "enough"})
		p.step(stopOrder{"simulation", "now"})
	case 4:
		p.step(shutdownOrder{shutdownReason})
	case 5:
		p.step(cutOrder{"the program ended"})
	case 6:
		p.budgetUsedUp = true
		p.step(claimRefused{budgetReason})
	case 7:
		p.journal.damaged = true
		if p.steps%2 == 0 { // otherwise the next commit reports it
			p.step(journalTrouble{engine.ErrDamaged})
		}
	}
}

// orderManual issues an order about agents.
func (p *process) orderManual(which int) {
	if p.core.life.writingEnd {
		return
	}
	agent := p.draw.IntN(p.params.agents)
	switch which {
	case 0:
		p.step(retireOrder{agent, p.workers.holds(agent), "simulation", p.id()})
	case 1:
		text := []byte(`"` + time.Duration(p.draw.IntN(1000)).String() + `"`)
		p.step(injectOrder{engine.Message{To: []int{agent}, Body: text}, "one agent", "simulation", p.id()})
	default:
		if p.params.sequential {
			return // the session would see what others changed after its first take
		}
		for agent := range p.core.cycles.failed {
			least := agent
			for other := range p.core.cycles.failed {
				least = min(least, other)
			}
			p.step(requeueOrder{least, "simulation", p.id()})
			return
		}
	}
}

// steer returns the orders of a governor.
func (p *process) steer() (o engine.Orders) {
	d := p.draw
	was := p.core.limit.orders
	o.Breaker, o.BreakerWhy = was.Breaker, was.BreakerWhy
	which := d.IntN(6)
	if p.params.probing && p.orders > 0 && d.IntN(2) == 0 {
		which = 2
		if was.Breaker == engine.BreakerOpen {
			which = 4
		}
	}
	switch which {
	case 0, 1:
		o.Limit, o.By, o.Why = 1+d.IntN(12), "adaptive", "a guess"
	case 2:
		if p.orders > 0 {
			o.Breaker, o.BreakerWhy = engine.BreakerOpen, "too much fails"
		}
	case 3:
		o.Breaker, o.BreakerWhy = engine.BreakerClosed, ""
	case 4:
		o.Probe = was.Breaker == engine.BreakerOpen
	}
	return o
}
