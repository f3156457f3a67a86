package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/visible"
	"github.com/throng-sim/throng/storage/sqlite"
)

// timelineCmd shows what an agent did, step by step.
type timelineCmd struct {
	Agent string `arg:"" help:"Agent ID, or index from 0."`
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning (default: the newest run)."`
	Cycle *int   `placeholder:"N" help:"Only this cycle, from 0."`
	jsonFlag
	Persona bool `help:"Also show its persona, memory, notes and inbox."`
	Last    int  `default:"50" placeholder:"N" help:"Show the newest N sessions; 0 shows all."`
}

// Run is called by kong.
func (c *timelineCmd) Run(ctx context.Context, t *terminal) error {
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if err := review.CheckHere(&r); err != nil {
			return err
		}
		people, err := history.LoadAgents(ctx, store, r.ID)
		if err != nil {
			return err
		}
		agent, err := find(people.Program, c.Agent)
		if err != nil {
			return err
		}
		turns, earlier, err := c.turns(ctx, people, agent)
		if err != nil {
			return err
		}
		if t.json {
			slices.Reverse(turns) // the newest first
			view, err := people.View(ctx, agent)
			if err != nil {
				return err
			}
			view.Sessions, view.Earlier = turns, earlier
			text, err := view.JSON()
			if err == nil {
				_, err = t.out.Write(text)
			}
			return err
		}
		fmt.Fprintf(t.out, "agent %s (index %d) in run %s\n", people.Name(agent), agent, r.ID)
		if c.Persona {
			if err := t.persona(ctx, people, agent); err != nil {
				return err
			}
		}
		if earlier > 0 && c.Cycle == nil {
			fmt.Fprintf(t.out, "Only the newest sessions are shown; --last 0 also shows those before cycle %d.\n", earlier)
		}
		switch {
		case len(turns) > 0:
		case c.Cycle != nil:
			fmt.Fprintf(t.out, "No session has finished in cycle %d.\n", *c.Cycle)
		default:
			fmt.Fprintln(t.out, "No session has finished.")
		}
		for i := range turns {
			t.session(&turns[i])
		}
		return nil
	})
}

// persona shows who an agent is, and what it has in mind.
func (t *terminal) persona(ctx context.Context, people *history.Agents, agent int) error {
	view, err := people.View(ctx, agent)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	for _, part := range []struct {
		title string
		facts []engine.Fact
	}{{"persona", view.Persona}, {"memory", view.Memory}} {
		for _, f := range part.facts {
			rowf(w, "  %s\t%s\t%s\n", part.title, visible.Line(f.Name), visible.Line(f.Value))
		}
	}
	for _, note := range view.Notes {
		rowf(w, "  note\t\t%s\n", visible.Line(note))
	}
	for _, h := range view.Inbox {
		rowf(w, "  message\tfrom %s, cycle %d\t%s\n", cmp.Or(h.From, "outside"), h.Cycle, visible.Line(h.Body))
	}
	return w.Flush()
}

// turns are the sessions that are asked for, oldest first; below the cycle earlier there may be others.
func (c *timelineCmd) turns(ctx context.Context, people *history.Agents, agent int) (turns []engine.AgentTurn, earlier int, err error) {
	const page = 1000
	before, most := 0, cmp.Or(max(c.Last, 0), math.MaxInt)
	if c.Cycle != nil {
		if *c.Cycle < 0 {
			return nil, 0, nil
		}
		before, most = *c.Cycle+1, 1
	}
	for len(turns) < most {
		some, next, err := people.Sessions(ctx, agent, before, min(most-len(turns), page))
		if err != nil {
			return nil, 0, err
		}
		turns, before = append(turns, some...), next
		if next == 0 {
			break
		}
	}
	if c.Cycle != nil {
		turns = slices.DeleteFunc(turns, func(t engine.AgentTurn) bool { return t.Cycle != *c.Cycle })
	}
	slices.Reverse(turns)
	return turns, before, nil
}

// find returns the index of an agent, given by its ID or its index.
func find(program *scenario.Program, name string) (int, error) {
	found, err := program.Find([]string{name})
	if err == nil {
		return found[0], nil
	}
	if index, notNumber := strconv.Atoi(name); notNumber == nil && index >= 0 && index < program.Agents() {
		return index, nil
	}
	return 0, err
}

// session shows how a session went, with where the answer of each step came from.
func (t *terminal) session(row *engine.AgentTurn) {
	fmt.Fprintf(t.out, "\ncycle %d: %s after %s", row.Cycle, row.Outcome, engine.FormatDuration(row.Total))
	if row.Take > 0 {
		fmt.Fprintf(t.out, ", take %d", row.Take+1)
	}
	switch {
	case row.Because != "":
		fmt.Fprintf(t.out, ", at %s: %s", row.Path, row.Because)
	case row.Error != "":
		fmt.Fprintf(t.out, ", at %s: %s: %s", row.Path, row.Class, firstLine(row.Error))
	}
	fmt.Fprintln(t.out)
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
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
		rowf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Path, ended, answer, requests, numbers(s.Statuses),
			engine.FormatDuration(s.Held), engine.FormatDuration(s.Service))
	}
	_ = w.Flush() // to the terminal
	for i := range row.Exchanges {
		fmt.Fprintln(t.out, "  "+exchanged(&row.Exchanges[i]))
	}
}

// exchanged is a request with its answer in one line.
func exchanged(e *engine.Exchange) string {
	const most = 200 // bytes of a text
	short := func(text string) string {
		text = strings.Join(strings.Fields(text), " ")
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "…"
		}
		return text
	}
	line := []string{e.Path + ":", short(e.Request), short(e.Sent)}
	if e.Request == "" && e.Service != "" { // which the journal does not hold
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

func numbers(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, " ")
}
