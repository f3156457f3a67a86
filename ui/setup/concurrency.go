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
)

// concurrency is the limit at the start, and the range of the slider.
type concurrency struct {
	panel                 *form.Fold
	governor              *widget.Select // the governor of the limit
	start, floor, ceiling *form.Number
	batch                 *form.Number // agents per wave
	calls                 *form.Number // concurrent model calls
	models                *form.Row    // the row of calls
	presets               *presets
	words                 *form.Note
	preset                *form.Note // a starting point, if there are no measurements
	proposed              int        // the governor that the form proposed
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
	batch := form.NewRow("Agents per wave", c.batch)
	batch.SetHelp("each wave waits for the last; 0: one wave")
	s.watch(s.settings.Add(batch, "batch"), &c.batch.Entry)
	c.models = form.NewRow("Concurrent model calls", c.calls)
	c.models.SetHelp(deployments())
	s.watch(s.settings.Add(c.models, "max-llm-calls"), &c.calls.Entry)
	fields := form.NewColumns(11, governor, start, floor, ceiling)
	aside := form.NewColumns(14, c.presets.rows[0], c.presets.rows[1], batch, c.models)
	c.panel = form.NewFold("Concurrency", form.NewStack(fields, aside, c.words, c.preset))
	c.preset.Hide()
	return c
}

// suit shows the preset for this machine.
func (c *concurrency) suit(text string, err error) {
	if err == nil { // on an error there is no preset
		c.preset.SetText(text)
	}
}

// measured hides the preset if the forecast is based on an earlier run.
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

// ceiling returns the proposed ceiling: at least the start and the floor. The slider of Live may go higher.
func ceiling(sc *Scenario) int {
	if sc.Settings.Manual { // of a fork: the limit was set by hand, whatever the ceiling
		return max(sc.Settings.Ceiling, sc.Settings.Floor)
	}
	return max(sc.Settings.Ceiling, sc.Settings.Limit, sc.Settings.Floor)
}

// into puts the valid fields into the settings and returns the errors of the others.
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
	if len(mistakes) == 0 && !set.Manual {
		switch {
		case set.Limit > set.Ceiling:
			keep(&mistakes, engine.LimitSetting, fmt.Errorf("above the ceiling of %s", engine.FormatCount(int64(set.Ceiling))))
		case set.Limit < set.Floor:
			keep(&mistakes, engine.LimitSetting, fmt.Errorf("below the floor of %s", engine.FormatCount(int64(set.Floor))))
		}
	}
	return errors.Join(mistakes...)
}
