package engine

import "time"

// steer asks the governor what is to be done now, and does it.
func (l *loop) steer() {
	if l.cfg.Governor == nil || l.finishing || l.phase == Draining || l.phase == Ended {
		return
	}
	l.obey(l.cfg.Governor.Steer(l.reading(time.Now())))
}

// obey carries out orders.
func (l *loop) obey(o Orders) {
	was := l.orders
	l.orders = o
	if o.Why != "" && l.limit > 0 { // a limit of 0 is a person's
		l.steered, l.steerWhy, l.steerBy = time.Now(), o.Why, o.By
	}
	if o.Limit > 0 && l.limit > 0 && l.governed() {
		l.moveLimit(min(o.Limit, MaxLimit), o.By, o.Why)
	}
	if o.Stall != nil && was.Stall == nil {
		l.change(StallChange, "", "", "stall warning", o.Stall.Why)
	}
	switch isOpen, wasOpen := o.Breaker != BreakerClosed, was.Breaker != BreakerClosed; {
	case isOpen && !wasOpen:
		l.change(PhaseChange, l.phase.String(), Paused.String(), breakerName, o.BreakerWhy)
		l.settle()
		l.checkpoint(breakerName, nil)
	case wasOpen && !isOpen:
		l.probe = false
		l.settle()
		l.change(PhaseChange, Paused.String(), l.phase.String(), breakerName, l.closedWhy())
	case isOpen && o.Probe && l.probing == 0:
		l.probe = true
	}
	l.publish()
}

// closedWhy says why the breaker closed by itself.
func (l *loop) closedWhy() string {
	if l.cfg.Settings.Breaker == BreakerOff {
		return "it was switched off"
	}
	return "all is well again"
}

// breakerName is who pauses a run of which too much fails.
const breakerName = "breaker"

// mayProbe reports whether a session is to start although the breaker is open, and nothing else stands against it.
func (l *loop) mayProbe() bool {
	if !l.probe || l.phase != Paused || l.pausedByUs || l.trouble != nil || l.limit == 0 {
		return false
	}
	now := time.Now()
	for i := range l.quotas {
		if l.quotas[i].holds(now) {
			return false
		}
	}
	return true
}

// probeOnce starts one session, however many are in flight still.
func (l *loop) probeOnce() {
	if !l.mayProbe() || l.cycle == nil || l.closing || l.cfg.Settings.Sequential && l.workers > 0 {
		return
	}
	if l.nextWave(); l.cycle.open() == 0 {
		return
	}
	now := time.Now()
	l.probe, l.lastEnd = false, now
	l.standing += l.stoodIdle(now)
	l.probing++
	l.workers++
	l.r.places.Force()
	w := &worker{run: l.r, cycle: l.cycle, once: true}
	go w.work()
}
