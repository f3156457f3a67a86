package lab

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
)

// Validate checks an experiment file and prints its plan. With crn, it lists what keeps runs with the same seed from sharing their luck.
func (t *Terminal) Validate(path string, crn bool) error {
	e, err := experiments.Read(t.Data, path)
	if err != nil {
		return err
	}
	plan, err := e.Plan(engine.DefaultSettings(), 0)
	if err != nil {
		return err
	}
	if t.JSON {
		return answer.Print(t.Out, answer.NewExperimentPlan(e, plan, crn))
	}
	if err := e.PrintWarnings(t.Err); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "%s\nscenario   %s\ndesign     %s\nfactors    %s\nplan       %s, %s each\n", e.Title, e.Scenario, e.Design.Kind, show.Counted(len(e.Factors), "factor"),
		show.Counted(len(plan.Points), "point"), show.Counted(len(plan.Seeds), "seed"))
	for i := range e.Measures {
		fmt.Fprintf(t.Out, "measure    %s\n", e.Measures[i].Name)
	}
	if e.Against != nil {
		fmt.Fprintf(t.Out, "real data  %s: %s\n", e.Against.File, strings.Join(e.Against.Pairs(), ", "))
	}
	if crn {
		show.Pairing(t.Out, e.CRN())
	}
	_, err = fmt.Fprintln(t.Out, "The file is valid. Next: throngctl experiment run "+path)
	return err
}
