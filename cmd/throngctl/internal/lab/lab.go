// Package lab has the commands for experiments.
package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/cmd/throngctl/internal/startat"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// Terminal is what the commands need of the program.
type Terminal struct {
	Out, Err io.Writer
	JSON     bool
	Data     string
	Trusted  bool             // every scenario is the user's own
	Signals  <-chan os.Signal // requests to stop
	Start    startat.Wait     // for a start time
	Open     func() (*app.App, error)
	// Interrupted and Failed end the program without a further message.
	Interrupted, Failed error
}

// Commands are the commands for experiments.
type Commands struct {
	New     newCmd     `cmd:"" help:"Write the file of an experiment for a scenario."`
	Run     runCmd     `cmd:"" help:"Execute the runs of an experiment that are missing."`
	Resume  resumeCmd  `cmd:"" help:"Continue an experiment that was paused, stopped or killed."`
	List    listCmd    `cmd:"" help:"List the experiments that were opened on this machine."`
	Status  statusCmd  `cmd:"" help:"Show an experiment and the state of its runs."`
	Pause   pauseCmd   `cmd:"" help:"Start no further run of an experiment; runs in progress continue."`
	Stop    stopCmd    `cmd:"" help:"Stop an experiment that another terminal executes; completed runs are kept, and it can be continued."`
	Skip    skipCmd    `cmd:"" help:"Leave runs of an experiment out, or take them back."`
	First   firstCmd   `cmd:"" help:"Execute runs of an experiment before all others."`
	Extend  extendCmd  `cmd:"" help:"Add seeds, levels or measures to an experiment."`
	Forget  forgetCmd  `cmd:"" help:"Remove an experiment from the list; its file and its runs stay."`
	Compare compareCmd `cmd:"" help:"Show each measure at each point with its interval, and its difference from the baseline."`
	Export  exportCmd  `cmd:"" help:"Export an experiment as CSV, JSON Lines or Parquet: a row for each run, or its effects."`
	Report  reportCmd  `cmd:"" help:"Write the report of an experiment as an HTML page."`
}

// jsonFlag is the flag of commands with JSON output.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type newCmd struct {
	Scenario string `arg:"" help:"Scenario file, or the name of a built-in scenario."`
	Output   string `short:"o" placeholder:"FILE" help:"File to write (default: NAME.experiment.yaml). It must not exist."`
	jsonFlag
}

// Run is called by kong.
func (c *newCmd) Run(t *Terminal) error {
	path := c.Output
	if path == "" {
		base := filepath.Base(c.Scenario)
		path = strings.TrimSuffix(base, filepath.Ext(base)) + experiment.Ending
	}
	if !strings.HasSuffix(path, experiment.Ending) {
		return &engine.FieldError{Field: "output", Problem: "the name of an experiment ends in " + experiment.Ending, Hint: "other names are read as scenarios; nothing was written"}
	}
	err := experiments.New(t.Data, c.Scenario, path)
	if errors.Is(err, os.ErrExist) {
		return &engine.FieldError{Field: "output", Problem: path + " already exists", Hint: "nothing was written; choose another file with -o"}
	}
	if err != nil {
		return err
	}
	return t.done("Wrote %s. Next: choose what it varies, then throngctl experiment run %s", path, path)
}

// open opens the store and an experiment for f.
func (t *Terminal) open(path string, o experiments.Options, f func(x *experiments.Experiment) error) (err error) {
	if _, err := experiments.Read(t.Data, path); err != nil { // before a store is made
		return err
	}
	a, err := t.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	o.Env, o.Trusted = os.Getenv, t.Trusted
	x, err := experiments.Open(a, path, o)
	if err != nil {
		return err
	}
	if note := x.Note(); note != "" {
		fmt.Fprintln(t.Err, "note: "+note)
	}
	return f(x)
}

// done prints the answer of a command that changes something.
func (t *Terminal) done(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if t.JSON {
		return answer.Print(t.Out, answer.Done{Done: text})
	}
	_, err := fmt.Fprintln(t.Out, text)
	return err
}

// measured opens an experiment and measures its runs for f.
func (t *Terminal) measured(ctx context.Context, path string, f func(x *experiments.Experiment, table *findings.Table) error) error {
	return t.open(path, experiments.Options{}, func(x *experiments.Experiment) error {
		s, err := x.Status(ctx)
		if err != nil {
			return err
		}
		table, err := x.Table(ctx, s)
		if err != nil {
			return err
		}
		return f(x, x.Findings(table))
	})
}

type runCmd struct {
	File  string   `arg:"" help:"Experiment file."`
	Allow []string `placeholder:"HOST" help:"Allow calls to this address; may be repeated."`
	startat.Flags
	jsonFlag
}

