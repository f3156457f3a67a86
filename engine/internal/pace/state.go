package pace

import "time"

// State is how a pacer is doing.
type State struct {
	Limits  Limits
	Rate    float64   // requests per second that may start now; 0 is as many as come
	Why     string    // in words, why that is the rate
	Blocked time.Time // nothing starts before; zero is that it may
	// Exhausted says in words that the quota is gone for long, and Until when it is there again; zero is that nobody knows.
	Exhausted string
	Until     time.Time
}

// Move is a change of the rate that the pacer made by itself, in requests per second.
type Move struct {
	At       time.Time
	Old, New float64
	Why      string // in words
}

// Limits are those in force.
func (p *Pacer) Limits() Limits {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limits
}

// SetLimits changes the limits by hand. A new Start is the rate from now on; else the rate stays, within the new bounds.
func (p *Pacer) SetLimits(_ time.Time, l Limits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.Ceiling, l.Floor = max(l.Ceiling, l.Start), min(l.Floor, l.Start)
	if l.Start != p.limits.Start {
		p.rate = l.Start
	}
	p.rate = min(max(p.rate, l.Floor), l.Ceiling)
	p.limits = l
}

// State is how the pacer is doing now.
func (p *Pacer) State(now time.Time) State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := State{Limits: p.limits, Rate: p.rate}
	if p.blocked.After(now) {
		s.Blocked = p.blocked
	}
	return s
}

// Moves returns what has changed since it was asked last.
func (p *Pacer) Moves() []Move { return nil }
