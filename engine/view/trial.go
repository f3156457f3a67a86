package view

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Section is a titled part of a step's display.
type Section struct{ Title, Text string }

// TrialOutcome describes briefly how a session ended.
func TrialOutcome(t *engine.Trial) string {
	text := t.Outcome.String() + " after " + engine.FormatDuration(t.Took)
	switch {
	case t.Because != "":
		text += ", at " + t.Path + ": " + t.Because
	case t.Error != "":
		line, _, _ := strings.Cut(t.Error, "\n")
		text += ", at " + t.Path + ": " + line
	}
	return text
}

// UsageText describes the use of model calls, or returns "" if there were none.
func UsageText(u *engine.Usage) string {
	if u == nil || u.Calls == 0 {
		return ""
	}
	text := engine.Counted(u.Calls, "model call", "model calls") + ", " + tokensText(u)
	switch {
	case u.Unpriced > 0:
		return text + ", at an unknown price"
	case u.Cost == 0:
		return text + ", free"
	}
	return text + ", $" + strconv.FormatFloat(float64(u.Cost)/1e9, 'f', 6, 64)
}

// StepSummary returns a line with the outcome of a step and what it used.
func StepSummary(s *engine.TrialStep) string {
	parts := []string{s.Status.String()}
	if s.Class != engine.NoError {
		parts[0] += " (" + s.Class.String() + ")"
	}
	if s.Status != engine.StepSkipped && s.Status != engine.StepCanceled {
		parts = append(parts, engine.FormatDuration(s.Took))
	}
	if s.Throttled >= time.Millisecond {
		parts = append(parts, engine.FormatDuration(s.Throttled)+" throttled")
	}
	if n := s.Retries; n > 0 {
		parts = append(parts, engine.Counted(int64(n), "retry", "retries"))
	}
	if s.Mocked {
		parts = append(parts, "answered by the mock")
	}
	if cost := UsageText(s.Usage); cost != "" {
		parts = append(parts, cost)
	}
	return strings.Join(parts, ", ")
}

// StepLocation returns the location of a step in its file, such as shopping.yaml:72, or "" if unknown.
func StepLocation(s *engine.TrialStep) string {
	if s.File == "" {
		return ""
	}
	return s.File + ":" + strconv.Itoa(s.Line)
}

// StepSections returns a step's inputs and outputs in order of time.
func StepSections(s *engine.TrialStep) (all []Section) {
	for i := range s.Exchanges {
		e := &s.Exchanges[i]
		all = append(all, Section{requestTitle(e), joined(e.Headers, Readable(e.Sent))})
		if title := answerTitle(e); title != "" {
			all = append(all, Section{title, Readable(e.Answer)})
		}
	}
	if s.Error != "" {
		all = append(all, Section{"Error", s.Error})
	}
	switch {
	case s.Private:
		all = append(all, Section{"Output", "private, not shown"})
	case s.Output != "" && s.Output != "null":
		all = append(all, Section{"Output", Readable(s.Output)})
	}
	for _, name := range s.Shadowed {
		all = append(all, Section{"Note", fmt.Sprintf("steps.%s.%s is a property of the answer; the field %[2]s of its body is steps.%[1]s.body.%[2]s", s.Name, name)})
	}
	return all
}

// requestTitle returns the title of the request.
func requestTitle(e *engine.Exchange) string {
	title := "Request"
	if e.Service != "" { // else it is of the engine's own
		title += " to " + e.Service
	}
	if line, _, more := strings.Cut(e.Request, "\n"); !more {
		title += ": " + line
	} else {
		title += ": " + line + " …"
	}
	if e.Attempt > 1 {
		title += ", attempt " + strconv.Itoa(e.Attempt)
	}
	return title
}

// answerTitle returns the title of the answer.
func answerTitle(e *engine.Exchange) string {
	after := " after " + engine.FormatDuration(e.Took)
	switch {
	case e.Error != "" && e.Status > 0:
		return fmt.Sprintf("Unusable answer %d%s: %s", e.Status, after, e.Error)
	case e.Error != "":
		return "No answer" + after + ": " + e.Error
	case e.Status > 0:
		return fmt.Sprintf("Answer %d%s", e.Status, after)
	}
	return "Answer" + after
}

func joined(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n\n")
}

// Readable formats a JSON text for reading, and messages to a model as a conversation. It returns any other text
// unchanged.
func Readable(text string) string {
	if messages := conversation(text); messages != "" {
		return messages
	}
	const short = 72
	trimmed := strings.TrimSpace(text)
	if len(trimmed) <= short || trimmed[0] != '{' && trimmed[0] != '[' {
		return text
	}
	var value json.RawMessage
	if json.Unmarshal([]byte(trimmed), &value) != nil {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil {
		return text
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// conversation formats a model request as a conversation, or returns "" if it is not one.
func conversation(text string) string {
	var chat struct {
		Messages []struct{ Role, Content string }
	}
	if !strings.Contains(text, `"messages"`) || json.Unmarshal([]byte(text), &chat) != nil || len(chat.Messages) == 0 {
		return ""
	}
	var b strings.Builder
	for i, m := range chat.Messages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(m.Role + ": " + m.Content)
	}
	return b.String()
}

// MemorySections returns what an agent remembers.
func MemorySections(r *engine.Remembered) (all []Section) {
	if len(r.Fields) > 0 {
		all = append(all, Section{"Memory", Listed(r.Fields)})
	}
	if len(r.Notes) > 0 {
		all = append(all, Section{"Notes", strings.Join(r.Notes, "\n")})
	}
	var inbox []string
	for _, h := range r.Inbox {
		from := h.From
		if from == "" {
			from = "outside"
		}
		inbox = append(inbox, fmt.Sprintf("cycle %d, from %s: %s", h.Cycle, from, h.Body))
	}
	if len(inbox) > 0 {
		all = append(all, Section{"Inbox", strings.Join(inbox, "\n")})
	}
	return all
}

// Listed formats facts, one per line.
func Listed(facts []engine.Fact) string {
	lines := make([]string, len(facts))
	for i, f := range facts {
		lines[i] = f.Name + ": " + f.Value
	}
	return strings.Join(lines, "\n")
}

// TrialStart describes the agent and its memory at the start of a session.
func TrialStart(t *engine.Trial) (all []Section) {
	if len(t.Persona) > 0 {
		all = append(all, Section{"Persona", Listed(t.Persona)})
	}
	all = append(all, MemorySections(&t.Before)...)
	if len(all) == 0 {
		all = append(all, Section{"Persona", "The agent has no attributes and no memory."})
	}
	return all
}

// TrialResults returns a session's results other than the outputs of its steps: events, messages and the agent's memory
// afterward.
func TrialResults(t *engine.Trial) (all []Section) {
	if t.Error != "" {
		all = append(all, Section{"Session failed at " + t.Path, t.Error})
	}
	for _, e := range t.Events {
		all = append(all, Section{"Event " + e.Name + " of " + e.Path, Readable(e.Data)})
	}
	for _, m := range t.Said {
		to := strings.Join(m.To, ", ")
		if m.More > 0 {
			to += fmt.Sprintf(" and %s more", engine.FormatCount(int64(m.More)))
		}
		all = append(all, Section{"Message to " + to, Readable(m.Body)})
	}
	after := MemorySections(&t.After)
	if len(after) == 0 {
		after = []Section{{"Memory", "empty"}}
	}
	for _, s := range after {
		all = append(all, Section{s.Title + " after the session", s.Text})
	}
	if cost := UsageText(&t.Usage); cost != "" {
		all = append(all, Section{"Cost", cost})
	}
	return all
}
