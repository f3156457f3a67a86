// Package arrivals schedules when the sessions of a cycle start. Load is then open: a session has an intended start that does not
// depend on how fast earlier sessions end. All starts follow from the seed, the cycle and the agent, so they are the same at any
// concurrency and after a resume. The package is pure.
package arrivals

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/figures"
)

// Plan says how the agents of a cycle arrive. A nil plan starts all sessions together. A plan does not change.
type Plan struct {
	// Poisson draws independent arrivals, as of people who do not know each other. Otherwise arrivals are evenly spaced.
	Poisson bool
	// One of these sets the rate of arrivals: the time over which the agents arrive, or stages. If neither is set, they arrive over
	// the planned time of a cycle.
	Over   time.Duration
	Stages []Stage
}

// Stage is a part of a profile. Its rate grows or falls linearly. The last rate of the last stage also applies after its end.
type Stage struct {
	For      time.Duration // 0 only in the last stage
	From, To float64       // arrivals per second
}

// Constant returns stages with one rate.
func Constant(perSecond float64) []Stage { return []Stage{{From: perSecond, To: perSecond}} }

// Limits of a plan. MinRate applies to the last rate; other rates may be 0.
const (
	MinRate = 1e-5
	MaxRate = 1e6
	MinTime = time.Millisecond
	MaxTime = 366 * 24 * time.Hour
)

// NeedsTime reports whether the plan needs the planned time of a cycle.
func (p *Plan) NeedsTime() bool { return p != nil && p.Over == 0 && len(p.Stages) == 0 }

// at returns when the x-th of n arrivals is due. x may be a fraction. each is the planned time of a cycle.
func (p *Plan) at(x, n float64, each time.Duration) time.Duration {
	if len(p.Stages) == 0 {
		over := p.Over
		if over == 0 {
			over = each
		}
		return time.Duration(x / n * float64(over))
	}
	var begin time.Duration
	for i := range p.Stages {
		s := &p.Stages[i]
		if count := s.count(); x > count && i < len(p.Stages)-1 {
			x, begin = x-count, begin+s.For
			continue
		} else if x > count { // after the last stage
			return later(begin+s.For, (x-count)/s.To)
		}
		return min(later(begin, s.inverse(x)), begin+s.For)
	}
	return begin
}

// later returns a time some seconds later, which may be limited by the longest time.
func later(begin time.Duration, seconds float64) time.Duration {
	ns := seconds * float64(time.Second)
	if !(ns < float64(math.MaxInt64/2-begin)) {
		return math.MaxInt64 / 2
	}
	return begin + time.Duration(ns)
}

// count returns the number of arrivals in the stage: the integral of its rate.
func (s *Stage) count() float64 { return (s.From + s.To) / 2 * s.For.Seconds() }

// inverse returns after how many seconds of the stage x arrivals are due. It solves x = From·t + slope·t²/2 in the form that loses no
// digits if the slope is small.
func (s *Stage) inverse(x float64) float64 {
	if x <= 0 {
		return 0
	}
	slope := (s.To - s.From) / s.For.Seconds()
	return 2 * x / (s.From + math.Sqrt(max(s.From*s.From+2*slope*x, 0)))
}

// Length returns the time until the last of n agents arrives, to within one arrival.
func (p *Plan) Length(n int, each time.Duration) time.Duration {
	if p == nil || n == 0 {
		return 0
	}
	return p.at(float64(n), float64(n), each)
}

// String describes the plan, such as "Poisson, 10/s" or "2/s for 30 s, 2/s to 20/s in 1 min"; "" for nil.
func (p *Plan) String() string {
	if p == nil {
		return ""
	}
	how := "evenly"
	if p.Poisson {
		how = "Poisson"
	}
	switch {
	case p.NeedsTime():
		return how + " over the time of a cycle"
	case len(p.Stages) == 0:
		return how + " over " + figures.Exact(p.Over)
	case len(p.Stages) == 1 && p.Stages[0].For == 0:
		return how + ", " + FormatRate(p.Stages[0].To)
	}
	parts := make([]string, len(p.Stages))
	for i, s := range p.Stages {
		if parts[i] = FormatRate(s.From) + " for " + figures.Exact(s.For); s.From != s.To {
			parts[i] = FormatRate(s.From) + " to " + FormatRate(s.To) + " in " + figures.Exact(s.For)
		}
	}
	if p.Poisson {
		return "Poisson, " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

// FormatRate formats a rate per second, such as "10/s" or, if it is low, "6/min".
func FormatRate(perSecond float64) string {
	switch {
	case perSecond >= 1 || perSecond == 0:
		return strconv.FormatFloat(perSecond, 'g', 4, 64) + "/s"
	case perSecond >= 1./60:
		return strconv.FormatFloat(perSecond*60, 'g', 4, 64) + "/min"
	default:
		return strconv.FormatFloat(perSecond*3600, 'g', 4, 64) + "/h"
	}
}

var rateUnits = []struct {
	name string
	per  float64
}{{"s", 1}, {"sec", 1}, {"second", 1}, {"min", 60}, {"m", 60}, {"minute", 60}, {"h", 3600}, {"hour", 3600}}

// RateHint describes the form of a rate.
const RateHint = "a rate, such as 10/s, 90/min or 500/h"

// IsRate reports whether a text is meant as a rate.
func IsRate(text string) bool { return strings.Contains(text, "/") }

// ParseRate parses a rate, such as 10/s, 90/min or 500/h, as arrivals per second. A number alone is per second.
func ParseRate(text string) (float64, error) {
	number, unit, _ := strings.Cut(text, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	per := 1.0
	if IsRate(text) {
		per = 0
		for _, u := range rateUnits {
			if u.name == strings.TrimSpace(unit) {
				per = u.per
			}
		}
	}
	if v /= per; err != nil || per == 0 || !(v >= 0 && v <= MaxRate) {
		return 0, fmt.Errorf("%q is not %s, up to %s", text, RateHint, FormatRate(MaxRate))
	}
	return v, nil
}

// Validate returns the first mistake in the plan.
func (p *Plan) Validate() error {
	for i := range p.Stages {
		s := &p.Stages[i]
		switch last := i == len(p.Stages)-1; {
		case last && s.To < MinRate:
			return errors.New("the last stage ends at " + FormatRate(s.To) + ", so that agents who are left would never arrive: end it at a higher rate")
		case s.From == 0 && s.To == 0 && s.For == 0:
			return errors.New("a stage has no rate")
		case !last && s.For == 0:
			return errors.New("only the last stage may have no length")
		}
	}
	return nil
}
