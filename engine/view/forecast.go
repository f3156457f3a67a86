package view

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// forecastFigure is a line of a forecast.
type forecastFigure struct {
	name string
	of   func(f *engine.Forecast) engine.Estimate
	show func(v float64) string
	// fact returns the actual figure of the run, or NaN if unknown. It is nil if the figure is not counted.
	fact func(f *engine.Forecast, t *engine.Totals, cycles int) float64
	// whole marks a figure of the whole run, which an incomplete run does not reach.
	whole bool
	// hide, if set, reports whether to omit the line.
	hide func(f *engine.Forecast) bool
	// main marks a figure that a short list shows.
	main bool
}

// forecastFigures is the table of a forecast's lines.
var forecastFigures = []forecastFigure{
	{name: "cycle", of: func(f *engine.Forecast) engine.Estimate { return f.Cycle }, show: showSeconds, fact: func(_ *engine.Forecast, t *engine.Totals, cycles int) float64 {
		return ratio(measured(t.Peaks.Worked.Seconds()), float64(cycles))
	}},
	{name: "whole run", of: func(f *engine.Forecast) engine.Estimate { return f.Length }, main: true, show: showSeconds, whole: true, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		return measured(t.Peaks.Elapsed.Seconds())
	}},
	{name: "sessions", of: func(f *engine.Forecast) engine.Estimate { return f.Sessions }, main: true, show: showCount, whole: true, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		return float64(t.Ended())
	}},
	{name: "requests", of: func(f *engine.Forecast) engine.Estimate { return f.Requests }, main: true, show: showCount, whole: true, hide: noRequests, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		return float64(t.SentRequests().Requests)
	}},
	{name: "requests/min", of: func(f *engine.Forecast) engine.Estimate { return f.RequestRate }, show: showCount, hide: noRequests, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		return perMinute(t.AllRequests().Requests, t)
	}},
	{name: "writes/min", of: func(f *engine.Forecast) engine.Estimate { return f.WriteRate }, show: showCount, hide: noWrites, fact: func(f *engine.Forecast, t *engine.Totals, _ int) float64 {
		return perMinute(written(f, t), t)
	}},
	{name: "DB connections", of: func(f *engine.Forecast) engine.Estimate { return f.Connections }, main: true, show: showConnections, hide: noConnections, fact: func(f *engine.Forecast, t *engine.Totals, _ int) float64 {
		if t.Peaks.ServerConnections <= 0 || f.Server < 0 {
			return math.NaN()
		}
		return float64(max(t.Peaks.ServerConnections-f.Server, 0))
	}},
	{name: "model calls", of: func(f *engine.Forecast) engine.Estimate { return f.Calls }, main: true, show: showCount, whole: true, hide: noModelCalls, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		return float64(t.SentRequests().Usage.Calls)
	}},
	{name: "tokens in", of: func(f *engine.Forecast) engine.Estimate { return f.Input }, show: showCount, whole: true, hide: noModelCalls, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		return float64(t.SentRequests().Usage.Input)
	}},
	{name: "tokens out", of: func(f *engine.Forecast) engine.Estimate { return f.Output }, show: showCount, whole: true, hide: noModelCalls, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		return float64(t.SentRequests().Usage.Output)
	}},
	{name: "cost", of: func(f *engine.Forecast) engine.Estimate { return f.Cost }, main: true, show: showDollars, whole: true, hide: noModelCalls, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		u := t.SentRequests().Usage
		if u.Unpriced > 0 {
			return math.NaN()
		}
		return float64(u.Cost) / 1e9
	}},
	{name: "memory", of: func(f *engine.Forecast) engine.Estimate { return f.Memory }, main: true, show: showBytes, fact: func(_ *engine.Forecast, t *engine.Totals, _ int) float64 {
		return measured(float64(t.Peaks.Memory))
	}},
	{name: "kept content", of: func(f *engine.Forecast) engine.Estimate { return f.Content.Size }, main: true, show: showBytes, hide: noContent},
	{name: "journal", of: func(f *engine.Forecast) engine.Estimate { return f.Disk }, show: showBytes},
}

func noRequests(f *engine.Forecast) bool { return f.Requests.Known() && f.Requests.High == 0 }
func noWrites(f *engine.Forecast) bool   { return f.Writes.Known() && f.Writes.High == 0 }
func noConnections(f *engine.Forecast) bool {
	return noWrites(f) || f.Connections.Known() && f.Connections.High == 0
}

// noContent hides a size that is zero or unknown: a run without requests keeps no content.
func noContent(f *engine.Forecast) bool    { return f.Content.Size.High == 0 }
func noModelCalls(f *engine.Forecast) bool { return f.Calls.Known() && f.Calls.High == 0 }

