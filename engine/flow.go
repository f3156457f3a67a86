package engine

import (
	"math"
	"time"
)

// Flow counts parallel execution in a run. It can be recomputed from the session rows.
type Flow struct {
	// Parallel and Sequential count the executed steps that ran in parallel with another step of their session, or alone.
	Parallel   int64 `cbor:"1,keyasint,omitempty"`
	Sequential int64 `cbor:"2,keyasint,omitempty"`
	Failed     int64 `cbor:"3,keyasint,omitempty"` // steps
	TimedOut   int64 `cbor:"4,keyasint,omitempty"` // steps
	// Chains counts the sessions with parallel steps. Busy is the time used by all their steps, Wall the time from their
	// start to their end.
	Chains int64         `cbor:"5,keyasint,omitempty"`
	Busy   time.Duration `cbor:"6,keyasint,omitempty"`
	Wall   time.Duration `cbor:"7,keyasint,omitempty"`
	// Throttled is the time that requests of these sessions were throttled, summed over all steps.
	Throttled time.Duration `cbor:"8,keyasint,omitempty"`
}

// add counts the steps of a session.
func (f *Flow) add(r *SessionRow) {
	parallel := int64(0)
	for i := range r.Steps {
		s := &r.Steps[i]
		switch s.Status {
		case StepSkipped, StepCanceled:
			continue
		case StepFailed:
			f.Failed++
		case StepTimedOut:
			f.TimedOut++
		case StepOK:
		}
		if s.Parallel {
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
	f.Throttled += r.Throttled
}

// Less returns the difference of f and before.
func (f *Flow) Less(before *Flow) Flow {
	return Flow{
		Parallel: f.Parallel - before.Parallel, Sequential: f.Sequential - before.Sequential, Failed: f.Failed - before.Failed,
		TimedOut: f.TimedOut - before.TimedOut, Chains: f.Chains - before.Chains, Busy: f.Busy - before.Busy, Wall: f.Wall - before.Wall,
		Throttled: f.Throttled - before.Throttled,
	}
}

// CycleWork summarizes the sessions of a cycle. All fields but Busy can be recomputed from their rows.
type CycleWork struct {
	OK       int64 `cbor:"1,keyasint,omitempty"` // sessions that ended ok or stopped
	Failed   int64 `cbor:"2,keyasint,omitempty"` // sessions
	TimedOut int64 `cbor:"3,keyasint,omitempty"` // sessions
	Flow     Flow  `cbor:"4,keyasint,omitzero"`
	// Busy is the service time of the sessions that ended during the measured time of the cycle. Sessions before an
	// interruption are excluded.
	Busy time.Duration `cbor:"5,keyasint,omitempty"`
}

// Speedup is the ratio of the cycle's busy time to the time that it took. NaN if unknown.
func (w *CycleWork) Speedup(took time.Duration) float64 {
	if w.Busy <= 0 {
		return math.NaN()
	}
	return Speedup(w.Busy, took)
}

// Describe summarizes how the sessions of the cycle ended, such as "370 completed, 1 failed, 1 timed out".
func (w *CycleWork) Describe() string {
	return FormatCount(w.OK) + " completed, " + FormatCount(w.Failed) + " failed, " + FormatCount(w.TimedOut) + " timed out"
}

// Speedup is the ratio of busy time to wall time of the sessions with parallel steps. NaN if there are none.
func (f *Flow) Speedup() float64 { return Speedup(f.Busy, f.Wall) }

// Rate is the fraction of the given number of sessions that ran steps in parallel. NaN if there are no sessions.
func (f *Flow) Rate(sessions int64) float64 { return share(float64(f.Chains), float64(sessions)) }

// Speedup is the ratio of the run's total service time to the wall time of its cycles. NaN if unknown.
func (t *Totals) Speedup() float64 {
	return Speedup(t.Service.Sum()-t.Peaks.Interrupted, t.Peaks.Worked)
}

// TimeoutRate is the fraction of sessions that timed out. NaN if there are no sessions.
func (t *Totals) TimeoutRate() float64 {
	return share(float64(t.Outcomes[TimedOut]), float64(t.Ended()))
}

// TimeoutRate is the fraction of the sessions so far that timed out. NaN if there are no sessions.
func (m *MetricsRow) TimeoutRate() float64 { return share(float64(m.TimedOut), float64(m.Ended)) }

// Speedup returns how much longer the work took than the wall time; 0 without wall time.
func Speedup(busy, wall time.Duration) float64 {
	if wall <= 0 {
		return math.NaN()
	}
	return max(busy.Seconds(), 0) / wall.Seconds()
}
