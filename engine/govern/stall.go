package govern

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// heldLonger multiplies the stall time while all sessions are throttled, because throttling is reported elsewhere.
const heldLonger = 5

// stall warns if sessions are in flight and none ends.
type stall struct {
	calm  time.Time // what was before does not count
	fresh bool      // what is before the next reading does not count
}

func (s *stall) reset() { s.fresh = true }

func (s *stall) next(r *engine.Reading, after time.Duration, breaker engine.BreakerState) *engine.Stall {
	works := r.Phase == engine.Running || r.Phase == engine.Draining
	if s.fresh || !works || breaker != engine.BreakerClosed || r.Slept > 0 || r.InFlight == 0 || r.Ended > 0 {
		s.calm, s.fresh = r.At, false
		return nil
	}
	since := r.LastEnd
	if since.Before(s.calm) {
		since = s.calm
	}
	if since.IsZero() {
		s.calm = r.At
		return nil
	}
	if after == 0 || r.At.Sub(since) < after || len(r.Oldest) > 0 && allHeld(r.Oldest) && r.At.Sub(since) < heldLonger*after {
		return nil
	}
	return &engine.Stall{Since: since, Why: waits(r), Oldest: r.Oldest}
}

func allHeld(all []engine.Activity) bool {
	for i := range all {
		if all[i].ThrottledBy == "" {
			return false
		}
	}
	return true
}

// waits describes what most of the oldest sessions wait for.
func waits(r *engine.Reading) string {
	if len(r.Oldest) == 0 {
		return fmt.Sprintf("%s in flight", sessions(r.InFlight, "is", "are"))
	}
	counts := make(map[string]int)
	var most *engine.Activity
	for i := range r.Oldest {
		d := &r.Oldest[i]
		counts[waitsFor(d)]++
		if most == nil || counts[waitsFor(d)] > counts[waitsFor(most)] {
			most = d
		}
	}
	oldest := oldestLike(r.Oldest, waitsFor(most))
	who := oldest.Name
	if who == "" {
		who = fmt.Sprint(oldest.Agent)
	}
	n := counts[waitsFor(most)]
	text := fmt.Sprintf("%s%s; the oldest, agent %s, for %s", sessions(n, "waits", "wait"), waitsFor(most), who, engine.FormatDuration(r.At.Sub(oldest.Since)))
	if r.InFlight > len(r.Oldest) { // the others may wait for the same
		text = "at least " + text
	}
	if n == 1 {
		text = fmt.Sprintf("agent %s waits%s, for %s", who, waitsFor(most), engine.FormatDuration(r.At.Sub(oldest.Since)))
	}
	if oldest.Path != "" && oldest.Service != "" {
		text += " in " + oldest.Path
	}
	return text
}

// oldestLike returns the first session that waits for something.
func oldestLike(all []engine.Activity, what string) *engine.Activity {
	for i := range all {
		if waitsFor(&all[i]) == what {
			return &all[i]
		}
	}
	return &all[0]
}

// waitsFor describes what a session waits for, as words that follow "wait".
func waitsFor(d *engine.Activity) string {
	switch {
	case d.ThrottledBy != "" && d.Service != "":
		return " for " + d.Service + ", throttled (" + d.ThrottledBy + ")"
	case d.ThrottledBy != "":
		return ", throttled (" + d.ThrottledBy + ")"
	case d.Service != "":
		return " for " + d.Service
	case d.Path != "":
		return " in step " + d.Path
	default:
		return " before the first step that calls a service"
	}
}

func sessions(n int, one, many string) string {
	if n == 1 {
		return "1 session " + one
	}
	return fmt.Sprintf("%d sessions %s", n, many)
}
