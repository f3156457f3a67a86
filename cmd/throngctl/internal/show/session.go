package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/visible"
)

// Session prints a session with its steps and the source of each answer.
func Session(out io.Writer, row *engine.AgentTurn) {
	fmt.Fprintf(out, "\ncycle %d: %s after %s", row.Cycle, view.OutcomeText(row.Outcome), engine.FormatDuration(row.Total))
	if row.Take > 0 {
		fmt.Fprintf(out, ", take %d", row.Take+1)
	}
	switch {
	case row.Because != "":
		fmt.Fprintf(out, ", at %s: %s", row.Path, row.Because)
	case row.Error != "":
		fmt.Fprintf(out, ", at %s: %s: %s", row.Path, row.Class, FirstLine(row.Error))
	}
	fmt.Fprintln(out)
	w := NewTable(out)
	fmt.Fprintln(w, "  step\tended\tanswer\trequests\tstatuses\tthrottled\tused")
	for i := range row.Steps {
		s := &row.Steps[i]
		ended := s.Status.String()
		if s.Class != engine.NoError {
			ended += " (" + s.Class.String() + ")"
		}
		answer, requests := "", ""
		if s.Answered() {
			answer, requests = s.Label.String(), strconv.Itoa(s.Attempts)
		}
		if s.Usage != nil && s.Usage.Again > 0 {
			answer += ", perhaps paid twice"
		}
		Row(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Path, ended, answer, requests, Numbers(s.Statuses),
			engine.FormatDuration(s.Throttled), engine.FormatDuration(s.Service))
	}
	_ = w.Flush() // output to a terminal
	for i := range row.Exchanges {
		fmt.Fprintln(out, "  "+exchanged(&row.Exchanges[i]))
	}
}

// exchanged returns a request and its response in one line.
func exchanged(e *engine.Exchange) string {
	const most = 200 // bytes
	short := func(text string) string {
		text = strings.Join(strings.Fields(text), " ")
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "…"
		}
		return text
	}
	line := []string{e.Path + ":", short(e.Request), short(e.Sent)}
	if e.Request == "" && e.Service != "" { // the journal has no request
		line = append(line, "asked "+e.Service)
	}
	if e.Status > 0 || e.Answer != "" {
		line = append(line, "→")
	}
	if e.Status > 0 {
		line = append(line, strconv.Itoa(e.Status))
	}
	line = append(line, short(e.Answer), short(e.Error))
	return strings.Join(slices.DeleteFunc(line, func(text string) bool { return text == "" }), " ")
}

// Persona prints the persona, memory, notes and inbox of an agent.
func Persona(out io.Writer, view *engine.AgentView) error {
	w := NewTable(out)
	for _, part := range []struct {
		title string
		facts []engine.Fact
	}{{"persona", view.Persona}, {"memory", view.Memory}} {
		for _, f := range part.facts {
			Row(w, "  %s\t%s\t%s\n", part.title, visible.Line(f.Name), visible.Line(f.Value))
		}
	}
	for _, note := range view.Notes {
		Row(w, "  note\t\t%s\n", visible.Line(note))
	}
	for _, h := range view.Inbox {
		Row(w, "  message\tfrom %s, cycle %d\t%s\n", cmp.Or(h.From, "outside"), h.Cycle, visible.Line(h.Body))
	}
	return w.Flush()
}

// Trial prints a session step by step.
func Trial(w io.Writer, t *engine.Trial) {
	fmt.Fprintf(w, "agent %s (index %d), chain %s: %s\n", t.ID, t.Agent, t.Chain, view.TrialOutcome(t))
	printSections(w, "  ", view.TrialStart(t))
	t.Walk(func(depth int, s *engine.TrialStep) {
		indent := strings.Repeat("  ", depth)
		name := s.Name
		if s.Pass > 0 {
			name = fmt.Sprintf("%s (pass %d)", name, s.Pass)
		}
		line := slices.DeleteFunc([]string{name, s.Kind, view.StepSummary(s), view.StepLocation(s)}, func(part string) bool { return part == "" })
		fmt.Fprintf(w, "\n%s%s\n", indent, strings.Join(line, "  "))
		printSections(w, indent+"  ", view.StepSections(s))
	})
	fmt.Fprintln(w, "\nafter the session")
	printSections(w, "  ", view.TrialResults(t))
}

func printSections(w io.Writer, indent string, all []view.Section) {
	for _, s := range all {
		text := strings.ReplaceAll(strings.TrimRight(s.Text, "\n"), "\n", "\n"+indent+"  ")
		fmt.Fprintf(w, "%s%s\n", indent, s.Title)
		if text != "" {
			fmt.Fprintf(w, "%s  %s\n", indent, text)
		}
	}
}

// Counts are how many agents had each outcome in a cycle.
type Counts struct {
	Agents, Cycle int
	Outcomes      map[engine.Outcome]int
	Reasons       map[string]int // of sessions that a step stopped
	Left          string         // why agents have no session; "" if it is not known
}

// Print prints them, with the most frequent reasons.
func (c *Counts) Print(out io.Writer) error {
	fmt.Fprintf(out, "cycle %d, %s agents\n", c.Cycle, engine.FormatCount(int64(c.Agents)))
	w := NewTable(out)
	left := c.Agents
	for _, o := range Endings {
		about := ""
		if o == engine.Stopped {
			about = "not a failure" + c.reasons()
		}
		if n := c.Outcomes[o]; n > 0 {
			Row(w, "  %s\t%s\t%s\n", view.OutcomeText(o), engine.FormatCount(int64(n)), about)
		}
		left -= c.Outcomes[o]
	}
	if left > 0 {
		Row(w, "  no session\t%s\t%s\n", engine.FormatCount(int64(left)), c.Left)
	}
	return w.Flush()
}

// reasons returns the most frequent reasons, such as ": stayed home 340, left 5".
func (c *Counts) reasons() string {
	const most = 5
	var parts []string
	for _, s := range view.NewStops(c.Reasons, most) {
		parts = append(parts, visible.Line(s.Reason)+" "+engine.FormatCount(int64(s.Sessions)))
	}
	if more := len(c.Reasons) - most; more > 0 {
		parts = append(parts, engine.Counted(int64(more), "other reason", "other reasons"))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// Endings lists the outcomes of sessions that have ended.
var Endings = []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Canceled}
