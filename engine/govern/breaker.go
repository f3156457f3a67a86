package govern

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Of engine.Breakers.
const (
	breakerProbes = "probe"
	breakerWaits  = "wait"
	breakerOff    = engine.BreakerOff
)

const (
	handful       = 10              // sessions of a cycle, or all where they are fewer, before it trips
	floorSessions = 20              // at the floor, or as many as the cycle has, but a handful
	probeAgain    = 2 * time.Second // after which a probe that did not start is asked for again
)

// breaker is that of the run.
//
//	closed ── half of a cycle failed, or a tenth at the floor ──▶ open
//	open ── its time has come, in the mode probe ──▶ half-open, one session starts
//	half-open ── a session ended well ──▶ closed; ended badly ──▶ open
//	open, half-open ── a person resumes ──▶ closed
type breaker struct {
	mode  string
	every time.Duration // between probes

	state     engine.BreakerState
	why       string
	nextProbe time.Time
	probes    bool // one session is to start now

	cause   string    // in words, of what opened it
	asked   time.Time // for a probe
	resumed bool      // by a person, while it was not closed

	fresh         bool  // counts begin with the next reading
	cycle         int   // that is counted
	ended, failed int64 // sessions of it that do not count
	floor         tally
}

// tally counts sessions at the floor.
type tally struct {
	in            bool
	skip          float64
	ended, failed int64
}

// reset closes it as a person does.
func (k *breaker) reset() {
	k.resumed = k.state != engine.BreakerClosed
	k.close()
}

func (k *breaker) close() {
	k.state, k.why, k.cause, k.nextProbe = engine.BreakerClosed, "", "", time.Time{}
	k.fresh = true
}

// next looks at a reading, and says in words why the limit begins at the floor again: "" is that it does not.
func (k *breaker) next(r *engine.Reading, b bounds, governed bool) (healed string) {
	k.probes = false
	if k.resumed {
		k.resumed, healed = false, "a person resumed the run, and it grows from the floor"
	}
	if k.mode == breakerOff && k.state != engine.BreakerClosed {
		k.close()
		healed = "the breaker was switched off, and it grows from the floor"
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
		if (k.mode == breakerProbes) == k.nextProbe.IsZero() { // the mode was changed meanwhile
			k.open(r.At, "")
		}
		if k.mode == breakerProbes && !r.At.Before(k.nextProbe) {
			k.state, k.nextProbe = engine.BreakerHalfOpen, time.Time{}
			k.why = "a session tries whether all is well again: " + k.cause
			k.probes, k.asked = true, r.At
		}
	case engine.BreakerHalfOpen:
		healed = k.hear(r)
	}
	return healed
}

// wake forgets what was counted before the machine slept, and probes at once.
func (k *breaker) wake(r *engine.Reading) {
	k.fresh = true
	if !k.nextProbe.IsZero() {
		k.nextProbe = r.At
	}
}

// count goes on to the cycle of a reading, and counts its sessions at the floor.
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

// judge trips where too much failed. Of a cycle in progress it is half of the sessions that began: those that fail at
// once are the first to end.
func (k *breaker) judge(r *engine.Reading, governed bool) {
	ended, failed, total := r.CycleEnded-k.ended, r.CycleFailed-k.failed, max(r.CycleTotal-k.ended, 1)
	f := &k.floor
	switch {
	case ended >= min(handful, total) && 2*failed >= ended+int64(r.InFlight):
		k.open(r.At, fmt.Sprintf("%d of %d sessions of cycle %d failed", failed, ended, r.Cycle+1))
	case r.CycleTotal > 0 && r.Ended >= r.CycleTotal && 2*r.Failed >= r.Ended: // cycles shorter than a reading
		k.open(r.At, fmt.Sprintf("%d of %d sessions failed", r.Failed, r.Ended))
	case governed && f.ended >= min(max(r.CycleTotal, handful), floorSessions):
		if 10*f.failed > f.ended {
			k.open(r.At, fmt.Sprintf("%d of %d sessions failed at the floor", f.failed, f.ended))
		} else {
			f.ended, f.failed = f.ended/2, f.failed/2
		}
	}
}

// open opens it, for a cause or for the one it has.
func (k *breaker) open(now time.Time, cause string) {
	if cause != "" {
		k.cause = cause
	}
	k.state = engine.BreakerOpen
	if k.mode == breakerWaits {
		k.nextProbe, k.why = time.Time{}, k.cause+"; waits for a person to resume"
		return
	}
	k.nextProbe = now.Add(k.every)
	k.why = fmt.Sprintf("%s; a session tries every %s whether all is well again", k.cause, engine.FormatDuration(k.every))
}

// hear learns how a probe ended. Sessions that were in flight when it opened count for it too.
func (k *breaker) hear(r *engine.Reading) (healed string) {
	switch {
	case r.Ended > r.Failed:
		k.close()
		return "a session went well again, and it grows from the floor"
	case r.Ended > 0:
		k.open(r.At, "")
	case r.InFlight == 0 && r.At.Sub(k.asked) >= probeAgain:
		k.probes, k.asked = true, r.At
	}
	return ""
}
