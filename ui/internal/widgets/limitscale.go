package widgets

import (
	"math"
	"slices"
)

// limitScale is a logarithmic scale of whole numbers from floor to ceiling.
type limitScale struct{ floor, ceiling int }

// newLimitScale mends ends that make no scale.
func newLimitScale(floor, ceiling int) limitScale {
	floor = max(floor, 1)
	return limitScale{floor, max(ceiling, floor)}
}

func (s limitScale) clamp(n int) int { return min(max(n, s.floor), s.ceiling) }

// share returns where a number is, from 0 to 1.
func (s limitScale) share(n int) float64 {
	if s.floor == s.ceiling {
		return 0
	}
	n = s.clamp(n)
	return math.Log(float64(n)/float64(s.floor)) / math.Log(float64(s.ceiling)/float64(s.floor))
}

// at returns the number at a place: any below 100, above those with two significant figures, and both ends.
func (s limitScale) at(share float64) int {
	switch {
	case share <= 0:
		return s.floor
	case share >= 1:
		return s.ceiling
	}
	x := float64(s.floor) * math.Pow(float64(s.ceiling)/float64(s.floor), share)
	unit := float64(coarseness(int(x)))
	return s.clamp(int(math.Round(x/unit) * unit))
}

// up returns the next number that at can return.
func (s limitScale) up(n int) int {
	unit := coarseness(n)
	return s.clamp((n/unit + 1) * unit)
}

// down returns the one before.
func (s limitScale) down(n int) int {
	unit := coarseness(n - 1)
	return s.clamp((n - 1) / unit * unit)
}

// coarseness is what the second significant figure of a number counts; 1 below 100.
func coarseness(n int) int {
	unit := 1
	for n >= 100*unit {
		unit *= 10
	}
	return unit
}

// ticks returns the numbers to be labeled, those that matter most first: the ends, 1, 10, 100 …, 5, 50 …, 2, 20 ….
func (s limitScale) ticks() []int {
	all := []int{s.floor}
	if s.ceiling > s.floor {
		all = append(all, s.ceiling)
	}
	for _, digit := range []int{1, 5, 2} {
		for n := digit; n <= s.ceiling; n *= 10 {
			if n > s.floor && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}
