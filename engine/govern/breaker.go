package govern

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// The breaker modes, see engine.Breakers.
const (
	breakerProbes = "probe"
	breakerWaits  = "wait"
	breakerOff    = engine.BreakerOff
)

const (
	handful       = 10              // minimum sessions of a cycle before it trips, or all of a smaller cycle
	floorSessions = 20              // minimum sessions at the floor, or all of a smaller cycle, but at least a handful
	probeAgain    = 2 * time.Second // after this time, a probe that did not start is requested again
)

// breaker is the circuit breaker of the run.
//
//	closed ── half of a cycle failed, or a tenth at the floor ──▶ open
//
// open ── the probe interval has passed, in mode probe ──▶ half-open, one session starts
// half-open ── a session succeeded ──▶ closed; failed ──▶ open
// open, half-open ── the user resumes ──▶ closed
type breaker struct {
	mode  string
	every time.Duration // interval of probes

	state     engine.BreakerState
	why       string
	nextProbe time.Time
	probes    bool // one session must start now

	cause   string    // why it opened, in words
	asked   time.Time // when the probe was requested
	resumed bool      // by the user, while it was not closed

	fresh         bool  // counting starts with the next reading
	cycle         int   // the cycle that is counted
	ended, failed int64 // sessions of the cycle that do not count
	floor         tally
}

// tally counts sessions at the floor.
type tally struct {
	in            bool
	skip          float64
	ended, failed int64
}

// reset closes it on behalf of the user.
func (k *breaker) reset() {
	k.resumed = k.state != engine.BreakerClosed
	k.close()
}

func (k *breaker) close() {
	k.state, k.why, k.cause, k.nextProbe = engine.BreakerClosed, "", "", time.Time{}
	k.fresh = true
}

// next evaluates a reading. healed says why the limit restarts at the floor, "" if it does not.
func (k *breaker) next(r *engine.Reading, b bounds, governed bool) (healed string) {
	k.probes = false
	if k.resumed {
		k.resumed, healed = false, "the run was resumed, and the limit grows from the lowest limit"
	}
	if k.mode == breakerOff && k.state != engine.BreakerClosed {
		k.close()
		healed = "the breaker was switched off, and the limit grows from the lowest limit"
	}
	if r.Slept > 0 {
		k.wake(r)
	}
	k.count(r, b)
	switch k.state {
	case engine.BreakerClosed:
		if healed == "" && k.mode != breakerOff && r.Phase == engine.Running {
			k.judge(r, governed)
		}
	case engine.BreakerOpen:
		if (k.mode == breakerProbes) == k.nextProbe.IsZero() { // the mode has changed
			k.open(r.At, "")
		}
		if k.mode == breakerProbes && !r.At.Before(k.nextProbe) {
			k.state, k.nextProbe = engine.BreakerHalfOpen, time.Time{}
			k.why = "a session probes whether the run works again: " + k.cause
			k.probes, k.asked = true, r.At
		}
	case engine.BreakerHalfOpen:
		healed = k.observe(r)
	}
	return healed
}

// wake forgets counts from before the machine slept, and probes immediately.
func (k *breaker) wake(r *engine.Reading) {
	k.fresh = true
	if !k.nextProbe.IsZero() {
		k.nextProbe = r.At
	}
}

// count moves on to the cycle of a reading, and counts its sessions at the floor.
func (k *breaker) count(r *engine.Reading, b bounds) {
	if r.Cycle != k.cycle {
		k.cycle, k.ended, k.failed = r.Cycle, 0, 0
	}
	if k.fresh {
		k.fresh, k.ended, k.failed, k.floor = false, r.CycleEnded, r.CycleFailed, tally{}
	}
	f := &k.floor
	switch in := r.Limit <= b.floor; {
	case !in:
		*f = tally{}
	case !f.in:
		*f = tally{in: true, skip: leftOver * float64(r.InFlight)}
		if r.InFlight <= r.Limit {
			f.skip = 0
		}
	case f.skip > 0:
		f.skip -= float64(r.Ended)
	default:
		f.ended += r.Ended
		f.failed += r.Failed
	}
}

// judge trips the breaker on too many failures. For a cycle in progress, the share is of half of the sessions started, because sessions
// that fail quickly end first.
func (k *breaker) judge(r *engine.Reading, governed bool) {
	ended, failed, total := r.CycleEnded-k.ended, r.CycleFailed-k.failed, max(r.CycleTotal-k.ended, 1)
	f := &k.floor
	switch {
	case ended >= min(handful, total) && 2*failed >= ended+int64(r.InFlight):
		k.open(r.At, fmt.Sprintf("%d of %d sessions of cycle %d failed", failed, ended, r.Cycle+1))
	case r.CycleTotal > 0 && r.Ended >= r.CycleTotal && 2*r.Failed >= r.Ended: // cycles are shorter than a reading
		k.open(r.At, fmt.Sprintf("%d of %d sessions failed", r.Failed, r.Ended))
	case governed && f.ended >= min(max(r.CycleTotal, handful), floorSessions):
		if 10*f.failed > f.ended {
			k.open(r.At, fmt.Sprintf("%d of %d sessions failed at the lowest limit", f.failed, f.ended))
		} else {
			f.ended, f.failed = f.ended/2, f.failed/2
		}
	}
}

// open opens the breaker. An empty cause keeps the previous one.
func (k *breaker) open(now time.Time, cause string) {
	if cause != "" {
		k.cause = cause
	}
	k.state = engine.BreakerOpen
	if k.mode == breakerWaits {
		k.nextProbe, k.why = time.Time{}, k.cause+"; resume the run to continue"
		return
	}
	k.nextProbe = now.Add(k.every)
	k.why = fmt.Sprintf("%s; a session probes every %s whether the run works again", k.cause, engine.FormatDuration(k.every))
}

// observe evaluates the result of a probe. Sessions that were in flight when the breaker opened count too.
func (k *breaker) observe(r *engine.Reading) (healed string) {
	switch {
	case r.Ended > r.Failed:
		k.close()
		return "a session succeeded again, and the limit grows from the lowest limit"
	case r.Ended > 0:
		k.open(r.At, "")
	case r.InFlight == 0 && r.At.Sub(k.asked) >= probeAgain:
		k.probes, k.asked = true, r.At
	}
	return ""
}
