package govern

import (
	"math"

	"github.com/throng-sim/throng/engine"
)

// window collects the sessions that started under one limit.
type window struct {
	cycles   bool // collects whole cycles, if these are short: a cycle starts with short sessions and ends with long ones
	limit    int
	skip     float64 // sessions still in flight that started before
	inFlight int     // at the previous reading
	peak     int     // of inFlight
	cycle    int     // of the previous reading
	begun    bool    // a cycle has started
	whole    bool    // the cycle is complete, or long enough that this does not matter

	readings      int
	ended, failed int64
	count         float64 // sessions with a measured duration
	sum, squares  float64 // of seconds, and of the readings' means weighted by their counts
	held, span    float64 // session seconds in flight, and seconds
	load          float64 // integral of the square of the sessions in flight
	busy          float64 // seconds in which sessions waited for the limit
}

const (
	leftOver  = 1.5  // times the sessions in flight must end before most of those that end started under the limit
	sameLimit = 0.05 // a smaller move keeps the window open
	manyTurns = 20   // from this many sessions per slot on, the start and end of a cycle hardly matter
	priorMean = 8    // weight of the prior of the spread, in readings
	spread    = 0.8  // prior of the standard deviation of sessions, as a fraction of their mean
)

// clear restarts the window. Sessions in flight must end first.
func (w *window) clear(limit, inFlight int) {
	*w = window{cycles: w.cycles, limit: limit, skip: leftOver * float64(inFlight), inFlight: inFlight, cycle: w.cycle}
}

// add counts a reading. It restarts the window if the limit moved. It returns false then, and for a reading of sessions that started
// before.
func (w *window) add(r *engine.Reading) bool {
	if math.Abs(float64(r.Limit-w.limit)) > sameLimit*float64(w.limit) {
		w.clear(r.Limit, max(w.inFlight, r.InFlight))
	}
	turned := r.Cycle != w.cycle
	w.inFlight, w.cycle, w.peak = r.InFlight, r.Cycle, max(w.peak, r.InFlight)
	if w.skip > 0 {
		w.skip -= float64(r.Ended)
		return false
	}
	w.whole = turned || !w.cycles || r.CycleTotal == 0 || r.CycleTotal > manyTurns*int64(r.Limit)
	if w.begun = w.begun || w.whole; !w.begun {
		return false
	}
	span, n := r.Span.Seconds(), float64(r.InFlight)
	w.span += span
	w.busy += r.Busy * span
	w.held += n * span
	w.load += n * n * span
	w.ended += r.Ended
	w.failed += r.Failed
	if count := float64(r.Service.Count); count > 0 {
		mean := r.Service.Mean.Seconds()
		w.readings++
		w.count += count
		w.sum += count * mean
		w.squares += count * mean * mean
	}
	return true
}

// halve halves the weight of what was collected so far.
func (w *window) halve() {
	w.readings = (w.readings + 1) / 2
	w.ended /= 2
	w.failed /= 2
	for _, v := range []*float64{&w.count, &w.sum, &w.squares, &w.held, &w.span, &w.load, &w.busy} {
		*v /= 2
	}
}

// measure is the latency in a window.
type measure struct {
	count float64 // sessions
	mean  float64 // seconds
	doubt float64 // standard error of the mean, as a fraction of it
	load  float64 // mean of the sessions in flight, weighted by sessions
}

// measure returns the mean with its error by the method of batch means (Law, Simulation Modeling and Analysis, chapter 9), with readings
// as batches. A few batches may agree by chance, so the variance is combined with a prior.
func (w *window) measure() measure {
	m := measure{count: w.count, doubt: math.Inf(1)}
	if w.held > 0 {
		m.load = w.load / w.held
	}
	if w.count == 0 || w.sum == 0 {
		return m
	}
	m.mean = w.sum / w.count
	seen := max(w.squares-w.count*m.mean*m.mean, 0)
	believed := spread * spread * m.mean * m.mean
	variance := (seen + priorMean*believed) / (float64(w.readings) - 1 + priorMean) // of one session
	m.doubt = math.Sqrt(variance/w.count) / m.mean
	return m
}
