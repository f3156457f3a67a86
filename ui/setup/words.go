package setup

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// noun returns what the scenario calls its agents: the title of its parameter agents.
func (sc *Scenario) noun() string {
	for _, p := range sc.Parameters {
		if p.Name == "agents" && p.Title != "" {
			return strings.ToLower(p.Title)
		}
	}
	return "agents"
}

// heads counts agents with their noun, singular or plural.
func heads(n int, noun string) string {
	if n == 1 && !strings.HasSuffix(noun, "ss") {
		noun = strings.TrimSuffix(noun, "s")
	}
	return engine.FormatCount(int64(n)) + " " + noun
}

// cycles returns the number of cycles of a run; 0 if it depends on the run's speed or is too large.
func cycles(s engine.Settings, cycle time.Duration) int {
	if s.Cycles > 0 || s.TimeScale == 0 || cycle <= 0 {
		return s.Cycles
	}
	n := math.Ceil(s.Hours * float64(time.Hour) * s.TimeScale / float64(cycle))
	if n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// scheduled describes the length, the time scale, and how the agents of a cycle arrive.
func scheduled(s engine.Settings, sc *Scenario) string {
	text := pace(s, sc.Cycle)
	if sc.Arrivals == "" {
		return text
	}
	return strings.TrimSuffix(text, asFast) + "; arrivals: " + sc.Arrivals
}

// asFast ends the description of a run without a schedule.
const asFast = ", as fast as possible"

// pace describes the length and the time scale.
func pace(s engine.Settings, cycle time.Duration) string {
	n := cycles(s, cycle)
	if s.TimeScale == 0 || cycle <= 0 {
		if s.Cycles > 0 {
			return fmt.Sprintf("%s of %s", count(n, "cycle"), engine.FormatDuration(cycle)) + asFast
		}
		return fmt.Sprintf("cycles of %s for %s", engine.FormatDuration(cycle), engine.FormatDuration(hours(s))) + asFast
	}
	every := float64(cycle) / s.TimeScale
	switch {
	case n == 1:
		return fmt.Sprintf("1 cycle of %s, in %s", engine.FormatDuration(cycle), long(every))
	case s.Cycles > 0:
		return fmt.Sprintf("one cycle of %s every %s", engine.FormatDuration(cycle), long(every)) // the forecast says how long they take
	case n > 1:
		return fmt.Sprintf("one cycle every %s; %s in %s", long(every), count(n, "cycle"), engine.FormatDuration(hours(s)))
	}
	return fmt.Sprintf("one cycle every %s for %s", long(every), engine.FormatDuration(hours(s)))
}

// crowd describes how many agents are in flight.
func crowd(s engine.Settings, agents int, noun string) string {
	text := fmt.Sprintf("%s of %s concurrently", engine.FormatCount(int64(s.Limit)), heads(agents, noun))
	switch {
	case agents == 1:
		text = heads(agents, noun)
	case s.Limit >= agents:
		text = fmt.Sprintf("all %s concurrently", heads(agents, noun))
	}
	if !s.Governed() {
		return text + "; the limit stays until you change it"
	}
	return fmt.Sprintf("%s; adjusted automatically from %s to %s", text, engine.FormatCount(int64(s.Floor)), engine.FormatCount(int64(s.Ceiling)))
}

// summary describes the run in one line.
func summary(s engine.Settings, sc *Scenario, agents int) string {
	n := cycles(s, sc.Cycle)
	parts := []string{heads(agents, sc.noun())}
	if agents != sc.Agents {
		parts[0] = engine.FormatCount(int64(agents)) + " of " + heads(sc.Agents, sc.noun())
	}
	if s.Cycles == 0 {
		parts = append(parts, engine.FormatDuration(hours(s)))
	}
	if n > 0 {
		parts = append(parts, count(n, "cycle"))
	}
	if agents > 1 {
		most := s.Limit
		if s.Governed() {
			most = max(most, s.Ceiling)
		}
		parts = append(parts, "up to "+engine.FormatCount(int64(min(most, agents)))+" concurrently")
	}
	if sc.Arrivals != "" {
		parts = append(parts, "arrivals: "+sc.Arrivals)
	}
	if sessions := float64(n) * float64(agents); n > 0 && sessions < math.MaxInt64 {
		text := engine.FormatCount(int64(sessions)) + " sessions"
		if sessions == 1 {
			text = "1 session"
		}
		if len(s.WarmUp) > 0 || s.Cycles == 0 {
			text = "at most " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func hours(s engine.Settings) time.Duration { return time.Duration(s.Hours * float64(time.Hour)) }

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return engine.FormatCount(int64(n)) + " " + what
}

// long writes a duration in nanoseconds, which may exceed the range of time.Duration.
func long(ns float64) string {
	if day := float64(24 * time.Hour); ns >= 2*day {
		return fmt.Sprintf("%s days", engine.FormatCount(int64(math.Round(ns/day))))
	}
	return engine.FormatDuration(time.Duration(ns))
}
