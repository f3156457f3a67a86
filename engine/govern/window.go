package govern

import (
	"math"

	"github.com/throng-sim/throng/engine"
)

// window gathers what sessions that began under one limit say.
type window struct {
	cycles   bool // gathers whole ones, where they are short: a cycle begins with short sessions and ends with long ones
	limit    int
	skip     float64 // sessions that are still to end which began before
	inFlight int     // at the reading before
	peak     int     // of it
	cycle    int     // of the reading before
	begun    bool    // a cycle
	whole    bool    // nothing of a cycle is missing, or that matters little

	readings      int
	ended, failed int64
	count         float64 // sessions whose time was measured
	sum, squares  float64 // of seconds, and of the readings' means weighed by their counts
	held, span    float64 // session seconds in flight in all, and seconds
	load          float64 // integral of the square of the sessions in flight
	busy          float64 // seconds in which the limit was what sessions waited for
}

const (
	leftOver  = 1.5  // times the sessions in flight that end before those that began under the limit are the most
	sameLimit = 0.05 // a move by less leaves the window open
	manyTurns = 20   // as often sessions take turns in a cycle where its begin and its end matter little
	priorMean = 8    // readings that what is believed of the spread counts for
	spread    = 0.8  // of sessions, as a share of their mean, that is believed
)

// clear begins again; sessions in flight are to end first.
func (w *window) clear(limit, inFlight int) {
	*w = window{cycles: w.cycles, limit: limit, skip: leftOver * float64(inFlight), inFlight: inFlight, cycle: w.cycle}
}

// add counts a reading. It begins again where the limit moved, which it reports as false, as it does for a reading of
// sessions that began before.
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

// halve has what was gathered count half against what comes.
func (w *window) halve() {
	w.readings = (w.readings + 1) / 2
	w.ended /= 2
	w.failed /= 2
	for _, v := range []*float64{&w.count, &w.sum, &w.squares, &w.held, &w.span, &w.load, &w.busy} {
		*v /= 2
	}
}

// measure is what a window says of latency.
type measure struct {
	count float64 // sessions
	mean  float64 // seconds
	doubt float64 // standard error of the mean, as a share of it
	load  float64 // sessions in flight while one was, on the average
}

// measure returns the mean with its error by the method of batch means (Law, Simulation Modeling and Analysis, chapter
// 9): the readings are the batches. A few of them may agree by chance, so they are weighed with what is believed.
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
