// Package turn describes a session of an agent: when its steps began, what they did, and their requests.
package turn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/timeline"
)

// Limits on the shown exchanges of a step.
const (
	mostExchanges = 20
	mostBody      = 4000   // characters
	MostText      = 12_000 // bytes; the toolkit needs 0.1 s for this much text, and seconds for ten times as much
)

// Ongoing adds to a session in progress what is known of its steps: those with exchanges, and the current one.
func Ongoing(turn engine.AgentTurn, d *engine.Activity, now time.Time) engine.AgentTurn {
	turn.Steps = nil
	for i := range turn.Exchanges {
		e := &turn.Exchanges[i]
		at := slices.IndexFunc(turn.Steps, func(r engine.StepRecord) bool { return r.Path == e.Path })
		if at < 0 {
			at = len(turn.Steps)
			turn.Steps = append(turn.Steps, engine.StepRecord{Path: e.Path})
		}
		r := &turn.Steps[at]
		r.Attempts++
		r.Service += e.Took
		if e.Status > 0 {
			r.Statuses = append(r.Statuses, e.Status)
		}
	}
	turn.Total = max(now.Sub(turn.Started), 0)
	if d != nil && d.Path != "" {
		turn.Steps = slices.DeleteFunc(turn.Steps, func(r engine.StepRecord) bool { return r.Path == d.Path })
		r := engine.StepRecord{Path: d.Path, Service: max(now.Sub(d.Since), 0)}
		if d.ThrottledBy != "" {
			r.Service, r.Throttled = 0, r.Service
		}
		turn.Steps = append(turn.Steps, r)
	}
	return turn
}

// Timeline returns the timeline of a session. Records have the duration of a step and its throttled time, but not its start. The start is
// derived from the order of the steps, except for steps with a recorded exchange and the current step.
func Timeline(turn *engine.AgentTurn, d *engine.Activity) timeline.Session {
	t := turnLayout{turn: turn, doing: d, bars: make([]timeline.Bar, len(turn.Steps))}
	t.lay(0, len(turn.Steps), 0, 0)
	return timeline.Session{Queue: turn.Queue, Total: turn.Total, Bars: t.bars}
}

// turnLayout calculates when the steps of a session began.
type turnLayout struct {
	turn  *engine.AgentTurn
	doing *engine.Activity // nil if the session has ended
	bars  []timeline.Bar
}

// lay places the records of a range, which run in sequence or in parallel, from a time on. It returns the latest end.
func (t *turnLayout) lay(from, to, depth int, at time.Duration) time.Duration {
	end, began, parallel := at, at, false
	for i := from; i < to; {
		r := &t.turn.Steps[i]
		last := i + 1
		for last < to && belongs(t.turn.Steps[last].Path, r.Path) {
			last++
		}
		if !r.Parallel || !parallel {
			began = end
		}
		parallel = r.Parallel
		if known, ok := t.asked(r); ok && last == i+1 {
			began = max(known, at)
		}
		t.bars[i] = timeline.Bar{
			Name: StepName(t.turn.Steps, i), Depth: depth, From: began, Throttled: r.Throttled, Service: r.Service, Retries: r.Retries(),
			Status: r.Status, Block: last > i+1,
		}
		over := began + r.Throttled + r.Service
		if last > i+1 {
			over = max(over, t.lay(i+1, last, depth+1, began))
			t.bars[i].Throttled, t.bars[i].Service = 0, over-began
		}
		end, i = max(end, over), last
	}
	return end
}

// asked returns when a step began, if its first exchange is recorded or it is the current step.
func (t *turnLayout) asked(r *engine.StepRecord) (time.Duration, bool) {
	if t.doing != nil && r.Path == t.doing.Path {
		return t.doing.Since.Sub(t.turn.Started), true
	}
	if r.Attempts == 0 || t.turn.Started.IsZero() {
		return 0, false
	}
	for i := range t.turn.Exchanges {
		if e := &t.turn.Exchanges[i]; e.Path == r.Path && e.Attempt == 1 && !e.At.IsZero() {
			return e.At.Sub(t.turn.Started) - r.Throttled, true
		}
	}
	return 0, false
}

