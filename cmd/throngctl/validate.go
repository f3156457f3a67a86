package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// validateCmd checks a scenario and starts nothing.
type validateCmd struct {
	File string            `arg:"" help:"Scenario file, or the name of a built-in scenario."`
	Set  map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`

	settingFlags
	newFlags
	outsideFlags
	jsonFlag
}

// printPlan writes a line for each step and, for parallel steps, what each waits for.
func printPlan(w io.Writer, p chain.Plan, indent string) {
	for _, steps := range p.Segments {
		for _, step := range steps {
			var notes []string
			if step.Label != step.Name {
				notes = append(notes, step.Label)
			}
			if len(step.After) > 0 {
				notes = append(notes, "after "+strings.Join(step.After, ", "))
			} else if len(steps) > 1 {
				notes = append(notes, "starts immediately")
			}
			rowf(w, "%s%s\t%s\t%s\n", indent, step.Name, step.Kind, strings.Join(notes, "; "))
			for _, inner := range step.Inner {
				printPlan(w, inner, indent+"  ")
			}
		}
	}
}

// printChain writes the steps of a chain and, if some are parallel, the longest path.
func printChain(w io.Writer, c *chain.Chain) {
	plan := c.Plan()
	fmt.Fprintf(w, "\nchain %s\n", c.Name)
	printPlan(w, plan, "  ")
	if slices.ContainsFunc(plan.Segments, func(steps []chain.Planned) bool { return len(steps) > 1 }) {
		rowf(w, "longest path\t%d steps\t%s\n", len(plan.Longest), strings.Join(plan.Longest, ", "))
	}
}

// short is a text as it fits into a table.
func short(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// Run is called by kong.
func (c *validateCmd) Run(ctx context.Context, t *terminal) error {
	s, err := t.load(c.File, scenario.Extras{Parameters: c.Set})
	if err != nil {
		return err
	}
	l := app.Launch{Services: app.Services{Scenario: s, Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts}
	if l.Settings, err = c.settings(t, s); err != nil {
		return err
	}
	if err := errors.Join(l.CheckAddresses(), s.Program(1).Check()); err != nil {
		return err
	}
	if t.json {
		f, err := t.forecast(ctx, l)
		if err != nil {
			return err
		}
		return t.print(newScenario(s, l.Permits().PlannedServices(), &f))
	}
	if err := s.PrintWarnings(t.err); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "%s\n", s.Title)
	if s.About != "" {
		fmt.Fprintf(t.out, "%s\n", s.About)
	}
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	by, err := t.writtenBy(l)
	if err != nil {
		return err
	}
	rowf(w, "\nagents\t%s%s\n", engine.FormatCount(int64(s.Agents)), by)
	rowf(w, "clock\tfrom %s, %s a cycle, %d cycles\n", s.Clock.Start.Format("2006-01-02 15:04"), s.Clock.Cycle, max(s.Cycles, 1))
	for _, p := range s.Parameters {
		rowf(w, "parameter %s\t%s\t%s\n", p.Name, short(p.Value.String()), p.Title)
	}
	for _, o := range l.Permits().PlannedServices() {
		printService(w, o)
	}
	printChain(w, s.Chain)
	for _, sub := range s.Chain.Runs() {
		printChain(w, sub)
	}
	printExpected(w, s)
	f, err := t.forecast(ctx, l)
	if err != nil {
		return err
	}
	printForecast(w, &f, &l.Settings)
	if len(s.Success) > 0 {
		fmt.Fprintln(w)
	}
	for _, criterion := range s.Success {
		rowf(w, "criterion %s\t%s\n", criterion.Metric, criterion.Text)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "\nno mistakes found")
	return nil
}

// settings are those that a run would have.
func (c *validateCmd) settings(t *terminal, s *scenario.Scenario) (engine.Settings, error) {
	settings, _, err := config.Resolve(t.data, s, texts(c.settingFlags.Plugins, c.newFlags.Plugins), os.Getenv)
	if err != nil {
		return settings, err
	}
	c.apply(&settings)
	config.Schedule(&settings, s)
	return settings, settings.Validate()
}

// writtenBy says in words which model writes the agents, and how many of them are kept; "" where none does.
func (t *terminal) writtenBy(l app.Launch) (string, error) {
	l.Data = t.data
	by, kept, err := l.Population().Unwritten()
	if err != nil || by == "" {
		return "", err
	}
	return fmt.Sprintf(", written by %s (%d kept, %d to be written)", by, kept, l.Scenario.Agents-kept), nil
}
