package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// governing returns the governor of a run.
func governing(s *engine.Snapshot) engine.Governing {
	for _, g := range engine.Governors {
		if g.Name == s.Governor {
			return g
		}
	}
	return engine.Governors[0]
}

// governed reports whether the slider sets the ceiling.
func governed(s *engine.Snapshot) bool { return governing(s).Name != engine.Manual }

// steering explains the current limit.
func steering(s *engine.Snapshot) string {
	g := governing(s)
	switch {
	case g.Name == engine.Manual:
		return "by hand: " + g.About
	case s.Steer == "":
		return titled(s.SteerBy, g) + ": no change of the limit yet; the slider sets the ceiling"
	}
	text := titled(s.SteerBy, g) + ": " + words.Drawn(s.Steer)
	if !s.Steered.IsZero() {
		text += "  ·  at " + s.Steered.Local().Format(time.TimeOnly)
	}
	if s.Binds != "" && s.Binds != s.SteerBy {
		text += "  ·  limited by: " + titled(s.Binds, g)
	}
	return text
}

// titled returns the title of the governor in charge, if g combines several.
func titled(name string, g engine.Governing) string {
	for _, one := range engine.Governors {
		if one.Name == name && one.Name != g.Name {
			return g.Title + " (" + one.Title + ")"
		}
	}
	return g.Title
}

// alarm returns the most urgent problems of a run, and the errors that this process logged; "" if none.
func alarm(s *engine.Snapshot, logged string) (text string, tone widgets.Tone) {
	var parts []string
	say := func(t widgets.Tone, format string, args ...any) {
		parts = append(parts, fmt.Sprintf(format, args...))
		tone = max(tone, t)
	}
	if s.Phase == engine.Ended {
		return "", widgets.Neutral
	}
	if s.Breaker != engine.BreakerClosed {
		say(widgets.Bad, "the run's breaker is %s: %s%s", s.Breaker, s.BreakerWhy, probing(s.NextProbe))
	}
	for i := range s.Services {
		if v := &s.Services[i]; v.Breaker != engine.BreakerClosed {
			say(widgets.Bad, "%s: %s", v.Name, v.BreakerWhy) // it says when the next try is
		}
	}
	if s.Stall != nil {
		say(widgets.Warning, "%s", s.Stall.Why)
	}
	if s.Budget.Short != "" {
		say(widgets.Warning, "%s", s.Budget.Short)
	}
	if logged != "" {
		say(widgets.Warning, "%s", logged)
	}
	return words.Drawn(strings.Join(parts, "  ·  ")), tone
}

func probing(next time.Time) string {
	if next.IsZero() {
		return ""
	}
	return ", next try at " + next.Local().Format(time.TimeOnly)
}

// budget describes how much of its budget a run has used; "" without a budget.
func budget(s *engine.Snapshot) string {
	b := &s.Budget
	var parts []string
	add := func(bound bool, spent, of string) {
		if bound {
			parts = append(parts, spent+" of "+of)
		}
	}
	billionths := func(dollars float64) string { return engine.FormatDollars(int64(dollars * 1e9)) }
	add(b.Budget.Dollars > 0, engine.FormatDollars(b.Spent.Cost), billionths(b.Budget.Dollars))
	add(b.Budget.Tokens > 0, engine.FormatCount(b.Spent.Tokens), count(b.Budget.Tokens, "token"))
	add(b.Budget.Requests > 0, engine.FormatCount(b.Spent.Requests), count(b.Budget.Requests, "request"))
	add(b.Budget.Wall > 0, roughly(s.Elapsed), roughly(b.Budget.Wall))
	if len(parts) == 0 {
		return ""
	}
	text := "budget " + strings.Join(parts, ", ")
	if b.Budget.Dollars > 0 && b.Forecast.Cost > 0 {
		text += ", about " + engine.FormatDollars(b.Forecast.Cost) + " at the end"
	}
	return text
}
