package govern

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

const (
	foreignCPU  = 25. // percent of the machine that other programs use more than before, from which they disturb the run
	foreignEnds = 12.
	foreignCalm = 64. // percent of the machine's CPU below which other programs no longer disturb the run
	usualTime   = 30 * time.Second
	lingers     = 5 * time.Minute // the longest time that sessions count as disturbed after the load
	leftOvers   = 5.              // times the sessions in flight
)

// foreign detects programs that fill the machine and have nothing to do with the run. While they do, sessions are slower
// and time out for that reason, so their latency and failures say nothing about the limit. A backend on the same machine is
// not foreign: its use of the CPU follows the sessions that end.
type foreign struct {
	active bool      // they do, or sessions from that time are still in flight
	fills  bool      // they fill the machine
	ended  time.Time // when they last did
	left   float64   // sessions that have to end before none from that time is left, if their start is unknown
	load   load      // of the last seconds
	ends   mean      // sessions a second, of the last seconds

	usual, usualEnds mean // of the CPU of other programs in percent, and of ends, while they did not fill the machine
}

// mean is an exponential mean over time.
type mean struct {
	value float64
	known bool
}

func (m *mean) add(d, over time.Duration, v float64) {
	if !m.known {
		*m = mean{v, true}
		return
	}
	m.value += (1 - math.Exp(-d.Seconds()/over.Seconds())) * (v - m.value)
}

// watch adds a reading. It reports whether the disturbance began or ended.
func (f *foreign) watch(r *engine.Reading, cores int) (turned bool) {
	was := f.active
	f.measure(r, cores)
	switch {
	case f.fills:
		f.active, f.ended, f.left = true, r.At, leftOvers*float64(r.InFlight)
	case f.active:
		f.left -= float64(r.Ended)
		f.active = f.lingers(r)
	}
	return f.active != was
}

// measure updates whether other programs fill the machine.
func (f *foreign) measure(r *engine.Reading, cores int) {
	h := &r.Host
	if h.CPU == 0 || h.ProcessCPU == 0 || r.Span <= 0 { // unknown
		f.fills = false
		return
	}
	f.load.add(r.Span, h.CPU, h.ProcessCPU/float64(cores))
	f.ends.add(r.Span, sustained, float64(r.Ended)/r.Span.Seconds())
	others := f.load.total - f.load.own
	if f.load.total < cpuRoom && !f.active {
		f.usual.add(r.Span, usualTime, others)
		f.usualEnds.add(r.Span, usualTime, f.ends.value)
	}
	if !f.usual.known {
		return
	}
	expected := f.usual.value
	if f.ends.value > f.usualEnds.value && f.usualEnds.value > 0 {
		expected *= f.ends.value / f.usualEnds.value
	}
	switch excess := others - expected; {
	case !f.fills:
		f.fills = f.load.total >= cpuRoom && others >= f.load.own && excess >= foreignCPU
	default:
		f.fills = f.load.total >= foreignCalm && excess >= foreignEnds
	}
}

// lingers reports whether sessions that ran during the load are still in flight.
func (f *foreign) lingers(r *engine.Reading) bool {
	if r.InFlight == 0 || r.At.Sub(f.ended) > lingers {
		return false
	}
	if len(r.Oldest) > 0 {
		return !r.Oldest[0].Began.After(f.ended)
	}
	return f.left > 0
}

// why describes the load of the other programs.
func (f *foreign) why() string {
	return fmt.Sprintf("other programs use %.0f%% of the CPU, Throng %.0f%%", f.load.total-f.load.own, f.load.own)
}

// freeze makes a signal ignore the sessions while other programs disturb the run. It returns the limit that the signal
// found before, or silent.
func freeze(s policy) int {
	s.afresh()
	switch s := s.(type) {
	case *latency:
		if s.full && !s.idle {
			return s.want
		}
	case *success:
		if s.mark > 0 {
			return s.want
		}
	}
	return silent
}

// frozen reports whether the signal depends on how sessions fare.
func (s signal) frozen() bool {
	return s == latencySignal || s == successSignal || s == failureSignal
}

// disturbed prepares the signals for a disturbance by other programs, or for its end.
func (p *Governor) disturbed(r *engine.Reading) {
	p.afresh()
	if l := p.signals[latencySignal].(*latency); l.probe != nil { // it would compare what other programs caused
		l.restart(max(l.probe.back, r.Limit))
	}
}