// written returns the number of requests of the writing steps.
func written(f *engine.Forecast, t *engine.Totals) (n int64) {
	for _, s := range t.ByStep.List {
		if slices.Contains(f.Writers, s.Path) {
			n += s.Requests
		}
	}
	return n
}

// perMinute divides a count by the time in which cycles were active. It returns NaN if no session has ended.
func perMinute(n int64, t *engine.Totals) float64 {
	if t.Ended() == 0 {
		return math.NaN()
	}
	return ratio(60*float64(n), t.Peaks.Worked.Seconds())
}

// ForecastLine is a formatted figure of a forecast.
type ForecastLine struct {
	Name, Text string
	Basis      engine.Basis
	Main       bool // a short list shows it
}

// ForecastLines returns the formatted figures of a forecast in display order.
func ForecastLines(f *engine.Forecast) []ForecastLine {
	var all []ForecastLine
	for i := range forecastFigures {
		if c := &forecastFigures[i]; c.hide == nil || !c.hide(f) {
			all = append(all, ForecastLine{c.name, c.text(f), c.of(f).Basis, c.main})
		}
	}
	return all
}

func (c *forecastFigure) text(f *engine.Forecast) string {
	text := estimateText(c.of(f), c.show)
	switch {
	case c.name != "DB connections" || !c.of(f).Known():
		return text
	case f.ServerMax <= 0: // the database is unknown to Throng: the backend writes to it
		return text + " at the backend"
	case f.Server < 0:
		return text + fmt.Sprintf(" of %d", f.ServerMax)
	}
	return text + fmt.Sprintf(" of %d left", max(f.ServerMax-f.Server, 0))
}

// ForecastSummary returns the length of a cycle, the requests per minute and, if models are called, the cost.
func ForecastSummary(f *engine.Forecast) string {
	parts := []string{"cycle " + about(f.Cycle, showSeconds)}
	if !noRequests(f) {
		parts = append(parts, estimateText(f.RequestRate, showCount)+" requests/min")
	}
	switch {
	case !f.Cost.Known():
		parts = append(parts, "cost not known")
	case f.Calls.High > 0:
		parts = append(parts, estimateText(f.Cost, showDollars))
	}
	return strings.Join(parts, ", ")
}

// WorkLines returns the formatted figures of what several runs take together: seconds, requests, tokens, US dollars and bytes on disk.
// Figures that are zero are left out.
func WorkLines(length, requests, tokens, cost, disk engine.Estimate) []ForecastLine {
	lines := []ForecastLine{{Name: "time", Text: about(length, showSeconds), Basis: length.Basis, Main: true}}
	for _, figure := range []struct {
		name string
		of   engine.Estimate
		show func(float64) string
	}{{"requests", requests, showCount}, {"tokens", tokens, showCount}, {"cost", cost, showDollars}, {"disk", disk, showBytes}} {
		switch {
		case figure.of.Known() && figure.of.High > 0:
			lines = append(lines, ForecastLine{Name: figure.name, Text: estimateText(figure.of, figure.show), Basis: figure.of.Basis, Main: true})
		case figure.name == "cost" && !cost.Known():
			lines = append(lines, ForecastLine{Name: figure.name, Text: "not known", Main: true})
		}
	}
	return lines
}

// WorkSummary describes what several runs take together, like [WorkLines].
func WorkSummary(length, requests, tokens, cost, disk engine.Estimate) string {
	var parts []string
	for _, l := range WorkLines(length, requests, tokens, cost, disk) {
		switch {
		case l.Name == "disk":
			l.Text += " on disk"
		case l.Name == "requests" || l.Name == "tokens":
			l.Text += " " + l.Name
		case l.Name == "cost" && !cost.Known():
			l.Text = "cost " + l.Text
		}
		parts = append(parts, l.Text)
	}
	return strings.Join(parts, ", ")
}

// ForecastFact compares a forecast figure with the actual one, as text. Fact and Difference are "" if unknown.
type ForecastFact struct {
	Name       string `json:"figure"`
	Forecast   string `json:"forecast"`
	Fact       string `json:"fact,omitempty"`
	Difference string `json:"difference,omitempty"`
	Off        bool   `json:"-"` // by more than a quarter
}

// CompareForecast compares the forecast of a run with the actual figures. It returns nil if there was no forecast.
func CompareForecast(r *engine.RunRecord, t *engine.Totals) []ForecastFact {
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
		case line.Fact == "" || !c.of(f).Known() || c.whole && r.Ending != engine.EndFinished:
		case c.whole && lengthened(r):
			line.Difference = "run was extended"
		default:
			line.Difference, line.Off = difference(c.of(f), fact)
		}
		all = append(all, line)
	}
	return all
}

// lengthened reports whether a run was extended beyond its forecast.
func lengthened(r *engine.RunRecord) bool {
	if cycles := r.Settings.Cycles; cycles > 0 {
		return r.Forecast.Cycles.Known() && float64(cycles-r.ForkCycle) > r.Forecast.Cycles.High
	}
	return r.Forecast.Length.Known() && r.Settings.Hours*time.Hour.Seconds() > r.Forecast.Length.High
}

