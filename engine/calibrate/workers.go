package calibrate

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Spread is the result of a sweep over a number of workers; 0 is one process without workers.
type Spread struct {
	Workers int
	Result  *Result
}

// Choice is a recommended number of workers, and the limit for it. Without a recommendation, Level is 0.
type Choice struct {
	Workers   int     `json:"workers"`
	Level     int     `json:"recommended"`
	PerSecond float64 `json:"per_second"` // expected there
	Why       string  `json:"why"`        // in words, with what keeps more workers from raising the throughput
}

// Choose returns the smallest number of workers with 95% of the best throughput. The sweeps are in ascending order of their workers.
func Choose(all []Spread) Choice {
	best := -1
	for i := range all {
		if all[i].sound() && (best < 0 || all[i].Result.PerSecond > all[best].Result.PerSecond) {
			best = i
		}
	}
	if best < 0 {
		return Choice{Why: "No recommendation: every measurement was disturbed or failed."}
	}
	first, last, chosen := best, best, best
	for i := range all {
		if !all[i].sound() {
			continue
		}
		first, last = min(first, i), max(last, i)
		if i < chosen && all[i].Result.PerSecond >= enough*all[best].Result.PerSecond {
			chosen = i
		}
	}
	c := Choice{Workers: all[chosen].Workers, Level: all[chosen].Result.Level, PerSecond: all[chosen].Result.PerSecond}
	var b strings.Builder
	fmt.Fprintf(&b, "Best: %s with a limit of %d, about %s sessions per second", all[chosen].name(), c.Level, Figure(c.PerSecond))
	if chosen > first {
		fmt.Fprintf(&b, ", %s times as many as %s with a limit of %d", Figure(c.PerSecond/all[first].Result.PerSecond), all[first].name(), all[first].Result.Level)
	}
	b.WriteString(".")
	switch {
	case chosen < last:
		r := all[last].Result
		fmt.Fprintf(&b, " More are not worth it: %s had %s per second, limited by %s: %s.", all[last].name(), Figure(r.PerSecond), r.Bound, r.Why)
	case chosen > first:
		b.WriteString(" Throughput still grew: measure more workers.")
	}
	c.Why = b.String()
	return c
}

// sound reports whether the sweep has a recommendation with a throughput.
func (s *Spread) sound() bool { return s.Result.Level > 0 && s.Result.PerSecond > 0 }

// name returns the number of workers in words.
func (s *Spread) name() string { return WorkersText(s.Workers) }

// WorkersText returns a number of workers in words; 0 is one process.
func WorkersText(n int) string {
	if n == 0 {
		return "one process"
	}
	return engine.Counted(int64(n), "worker", "workers")
}
