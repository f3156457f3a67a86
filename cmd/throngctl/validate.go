package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
)

// validateCmd checks a scenario and starts nothing.
type validateCmd struct {
	File string            `arg:"" help:"Scenario file, or the name of a built-in one."`
	Set  map[string]string `placeholder:"NAME=VALUE" help:"Parameter of the scenario."`
}

// Run is called by kong.
func (c *validateCmd) Run(t *terminal) error {
	s, err := wire.LoadScenario(c.File, c.Set)
	if err != nil {
		return err
	}
	if err := s.PrintWarnings(t.err); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "%s\n", s.Title)
	if s.About != "" {
		fmt.Fprintf(t.out, "%s\n", s.About)
	}
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	fmt.Fprintf(w, "\nagents\t%s\n", engine.FormatCount(int64(s.Agents)))
	fmt.Fprintf(w, "clock\tfrom %s, %s a cycle, %d cycles\n", s.Clock.Start.Format("2006-01-02 15:04"), s.Clock.Cycle, max(s.Cycles, 1))
	for _, p := range s.Parameters {
		fmt.Fprintf(w, "parameter %s\t%s\t%s\n", p.Name, p.Value, p.Title)
	}
	for _, service := range s.Services {
		fmt.Fprintf(w, "service %s\t%s\t%s\n", service.Name, service.Kind, service.URL)
	}
	fmt.Fprintf(w, "\nchain %s\n", s.Chain.Name)
	s.Chain.Walk(func(path string, step *chain.Step) {
		indent := strings.Repeat("  ", 1+strings.Count(path, "."))
		label := step.Label
		if label == step.Name {
			label = ""
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\n", indent, step.Name, step.Kind, label)
	})
	for _, criterion := range s.Success {
		fmt.Fprintf(w, "criterion %s\t%s\n", criterion.Metric, criterion.Text)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "\nno mistakes found")
	return nil
}
