package engine

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Section is a titled part of a step's display.
type Section struct{ Title, Text string }

// Ended describes briefly how the session ended.
func (t *Trial) Ended() string {
	text := t.Outcome.String() + " after " + FormatDuration(t.Took)
	switch {
	case t.Because != "":
		text += ", at " + t.Path + ": " + t.Because
	case t.Error != "":
		line, _, _ := strings.Cut(t.Error, "\n")
		text += ", at " + t.Path + ": " + line
	}
	return text
}

// Cost describes the use of model calls, or returns "" if there were none.
func (t *Trial) Cost() string { return costOf(&t.Usage) }

func costOf(u *Usage) string {
	if u == nil || u.Calls == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s tokens in, %s out", Counted(u.Calls, "call of a model", "calls of models"), FormatCount(u.Input), FormatCount(u.Output))
	switch {
	case u.Unpriced > 0:
		return text + ", at an unknown price"
	case u.Cost == 0:
		return text + ", free"
	}
	return text + ", $" + strconv.FormatFloat(float64(u.Cost)/1e9, 'f', 6, 64)
}

// Counted formats a count with a noun in the singular or plural.
func Counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return FormatCount(n) + " " + many
}

// About returns a line with the step's kind, its outcome and what it used.
func (s *TrialStep) About() string {
	parts := []string{s.Status.String()}
	if s.Class != NoError {
		parts[0] += " (" + s.Class.String() + ")"
	}
	if s.Status != StepSkipped && s.Status != StepCancelled {
		parts = append(parts, FormatDuration(s.Took))
	}
	if s.Held > 0 {
		parts = append(parts, FormatDuration(s.Held)+" throttled")
	}
	if n := s.Retries(); n > 0 {
		parts = append(parts, Counted(int64(n), "retry", "retries"))
	}
	if s.Mocked {
		parts = append(parts, "answered by the mock")
	}
	if cost := costOf(s.Usage); cost != "" {
		parts = append(parts, cost)
	}
	return strings.Join(parts, ", ")
}

// Where returns the location of the step in its file, such as shopping.yaml:72, or "" if unknown.
func (s *TrialStep) Where() string {
	if s.File == "" {
		return ""
	}
	return s.File + ":" + strconv.Itoa(s.Line)
}

// Sections returns the step's inputs and outputs in order of time.
func (s *TrialStep) Sections() (all []Section) {
	for i := range s.Exchanges {
		e := &s.Exchanges[i]
		all = append(all, Section{e.asked(), joined(e.Headers, Readable(e.Sent))})
		if title := e.answered(); title != "" {
			all = append(all, Section{title, Readable(e.Answer)})
		}
	}
	if s.Error != "" {
		all = append(all, Section{"Failed", s.Error})
	}
	switch {
	case s.Private:
		all = append(all, Section{"Gave", "private, not shown"})
	case s.Output != "" && s.Output != "null":
		all = append(all, Section{"Gave", Readable(s.Output)})
	}
	for _, name := range s.Shadowed {
		all = append(all, Section{"Note", fmt.Sprintf("steps.%s.%s is that of the answer; the field %[2]s of its body is steps.%[1]s.body.%[2]s", s.Name, name)})
	}
	return all
}

// asked returns the title of the request.
func (e *Exchange) asked() string {
	title := "Asked " + e.Service
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

// answered returns the title of the answer.
func (e *Exchange) answered() string {
	after := " after " + FormatDuration(e.Took)
	switch {
	case e.Error != "" && e.Status > 0:
		return fmt.Sprintf("Answered %d%s, which cannot be used: %s", e.Status, after, e.Error)
	case e.Error != "":
		return "No answer" + after + ": " + e.Error
	case e.Status > 0:
		return fmt.Sprintf("Answered %d%s", e.Status, after)
	}
	return "Answered" + after
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

// Sections returns the agent's memory before the session.
func (r *Remembered) Sections() (all []Section) {
	if len(r.Fields) > 0 {
		all = append(all, Section{"Memory", Listed(r.Fields)})
	}
	if len(r.Notes) > 0 {
		all = append(all, Section{"Notes", strings.Join(r.Notes, "\n")})
	}
	var heard []string
	for _, h := range r.Inbox {
		from := h.From
		if from == "" {
			from = "outside"
		}
		heard = append(heard, fmt.Sprintf("cycle %d, from %s: %s", h.Cycle, from, h.Body))
	}
	if len(heard) > 0 {
		all = append(all, Section{"Inbox", strings.Join(heard, "\n")})
	}
	return all
}

// Listed formats facts, one per line.
func Listed(facts []Fact) string {
	lines := make([]string, len(facts))
	for i, f := range facts {
		lines[i] = f.Name + ": " + f.Value
	}
	return strings.Join(lines, "\n")
}

// Begins describes the agent and its memory at the start of the session.
func (t *Trial) Begins() (all []Section) {
	if len(t.Persona) > 0 {
		all = append(all, Section{"Persona", Listed(t.Persona)})
	}
	all = append(all, t.Before.Sections()...)
	if len(all) == 0 {
		all = append(all, Section{"Persona", "The agent has no attributes and remembers nothing."})
	}
	return all
}

// Leaves returns the session's results other than the outputs of its steps: events, messages and the agent's memory
// afterward.
func (t *Trial) Leaves() (all []Section) {
	if t.Error != "" {
		all = append(all, Section{"The session failed at " + t.Path, t.Error})
	}
	for _, e := range t.Events {
		all = append(all, Section{"Event " + e.Name + ", of " + e.Path, Readable(e.Data)})
	}
	for _, m := range t.Said {
		to := strings.Join(m.To, ", ")
		if m.More > 0 {
			to += fmt.Sprintf(" and %s more", FormatCount(int64(m.More)))
		}
		all = append(all, Section{"Message to " + to, Readable(m.Body)})
	}
	after := t.After.Sections()
	if len(after) == 0 {
		after = []Section{{"Memory", "nothing is remembered"}}
	}
	for _, s := range after {
		all = append(all, Section{s.Title + " afterwards", s.Text})
	}
	if cost := t.Cost(); cost != "" {
		all = append(all, Section{"Cost", cost})
	}
	return all
}
