// Package govern contains the governors that move a run's limit, the run's circuit breaker and the stall warning. They are pure: they
// know the run and the time only from an [engine.Reading], start no goroutines and draw no random numbers.
package govern

import (
	"fmt"
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Options are settings of a governor in addition to those that can change during a run. The zero value is the default.
type Options struct {
	ProbeEvery time.Duration // interval of an open breaker's probes; 0 is one minute
	Cores      int           // of the machine; 0 is the number of cores that this process can use
}

// Governor implements [engine.Governor]. It is not safe for concurrent use.
type Governor struct {
	steering engine.Steering
	signals  [numSignals]policy
	active   []signal // the signals that decide
	breaker  breaker
	stall    stall
	held     string // the signal that keeps the limit down
	begun    bool   // the policies know the limit in force
	cores    int
	foreign  foreign
}

var _ engine.Governor = (*Governor)(nil)

// New returns a governor with the settings s. Errors are *engine.FieldError, joined.
func New(s engine.Steering, o Options) (*Governor, error) {
	if o.ProbeEvery <= 0 {
		o.ProbeEvery = time.Minute
	}
	if o.Cores <= 0 {
		o.Cores = runtime.NumCPU()
	}
	p := &Governor{cores: o.Cores, breaker: breaker{every: o.ProbeEvery}}
	p.signals = [numSignals]policy{
		resourceSignal: &pressure{policy: &resources{cores: o.Cores}}, successSignal: &success{grows: okGrows}, latencySignal: &latency{window: window{cycles: true}},
		connectionSignal: &connections{}, failureSignal: &success{grows: okShrinks, guards: true},
	}
	return p, p.Use(s)
}

// Use implements [engine.Governor]. It keeps everything learned about the machine and the services.
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
	p.begun = p.begun && s.Governor == p.steering.Governor && !s.Manual
	p.steering = s
	if machine, ok := p.signals[resourceSignal].(*pressure); ok {
		machine.use(&s)
	}
	p.breaker.mode = s.Breaker
	p.active = signalsOf(s.Governor, s.Breaker)
	return nil
}

// Reset implements [engine.Governor]: the breaker closes and counts again from zero, and the time for a stall warning restarts.
func (p *Governor) Reset() {
	p.breaker.reset()
	p.stall.reset()
	p.afresh()
}

// Steer implements [engine.Governor].
func (p *Governor) Steer(r engine.Reading) engine.Orders {
	o := engine.Orders{Limit: r.Limit, By: p.steering.Governor}
	b := bounds{p.steering.Floor, p.steering.Ceiling}
	governed := p.steering.Governed()
	if !governed {
		o.By = engine.Manual
	}
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

// govern moves the limit to the smallest one that a signal allows, within the bounds. The limit does not grow while something else keeps
// sessions from starting.
func (p *Governor) govern(r *engine.Reading, b bounds, o *engine.Orders) {
	if !p.begun {
		p.restart(min(max(r.Limit, b.floor), b.ceiling))
	}
	if p.foreign.watch(r, p.cores) {
		p.disturbed(r)
	}
	was := p.held
	want, by, why := p.smallest(r, b)
	limit := min(max(want, b.floor), b.ceiling)
	switch {
	case r.Limit < b.floor:
		limit, by, why = b.floor, p.steering.Governor, fmt.Sprintf("the lowest limit is %d", b.floor)
	case r.Limit > b.ceiling && limit == b.ceiling:
		by, why = p.steering.Governor, fmt.Sprintf("the highest limit is %d", b.ceiling)
	case want == silent, limit > r.Limit && r.Busy < busyEnough:
		limit = r.Limit
	case want > b.ceiling && limit == r.Limit:
		by = p.steering.Governor
	}
	o.Limit, o.By = limit, by
	if limit != r.Limit {
		if why == "" {
			why = "no longer limited by " + titleOf(was)
		}
		o.Why = moved(r.Limit, limit, why)
	}
}

// smallest returns the smallest limit that a signal allows, and the signal. For a growing limit, that is the signal that held it down
// until now.
func (p *Governor) smallest(r *engine.Reading, b bounds) (want int, by, why string) {
	want, by = silent, p.steering.Governor
	let, lets := silent, ""
	for _, s := range p.active {
		n, words := 0, ""
		if p.foreign.active && s.frozen() {
			n, words = freeze(p.signals[s]), p.foreign.why()
		} else {
			n, words = p.signals[s].next(r, b)
		}
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

// afresh makes the signals forget their current observations, and keep what they learned.
func (p *Governor) afresh() {
	for _, s := range p.signals {
		s.afresh()
	}
}

// restart makes the signals continue from a limit.
func (p *Governor) restart(limit int) {
	for _, s := range p.signals {
		s.restart(limit)
	}
	p.begun = true
}
