package setup

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// The modes of the limit, in the order of their control.
const (
	automaticMode = iota
	manualMode
)

// concurrency is the limit at the start, and what adjusts it.
type concurrency struct {
	panel                 *form.Fold
	mode                  *widgets.Segments
	governor              *widget.Select // what adjusts the limit in automatic mode
	start, floor, ceiling *form.Number
	batch                 *form.Number // agents per wave
	calls                 *form.Number // concurrent model calls
	limit                 *form.Row    // the row of start
	automatic             []*form.Row  // the rows of automatic mode
	models                *form.Row    // the row of calls
	presets               *presets
	words                 *form.Note
	preset                *form.Note // a starting point, if there are no measurements
	proposed              string     // the governor that the form proposed
	byHand                bool       // of a fork: a person had taken over from the governor
}

func newConcurrency(s *Screen) *concurrency {
	c := &concurrency{
		start: form.NewWhole(1, engine.MaxLimit), floor: form.NewWhole(1, engine.MaxLimit), ceiling: form.NewWhole(1, engine.MaxLimit),
		batch: form.NewWhole(0, engine.MaxLimit), calls: form.NewWhole(1, engine.MaxLimit), words: form.NewNote(""), preset: form.NewNote(""),
	}
	c.presets = newPresets(c.suggest)
	c.mode = widgets.NewSegments([]string{automaticMode: view.Automatic, manualMode: view.Manual}, func(i int) {
		c.show(i)
		s.changed()
	})
	c.governor = widget.NewSelect(nil, nil)
	for _, g := range adjusting {
		c.governor.Options = append(c.governor.Options, g.Title)
	}
	mode, governor := form.NewRow("Limit", container.NewHBox(c.mode)), settingRow(engine.GovernorSetting, form.NewFrame(c.governor))
	c.governor.OnChanged = func(string) {
		governor.SetHelp(adjusting[max(c.governor.SelectedIndex(), 0)].About)
		s.changed()
	}
	s.settings.Add(governor, "governor")
	c.limit = form.NewRow("", c.start)
	floor, ceiling := settingRow(engine.FloorSetting, c.floor), settingRow(engine.CeilingSetting, c.ceiling)
	s.watch(s.settings.Add(c.limit, engine.LimitSetting), &c.start.Entry)
	s.watch(s.settings.Add(floor, "floor"), &c.floor.Entry)
	s.watch(s.settings.Add(ceiling, "ceiling"), &c.ceiling.Entry)
	c.automatic = []*form.Row{floor, ceiling, governor}
	c.show(automaticMode)
	batch := settingRow("batch", c.batch)
	batch.SetHelp(engine.FindSetting("batch").Help)
	s.watch(s.settings.Add(batch, "batch"), &c.batch.Entry)
	c.models = settingRow("max-llm-calls", c.calls)
	c.models.SetHelp(deployments())
	s.watch(s.settings.Add(c.models, "max-llm-calls"), &c.calls.Entry)
	fields := form.NewColumns(11, mode, c.limit, floor, ceiling)
	aside := form.NewColumns(14, governor, c.presets.rows[0], c.presets.rows[1], batch, c.models)
	c.panel = form.NewFold("Concurrency", form.NewStack(fields, aside, c.words, c.preset))
	c.preset.Hide()
	return c
}

// settingRow returns the row of a setting, with the title that it has everywhere.
func settingRow(name string, field fyne.CanvasObject) *form.Row {
	return form.NewRow(engine.FindSetting(name).Title, field)
}

// adjusting are the governors that adjust the limit.
var adjusting = slices.DeleteFunc(slices.Clone(engine.Governors), func(g engine.Governing) bool { return g.Name == engine.Manual })

// show shows the fields of a mode.
func (c *concurrency) show(mode int) {
	c.mode.Choose(mode)
	title := "Starting limit"
	if mode == manualMode {
		title = engine.FindSetting(engine.LimitSetting).Title
	}
	c.limit.SetTitle(title)
	for _, row := range c.automatic {
		row.Hidden = mode == manualMode
	}
	if c.panel != nil {
		c.panel.Refresh()
	}
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
	c.adopt(&sc.Settings, another)
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

// adopt shows the mode and the governor of a scenario, if the user has not chosen others.
func (c *concurrency) adopt(set *engine.Settings, another bool) {
	c.byHand = set.Manual
	proposed := c.chosen()
	if !another && proposed != c.proposed {
		return
	}
	mode := automaticMode
	if !set.Governed() {
		mode = manualMode
	}
	if i := slices.IndexFunc(adjusting, func(g engine.Governing) bool { return g.Name == set.Governor }); i >= 0 {
		c.governor.SetSelectedIndex(i)
	} else if c.governor.SelectedIndex() < 0 {
		c.governor.SetSelected(adjusting[0].Title)
	}
	c.show(mode)
	c.proposed = c.chosen()
}

// chosen returns the name of the governor; that of a manual limit is [engine.Manual].
func (c *concurrency) chosen() string {
	if c.mode.Chosen() == manualMode {
		return engine.Manual
	}
	return adjusting[max(c.governor.SelectedIndex(), 0)].Name
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
	into := func(entry *form.Number, name string, to *int) {
		if n, err := entry.Value(); keep(&mistakes, name, err) {
			*to = int(n)
		}
	}
	into(c.start, engine.LimitSetting, &set.Limit)
	into(c.calls, "max-llm-calls", &set.MaxLLMCalls)
	into(c.batch, "batch", &set.Batch)
	if c.mode.Chosen() == manualMode {
		if set.Manual = c.byHand; !set.Manual {
			set.Governor = engine.Manual
			set.Floor, set.Ceiling = min(set.Floor, set.Limit), max(set.Ceiling, set.Limit)
		}
		return errors.Join(mistakes...)
	}
	into(c.floor, "floor", &set.Floor)
	into(c.ceiling, "ceiling", &set.Ceiling)
	set.Manual, set.Governor = false, c.chosen()
	if len(mistakes) == 0 {
		switch {
		case set.Limit > set.Ceiling:
			keep(&mistakes, engine.LimitSetting, fmt.Errorf("above the highest limit, %s", engine.FormatCount(int64(set.Ceiling))))
		case set.Limit < set.Floor:
			keep(&mistakes, engine.LimitSetting, fmt.Errorf("below the lowest limit, %s", engine.FormatCount(int64(set.Floor))))
		}
	}
	return errors.Join(mistakes...)
}