// difference describes how far a fact is from an estimate. off reports a difference of more than a quarter.
func difference(e engine.Estimate, fact float64) (text string, off bool) {
	near := min(max(fact, e.Low), e.High)
	switch by := (fact - near) / near; {
	case fact == near && e.Low < e.High, fact < near && wide(e): // of a wide one, only the upper bound is shown
		return "within", false
	case math.Abs(fact-near) < 0.005*near || fact == near:
		return "as forecast", false
	case near == 0:
		return "more", true
	case by >= 10:
		return fmt.Sprintf("%.0f times", fact/near), true
	default:
		return fmt.Sprintf("%+.0f%%", 100*by), math.Abs(by) > 0.25
	}
}

// about returns the formatted estimate with the prefix "about", unless it is unknown or only an upper bound.
func about(e engine.Estimate, show func(float64) string) string {
	if !e.Known() || wide(e) {
		return estimateText(e, show)
	}
	return "about " + estimateText(e, show)
}

// wide reports whether the bounds are too far apart for the lower one to be informative.
func wide(e engine.Estimate) bool { return e.Low < e.High/10 }

// EstimatedBytes formats an estimate of bytes.
func EstimatedBytes(e engine.Estimate) string { return estimateText(e, showBytes) }

// RoughBytes is EstimatedBytes for the middle of a sentence: "about 30 MB", or "up to 36 kB".
func RoughBytes(e engine.Estimate) string {
	text := EstimatedBytes(e)
	if !wide(e) {
		text = "about " + text
	}
	return text
}

// estimateText formats the value, both bounds if they differ by more than a tenth, or only the upper bound if the range is
// wide.
func estimateText(e engine.Estimate, show func(float64) string) string {
	low, high := show(e.Low), show(e.High)
	switch {
	case !e.Known():
		return "not known"
	case low == high:
		return low
	case wide(e):
		return "up to " + high
	case e.High-e.Low <= 0.1*e.High:
		return show(e.Middle())
	}
	return between(low, high)
}

// between joins two bounds. It omits the unit of the lower one if both have the same.
func between(low, high string) string {
	number, unit, ok := strings.Cut(low, " ")
	_, other, also := strings.Cut(high, " ")
	switch {
	case !ok && !also:
		return low + "–" + high
	case unit == other && !strings.Contains(unit, " "): // "1 min 43 s" has two numbers
		return number + "–" + high
	}
	return low + " to " + high
}

func showSeconds(v float64) string {
	const longest = float64(math.MaxInt64) / 2
	ns := v * float64(time.Second)
	switch {
	case ns >= min(longest, 48*float64(time.Hour)):
		return engine.FormatCount(int64(min(math.Round(v/86400), longest))) + " days"
	case v >= 600:
		return engine.FormatDuration(time.Duration(ns).Round(time.Minute))
	}
	return engine.FormatDuration(time.Duration(ns))
}

// showCount formats large counts with three significant digits.
func showCount(v float64) string {
	v = min(v, 1e18)
	if v >= 10_000 {
		unit := math.Pow(10, math.Floor(math.Log10(v))-2)
		v = math.Round(v/unit) * unit
	}
	return engine.FormatCount(int64(math.Round(v)))
}

func showConnections(v float64) string {
	return engine.FormatCount(int64(math.Ceil(min(v, 1e18) - 1e-9)))
}
func showBytes(v float64) string   { return engine.FormatBytes(int64(min(v, 1e18))) }
func showDollars(v float64) string { return engine.FormatDollars(int64(math.Round(min(v, 1e9) * 1e9))) }

// measured returns v, or NaN if v is not positive, which means that it was never measured.
func measured(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}

func ratio(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}

// ForecastBasis describes the basis of a forecast.
func ForecastBasis(f *engine.Forecast) string {
	text := map[engine.Basis]string{
		engine.NotKnown:    "uncertain: not everything is known before a first run",
		engine.Measured:    "measured",
		engine.FromProfile: "from the latencies of the mock and what the scenario says, until a first run is measured",
		engine.FromFile:    "from what the scenario says, until a first run is measured",
		engine.Guessed:     "a guess, until a first run is measured",
	}[f.Basis()]
	if f.Run == "" {
		return text
	}
	run := fmt.Sprintf("the run of %s (%s)", f.At.Local().Format("2006-01-02 15:04"), f.Run)
	switch {
	case f.Few == 1:
		return "a guess from the only session of " + run
	case f.Few > 1:
		return fmt.Sprintf("a guess from the %d sessions of %s", f.Few, run)
	case f.Basis() == engine.Measured:
		return text + " in " + run
	}
	return "in part a guess, from " + run
}
