package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// forecastFigure is a line of a forecast.
type forecastFigure struct {
	name string
	of   func(f *Forecast) Estimate
	show func(v float64) string
	// fact returns the actual figure of the run, or NaN if unknown. It is nil if the figure is not counted.
	fact func(f *Forecast, t *Totals, cycles int) float64
	// whole marks a figure of the whole run, which an incomplete run does not reach.
	whole bool
	// hide, if set, reports whether to omit the line.
	hide func(f *Forecast) bool
}

// forecastFigures is the table of a forecast's lines.
var forecastFigures = []forecastFigure{
	{name: "cycle", of: func(f *Forecast) Estimate { return f.Cycle }, show: showSeconds, fact: func(_ *Forecast, t *Totals, cycles int) float64 {
		return share(positive(t.Peaks.Worked.Seconds()), float64(cycles))
	}},
	{name: "whole run", of: func(f *Forecast) Estimate { return f.Length }, show: showSeconds, whole: true, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		return positive(t.Peaks.Elapsed.Seconds())
	}},
	{name: "sessions", of: func(f *Forecast) Estimate { return f.Sessions }, show: showCount, whole: true, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		return float64(t.Ended())
	}},
	{name: "requests", of: func(f *Forecast) Estimate { return f.Requests }, show: showCount, whole: true, hide: asksNobody, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		return float64(t.Left().Requests)
	}},
	{name: "requests/min", of: func(f *Forecast) Estimate { return f.RequestRate }, show: showCount, hide: asksNobody, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		return perMinute(t.Asked().Requests, t)
	}},
	{name: "writes/min", of: func(f *Forecast) Estimate { return f.WriteRate }, show: showCount, hide: writesNothing, fact: func(f *Forecast, t *Totals, _ int) float64 {
		return perMinute(f.written(t), t)
	}},
	{name: "db connections", of: func(f *Forecast) Estimate { return f.Connections }, show: showConnections, hide: writesNothing, fact: func(f *Forecast, t *Totals, _ int) float64 {
		if t.Peaks.ServerConnections <= 0 || f.Server < 0 {
			return math.NaN()
		}
		return float64(max(t.Peaks.ServerConnections-f.Server, 0))
	}},
	{name: "model calls", of: func(f *Forecast) Estimate { return f.Calls }, show: showCount, whole: true, hide: asksNoModel, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		return float64(t.Left().Usage.Calls)
	}},
	{name: "tokens in", of: func(f *Forecast) Estimate { return f.Input }, show: showCount, whole: true, hide: asksNoModel, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		return float64(t.Left().Usage.Input)
	}},
	{name: "tokens out", of: func(f *Forecast) Estimate { return f.Output }, show: showCount, whole: true, hide: asksNoModel, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		return float64(t.Left().Usage.Output)
	}},
	{name: "cost", of: func(f *Forecast) Estimate { return f.Cost }, show: showDollars, whole: true, hide: asksNoModel, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		u := t.Left().Usage
		if u.Unpriced > 0 {
			return math.NaN()
		}
		return float64(u.Cost) / 1e9
	}},
	{name: "memory", of: func(f *Forecast) Estimate { return f.Memory }, show: showBytes, fact: func(_ *Forecast, t *Totals, _ int) float64 {
		return positive(float64(t.Peaks.Memory))
	}},
	{name: "journal", of: func(f *Forecast) Estimate { return f.Disk }, show: showBytes},
}

func asksNobody(f *Forecast) bool    { return f.Requests.Known() && f.Requests.High == 0 }
func writesNothing(f *Forecast) bool { return f.Writes.Known() && f.Writes.High == 0 }
func asksNoModel(f *Forecast) bool   { return f.Calls.Known() && f.Calls.High == 0 }

// written returns the number of requests of the writing steps.
func (f *Forecast) written(t *Totals) (n int64) {
	for _, s := range t.ByStep.List {
		if slices.Contains(f.Writers, s.Path) {
			n += s.Requests
		}
	}
	return n
}

// perMinute divides a count by the time in which cycles were active. It returns NaN if no session has ended.
func perMinute(n int64, t *Totals) float64 {
	if t.Ended() == 0 {
		return math.NaN()
	}
	return share(60*float64(n), t.Peaks.Worked.Seconds())
}

// ForecastLine is a formatted figure of a forecast.
type ForecastLine struct {
	Name, Text string
	Basis      Basis
}

// Lines returns the formatted figures in display order.
func (f *Forecast) Lines() []ForecastLine {
	var all []ForecastLine
	for i := range forecastFigures {
		if c := &forecastFigures[i]; c.hide == nil || !c.hide(f) {
			all = append(all, ForecastLine{c.name, c.text(f), c.of(f).Basis})
		}
	}
	return all
}

func (c *forecastFigure) text(f *Forecast) string {
	text := c.of(f).text(c.show)
	switch {
	case c.name != "db connections" || f.ServerMax <= 0 || !c.of(f).Known():
		return text
	case f.Server < 0:
		return text + fmt.Sprintf(" of %d", f.ServerMax)
	}
	return text + fmt.Sprintf(" of %d left", max(f.ServerMax-f.Server, 0))
}