// Run is called by kong.
func (c *runCmd) Run(ctx context.Context, t *Terminal) error {
	o := experiments.Options{Allow: c.Allow}
	if err := c.until(ctx, t, &o.Place); err != nil {
		return err
	}
	return t.open(c.File, o, func(x *experiments.Experiment) error {
		if !t.JSON {
			if err := x.PrintWarnings(t.Err); err != nil {
				return err
			}
		}
		s, err := x.Status(ctx)
		if err != nil {
			return err
		}
		if err := x.Consent(s); err != nil { // before the first run, for all of them
			return err
		}
		if err := c.forecast(ctx, t, x, s); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var began time.Time // zero while it waits for its turn
		done := 0
		execution, wait := x.Execute(ctx, experiments.Events{
			Waiting: t.Start.Queued,
			Planned: func(*experiments.Status) {
				if began.IsZero() {
					began = time.Now()
				}
			},
			Paused: func(who string) { c.paused(t, who) },
			Warn:   func(text string) { fmt.Fprintln(t.Err, "note: "+text) },
			Changed: func(s *experiments.Status, r *experiments.Run) {
				if r.State == experiments.Done {
					done++
				}
				c.changed(t, s, r, began, done)
			},
		})
		end := make(chan struct{})
		go c.heed(t, execution, cancel, end)
		err = wait()
		close(end)
		if err != nil && !errors.Is(err, experiments.ErrStopped) {
			return err
		}
		return c.ended(context.WithoutCancel(ctx), t, execution.Experiment(), err)
	})
}

// until waits for the start time in the queue.
func (c *runCmd) until(ctx context.Context, t *Terminal, place *queue.Entry) error {
	at, err := c.Time(time.Now())
	if err != nil {
		return err
	}
	place.Priority = c.Priority
	if at.IsZero() {
		return nil
	}
	e, err := experiments.Read(t.Data, c.File)
	if err != nil {
		return err
	}
	place.Work = experiments.Work(e.Title)
	w := t.Start
	w.Awake = place.Work + " starts at " + at.Format(time.TimeOnly)
	if err = w.Until(ctx, at, place); errors.Is(err, startat.ErrCanceled) {
		return t.Interrupted
	}
	return err
}

// forecast prints what is left to do. It warns if that exceeds the budget.
func (c *runCmd) forecast(ctx context.Context, t *Terminal, x *experiments.Experiment, s *experiments.Status) error {
	if t.JSON {
		return nil
	}
	if done, _ := s.Count(experiments.Done); done > 0 {
		fmt.Fprintf(t.Out, "%s, by this or another experiment.\n", counts(s))
	}
	f, err := x.Forecast(ctx, s)
	if err != nil || f.Runs == 0 {
		return err
	}
	fmt.Fprintln(t.Out, f)
	if b := x.Budget.USD; b > 0 && f.Cost.Known() && f.Cost.Low > b {
		fmt.Fprintf(t.Out, "note: that exceeds the budget of $%g; the experiment will stop when it is used up, and can be continued with more\n", b)
	}
	if b := x.Budget.Time.Seconds(); b > 0 && f.Length.Known() && f.Length.Low > b {
		fmt.Fprintf(t.Out, "note: that exceeds the budget of %s; the experiment will stop then, and can be continued with more\n", engine.FormatDuration(x.Budget.Time))
	}
	return nil
}

// heed stops the experiment when the user asks for it, and again without waiting for sessions in progress.
func (c *runCmd) heed(t *Terminal, e *experiments.Execution, cancel func(), end <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-end:
			return
		case <-t.Signals:
		}
		if n == 0 {
			fmt.Fprintln(t.Err, "Stopping after the sessions in progress. Again: stop now; the sessions in progress run again when the experiment continues.")
		}
		if !e.Stop(n > 0, "terminal", "by Ctrl+C") {
			cancel() // it waits for its turn
		}
	}
}

// paused prints that a pause began or ended.
func (c *runCmd) paused(t *Terminal, who string) {
	if who == "" {
		fmt.Fprintln(t.Err, "The experiment continues.")
		return
	}
	fmt.Fprintf(t.Err, "Paused by %s: runs in progress continue, no other run begins. Continue with: throngctl experiment resume %s\n", who, c.File)
}

