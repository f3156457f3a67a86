package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// agentsCmd counts the outcomes of a cycle, or lists agents.
type agentsCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	Cycle *int   `placeholder:"N" help:"Cycle, from 0 (default: the newest with results)."`
	jsonFlag
	Where string `placeholder:"EXPR" help:"List the agents that match this expression, such as 'agent.age > 30'."`
	State string `placeholder:"STATE" help:"List the agents with this outcome: ok, stopped (by a step), failed, timeout or canceled."`
}

const (
	mostReasons  = 10_000 // for which sessions stopped that are counted
	shownReasons = 20     // in JSON
)

// Run is called by kong.
func (c *agentsCmd) Run(ctx context.Context, t *terminal) error {
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if err := review.CheckHere(&r); err != nil {
			return err
		}
		wanted, err := c.outcome()
		if err != nil {
			return err
		}
		people, err := history.LoadAgents(ctx, store, r.ID)
		if err != nil {
			return err
		}
		if c.Where != "" {
			return c.find(ctx, t, &r, people)
		}
		counts, reasons, cycle, who := map[engine.Outcome]int{}, map[string]int{}, r.Cycle, []int(nil)
		if c.Cycle != nil {
			if cycle = *c.Cycle; cycle < r.ForkCycle || cycle > r.Cycle || r.Cycles > 0 && cycle >= r.Cycles {
				return &engine.FieldError{Field: "cycle", Problem: fmt.Sprintf("run %s has not reached cycle %d", r.ID, cycle), Hint: "its cycles start at " + strconv.Itoa(r.ForkCycle)}
			}
		}
		for ; cycle >= 0; cycle-- {
			for row, err := range store.Sessions(ctx, r.ID, cycle, cycle+1) {
				if err != nil {
					return err
				}
				counts[row.Outcome]++
				if n := reasons[row.Because]; row.Because != "" && (n > 0 || len(reasons) < mostReasons) {
					reasons[row.Because] = n + 1
				}
				if row.Outcome == wanted {
					who = append(who, row.Agent)
				}
			}
			if len(counts) > 0 || c.Cycle != nil {
				break
			}
		}
		if t.json {
			j := c.asJSON(r.ID, max(cycle, 0), people, counts, who)
			j.Stops = view.NewStops(reasons, shownReasons)
			return t.print(j)
		}
		if wanted != engine.Unfinished {
			for _, agent := range who {
				fmt.Fprintln(t.out, people.Name(agent))
			}
			return nil
		}
		all := show.Counts{Agents: people.Program.Agents(), Cycle: max(cycle, 0), Outcomes: counts, Reasons: reasons}
		if cycle == r.Cycle && !r.InProgress && r.Ending != engine.EndFinished {
			all.Left = "in the open cycle: they run when the run is resumed"
		}
		return all.Print(t.out)
	})
}

// find lists the agents whose personas match an expression.
func (c *agentsCmd) find(ctx context.Context, t *terminal, r *engine.RunRecord, people *history.Agents) error {
	settings := r.Settings
	settings.Agents, settings.Filter = nil, c.Where
	found, err := people.Program.Choose(ctx, &settings)
	if err != nil {
		return err
	}
	if t.json {
		j := answer.FoundAgents{Run: r.ID, Agents: people.Program.Agents(), Who: []string{}}
		for _, agent := range found {
			j.Who = append(j.Who, people.Name(agent))
		}
		return t.print(j)
	}
	if len(found) == 0 {
		_, none := people.Program.Active(ctx, &settings)
		fmt.Fprintf(t.err, "%v\n", none)
	}
	for _, agent := range found {
		fmt.Fprintln(t.out, people.Name(agent))
	}
	return nil
}

// asJSON returns the JSON answer.
func (c *agentsCmd) asJSON(run engine.RunID, cycle int, people *history.Agents, counts map[engine.Outcome]int, who []int) answer.Agents {
	j := answer.Agents{Run: run, Cycle: cycle, Agents: people.Program.Agents(), Outcomes: map[string]int{}, State: c.State}
	j.NoSession = j.Agents
	for o, n := range counts {
		j.Outcomes[o.String()] = n
		j.NoSession -= n
	}
	for _, agent := range who {
		j.Who = append(j.Who, people.Name(agent))
	}
	return j
}

// outcome returns the outcome in --state, or Unfinished without the flag.
func (c *agentsCmd) outcome() (engine.Outcome, error) {
	if c.State == "" {
		return engine.Unfinished, nil
	}
	if i := slices.IndexFunc(show.Endings, func(o engine.Outcome) bool { return o.String() == c.State }); i >= 0 {
		return show.Endings[i], nil
	}
	names := make([]string, len(show.Endings))
	for i, o := range show.Endings {
		names[i] = o.String()
	}
	return engine.Unfinished, &engine.FieldError{Field: "state", Problem: "unknown state " + c.State, Hint: "one of " + strings.Join(names, ", ")}
}
