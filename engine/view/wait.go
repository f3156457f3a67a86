package view

import (
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// FormatWaits lists the causes of throttling with their times, or returns "" if there are none.
func FormatWaits(w *engine.Waits) string {
	var parts []string
	for i, d := range w {
		if d > 0 {
			parts = append(parts, engine.ThrottleCause(i).Text()+" "+engine.FormatDuration(d))
		}
	}
	return strings.Join(parts, ", ")
}

// Unavailable returns the services that do not answer: their breaker is open or half-open.
func Unavailable(s *engine.Snapshot) (all []*engine.ServiceState) {
	for i := range s.Services {
		if s.Services[i].Breaker != engine.BreakerClosed {
			all = append(all, &s.Services[i])
		}
	}
	return all
}

// WaitsFor says what keeps a run that is stopping, or "" if nothing does.
func WaitsFor(s *engine.Snapshot) string {
	if s.Phase != engine.Draining || s.InFlight == 0 {
		return ""
	}
	text := "waits for " + engine.FormatCount(int64(s.InFlight)) + " sessions to finish"
	if s.InFlight == 1 {
		text = "waits for 1 session to finish"
	}
	if len(s.Oldest) == 0 || s.Oldest[0].Path == "" {
		return text
	}
	a := &s.Oldest[0]
	text += ", the oldest at " + a.Path
	if took := s.At.Sub(a.Since).Truncate(time.Second); took > 0 {
		text += " for " + engine.FormatDuration(took)
	}
	if a.ThrottledBy != "" {
		text += " (" + a.ThrottledBy + ")"
	}
	return text
}
