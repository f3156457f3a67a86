package engine

import (
	"math"
	"time"
)

// Flow is what a run did at once. It can be recomputed from the session rows.
type Flow struct {
	// Parallel and Sequential count the steps that were carried out: beside another of their session, or not.
	Parallel   int64 `cbor:"1,keyasint,omitempty"`
	Sequential int64 `cbor:"2,keyasint,omitempty"`
	Failed     int64 `cbor:"3,keyasint,omitempty"` // steps
	TimedOut   int64 `cbor:"4,keyasint,omitempty"` // steps
	// Chains counts the sessions that ran steps together; Busy is what all steps of these used, Wall the time from
	// their start to their end.
	Chains int64         `cbor:"5,keyasint,omitempty"`
	Busy   time.Duration `cbor:"6,keyasint,omitempty"`
	Wall   time.Duration `cbor:"7,keyasint,omitempty"`
	// Held is the part of these sessions' time in which requests were throttled, of all steps together.
	Held time.Duration `cbor:"8,keyasint,omitempty"`
}

// add counts the steps of a session.
func (f *Flow) add(r *SessionRow) {
	parallel := int64(0)
	for i := range r.Steps {
		s := &r.Steps[i]
		switch s.Status {
		case StepSkipped, StepCancelled:
			continue
		case StepFailed:
			f.Failed++
		case StepTimedOut:
			f.TimedOut++
		case StepOK:
		}
		if s.Beside {
			parallel++
		} else {
			f.Sequential++
		}
	}
	if parallel == 0 {
		return
	}
	f.Parallel += parallel
	f.Chains++
	f.Busy += r.Service
	f.Wall += r.Total
	f.Held += r.Held
}

// Less returns what was added to before to make f.
func (f *Flow) Less(before *Flow) Flow {
	return Flow{
		Parallel: f.Parallel - before.Parallel, Sequential: f.Sequential - before.Sequential, Failed: f.Failed - before.Failed,
		TimedOut: f.TimedOut - before.TimedOut, Chains: f.Chains - before.Chains, Busy: f.Busy - before.Busy, Wall: f.Wall - before.Wall,
		Held: f.Held - before.Held,
	}
}

// CycleWork is what the sessions of a cycle did. All but Busy can be recomputed from their rows.
type CycleWork struct {
	OK       int64 `cbor:"1,keyasint,omitempty"` // sessions that ended ok or stopped
	Failed   int64 `cbor:"2,keyasint,omitempty"` // sessions
	TimedOut int64 `cbor:"3,keyasint,omitempty"` // sessions
	Flow     Flow  `cbor:"4,keyasint,omitzero"`
	// Busy is the service time of the sessions that ended within the time that the cycle took: an interruption leaves out
	// those before it.
	Busy time.Duration `cbor:"5,keyasint,omitempty"`
}

// Speedup is how much faster a cycle was than all its steps one after another, where it took so long. NaN where that is
// not known.
func (w *CycleWork) Speedup(took time.Duration) float64 {
	if w.Busy <= 0 {
		return math.NaN()
	}
	return Speedup(w.Busy, took)
}

// Describe says how the sessions of the cycle ended, such as "370 ok, 1 failed, 1 timeouts".
func (w *CycleWork) Describe() string {
	return FormatCount(w.OK) + " ok, " + FormatCount(w.Failed) + " failed, " + FormatCount(w.TimedOut) + " timeouts"
}

// Speedup is how much faster the chains that ran steps together were than their steps one after another: busy time
// over wall time. NaN where there are none.
func (f *Flow) Speedup() float64 { return Speedup(f.Busy, f.Wall) }

// Rate is the share of so many sessions that ran steps together; NaN where there are none.
func (f *Flow) Rate(sessions int64) float64 { return share(float64(f.Chains), float64(sessions)) }

// Speedup is how much faster the run was than all its steps one after another: the busy time of what ran at once over
// the wall time of the cycles. NaN where it is not known.
func (t *Totals) Speedup() float64 { return Speedup(t.Service.Sum()-t.Peaks.Apart, t.Peaks.Worked) }

// TimeoutRate is the share of sessions that timed out; NaN where there are none.
func (t *Totals) TimeoutRate() float64 {
	return share(float64(t.Outcomes[TimedOut]), float64(t.Ended()))
}

// TimeoutRate is the share of the sessions so far that timed out; NaN where there are none.
func (m *MetricsRow) TimeoutRate() float64 { return share(float64(m.TimedOut), float64(m.Ended)) }

// Speedup returns how much longer the work took than the wall time; 0 without wall time.
func Speedup(busy, wall time.Duration) float64 {
	if wall <= 0 {
		return math.NaN()
	}
	return max(busy.Seconds(), 0) / wall.Seconds()
}