// changed prints the change of a run.
func (c *runCmd) changed(t *Terminal, s *experiments.Status, r *experiments.Run, began time.Time, done int) {
	x := s.Experiment
	if t.JSON {
		if err := answer.PrintLine(t.Out, answer.NewExperimentRun(x, r)); err != nil {
			fmt.Fprintln(t.Err, err) // the experiment continues
		}
		return
	}
	all, of := s.Count(experiments.Done)
	what := "run " + string(r.Record.ID)
	if label := x.Label(r.Values); label != "" {
		what += " (" + label + fmt.Sprintf(", seed %d)", r.Seed)
	}
	switch {
	case r.State == experiments.Done && r.Point >= 0:
		left, missing := "", 0
		for _, r := range s.Runs {
			if r.State.Missing() {
				missing++
			}
		}
		if per := time.Since(began) / time.Duration(done); missing > 0 {
			left = ", about " + engine.FormatDuration((per * time.Duration(missing)).Round(time.Second)) + " left"
		}
		fmt.Fprintf(t.Out, "%d of %d runs%s: %s\n", all, of, left, what)
	case r.State == experiments.Skipped:
		fmt.Fprintf(t.Out, "%s is skipped\n", what)
	case r.State == experiments.Failed:
		fmt.Fprintf(t.Out, "%s failed twice, and is left out: %s\n", what, r.Why)
	case r.Why != "":
		fmt.Fprintf(t.Out, "%s failed, and is tried again: %s\n", what, r.Why)
	}
}

// ended prints the state of the experiment. stopped is why it ended early; nil if it is complete.
func (c *runCmd) ended(ctx context.Context, t *Terminal, x *experiments.Experiment, stopped error) error {
	s, err := x.Status(ctx)
	if err != nil {
		return err
	}
	if t.JSON {
		return errors.Join(answer.PrintLine(t.Out, answer.NewExperiment(x, s)), t.outcome(s, stopped))
	}
	fmt.Fprintf(t.Out, "%s.\nThe answer: throngctl experiment compare %s. With plots: throngctl experiment report %s\n", counts(s), c.File, c.File)
	if stopped != nil {
		fmt.Fprintf(t.Out, "%v\nContinue with: throngctl experiment run %s\n", stopped, c.File)
	}
	return t.outcome(s, stopped)
}

// counts says how many runs are done, failed and skipped.
func counts(s *experiments.Status) string {
	done, of := s.Count(experiments.Done)
	parts := []string{fmt.Sprintf("%d of %d runs are done", done, of)}
	for _, state := range []experiments.State{experiments.Failed, experiments.Skipped} {
		if n, _ := s.Count(state); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

// outcome returns the error that ends the program; nil if every run is done.
func (t *Terminal) outcome(s *experiments.Status, stopped error) error {
	failed, _ := s.Count(experiments.Failed)
	switch {
	case stopped != nil:
		return t.Interrupted
	case failed > 0:
		return t.Failed
	}
	return nil
}

type statusCmd struct {
	File string `arg:"" help:"Experiment file."`
	jsonFlag
}

// Run is called by kong.
func (c *statusCmd) Run(ctx context.Context, t *Terminal) error {
	return t.open(c.File, experiments.Options{}, func(x *experiments.Experiment) error {
		s, err := x.Status(ctx)
		if err != nil {
			return err
		}
		f, err := x.Forecast(ctx, s)
		if err != nil {
			return err
		}
		if t.JSON {
			a := answer.NewExperiment(x, s)
			if f.Runs > 0 {
				a.Forecast = &f
			}
			return answer.Print(t.Out, a)
		}
		fmt.Fprintf(t.Out, "%s: %d points, %d replicates\n", x.Title, len(s.Plan.Points), len(s.Plan.Seeds))
		if order := s.Orders.Paused; order != nil {
			fmt.Fprintf(t.Out, "Paused by %s. Continue with: throngctl experiment resume %s\n", order.Who, c.File)
		}
		w := show.NewTable(t.Out)
		fmt.Fprint(w, "POINT\tVALUES")
		for _, seed := range s.Plan.Seeds[:min(len(s.Plan.Seeds), mostColumns)] {
			fmt.Fprintf(w, "\tSEED %d", seed)
		}
		fmt.Fprintln(w)
		for point := range s.Plan.Points {
			format, cells := "%d\t%s", []any{point + 1, x.Label(s.Plan.Points[point].Values)}
			for k := range s.Plan.Seeds[:min(len(s.Plan.Seeds), mostColumns)] {
				format, cells = format+"\t%s", append(cells, s.Of(point, k).State)
			}
			show.Row(w, format+"\n", cells...)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if more := len(s.Plan.Seeds) - mostColumns; more > 0 {
			fmt.Fprintf(t.Out, "%s more, which throngctl experiment status %s --json lists\n", show.Counted(more, "seed"), c.File)
		}
		fmt.Fprintln(t.Out, counts(s))
		if f.Runs > 0 {
			_, err = fmt.Fprintln(t.Out, f)
		}
		return err
	})
}

// mostColumns is the number of replicates that a table shows.
const mostColumns = 12
