package experiments

import (
	"context"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Extension is how the names of experiment files end.
const Extension = ".experiment.yaml"

// Name returns the name of an experiment file without its ending.
func Name(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), Extension)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".yml"), ".yaml")
}

// adder adds experiments to the list: existing files and new ones.
type adder struct {
	desk   Files
	win    fyne.Window
	added  func(path string)
	failed func(text string)
}

// open asks for a file and opens it.
func (a *adder) open() {
	widgets.PickFile(a.win, "Open an experiment", "Open", []string{".yaml"}, a.added)
}

// create asks for a scenario, and for the name of the experiment file to write for it.
func (a *adder) create() {
	async.Work(func() ([]Scenario, error) { return a.desk.Scenarios(context.Background()) }, func(all []Scenario, err error) {
		if err != nil {
			a.failed("Cannot read the scenarios. " + words.Trouble(err))
			return
		}
		a.pick(all)
	})
}

// pick asks which scenario.
func (a *adder) pick(all []Scenario) {
	names := make([]string, len(all))
	for i, one := range all {
		if names[i] = one.Title; one.Title != one.Name {
			names[i] += " (" + one.Name + ")"
		}
	}
	pick := widget.NewSelect(names, nil)
	pick.PlaceHolder = "Choose a scenario"
	row := form.NewRow("Scenario", form.NewFrame(pick))
	row.SetHelp("Writes a file with comments, which varies the first parameters of the scenario. Edit it to ask your own question")
	ask := dialog.NewCustomConfirm("New experiment", "Write file…", "Cancel", form.NewWide(newEms, row), func(yes bool) {
		if i := pick.SelectedIndex(); yes && i >= 0 {
			a.write(all[i])
		}
	}, a.win)
	if len(names) > 0 {
		pick.SetSelectedIndex(0)
	}
	widgets.Ask(a.win, ask, ask.Confirm)
}

// newEms is the width of the question, in text heights.
const newEms = 36

// write writes an experiment file for a scenario, and opens it.
func (a *adder) write(scenario Scenario) {
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(scenario.Name), filepath.Ext(scenario.Name)), ".throng")
	widgets.PickSaveAs(a.win, "New experiment", base+Extension, Extension, func(to string) {
		async.Work(func() (struct{}, error) { return struct{}{}, a.desk.New(context.Background(), scenario.Name, to) }, func(_ struct{}, err error) {
			if err != nil {
				a.failed("Nothing was written. " + words.Trouble(err))
				return
			}
			a.added(to)
		})
	})
}
