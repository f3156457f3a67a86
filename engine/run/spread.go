package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/stats"
)

// spreadOf returns the spread of a histogram of durations.
func spreadOf(h *stats.Histogram) (s engine.Spread) {
	s.Count, s.Sum = h.Count(), h.Sum()
	i := 0
	h.Each(func(_, to time.Duration, n int64) {
		for i < len(engine.SpreadBounds) && to-time.Microsecond > engine.SpreadBounds[i] {
			i++
		}
		if i < len(engine.SpreadBounds) {
			s.UpTo[i] += n
		}
	})
	for i := 1; i < len(s.UpTo); i++ {
		s.UpTo[i] += s.UpTo[i-1]
	}
	return s
}
