package health

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// sessionFigures are the figures of cycles and sessions.
type sessionFigures struct{ *input }

// failures returns those of the current cycle or of the previous one, whichever has more.
func (f *sessionFigures) failures() (n int64, share float64) {
	n, total := f.s.CycleFailed, max(f.s.CycleTotal, f.s.LastCycle.Sessions)
	n = max(n, f.s.LastCycle.Failed)
	if total > 0 {
		share = float64(n) / float64(total)
	}
	return n, share
}

// failedSessions counts failures per cycle. A large share of a small population is critical too.
func (f *sessionFigures) failedSessions() float64 {
	n, share := f.failures()
	if n >= 5 && share > 0.10 {
		return math.Inf(1)
	}
	return float64(n)
}

func (f *sessionFigures) failedText() string {
	n, _ := f.failures()
	return fmt.Sprintf("%s a cycle", engine.FormatCount(n))
}

func (f *sessionFigures) fewFail() string {
	if _, share := f.failures(); f.s.Ended == 0 || share >= 0.05 {
		return ""
	}
	return "fewer than 5% fail"
}

// leastLag is the schedule lag that matters, and muchLag the one that is critical while it grows.
const (
	leastLag = time.Second
	muchLag  = 10 * time.Second
)

// lag is 1 if the run is behind its schedule, and more than 2 if it falls back further; NaN without a schedule.
func (f *sessionFigures) lag() float64 {
	switch {
	case f.s.Arrivals == "" && f.s.Lag == 0:
		return math.NaN()
	case f.s.Lag < leastLag:
		return 0
	case f.s.Lag > muchLag && f.v.fallsBack():
		return 3
	default:
		return 1
	}
}

func (f *sessionFigures) lagText() string {
	if f.s.Lag < leastLag {
		return "on time"
	}
	text := engine.FormatDuration(f.s.Lag)
	if f.v.fallsBack() {
		text += ", growing"
	}
	if n := f.s.Overdue; n > 0 {
		text += ", " + engine.FormatCount(n) + " overdue"
		if why := f.s.LagWhy; why != "" {
			text += ": " + why
		}
	}
	return text
}

// refused returns 1 if there were 429s in the last 30 s, and 2 if they grow.
func (f *sessionFigures) refused() float64 {
	now, before := f.v.refused()
	switch {
	case now == 0:
		return 0
	case before > 0 && now > before:
		return 2
	default:
		return 1
	}
}

func (f *sessionFigures) refusedText() string {
	now, _ := f.v.refused()
	if now == 0 {
		return "no recent 429s"
	}
	return engine.FormatCount(now) + " in 30 s"
}