// String returns a one-line summary of the forecast with its basis.
func (f *Forecast) String() string { return f.InShort() + " (" + f.From() + ")" }

// InShort returns the length of a cycle, the requests per minute and, if models are called, the cost.
func (f *Forecast) InShort() string {
	parts := []string{"cycle " + f.Cycle.about(showSeconds)}
	if !asksNobody(f) {
		parts = append(parts, f.RequestRate.text(showCount)+" requests/min")
	}
	switch {
	case !f.Cost.Known():
		parts = append(parts, "cost not known")
	case f.Calls.High > 0:
		parts = append(parts, f.Cost.text(showDollars))
	}
	return strings.Join(parts, ", ")
}

// ForecastFact compares a forecast figure with the actual one, as text. Fact and Difference are "" if unknown.
type ForecastFact struct {
	Name, Forecast, Fact, Difference string
	Off                              bool // by more than a quarter
}

// Compare compares the forecast of a run with the actual figures. It returns nil if there was no forecast.
func (r *RunRecord) Compare(t *Totals) []ForecastFact {
	f := r.Forecast
	if f == nil {
		return nil
	}
	var all []ForecastFact
	for i := range forecastFigures {
		c := &forecastFigures[i]
		if c.fact == nil {
			continue
		}
		fact := c.fact(f, t, r.Cycle-r.ForkCycle) // its own cycles
		if c.hide != nil && c.hide(f) && !(fact > 0) {
			continue
		}
		line := ForecastFact{Name: c.name, Forecast: c.text(f)}
		if !math.IsNaN(fact) {
			line.Fact = c.show(fact)
		}
		switch {
		case line.Fact == "" || !c.of(f).Known() || c.whole && r.Ending != EndFinished:
		case c.whole && r.lengthened():
			line.Difference = "made longer since"
		default:
			line.Difference, line.Off = c.of(f).difference(fact)
		}
		all = append(all, line)
	}
	return all
}

// lengthened reports whether a run was extended beyond its forecast.
func (r *RunRecord) lengthened() bool {
	if cycles := r.Settings.Cycles; cycles > 0 {
		return r.Forecast.Cycles.Known() && float64(cycles-r.ForkCycle) > r.Forecast.Cycles.High
	}
	return r.Forecast.Length.Known() && r.Settings.Hours*time.Hour.Seconds() > r.Forecast.Length.High
}

// difference describes how far a fact is from an estimate. off reports a difference of more than a quarter.
func (e Estimate) difference(fact float64) (text string, off bool) {
	near := min(max(fact, e.Low), e.High)
	switch by := (fact - near) / near; {
	case fact == near && e.Low < e.High:
		return "within", false
	case math.Abs(fact-near) < 0.005*near || fact == near:
		return "as forecast", false
	case near == 0:
		return "more", true
	case by >= 10:
		return fmt.Sprintf("%.0f times", fact/near), true
	default:
		return fmt.Sprintf("%+.0f %%", 100*by), math.Abs(by) > 0.25
	}
}

// about returns the formatted estimate with the prefix "about", unless it is unknown or only an upper bound.
func (e Estimate) about(show func(float64) string) string {
	if !e.Known() || e.wide() {
		return e.text(show)
	}
	return "about " + e.text(show)
}

// wide reports whether the bounds are too far apart for the lower one to be informative.
func (e Estimate) wide() bool { return e.Low < e.High/10 }

// InBytes formats an estimate of bytes.
func (e Estimate) InBytes() string { return e.text(showBytes) }

// text formats the value, both bounds if they differ by more than a tenth, or only the upper bound if the range is
// wide.
func (e Estimate) text(show func(float64) string) string {
	low, high := show(e.Low), show(e.High)
	switch {
	case !e.Known():
		return "not known"
	case low == high:
		return low
	case e.wide():
		return "up to " + high
	case e.High-e.Low <= 0.1*e.High:
		return show(e.Middle())
	}
	return low + "–" + high
}

func showSeconds(v float64) string {
	const longest = float64(math.MaxInt64) / 2
	ns := v * float64(time.Second)
	switch {
	case ns >= min(longest, 48*float64(time.Hour)):
		return FormatCount(int64(min(math.Round(v/86400), longest))) + " days"
	case v >= 600:
		return strings.TrimSuffix(time.Duration(ns).Round(time.Minute).String(), "0s")
	}
	return FormatDuration(time.Duration(ns))
}

// showCount formats large counts with three significant digits.
func showCount(v float64) string {
	v = min(v, 1e18)
	if v >= 10_000 {
		unit := math.Pow(10, math.Floor(math.Log10(v))-2)
		v = math.Round(v/unit) * unit
	}
	return FormatCount(int64(math.Round(v)))
}

func showConnections(v float64) string { return FormatCount(int64(math.Ceil(min(v, 1e18) - 1e-9))) }
func showBytes(v float64) string       { return FormatBytes(int64(min(v, 1e18))) }
func showDollars(v float64) string     { return FormatDollars(int64(math.Round(min(v, 1e9) * 1e9))) }
