package setup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// concurrency is how many sessions are in flight at the start, and the bounds of the slider.
type concurrency struct {
	panel                 *widgets.Panel
	governor              *widget.Select // of what moves the limit
	start, floor, ceiling *form.Number
	batch                 *form.Number // agents in a wave
	calls                 *form.Number // of models at once
	models                *form.Row    // that calls are in
	presets               *presets
	words                 *form.Note
	preset                *form.Note // a starting point, until a forecast goes by figures
	proposed              int        // the governor that nobody chose
}

func newConcurrency(s *Screen) *concurrency {
	c := &concurrency{
		start: form.NewWhole(1, engine.MaxLimit), floor: form.NewWhole(1, engine.MaxLimit), ceiling: form.NewWhole(1, engine.MaxLimit),
		batch: form.NewWhole(0, engine.MaxLimit), calls: form.NewWhole(1, engine.MaxLimit), words: form.NewNote(""), preset: form.NewNote(""),
	}
	c.presets = newPresets(c.suggest)
	c.governor = widget.NewSelect(nil, nil)
	for _, g := range engine.Governors {
		c.governor.Options = append(c.governor.Options, g.Title)
	}
	governor := form.NewRow("Governor", form.NewFrame(c.governor))
	c.governor.OnChanged = func(string) {
		governor.SetHelp(engine.Governors[max(c.governor.SelectedIndex(), 0)].About)
		s.changed()
	}
	s.settings.Add(governor, "governor")
	start, floor, ceiling := form.NewRow("Start", c.start), form.NewRow("Floor", c.floor), form.NewRow("Ceiling", c.ceiling)
	s.watch(s.settings.Add(start, engine.LimitSetting), &c.start.Entry)
	s.watch(s.settings.Add(floor, "floor"), &c.floor.Entry)
	s.watch(s.settings.Add(ceiling, "ceiling"), &c.ceiling.Entry)
	batch := form.NewRow("Agents in a wave", c.batch)
	batch.SetHelp("the next wave starts when the last has ended; 0 is one wave")
	s.watch(s.settings.Add(batch, "batch"), &c.batch.Entry)
	c.models = form.NewRow("Model calls at once", c.calls)
	c.models.SetHelp(deployments())
	s.watch(s.settings.Add(c.models, "max-llm-calls"), &c.calls.Entry)
	fields := form.NewColumns(11, governor, start, floor, ceiling)
	aside := form.NewColumns(14, c.presets.rows[0], c.presets.rows[1], batch, c.models)
	c.panel = widgets.NewPanel("Concurrency", form.NewStack(fields, aside, c.words, c.preset))
	c.preset.Hide()
	return c
}

// suit says what suits this machine.
func (c *concurrency) suit(text string, err error) {
	if err == nil { // else there is no preset
		c.preset.SetText(text)
	}
}

// measured leaves the preset out where earlier runs say more than it.
func (c *concurrency) measured(yes bool) {
	if hidden := yes || c.preset.Text() == ""; c.preset.Hidden != hidden {
		c.preset.Hidden = hidden
		c.panel.Refresh()
	}
}

func (c *concurrency) fill(sc *Scenario, another bool) {
	name := cmp.Or(sc.Settings.Governor, engine.Manual)
	i := slices.IndexFunc(engine.Governors, func(g engine.Governing) bool { return g.Name == name })
	if i >= 0 && (another || c.governor.SelectedIndex() == c.proposed) {
		c.proposed = i
		c.governor.SetSelectedIndex(i)
	}
	if another {
		c.presets.forget()
	}
	put(&c.calls.Entry, strconv.Itoa(sc.Settings.MaxLLMCalls), another)
	if slices.ContainsFunc(sc.Services, func(s Service) bool { return s.Kind == "llm" }) {
		c.models.Show()
	} else {
		c.models.Hide()
	}
	put(&c.start.Entry, strconv.Itoa(sc.Settings.Limit), another)
	put(&c.batch.Entry, strconv.Itoa(sc.Settings.Batch), another)
	put(&c.floor.Entry, strconv.Itoa(sc.Settings.Floor), another)
	put(&c.ceiling.Entry, strconv.Itoa(ceiling(sc)), another)
}

// ceiling is what to propose: no less than the start and the floor. In Live the slider reaches further.
func ceiling(sc *Scenario) int { return max(sc.Settings.Ceiling, sc.Settings.Limit, sc.Settings.Floor) }

// into puts what is in the fields into the settings; where a field is wrong, they stay as they are.
func (c *concurrency) into(set *engine.Settings) error {
	var mistakes []error
	for _, f := range []struct {
		entry *form.Number
		name  string
		to    *int
	}{{c.start, engine.LimitSetting, &set.Limit}, {c.floor, "floor", &set.Floor}, {c.ceiling, "ceiling", &set.Ceiling}, {c.calls, "max-llm-calls", &set.MaxLLMCalls}, {c.batch, "batch", &set.Batch}} {
		if n, err := f.entry.Value(); keep(&mistakes, f.name, err) {
			*f.to = int(n)
		}
	}
	if i := c.governor.SelectedIndex(); i >= 0 {
		set.Governor = engine.Governors[i].Name
	}
	if len(mistakes) == 0 {
		switch {
		case set.Limit > set.Ceiling:
			keep(&mistakes, engine.LimitSetting, fmt.Errorf("more than the ceiling, %s", engine.FormatCount(int64(set.Ceiling))))
		case set.Limit < set.Floor:
			keep(&mistakes, engine.LimitSetting, fmt.Errorf("less than the floor, %s", engine.FormatCount(int64(set.Floor))))
		}
	}
	return errors.Join(mistakes...)
}
