package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	resamples = 400
	tail      = 0.025 // on each side of an interval
)

// Interval contains the true value in 19 of 20 sweeps. With three repeats and errors of 5%, it contains the curve in 93 to 97 of 100
// sweeps, and the recommendation in 97 or more, as a test counts.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Band is the interval of the curve at a number of sessions.
type Band struct {
	Level     float64 `json:"level"`
	PerSecond float64 `json:"per_second"` // of the curve itself
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
}

// bandPoints is the number of points of the band.
const bandPoints = 33

// spreads are the results of repeated sweeps, by resampling.
type spreads struct {
	lambda, sigma, kappa Interval
	best                 [2]int
	band                 []Band
}

// bootstrap fits the curve again and again to its own values with resampled errors. All levels share the errors, since they are relative
// (A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application, Cambridge 1997, section 7.3). ok is false if there are no
// more points than parameters, because the errors are unknown then. The recommendation is at most top; the band ends at last.
func bootstrap(points []point, c Curve, free, lowest, top, last int, seed uint64) (s spreads, ok bool) {
	errs := residuals(points, c, free)
	if errs == nil {
		return s, false
	}
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	band := places(lowest, last)
	at := make([][]float64, len(band))
	var lambda, sigma, kappa []float64
	var best []int
	again := make([]point, len(points))
	for range resamples {
		for i, p := range points {
			x := c.At(p.n)
			again[i] = point{n: p.n, x: max(x*(1+errs[rng.IntN(len(errs))]), x/1000)}
		}
		f, _, fitted := fit(again)
		if !fitted {
			continue
		}
		lambda, sigma, kappa = append(lambda, f.Lambda), append(sigma, f.Sigma), append(kappa, f.Kappa)
		best = append(best, f.Best(lowest, top, enough))
		for i, n := range band {
			at[i] = append(at[i], f.At(n))
		}
	}
	s.lambda, s.sigma, s.kappa = middle(lambda), middle(sigma), middle(kappa)
	slices.Sort(best)
	s.best = [2]int{best[rank(len(best), tail)], best[rank(len(best), 1-tail)]}
	for i, n := range band {
		in := middle(at[i])
		s.band = append(s.band, Band{Level: n, PerSecond: c.At(n), Low: in.Low, High: in.High})
	}
	return s, true
}

// residuals returns the relative errors of the points, centered and scaled up: first to correct for the fit, then for small numbers, as
// Student's distribution is wider than the normal one. It returns nil if the errors are unknown.
func residuals(points []point, c Curve, free int) []float64 {
	if len(points) <= free {
		return nil
	}
	left := float64(len(points) - free)
	larger := math.Sqrt(float64(len(points))/left) * (1 + 1.21/left + 1.44/(left*left)) // the series of its 97.5th percentile
	errs := make([]float64, len(points))
	center := 0.0
	for i, p := range points {
		errs[i] = (p.x/c.At(p.n) - 1) * larger
		center += errs[i] / float64(len(points))
	}
	for i := range errs {
		errs[i] -= center
	}
	return errs
}

// places returns numbers of sessions in a range, evenly spaced on a logarithmic scale.
func places(lowest, highest int) []float64 {
	if highest <= lowest {
		return []float64{float64(lowest)}
	}
	all := make([]float64, bandPoints)
	ratio := float64(highest) / float64(lowest)
	for i := range all {
		all[i] = float64(lowest) * math.Pow(ratio, float64(i)/(bandPoints-1))
	}
	return all
}

func middle(values []float64) Interval {
	slices.Sort(values)
	return Interval{values[rank(len(values), tail)], values[rank(len(values), 1-tail)]}
}

func rank(n int, share float64) int { return min(int(share*float64(n)), n-1) }
