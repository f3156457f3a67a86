package govern

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Bounds of the share of successful sessions.
const (
	okGrows   = 0.95 // above, the limit grows
	okShrinks = 0.90 // below, it shrinks
	okHalves  = 0.80 // below, it halves
)

const (
	fewSessions  = 20               // minimum for a decision
	manySessions = 400              // maximum needed, with five for each slot: enough to distinguish 90% from 95%
	markLasts    = 5 * time.Minute  // how long a failed limit is avoided, at first
	markRises    = 30 * time.Second // and then, while nothing fails
	markGap      = 0.05             // limits this close to a failed one are avoided
	firstStride  = 0.25             // of the limit: the largest first step towards the mark
	markStride   = 0.10             // of the mark: its first rise; of the limit: later steps
)

// success moves the limit by the share of successful sessions. It doubles the limit until one fails, and then approaches the failed limit
// half way, as TCP's BIC does (Xu, Harfoush, Rhee: Binary Increase Congestion Control, 2004). Each decision uses sessions that started
// after the previous one: failures at an old limit do not count against the next.
type success struct {
	grows  float64 // share of successful sessions above which it grows
	guards bool    // silent while nothing failed recently

	want   int
	why    string
	mark   int // the last limit that failed; 0: none
	marked time.Time
	rises  int // of the mark since
	window window
}

func (s *success) afresh() { s.window.clear(s.window.limit, s.window.inFlight) }

func (s *success) restart(limit int) {
	s.want, s.why, s.mark = limit, "", 0
	s.window.clear(limit, s.window.inFlight)
}

func (s *success) next(r *engine.Reading, _ bounds) (int, string) {
	if s.window.limit != r.Limit {
		s.window.clear(r.Limit, max(s.window.inFlight, r.InFlight))
	}
	s.want = max(s.want, r.Limit)
	if s.window.add(r) && r.Ended > 0 && s.window.ended >= fewSessions {
		s.decide(r)
	}
	if s.guards && s.mark == 0 {
		return silent, ""
	}
	return s.want, s.why
}

// decide adjusts the wanted limit once the window is conclusive.
func (s *success) decide(r *engine.Reading) {
	w := &s.window
	n := float64(w.ended)
	failed := float64(w.failed) / n
	ok := 1 - failed
	doubt := 3 * math.Sqrt(max(ok*failed, 0.01)/n) // decided every second
	plenty := n >= max(manySessions, 5*float64(r.Limit))
	switch {
	case ok < okHalves && (plenty || ok+doubt < okHalves):
		s.lower(r, 0.5, fmt.Sprintf("%.1f%% of %d sessions failed, above 20%%", 100*failed, w.ended))
	case ok < okShrinks && (plenty || ok+doubt < okShrinks):
		s.lower(r, ok/okGrows, fmt.Sprintf("%.1f%% of %d sessions failed, above 10%%", 100*failed, w.ended))
	case ok > s.grows && n >= s.needs(r):
		s.higher(r, fmt.Sprintf("%.0f%% of %d sessions succeeded", math.Floor(100*ok), w.ended))
	case plenty:
		w.halve()
	}
}

// needs returns the number of sessions needed for a decision: a whole cycle if cycles are short, because cycles start and end with few
// sessions in flight.
func (s *success) needs(r *engine.Reading) float64 {
	need := float64(r.Limit)
	if s.mark > 0 {
		need = max(need, manySessions/4)
	}
	if r.CycleTotal <= manyTurns*int64(r.Limit) {
		need = max(need, float64(r.CycleTotal))
	}
	return need
}

func (s *success) lower(r *engine.Reading, factor float64, why string) {
	limit := min(r.Limit, max(s.window.peak, 1)) // fewer may have been in flight
	s.mark, s.marked, s.rises = limit, r.At, 0
	s.want, s.why = max(shrunk(limit, factor), 1), why
	s.window.clear(r.Limit, r.InFlight)
}

func (s *success) higher(r *engine.Reading, why string) {
	defer s.window.halve()
	if r.Limit < s.want || s.window.busy < busyEnough*s.window.span {
		return
	}
	s.raise(r)
	gap := s.mark - r.Limit
	switch {
	case s.mark == 0:
		s.want = grown(r.Limit, 2)
	case s.near(r.Limit):
		return
	default:
		s.want = min(r.Limit+(gap+1)/2, grown(r.Limit, 1+s.stride()))
	}
	s.why = why
}

// stride returns the largest step towards the mark, as a fraction of the limit.
func (s *success) stride() float64 {
	if s.rises == 0 {
		return firstStride
	}
	return min(markStride*math.Pow(2, float64(s.rises-1)), 1)
}

// raise lifts the mark from time to time while it keeps the limit down: a little at first, then twice as much each time until something
// fails again.
func (s *success) raise(r *engine.Reading) {
	last := markLasts
	if s.rises > 0 {
		last = markRises
	}
	if s.mark > 0 && s.near(r.Limit) && r.At.Sub(s.marked) > last {
		s.mark, s.marked = grown(s.mark, 1+markStride*math.Pow(2, float64(s.rises))), r.At
		s.rises++
	}
}

// near reports whether a limit is so close to a failed one, or above it, that the limit must not grow.
func (s *success) near(limit int) bool {
	return float64(s.mark-limit) <= max(1, markGap*float64(s.mark))
}
