package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/engine/scenario"
)

// calibrateCmd finds the best concurrency limit.
type calibrateCmd struct {
	File   string            `arg:"" optional:"" help:"Scenario file, or the name of a built-in scenario."`
	Set    map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`
	Filter string            `placeholder:"EXPR" help:"Run only agents that match this expression."`

	Levels   []int         `placeholder:"N,N" help:"Concurrency limits to measure (default: 1, 2, 4, ... up to --max)."`
	Max      int           `placeholder:"N" help:"Highest limit to measure (default: 64, or the number of agents)."`
	Repeats  int           `default:"3" placeholder:"N" help:"Measurements per limit."`
	Duration time.Duration `default:"5s" placeholder:"T" help:"Time to measure each limit after it has settled; longer if sessions take long."`
	Apply    bool          `help:"Save the result as the settings max-concurrent and ceiling."`
	History  bool          `help:"List previous calibrations without measuring."`
	Presets  bool          `help:"Show typical limits for this machine without measuring."`

	NoDashboard bool `help:"Print lines instead of a progress line."`
	telemetryFlags
	jsonFlag
	settingFlags
	newFlags
	outsideFlags
}

var errGivenUp = errors.New("cancelled")

// Run is called by kong.
func (c *calibrateCmd) Run(ctx context.Context, t *terminal) (err error) {
	if c.Presets {
		if t.json {
			return t.print(newPresets(t.data))
		}
		return t.presets()
	}
	if c.History {
		return t.calibrations()
	}
	sweep, err := c.sweep(t)
	if err != nil {
		return err
	}
	if err := t.idle(ctx); err != nil {
		return err
	}
	tell, closeTell, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTell()) }()
	tell.Sent = nil // of each level is for the log
	sweep.Launch.Telemetry = tell
	out := t.out
	if c.JSON {
		out = t.err
	}
	p := newProgress(out, c.NoDashboard)
	sweep.Report = func(at calibrate.Progress) { p.say(time.Now(), measuring(at), at.Done == at.Total) }
	found, err := t.calibrate(ctx, sweep)
	p.end()
	t.sayTrouble()
	if found.Notice != "" {
		fmt.Fprintln(t.err, found.Notice)
	}
	if err != nil && !measured(&found.Result) {
		return t.gaveUp(err)
	}
	if c.JSON {
		enc := json.NewEncoder(t.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(found); err != nil {
			return err
		}
	} else {
		t.calibrated(&found)
	}
	if err != nil {
		return t.gaveUp(err)
	}
	return c.advise(t, &found.Result)
}

// sweep is what the flags ask for.
func (c *calibrateCmd) sweep(t *terminal) (s app.Sweep, err error) {
	if c.File == "" {
		return s, &engine.FieldError{Field: "file", Problem: "no scenario given", Hint: "for example: throngctl calibrate shopping"}
	}
	loaded, err := t.load(c.File, scenario.Extras{Parameters: c.Set})
	if err != nil {
		return s, err
	}
	settings, _, err := config.Resolve(t.data, loaded, texts(c.settingFlags.Plugins, c.newFlags.Plugins), os.Getenv)
	if err != nil {
		return s, err
	}
	settings.Filter = c.Filter
	c.apply(&settings)
	return app.Sweep{
		Launch:   app.Launch{Services: app.Services{Data: t.data, Scenario: loaded, Settings: settings, OnRequest: t.hooks.onRequest}, Allow: c.Allow, Trusted: t.hooks.trusts, Host: t.hooks.host},
		Name:     c.File,
		Plan:     calibrate.Plan{Levels: c.Levels, Max: c.Max, Repeats: c.Repeats, Seed: settings.Seed},
		Duration: c.Duration,
	}, nil
}

// idle refuses to measure while a run of the same store is in progress: it would distort the result.
func (t *terminal) idle(ctx context.Context) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	runs, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	for i := range runs {
		if runs[i].InProgress {
			return fmt.Errorf("run %s is in progress and would distort the measurement; stop it or wait for it to end: %w", runs[i].ID, engine.ErrInUse)
		}
	}
	return nil
}

// calibrate runs the sweep; a signal cancels it.
func (t *terminal) calibrate(ctx context.Context, s app.Sweep) (found calibration.Record, err error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	s.Launch.Telemetry.Abort = ctx.Done()
	done := make(chan struct{})
	go func() {
		defer close(done)
		found, err = s.Run(ctx)
	}()
	for {
		select {
		case <-t.signals:
			giveUp(errGivenUp)
		case <-done:
			return found, err
		}
	}
}

// gaveUp says why a sweep did not come to its end.
func (t *terminal) gaveUp(err error) error {
	if errors.Is(err, errGivenUp) {
		fmt.Fprintln(t.err, "Cancelled; nothing was stored.")
		return exitError(exitInterrupted)
	}
	return err
}

// advise says how to use what was found, or saves it.
func (c *calibrateCmd) advise(t *terminal, r *calibrate.Result) error {
	if r.Level == 0 {
		return exitError(exitFailed)
	}
	out := t.out
	if c.JSON {
		out = t.err
	}
	if !c.Apply {
		fmt.Fprintf(out, "Use it with --max-concurrent %d --ceiling %d, or save it with --apply.\n", r.Level, r.Level)
		return nil
	}
	if err := calibration.ApplyLevel(t.data, r.Level); err != nil {
		return err
	}
	fmt.Fprintf(out, "saved: max-concurrent=%d ceiling=%d\n", r.Level, r.Level)
	return nil
}

func measured(r *calibrate.Result) bool {
	for i := range r.Levels {
		if len(r.Levels[i].Samples) > 0 {
			return true
		}
	}
	return false
}

// measuring is how far a sweep is, in one line.
func measuring(p calibrate.Progress) string {
	text := fmt.Sprintf("measured %d/%d", p.Done, p.Total)
	if p.Measuring {
		text += fmt.Sprintf("  now limit %d, round %d", p.Level, p.Round)
	}
	if r := &p.Result; r.Level > 0 {
		text += fmt.Sprintf("  best so far %d", r.Level)
	}
	if p.Left > 0 {
		text += "  about " + engine.FormatDuration(p.Left.Round(time.Second)) + " left"
	}
	return text
}

// calibrated shows what a sweep found.
func (t *terminal) calibrated(c *calibration.Record) {
	fmt.Fprintf(t.out, "\n%s, %s agents, on %s\n", c.Title, engine.FormatCount(int64(c.Agents)), c.Machine)
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  LIMIT\tSESSIONS/S\tP95\tCPU\tMEMORY\tERRORS\tNOTE")
	for i := range c.Result.Levels {
		l := &c.Result.Levels[i]
		if len(l.Samples) == 0 {
			rowf(w, "  %d\t–\t–\t–\t–\t–\t%s\n", l.Level, l.Note)
			continue
		}
		rate := "–"
		if l.PerSecond > 0 {
			rate = calibrate.Figure(l.PerSecond)
		}
		if l.Spread > 0 { // measured more than once
			rate += " ± " + calibrate.Figure(l.Spread)
		}
		rowf(w, "  %d\t%s\t%s\t%s\t%s\t%.1f%%\t%s\n", l.Level, rate, latency(l.P95), percent(l.CPU), percent(100*l.Memory), 100*l.Errors, l.Note)
	}
	_ = w.Flush() // to the terminal
	if law := c.Result.Law(); law != "" {
		fmt.Fprintln(t.out, law)
	}
	fmt.Fprintln(t.out, c.Result.String())
}

// latency writes a time; 0 is not known.
func latency(d time.Duration) string {
	if d == 0 {
		return "?"
	}
	return engine.FormatDuration(d)
}

// percent writes a percentage; negative is not known.
func percent(v float64) string {
	if v < 0 {
		return "?"
	}
	return fmt.Sprintf("%.0f%%", v)
}

// calibrations lists what was found before, the newest first.
func (t *terminal) calibrations() error {
	all, notice, err := calibration.List(t.data)
	if err != nil {
		return err
	}
	if notice != "" {
		fmt.Fprintln(t.err, notice)
	}
	if t.json {
		return t.print(append([]calibration.Record{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(t.out, "No calibrations yet. Try: throngctl calibrate shopping")
		return nil
	}
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	fmt.Fprintln(w, "WHEN\tSCENARIO\tAGENTS\tLIMIT\tMACHINE\tFOUND")
	for i := range all {
		c := &all[i]
		rowf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", stamp(c.At), c.Title, engine.FormatCount(int64(c.Agents)), c.Result.Level, c.Machine, c.Result.String())
	}
	return w.Flush()
}

// presetJSON is a starting point.
type presetJSON struct {
	Table       string `json:"table"`
	Name        string `json:"name"`
	Matches     string `json:"matches"`
	AtOnce      string `json:"at_once"`
	ThisMachine bool   `json:"this_machine,omitempty"`
}

func newPresets(data string) (all []presetJSON) {
	machine := calibration.ThisMachine(data)
	own := engine.PresetFor(machine.Cores, machine.MemoryBytes)
	for _, table := range []struct {
		name    string
		presets []engine.Preset
	}{{"system", engine.Systems}, {"use", engine.Uses}, {"deployment", engine.Deployments}} {
		for _, p := range table.presets {
			all = append(all, presetJSON{table.name, p.Name, p.Matches, p.Span(), p == own})
		}
	}
	return all
}

// presets shows starting points, that of this machine marked.
func (t *terminal) presets() error {
	machine := calibration.ThisMachine(t.data)
	own := engine.PresetFor(machine.Cores, machine.MemoryBytes)
	fmt.Fprintln(t.out, own.Suits(machine.String()))
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	for _, table := range []struct {
		title, what string
		presets     []engine.Preset
	}{
		{"SYSTEM", "SESSIONS IN FLIGHT", engine.Systems}, {"USE", "SESSIONS IN FLIGHT", engine.Uses}, {"DEPLOYMENT", "MODEL CALLS IN FLIGHT", engine.Deployments},
	} {
		rowf(w, "%s\tMATCHES\t%s\n", table.title, table.what)
		for _, p := range table.presets {
			mark := ""
			if p == own {
				mark = "  this machine"
			}
			rowf(w, "%s\t%s\t%s%s\n", p.Name, p.Matches, p.Span(), mark)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, rule := range engine.RulesOfThumb {
		fmt.Fprintf(t.out, "- %s\n", rule)
	}
	return nil
}
