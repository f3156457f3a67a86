// Package designer is the dialog in which an experiment is made or edited: its factors, its design, its seeds and its measures, with a
// forecast of all runs.
package designer

import (
	"context"

	"github.com/throng-sim/throng/engine/experiment/draft"
)

// Desk is what the dialog needs from the application. Its methods may take long.
type Desk interface {
	// Scenarios lists the scenarios that an experiment can be made for.
	Scenarios(ctx context.Context) ([]Scenario, error)
	// Suggest returns a new experiment with a scenario.
	Suggest(ctx context.Context, scenario string) (*Form, error)
	// Load reads the file of an experiment.
	Load(ctx context.Context, path string) (*Form, error)
	// Check plans a form and forecasts its runs. It writes nothing. Mistakes are part of the result.
	Check(ctx context.Context, f Form) (*Checked, error)
	// Save writes the file of an experiment, if it has no mistakes.
	Save(ctx context.Context, path string, f Form) error
}

// Scenario is a scenario by its name in Setup.
type Scenario struct{ Name, Title string }

// Form is an experiment in the dialog.
type Form struct {
	Path     string // of its file; "" if it is new
	Scenario string // by its name in Setup; "" if the file names it
	Text     []byte // of the file when it was read; nil if it is new
	Draft    draft.Draft
	Choices  draft.Choices
}

// Figure is a figure of a forecast.
type Figure struct{ Name, Text string }

// Checked is what is known of a form. If it has mistakes, it has no figures.
type Checked struct {
	Points, Seeds int
	Runs          int // points times seeds, without those that are the same
	Done          int // of those, the ones that exist already
	Figures       []Figure
	OverBudget    bool     // the forecast cost exceeds the budget
	Pairing       []string // what weakens pairing by seeds, a sentence each
	Mistakes      []draft.Mistake
	Unfit         map[string]string // why designs do not fit, by kind
}

// Wrong reports whether there is a mistake that is not just a warning.
func (c *Checked) Wrong() bool {
	for i := range c.Mistakes {
		if !c.Mistakes[i].Warning {
			return true
		}
	}
	return false
}
