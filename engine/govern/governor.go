// Package govern steers a run: governors that move its limit, the run's breaker, and the warning that nothing ends. All
// of it is pure: it knows of the run and of time what an [engine.Reading] says, starts no goroutine, and draws nothing.
package govern

import (
	"fmt"
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Options are what a governor goes by beside what a person can change in a run. The zero value is what a run uses.
type Options struct {
	ProbeEvery time.Duration // between the probes of an open breaker; 0 is a minute
	Cores      int           // of the machine; 0 is those that this process can use
}

// Governor implements [engine.Governor]. It is for one goroutine.
type Governor struct {
	steering engine.Steering
	signals  [numSignals]policy
	active   []signal // whose word counts
	breaker  breaker
	stall    stall
	held     string // by which signal the limit was held
	begun    bool   // the policies know the limit that is in force
}

var _ engine.Governor = (*Governor)(nil)

// New returns a governor that goes by s. Mistakes are *engine.FieldError, joined.
func New(s engine.Steering, o Options) (*Governor, error) {
	if o.ProbeEvery <= 0 {
		o.ProbeEvery = time.Minute
	}
	if o.Cores <= 0 {
		o.Cores = runtime.NumCPU()
	}
	p := &Governor{breaker: breaker{every: o.ProbeEvery}}
	p.signals = [numSignals]policy{
		resourceSignal: &pressure{policy: &resources{cores: o.Cores}}, successSignal: &success{grows: okGrows}, latencySignal: &latency{window: window{cycles: true}},
		connectionSignal: &connections{}, failureSignal: &success{grows: okShrinks, guards: true},
	}
	return p, p.Use(s)
}

// Use implements [engine.Governor]: what was learned of the machine and the services stays.
func (p *Governor) Use(s engine.Steering) error {
	if s.Governor == "" {
		s.Governor = engine.Manual
	}
	if s.Breaker == "" {
		s.Breaker = breakerProbes
	}
	if err := validate(&s); err != nil {
		return err
	}
	p.begun = p.begun && s.Governor == p.steering.Governor
	p.steering = s
	if machine, ok := p.signals[resourceSignal].(*pressure); ok {
		machine.use(&s)
	}
	p.breaker.mode = s.Breaker
	p.active = signalsOf(s.Governor, s.Breaker)
	return nil
}

// Reset implements [engine.Governor]: the breaker closes and counts afresh, and a stall is told after its whole time.
func (p *Governor) Reset() {
	p.breaker.reset()
	p.stall.reset()
	p.afresh()
}

// Steer implements [engine.Governor].
func (p *Governor) Steer(r engine.Reading) engine.Orders {
	o := engine.Orders{Limit: r.Limit, By: p.steering.Governor}
	b := bounds{p.steering.Floor, p.steering.Ceiling}
	governed := p.steering.Governor != engine.Manual
	healed := p.breaker.next(&r, b, governed)
	switch {
	case !governed:
	case healed != "":
		p.restart(b.floor)
		if r.Limit != b.floor {
			o.Limit, o.By, o.Why = b.floor, byBreaker, moved(r.Limit, b.floor, healed)
		}
	case r.Slept > 0 || r.Phase != engine.Running || p.breaker.state != engine.BreakerClosed:
		p.afresh()
	default:
		p.govern(&r, b, &o)
	}
	o.Breaker, o.BreakerWhy, o.NextProbe, o.Probe = p.breaker.state, p.breaker.why, p.breaker.nextProbe, p.breaker.probes
	o.Stall = p.stall.next(&r, p.steering.StallAfter, p.breaker.state)
	return o
}

// govern moves the limit: the smallest that a signal allows wins, within the bounds, and never above the limit in force
// while that was not what kept more sessions from starting.
func (p *Governor) govern(r *engine.Reading, b bounds, o *engine.Orders) {
	if !p.begun {
		p.restart(min(max(r.Limit, b.floor), b.ceiling))
	}
	was := p.held
	want, by, why := p.smallest(r, b)
	limit := min(max(want, b.floor), b.ceiling)
	switch {
	case r.Limit < b.floor:
		limit, by, why = b.floor, p.steering.Governor, fmt.Sprintf("the floor is %d", b.floor)
	case r.Limit > b.ceiling && limit == b.ceiling:
		by, why = p.steering.Governor, fmt.Sprintf("the ceiling is %d", b.ceiling)
	case want == silent, limit > r.Limit && r.Busy < busyEnough:
		limit = r.Limit
	case want > b.ceiling && limit == r.Limit:
		by = p.steering.Governor
	}
	o.Limit, o.By = limit, by
	if limit != r.Limit {
		if why == "" {
			why = was + " holds it no longer"
		}
		o.Why = moved(r.Limit, limit, why)
	}
}

// smallest returns the smallest limit that a signal allows, with whose word that is: of a limit that grows, the signal
// that held it until now and let go.
func (p *Governor) smallest(r *engine.Reading, b bounds) (want int, by, why string) {
	want, by = silent, p.steering.Governor
	let, lets := silent, ""
	for _, s := range p.active {
		n, words := p.signals[s].next(r, b)
		if n < want {
			want, by, why = n, signalNames[s], words
		}
		if signalNames[s] == p.held {
			let, lets = n, words
		}
	}
	was := p.held
	p.held = by
	if want > r.Limit && let != silent {
		by, why = was, lets
	}
	return want, by, why
}

// afresh has the signals forget what they gathered of the present, and keep what they learned.
func (p *Governor) afresh() {
	for _, s := range p.signals {
		s.afresh()
	}
}

// restart has the signals go on from a limit.
func (p *Governor) restart(limit int) {
	for _, s := range p.signals {
		s.restart(limit)
	}
	p.begun = true
}
