package lab

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
)

type listCmd struct{ jsonFlag }

// Run is called by kong.
func (c *listCmd) Run(t *Terminal) error {
	all, problem := steering.List(t.Data)
	if problem != nil {
		fmt.Fprintln(t.Err, "note: "+problem.Error())
	}
	if t.JSON {
		return answer.Print(t.Out, answer.NewExperimentList(all))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(t.Out, "No experiment was opened yet. throngctl experiment new SCENARIO writes one.")
		return err
	}
	w := show.NewTable(t.Out)
	fmt.Fprintln(w, "TITLE\tSTATE\tRUNS\tUSED\tFILE")
	for i := range all {
		e, runs := &all[i], "unknown"
		if p := e.Progress; p.All > 0 {
			runs = fmt.Sprintf("%d of %d", p.Done, p.All)
			if p.Skipped > 0 {
				runs += fmt.Sprintf(", %d skipped", p.Skipped)
			}
		}
		show.Row(w, "%s\t%s\t%s\t%s\t%s\n", e.Title, string(e.State), runs, e.Used.Local().Format("2006-01-02 15:04"), e.File)
	}
	return w.Flush()
}

// chosen are flags that choose runs.
type chosen struct {
	File  string   `arg:"" help:"Experiment file."`
	Runs  []string `arg:"" optional:"" name:"run" help:"Run: its ID, or the beginning of its identity as export writes it."`
	Point int      `placeholder:"N" help:"Runs of this point, as status numbers them."`
	Seed  *uint64  `placeholder:"N" help:"Runs with this seed."`
	jsonFlag
}

// choose returns the identities of the chosen runs, in the order of execution, without those that are done.
func (c *chosen) choose(s *experiments.Status) ([]string, error) {
	if len(c.Runs) == 0 && c.Point == 0 && c.Seed == nil {
		return nil, &engine.FieldError{Field: "run", Problem: "no run was chosen", Hint: "name runs, or use --point and --seed"}
	}
	if c.Point < 0 || c.Point > len(s.Plan.Points) {
		return nil, &engine.FieldError{Field: "point", Problem: fmt.Sprintf("there is no point %d", c.Point), Hint: fmt.Sprintf("points run from 1 to %d", len(s.Plan.Points))}
	}
	if c.Seed != nil && !slices.Contains(s.Plan.Seeds, *c.Seed) {
		return nil, &engine.FieldError{Field: "seed", Problem: fmt.Sprintf("no run has the seed %d", *c.Seed), Hint: "throngctl experiment status " + c.File + " shows the seeds"}
	}
	named := map[string]bool{}
	var ids []string
	done := 0
	for _, r := range s.Runs {
		if r.Point < 0 || !c.matches(s, r, named) {
			continue
		}
		if r.State == experiments.Done {
			done++
			continue
		}
		ids = append(ids, r.ID)
	}
	for _, name := range c.Runs {
		if !named[name] {
			return nil, &engine.FieldError{Field: "run", Problem: "the experiment has no run " + name, Hint: "throngctl experiment status " + c.File + " --json lists them"}
		}
	}
	if len(ids) == 0 {
		return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("%s done already", was(done)), Hint: "nothing was changed"}
	}
	return ids, nil
}

func was(runs int) string {
	if runs == 1 {
		return "the run is"
	}
	return "the " + strconv.Itoa(runs) + " runs are"
}

// matches reports whether a run is chosen, and notes which of the names of the user it has.
func (c *chosen) matches(s *experiments.Status, r *experiments.Run, named map[string]bool) bool {
	ok := len(c.Runs) == 0
	for _, name := range c.Runs {
		if name != "" && (strings.HasPrefix(r.ID, name) || string(r.Record.ID) == name) {
			named[name], ok = true, true
		}
	}
	if c.Point > 0 && s.Plan.Run(c.Point-1, r.Replicate) != r.ID { // points with the same values share their runs
		return false
	}
	return ok && (c.Seed == nil || r.Seed == *c.Seed)
}

// change opens the experiment and has f change the orders for the chosen runs.
func (c *chosen) change(ctx context.Context, t *Terminal, f func(o *steering.Orders, runs []string) error) error {
	return t.open(c.File, experiments.Options{}, func(x *experiments.Experiment) error {
		s, err := x.Status(ctx)
		if err != nil {
			return err
		}
		runs, err := c.choose(s)
		if err != nil {
			return err
		}
		return f(x.Orders, runs)
	})
}

type skipCmd struct {
	chosen
	Undo bool `help:"Take the runs back."`
}

// Run is called by kong.
func (c *skipCmd) Run(ctx context.Context, t *Terminal) error {
	return c.change(ctx, t, func(o *steering.Orders, runs []string) error {
		if err := o.Skip(runs, c.Undo); err != nil {
			return err
		}
		if c.Undo {
			return t.done("%s will be executed.", show.Counted(len(runs), "run"))
		}
		return t.done("Skipped %s; those in progress stop. Take them back with --undo.", show.Counted(len(runs), "run"))
	})
}

type firstCmd struct{ chosen }

// Run is called by kong.
func (c *firstCmd) Run(ctx context.Context, t *Terminal) error {
	return c.change(ctx, t, func(o *steering.Orders, runs []string) error {
		if err := o.First(runs); err != nil {
			return err
		}
		return t.done("%s will be executed before all others.", show.Counted(len(runs), "run"))
	})
}

type extendCmd struct {
	File    string   `arg:"" help:"Experiment file."`
	Seeds   int      `placeholder:"N" help:"Add so many seeds to every point."`
	Level   []string `placeholder:"FACTOR=VALUE" help:"Add this level to a factor; may be repeated." sep:"none"`
	Measure []string `placeholder:"NAME" help:"Measure this, too; may be repeated." sep:"none"`
	jsonFlag
}

// Run is called by kong.
func (c *extendCmd) Run(t *Terminal) error {
	changes := experiment.Changes{Seeds: c.Seeds, Measures: c.Measure}
	for _, text := range c.Level {
		factor, value, ok := strings.Cut(text, "=")
		if !ok {
			return &engine.FieldError{Field: "level", Problem: "expected FACTOR=VALUE, got " + text, Hint: "for example params.eagerness=4"}
		}
		changes.Levels = append(changes.Levels, experiment.Level{Factor: factor, Value: value})
	}
	if c.Seeds == 0 && len(c.Level) == 0 && len(c.Measure) == 0 {
		return &engine.FieldError{Field: "extend", Problem: "nothing to add", Hint: "use --seeds, --level or --measure"}
	}
	e, err := experiments.Extend(t.Data, c.File, changes)
	if err != nil {
		return err
	}
	orders, err := steering.Of(t.Data, c.File)
	if err != nil {
		return err
	}
	if orders.Executing() != nil {
		return t.done("Changed %s. The experiment in progress executes what is new.", c.File)
	}
	if err := e.PrintWarnings(t.Err); err != nil {
		return err
	}
	return t.done("Changed %s. Execute what is new with: throngctl experiment run %s", c.File, c.File)
}
