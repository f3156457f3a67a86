package setup

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// noun is what the agents of a scenario are called: the title of its parameter agents.
func (sc *Scenario) noun() string {
	for _, p := range sc.Parameters {
		if p.Name == "agents" && p.Title != "" {
			return strings.ToLower(p.Title)
		}
	}
	return "agents"
}

// heads counts agents by their noun, of which a plural's s goes where there is one.
func heads(n int, noun string) string {
	if n == 1 && !strings.HasSuffix(noun, "ss") {
		noun = strings.TrimSuffix(noun, "s")
	}
	return engine.FormatCount(int64(n)) + " " + noun
}

// cycles is how many cycles a run comes to; 0 where that depends on how fast it goes, or is beyond counting.
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

// pace says what length and time scale come to.
func pace(s engine.Settings, cycle time.Duration) string {
	n := cycles(s, cycle)
	if s.TimeScale == 0 || cycle <= 0 {
		if s.Cycles > 0 {
			return fmt.Sprintf("%s of %s, as fast as possible", count(n, "cycle"), short(cycle))
		}
		return fmt.Sprintf("cycles of %s for %s, as fast as possible", short(cycle), short(hours(s)))
	}
	every := float64(cycle) / s.TimeScale
	switch {
	case n == 1:
		return fmt.Sprintf("1 cycle of %s, which takes %s", short(cycle), long(every))
	case s.Cycles > 0:
		return fmt.Sprintf("one cycle every %s; %s of %s take %s", long(every), count(n, "cycle"), short(cycle), long(float64(n)*every))
	case n > 1:
		return fmt.Sprintf("one cycle every %s; %s in %s", long(every), count(n, "cycle"), short(hours(s)))
	}
	return fmt.Sprintf("one cycle every %s for %s", long(every), short(hours(s)))
}

// crowd says how many agents are at work at once.
func crowd(s engine.Settings, agents int, noun string) string {
	who := fmt.Sprintf("%s of %s at once", engine.FormatCount(int64(s.Limit)), heads(agents, noun))
	switch {
	case agents == 1:
		who = heads(agents, noun)
	case s.Limit >= agents:
		who = fmt.Sprintf("all %s at once", heads(agents, noun))
	}
	mover := "the governor moves that"
	if s.Governor == "" || s.Governor == engine.Manual {
		mover = "the slider moves"
	}
	return fmt.Sprintf("%s; while the run goes on %s between %s and %s", who, mover,
		engine.FormatCount(int64(s.Floor)), engine.FormatCount(int64(s.Ceiling)))
}

// summary says in a line what would be launched, where so many agents take part.
func summary(s engine.Settings, sc *Scenario, agents int) string {
	n := cycles(s, sc.Cycle)
	parts := []string{heads(agents, sc.noun())}
	if agents != sc.Agents {
		parts[0] = engine.FormatCount(int64(agents)) + " of " + heads(sc.Agents, sc.noun())
	}
	if s.Cycles == 0 {
		parts = append(parts, short(hours(s)))
	}
	if n > 0 {
		parts = append(parts, count(n, "cycle"))
	}
	if agents > 1 {
		parts = append(parts, "up to "+engine.FormatCount(int64(min(s.Limit, agents)))+" at once")
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

// long writes a duration in nanoseconds that may be too long for a time.Duration.
func long(ns float64) string {
	if day := float64(24 * time.Hour); ns >= 2*day {
		return fmt.Sprintf("%s days", engine.FormatCount(int64(math.Round(ns/day))))
	}
	return short(time.Duration(ns))
}

// short leaves out the zeros at the end of a duration.
func short(d time.Duration) string {
	text := engine.FormatDuration(d)
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if whole, ok := strings.CutSuffix(text, ".0s"); ok {
		text = whole + "s"
	}
	return text
}
