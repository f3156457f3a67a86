package setup

import (
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
)

// presets set the start and the ceiling for a machine and a use.
type presets struct {
	machine, use *widget.Select
	rows         []*form.Row
}

// noPreset is the choice of no preset.
const noPreset = "none"

// newPresets returns the presets; fill is called with the range of the choice.
func newPresets(fill func(low, high int)) *presets {
	p := &presets{machine: widget.NewSelect(nil, nil), use: widget.NewSelect(nil, nil)}
	for _, one := range []struct {
		title  string
		choice *widget.Select
		of     []engine.Preset
	}{{"Machine preset", p.machine, engine.Systems}, {"Use preset", p.use, engine.Uses}} {
		row := form.NewRow(one.title, form.NewFrame(one.choice))
		one.choice.Options = []string{noPreset}
		for _, preset := range one.of {
			one.choice.Options = append(one.choice.Options, fmt.Sprintf("%s, %s", preset.Name, preset.Span()))
		}
		one.choice.SetSelectedIndex(0)
		one.choice.OnChanged = func(string) {
			row.SetHelp("")
			if i := one.choice.SelectedIndex(); i > 0 {
				row.SetHelp(one.of[i-1].Matches)
			}
			p.picked(fill)
		}
		p.rows = append(p.rows, row)
	}
	return p
}

// picked fills in the range of the choice, or the one that both allow.
func (p *presets) picked(fill func(low, high int)) {
	machine, use := p.machine.SelectedIndex()-1, p.use.SelectedIndex()-1
	switch {
	case machine >= 0 && use >= 0:
		fill(engine.Systems[machine].Within(engine.Uses[use]))
	case machine >= 0:
		fill(engine.Systems[machine].Low, engine.Systems[machine].High)
	case use >= 0:
		fill(engine.Uses[use].Low, engine.Uses[use].High)
	}
}

// forget resets the choice for another scenario.
func (p *presets) forget() {
	p.machine.SetSelectedIndex(0)
	p.use.SetSelectedIndex(0)
}

// deployments describes how many concurrent model calls suit each kind of deployment.
func deployments() string {
	var all []string
	for _, d := range engine.Deployments {
		all = append(all, fmt.Sprintf("%s for %s", d.Span(), d.Matches))
	}
	return "across all services: " + strings.Join(all, ", ")
}

// suggest sets the fields to a preset's range, and lowers the lowest limit if it is higher.
func (c *concurrency) suggest(low, high int) {
	if floor, err := c.floor.Value(); err == nil && int(floor) > low {
		c.floor.SetText(strconv.Itoa(low))
	}
	c.ceiling.SetText(strconv.Itoa(high))
	c.start.SetText(strconv.Itoa(low))
	c.preset.SetText(engine.PresetsAre)
	c.preset.Show()
	c.panel.Refresh()
}
