package calibrate

import (
	"fmt"
	"math"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// enough is the share of the best throughput that a recommended level must reach.
const enough = 0.95

// Result is the result of a sweep. The zero value is empty.
type Result struct {
	Levels []Level `json:"levels"` // of the plan, in ascending order

	// Curve is the best fit, and Band its values, if Fitted: at least two levels were measured. The intervals are set if Spread: there
	// were more measurements than parameters.
	Curve  Curve    `json:"curve"`
	Fitted bool     `json:"fitted"`
	Spread bool     `json:"spread"`
	Lambda Interval `json:"lambda"`
	Sigma  Interval `json:"sigma"`
	Kappa  Interval `json:"kappa"`
	Band   []Band   `json:"band,omitempty"`

	// Level is the recommendation: the smallest level with 95% of the best throughput, from the lowest measured level to the highest one
	// within the bounds. 0: no recommendation.
	Level     int     `json:"recommended"`
	PerSecond float64 `json:"per_second"` // expected there by the curve
	// Low and High contain the recommendation of 19 in 20 such sweeps; both equal Level if that is unknown.
	Low   int    `json:"recommended_low"`
	High  int    `json:"recommended_high"`
	Bound Bound  `json:"bound"`
	Why   string `json:"why"` // in words: the sign of the bound, or why there is no recommendation

	// Foreign is the highest percentage of the CPU that other programs used. UnderLoad is set if they distorted the measurements, so that
	// there is no recommendation. A few distorted samples of a level are left out instead.
	Foreign   float64 `json:"foreign_cpu_percent"`
	UnderLoad bool    `json:"under_load,omitempty"`
}

// Evaluate returns the result of samples of a plan's levels.
func Evaluate(p Plan, samples []Sample) Result {
	kept, load, quiet := undisturbed(samples, p.Foreign)
	r := evaluate(p, kept)
	r.Foreign = load
	if r.UnderLoad = !quiet && len(samples) > 0; r.UnderLoad {
		r.distrust()
	}
	return r
}

// evaluate returns the result of samples, whatever other programs did meanwhile.
func evaluate(p Plan, samples []Sample) Result {
	r := Result{Levels: levelsOf(p.All(), samples)}
	over := lowestOver(r.Levels)
	r.note(over)
	top := highestSound(r.Levels, over)
	first := firstMeasured(r.Levels)
	switch {
	case first == nil:
		r.Why = "nothing was measured"
		return r
	case top == nil:
		r.refuse(over)
		return r
	}
	var points []point
	mix := mixOf(samples)
	for i := range samples {
		if x := mix.rate(&samples[i]); x > 0 {
			points = append(points, point{n: float64(samples[i].Level), x: x})
		}
	}
	lowest := sound(r.Levels)
	r.Level, r.PerSecond = top.Level, top.PerSecond
	var free int
	if r.Curve, free, r.Fitted = fit(points); r.Fitted {
		r.Level = r.Curve.Best(lowest, top.Level, enough)
		r.PerSecond = r.Curve.At(float64(r.Level))
		last := r.Levels[len(r.Levels)-1].Level
		for i := range r.Levels {
			if r.Levels[i].PerSecond > 0 {
				last = r.Levels[i].Level
			}
		}
		r.spread(points, free, lowest, top.Level, last, p.Seed)
	}
	r.Low, r.High = r.bounded(r.Low, r.High)
	r.Bound, r.Why = boundOf(r.Levels, r.Level, top, over)
	return r
}

// spread sets the intervals of the curve, up to the last level measured, and of the recommendation, up to the highest sound level.
func (r *Result) spread(points []point, free, lowest, top, last int, seed uint64) {
	s, ok := bootstrap(points, r.Curve, free, lowest, top, last, seed)
	if !ok {
		for _, n := range places(lowest, last) {
			x := r.Curve.At(n)
			r.Band = append(r.Band, Band{n, x, x, x})
		}
		return
	}
	r.Spread = true
	r.Lambda, r.Sigma, r.Kappa, r.Band = s.lambda, s.sigma, s.kappa, s.band
	r.Low, r.High = s.best[0], s.best[1]
}

// bounded keeps the recommendation inside its interval.
func (r *Result) bounded(low, high int) (int, int) {
	if !r.Spread {
		return r.Level, r.Level
	}
	return min(low, r.Level), max(high, r.Level)
}

// refuse explains why there is no recommendation.
func (r *Result) refuse(over *Level) {
	switch {
	case over == nil:
		r.Why = "no session ended during a measurement: measure for longer"
	case over.Over == Failures:
		r.Bound, r.Why = Failures, overWords(over)+": fix the failures, then calibrate again"
	default: // the lowest level already exceeds a bound
		r.Level, r.Low, r.High, r.PerSecond = over.Level, over.Level, over.Level, over.PerSecond
		r.Bound, r.Why = over.Over, overWords(over)+", and no lower level was within the bounds"
	}
}

// note adds a short note to each level that has no normal result.
func (r *Result) note(over *Level) {
	for i := range r.Levels {
		l := &r.Levels[i]
		switch {
		case over != nil && l.Level > over.Level && len(l.Samples) == 0:
			l.Note = "left out"
		case over != nil && l.Level > over.Level:
			l.Note = fmt.Sprintf("beyond %d", over.Level)
		case len(l.Samples) == 0:
			l.Note = "not measured"
		case l.Over != "":
			l.Note = overNotes[l.Over]
		case l.PerSecond == 0:
			l.Note = "no session ended"
		}
	}
}

// lowestOver returns the lowest level beyond a bound, where the branch of levels ends, or nil.
func lowestOver(levels []Level) *Level {
	for i := range levels {
		if levels[i].Over != "" {
			return &levels[i]
		}
	}
	return nil
}

// highestSound returns the highest sound level below the lowest one that is not sound, or nil.
func highestSound(levels []Level, over *Level) (top *Level) {
	for i := range levels {
		if l := &levels[i]; l == over {
			break
		} else if l.PerSecond > 0 {
			top = l
		}
	}
	return top
}

func firstMeasured(levels []Level) *Level {
	for i := range levels {
		if len(levels[i].Samples) > 0 {
			return &levels[i]
		}
	}
	return nil
}

// sound returns the lowest level at which sessions ended.
func sound(levels []Level) int {
	for i := range levels {
		if levels[i].PerSecond > 0 {
			return levels[i].Level
		}
	}
	return 0
}

// String returns the recommendation in words.
func (r *Result) String() string {
	if r.Level == 0 {
		return "No recommendation: " + r.Why + "."
	}
	var b strings.Builder
	noun := "sessions"
	if r.Level == 1 {
		noun = "session"
	}
	fmt.Fprintf(&b, "%d concurrent %s", r.Level, noun)
	if r.Spread {
		fmt.Fprintf(&b, " (%s in 19 of 20 such sweeps)", span(r.Low, r.High))
	}
	if r.PerSecond > 0 {
		fmt.Fprintf(&b, ": about %s sessions per second", Figure(r.PerSecond))
	}
	fmt.Fprintf(&b, ". Limited by %s: %s.", r.Bound, r.Why)
	return b.String()
}

// Law returns the curve in words, with its intervals, or "" if there is none.
func (r *Result) Law() string {
	if !r.Fitted {
		return ""
	}
	parameter := func(name string, v float64, in Interval) string {
		text := name + " " + Figure(v)
		if r.Spread {
			text += " (" + Figure(in.Low) + " to " + Figure(in.High) + ")"
		}
		return text
	}
	return fmt.Sprintf("X(n) = λn / (1 + σ(n−1) + κn(n−1)) with %s, %s, %s",
		parameter("λ", r.Curve.Lambda, r.Lambda), parameter("σ", r.Curve.Sigma, r.Sigma), parameter("κ", r.Curve.Kappa, r.Kappa))
}

// Figure formats a number with three significant digits.
func Figure(v float64) string {
	if v < 999.5 {
		return fmt.Sprintf("%.3g", v)
	}
	unit := math.Pow10(int(math.Floor(math.Log10(v))) - 2)
	return engine.FormatCount(int64(math.Round(v/unit) * unit))
}

func span(low, high int) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}
