package view

import (
	"strings"

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
