package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// remedy says what to do about the problems that alarm describes.
func remedy(s *engine.Snapshot) string {
	var parts []string
	say := func(text string) { parts = append(parts, text) }
	if s.Breaker != engine.BreakerClosed {
		say("Too many sessions failed, so sessions wait until one succeeds. See the errors. Resume continues immediately.")
	}
	if len(view.Unavailable(s)) > 0 {
		say("Requests to a service that does not answer wait. They continue by themselves when it answers again; Probe now tries it without waiting for the next probe. A stop cancels the sessions that wait; they run again on resume.")
	}
	if s.Stall != nil {
		say("Sessions are in flight, but none has ended for long. Check the service they wait for, or its timeout.")
	}
	if s.Budget.Short != "" {
		say("Raise the budget with Adjust… in the More menu, or let the run end when it is used up. It can be resumed with a larger one.")
	}
	return strings.Join(parts, "\n\n")
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
	for _, v := range view.Unavailable(s) {
		say(widgets.Bad, "%s does not answer, and requests to it wait: %s", v.Name, v.BreakerWhy) // it says when the next try is
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
