package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// timelineCmd shows the steps of an agent.
type timelineCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	Agent string `arg:"" optional:"" help:"Agent ID, or index from 0: the only argument, or the one after the run."`
	Cycle *int   `placeholder:"N" help:"Only this cycle, from 0."`
	jsonFlag
	Persona bool `help:"Also show its persona, memory, notes and inbox."`
	Last    int  `default:"50" placeholder:"N" help:"Show the newest N sessions (default: 50); 0 shows all."`
}

// Run is called by kong.
func (c *timelineCmd) Run(ctx context.Context, t *terminal) error {
	if err := flags.RunFirst(&c.RunID, &c.Agent, "agent", "an agent, such as throngctl timeline 0"); err != nil {
		return err
	}
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
			slices.Reverse(turns) // newest first
			agentView, err := people.View(ctx, agent)
			if err != nil {
				return err
			}
			agentView.Sessions, agentView.Earlier = turns, earlier
			text, err := view.AgentJSON(agentView)
			if err == nil {
				_, err = t.out.Write(text)
			}
			return err
		}
		fmt.Fprintf(t.out, "agent %s (index %d) in run %s\n", people.Name(agent), agent, r.ID)
		if c.Persona {
			agentView, err := people.View(ctx, agent)
			if err == nil {
				err = show.Persona(t.out, agentView)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case len(turns) > 0:
		case c.Cycle != nil:
			fmt.Fprintf(t.out, "No session has finished in cycle %d.\n", *c.Cycle)
		default:
			fmt.Fprintln(t.out, "No session has finished.")
		}
		for i := range turns {
			show.Session(t.out, &turns[i])
		}
		if earlier > 0 && c.Cycle == nil { // at the end, where a terminal shows it
			fmt.Fprintf(t.out, "\nThe newest %s; --last 0 also shows those before cycle %d.\n", show.Counted(len(turns), "session"), earlier)
		}
		return nil
	})
}

// turns returns the selected sessions, oldest first. Sessions before the cycle earlier are left out.
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