// belongs reports whether a step is in a block.
func belongs(path, block string) bool {
	rest, ok := strings.CutPrefix(path, block)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// StepName returns the path of a step, without the path of its block.
func StepName(steps []engine.StepRecord, i int) string {
	path := steps[i].Path
	for k := i - 1; k >= 0; k-- {
		if belongs(path, steps[k].Path) {
			return strings.TrimPrefix(path[len(steps[k].Path):], ".")
		}
	}
	return path
}

// Title describes a session in one line.
func Title(t *engine.AgentTurn) string {
	text := fmt.Sprintf("cycle %d: %s after %s", t.Cycle, t.Outcome, engine.FormatDuration(t.Total))
	if t.Outcome == engine.Unfinished {
		text = fmt.Sprintf("cycle %d: in progress", t.Cycle)
	}
	if t.Take > 0 {
		text += fmt.Sprintf(", attempt %d", t.Take+1)
	}
	return text
}

// Why explains how a session ended; "" if there is nothing to explain.
func Why(t *engine.AgentTurn) string {
	switch {
	case t.Because != "":
		return "Stopped at " + t.Path + ": " + t.Because
	case t.Error != "":
		return fmt.Sprintf("At %s, %s: %s", t.Path, t.Class, t.Error)
	}
	return ""
}

// Facts returns the figures of a step in one line.
func Facts(r *engine.StepRecord) string {
	parts := []string{r.Status.String()}
	if r.Class != engine.NoError {
		parts[0] += " (" + r.Class.String() + ")"
	}
	if r.Throttled > 0 {
		held := "throttled " + engine.FormatDuration(r.Throttled)
		if r.Waits != nil {
			if why := view.FormatWaits(r.Waits); why != "" {
				held += " (" + why + ")"
			}
		}
		parts = append(parts, held)
	}
	parts = append(parts, "took "+engine.FormatDuration(r.Service))
	if r.Attempts > 0 {
		asked := "1 request"
		if r.Attempts > 1 {
			asked = fmt.Sprintf("%d requests", r.Attempts)
		}
		if len(r.Statuses) > 0 {
			texts := make([]string, len(r.Statuses))
			for i, n := range r.Statuses {
				texts[i] = fmt.Sprint(n)
			}
			asked += ": " + strings.Join(texts, " ")
		}
		parts = append(parts, asked)
		if r.Label != engine.Fresh {
			parts = append(parts, r.Label.String())
		}
	}
	if r.Usage != nil {
		parts = append(parts, view.FormatUsage(r.Usage))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// Exchanges returns the requests and answers of a step as text; "" if none is recorded.
func Exchanges(t *engine.AgentTurn, path string) string {
	var b strings.Builder
	shown, more := 0, 0
	for i := range t.Exchanges {
		e := &t.Exchanges[i]
		if e.Path != path && !belongs(e.Path, path) {
			continue
		}
		if shown == mostExchanges || b.Len() > MostText-mostBody {
			more++
			continue
		}
		if shown > 0 {
			b.WriteString("\n\n")
		}
		shown++
		exchange(&b, e)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\n\n%d more are not shown; Copy as JSON has them.", more)
	}
	return b.String()
}

// exchange writes one exchange.
func exchange(b *strings.Builder, e *engine.Exchange) {
	title := e.Request
	if title == "" {
		title = e.Service
	}
	b.WriteString(title)
	if e.Attempt > 1 {
		fmt.Fprintf(b, "  (attempt %d)", e.Attempt)
	}
	if e.Kept {
		b.WriteString("\nonly the answer was recorded")
	}
	if sent := body(e.Sent); sent != "" {
		b.WriteString("\n" + sent)
	}
	b.WriteString("\n— ")
	switch {
	case e.Status > 0:
		fmt.Fprintf(b, "answered %d", e.Status)
	case e.Error != "":
		b.WriteString("no answer")
	default:
		b.WriteString("answered")
	}
	if e.Took > 0 {
		b.WriteString(" after " + engine.FormatDuration(e.Took))
	}
	for _, text := range []string{e.Error, body(e.Answer)} {
		if text != "" {
			b.WriteString("\n" + text)
		}
	}
}

// body clips a body.
func body(text string) string {
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > mostBody {
		return string(runes[:mostBody]) + "…"
	}
	return text
}

// Clip cuts a long text.
func Clip(text string) string {
	if len(text) <= MostText {
		return text
	}
	return strings.ToValidUTF8(text[:MostText], "") + "…\n\nThe rest is not shown; Copy as JSON has it."
}
