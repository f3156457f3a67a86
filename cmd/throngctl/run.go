package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/crashes"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/machines"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/cmd/throngctl/internal/startat"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// selection chooses the input, the agents and the chain of a run.
type selection struct {
	Set     map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`
	Agents  []string          `placeholder:"ID" sep:"," help:"Run only these agents."`
	Filter  string            `placeholder:"EXPR" help:"Run only agents that match this expression, such as 'agent.age > 30'."`
	Chain   string            `placeholder:"NAME" help:"Run only this chain, once, and print its result as JSON."`
	Payload string            `placeholder:"FILE" help:"Input of chains: a .json file, or one row per agent from a JSON list, .jsonl or .csv file."`
}

// runCmd starts a new run.
type runCmd struct {
	File string   `arg:"" optional:"" help:"Scenario file, or the name of a built-in scenario."`
	More []string `arg:"" optional:"" name:"id" help:"With --agents: more agent IDs."`
	selection
	resumeFlag
	output
	flags.Settings
	flags.Adaptive
	flags.Fixed
	replayFlag
	flags.Services
	databaseFlag
}

// output has the flags for what a run shows and exports.
type output struct {
	Export      string `placeholder:"DIR" help:"Export all results and an HTML report to this folder at the end."`
	NoDashboard bool   `help:"Print lines instead of the dashboard."`
	startat.Flags
	jsonFlag
	flags.Telemetry
	notifyFlag
	Fleet machines.Flags `embed:""`
}

// Run is called by kong.
func (c *runCmd) Run(ctx context.Context, t *terminal) error {
	if c.Resume != "" {
		return c.resume(ctx, t)
	}
	l, err := c.launch(ctx, t)
	if err != nil {
		return err
	}
	if l.Scenario.Source.Alone() == "" {
		return carryOut(ctx, t, l, c.output, c.databaseFlag)
	}
	if given := flags.Given(c.Settings.Plugins); given["cycles"] != "" || given["hours"] != "" {
		return &engine.FieldError{Field: "chain", Problem: "a single chain runs once", Hint: "leave out --cycles and --hours"}
	}
	return runAlone(ctx, t, l, c.output, c.databaseFlag)
}

// launch returns the run that the flags describe.
func (c *runCmd) launch(ctx context.Context, t *terminal) (l app.Launch, err error) {
	of, err := c.recorded(ctx, t)
	if err != nil {
		return l, err
	}
	s, err := c.scenario(t, of)
	if err != nil {
		return l, err
	}
	settings, err := c.settings(t, s, of)
	if err != nil {
		return l, err
	}
	return app.Launch{Services: app.Services{Scenario: s, Settings: settings, Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts}, nil
}

// agents returns the agent IDs of --agents and of the arguments after its value.
func (c *runCmd) agents() ([]string, error) {
	if len(c.More) > 0 && len(c.Agents) == 0 {
		return nil, &engine.FieldError{Field: c.More[0], Problem: "more than one scenario file", Hint: "agent IDs follow --agents; a switch takes on or off"}
	}
	all := c.Agents
	for _, ids := range c.More {
		all = append(all, strings.Split(ids, ",")...)
	}
	return all, nil
}

// resumeCmd resumes a run.
type resumeCmd struct {
	RunID   string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	AsItWas bool   `help:"Use the scenario stored with the run even if its file has changed."`
	output
	flags.Settings
	flags.Adaptive
	flags.Services
	databaseFlag
}

// Run is called by kong.
func (c *resumeCmd) Run(ctx context.Context, t *terminal) error {
	var l app.Launch
	err := t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) (err error) {
		if r.Queued != "" {
			return stillQueued(&r)
		}
		o := app.ResumeOptions{
			Settings: c.Into(flags.Given(c.Plugins)), Env: os.Getenv, AsItWas: c.AsItWas, Trusted: t.hooks.trusts, Allow: c.Allow,
		}
		var note string
		l, note, err = app.Resumed(ctx, store, t.data, &r, o)
		if note != "" {
			fmt.Fprintf(t.err, "note: %s\n", note)
		}
		return err
	})
	if changed, ok := errors.AsType[*app.ChangedError](err); ok {
		return c.refuse(t, changed)
	}
	if err != nil {
		return err
	}
	c.ApplyTo(&l.Settings)
	if l.Scenario.Source.Alone() != "" {
		return runAlone(ctx, t, l, c.output, c.databaseFlag)
	}
	return carryOut(ctx, t, l, c.output, c.databaseFlag)
}

// start returns a wait for a start time. programs receives JSON.
func (t *terminal) start(programs *terminal) startat.Wait {
	w := startat.Wait{Data: t.data, Err: t.err, Signals: t.signals, ByHand: t.byHand, Enter: enters(t)}
	if programs.json {
		w.Lines = programs.out
	}
	return w
}

// untilStart waits for the start time of a run.
func untilStart(ctx context.Context, w startat.Wait, at time.Time, l *app.Launch) error {
	l.Place.Work = cmp.Or(l.Name, l.Scenario.Title)
	if l.Settings.KeepAwake {
		w.Awake = "a run starts at " + at.Format(time.TimeOnly)
	}
	err := w.Until(ctx, at, &l.Place)
	if errors.Is(err, startat.ErrCanceled) {
		return exitError(exitInterrupted)
	}
	return err
}

// refuse prints why a run is not resumed, and both ways to continue.
func (c *resumeCmd) refuse(t *terminal, e *app.ChangedError) error {
	if t.json {
		return &engine.FieldError{Field: "run", Problem: e.Error() + "; nothing was started", Hint: fmt.Sprintf("with the scenario that is stored with it: throngctl resume %s --as-it-was", e.Run)}
	}
	fmt.Fprintf(t.err, "throngctl: %v\nNothing was started. Choose the scenario:\n", e)
	fmt.Fprintf(t.err, "  stored with the run:  throngctl resume %s --as-it-was\n", e.Run)
	switch {
	case e.Unreadable != nil:
	case e.Checkpoint == 0:
		fmt.Fprintf(t.err, "  current file:         throngctl run %s (there is no checkpoint to fork from)\n", e.Path)
	default:
		fmt.Fprintf(t.err, "  current file:         throngctl fork %s --checkpoint %d --file %s\n", e.Run, e.Checkpoint, e.Path)
	}
	return exitError(exitUsage)
}

// carryOut executes a run and shows it.
func carryOut(ctx context.Context, t *terminal, l app.Launch, out output, flag databaseFlag) (err error) {
	unheard := make(chan os.Signal, 1)
	signal.Notify(unheard, syscall.SIGPIPE) // the run continues if its output is closed
	defer signal.Stop(unheard)
	at, err := out.Time(time.Now())
	if err != nil {
		return err
	}
	l.Place.Priority = out.Priority
	programs := t // receives JSON
	if t.json {
		t = t.quiet()
	}
	if err := l.Scenario.PrintWarnings(t.err); err != nil {
		return err
	}
	if err := file.CheckFolder(out.Export); err != nil {
		return err
	}
	if err := askSecrets(t, l); err != nil {
		return err
	}
	db, err := flag.find(t)
	if err != nil {
		return err
	}
	l.Results = db.Target()
	if err := askDestinations(t, &l); err != nil {
		return err
	}
	notify, err := out.target(t)
	if err != nil {
		return err
	}
	l.Settings.Remote = l.Settings.Remote || db.URL != ""
	tell, closeTell, err := openTelemetry(ctx, t, out.Telemetry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTell()) }()
	patience := newPatience()
	defer patience.end()
	l.Telemetry, l.Telemetry.Abort = tell, patience.over
	if !at.IsZero() {
		if err := l.Permits().Consent(); err != nil { // before the wait: at the start time the user may be away
			return err
		}
		if err := untilStart(ctx, t.start(programs), at, &l); err != nil {
			return err
		}
	}
	a, err := t.openApp()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	store, box := a.Store(), a.Box()
	if err := a.SendTo(db); err != nil {
		return err
	}
	endFleet, err := t.openFleet(ctx, &out.Fleet, &l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endFleet()) }()
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	l.Waiting = t.start(programs).Queued
	var writing *show.Progress
	l.Writing = func(done, total int) {
		if writing == nil {
			writing = show.NewProgress(t.out, out.NoDashboard)
		}
		writing.Say(time.Now(), fmt.Sprintf("writing personas %d/%d", done, total), done == total)
	}
	job, err := startRun(ctx, t, giveUp, a, l)
	if writing != nil {
		writing.End()
	}
	if err != nil {
		return err
	}
	if t.json {
		if err := programs.line(answer.NewStarted(job, &l)); err != nil {
			fmt.Fprintln(t.err, err) // the run continues
		}
	}
	verb := "run"
	if l.Resume != "" {
		verb = "resuming run"
	}
	agents := strconv.Itoa(job.Agents)
	if job.Agents < l.Scenario.Agents {
		agents += " of " + strconv.Itoa(l.Scenario.Agents)
	}
	fmt.Fprintf(t.out, "%s %s: %s, %s agents, seed %d\n", verb, job.Run.ID(), l.Scenario.Title, agents, l.Settings.Seed)
	if of := job.Run.Settings().Replay; of != "" {
		fmt.Fprintf(t.out, "replaying the recording of run %s: no service is called\n", of)
	}
	if job.Written != nil {
		fmt.Fprintln(t.out, job.Written)
	}
	if l.Resume == "" && job.Record.Forecast != nil {
		fmt.Fprintln(t.out, show.ForecastLine(job.Record.Forecast))
	}
	crashes.Doing(box, job.Run, l.Scenario.Title, job.Agents)
	defer notifyOf(t, notify, job, l.Scenario.Title, patience)()
	var interrupted, leaving bool
	guarded(t, box, job.Run, func() { interrupted, leaving = follow(programs, box, job, out.NoDashboard, patience) })
	result := job.Run.Wait()
	if t.json {
		end := answer.NewEnded(job, &result, out.Fleet.Again())
		defer func() {
			end.Code = codeOf(err)
			err = errors.Join(err, programs.line(end))
		}()
		if out.Export != "" {
			end.Exported = out.Export
		}
	}
	if err := await(t, patience, job.Close); err != nil { // the stored part can be resumed
		fmt.Fprintf(t.err, "throngctl: %v\n", err)
	}
	show.Summary(t.out, job, &result)
	for _, list := range []func(context.Context, io.Writer, storage.Reader, *app.Job) error{show.Cycles, show.ListUnconfirmed} {
		if err := list(context.WithoutCancel(ctx), t.out, store, job); err != nil {
			fmt.Fprintf(t.err, "throngctl: %v\n", err)
		}
	}
	if leaving { // no time for more
		fmt.Fprintf(t.out, "resume with: throngctl resume %s%s\n", job.Run.ID(), out.Fleet.Again())
		return exitError(exitInterrupted)
	}
	if text := recording(ctx, store, job, result.Ending); text != "" {
		fmt.Fprintln(t.out, text)
	}
	deliver(ctx, t, a.Remote(), job)
	if out.Export != "" {
		page, err := exportRun(ctx, store, job.Run.ID(), out.Export)
		if err != nil {
			return fmt.Errorf("%w; export it again with: throngctl export %s -o DIR", err, job.Run.ID())
		}
		fmt.Fprintf(t.out, "exported to %s; report: %s\n", out.Export, page)
	}
	if result.Ending == engine.EndOutOfBudget && !interrupted {
		s := job.Run.Snapshot()
		fmt.Fprintf(t.out, "resume with: throngctl resume %s %s%s\n", job.Run.ID(), s.Budget.Larger(s.Elapsed), out.Fleet.Again())
	}
	if result.Ending == engine.EndHopeless {
		fmt.Fprintf(t.out, "to continue: %s\n", app.NextSteps(answer.EndedRecord(job, &result)))
	}
	switch {
	case interrupted && result.Ending != engine.EndFinished, result.Ending == engine.EndStopped:
		fmt.Fprintf(t.out, "resume with: throngctl resume %s%s\n", job.Run.ID(), out.Fleet.Again())
		return exitError(exitInterrupted)
	case !result.Passed():
		return exitError(exitFailed)
	}
	return nil
}

// exportRun exports a run with its report, and returns the path of the report.
func exportRun(ctx context.Context, store *sqlite.Store, run engine.RunID, dir string) (page string, err error) {
	if err := review.Export(ctx, store, run, dir, storage.CSV); err != nil {
		return "", err
	}
	page = filepath.Join(dir, reportName)
	return page, writeReport(ctx, page, store, run, review.ReportOptions{})
}

// startRun starts a run. A signal while the run waits for its turn cancels it.
func startRun(ctx context.Context, t *terminal, giveUp func(), a *app.App, l app.Launch) (*app.Job, error) {
	type started struct {
		job *app.Job
		err error
	}
	done := make(chan started, 1)
	// ctx does not end a started run: signals stop it gracefully.
	go func() {
		job, err := a.Start(ctx, l)
		done <- started{job, err}
	}()
	select {
	case s := <-done:
		return s.job, s.err
	case <-t.signals:
		giveUp()
		s := <-done
		if s.err == nil {
			return nil, errors.Join(exitError(exitInterrupted), s.job.Close())
		}
		if _, ok := errors.AsType[*app.UnwrittenError](s.err); ok {
			fmt.Fprintf(t.err, "throngctl: %v\n", s.err)
		}
		return nil, exitError(exitInterrupted)
	}
}

// follow shows the run until it has ended. Ctrl+C stops the run gracefully, a second Ctrl+C immediately, which also shortens
// the wait for notifications. A signal of the system ends the run within leaveTime.
func follow(t *terminal, box *crash.Box, job *app.Job, lines bool, patient *patience) (interrupted, leaving bool) {
	run := job.Run
	board := openBoard(t, box, job, lines || t.json)
	var passed []string // newest notes shown on the dashboard
	defer func() {
		for _, note := range passed {
			fmt.Fprintln(t.err, note)
		}
	}()
	defer board.close()
	p := show.NewProgress(t.out, lines)
	p.Moving = p.Moving && board == nil
	defer p.End()
	tick := time.NewTicker(p.Every)
	defer tick.Stop()
	refresh := func() {
		if board == nil {
			p.Show(run.Snapshot())
		}
	}
	if t.json {
		p.Line = func(s *engine.Snapshot) { _ = t.line(answer.NewProgress(s)) } // the output may be closed
	}
	say := func(text string) {
		p.End()
		if !board.say(text) {
			fmt.Fprintln(t.err, text)
		}
	}
	hasty := false
	stop := func(sig os.Signal) {
		why := show.Stop(run.Snapshot(), interrupted)
		hasty = interrupted
		reason := sig.String()
		if sig == os.Interrupt {
			reason = "Ctrl+C"
		}
		say(reason + ", " + why)
		interrupted = true
		if err := run.Stop("user", reason); err != nil && !errors.Is(err, engine.ErrEnded) {
			say("stop: " + err.Error())
		}
	}
	saved := make(chan error, 1)
	for {
		select {
		case <-run.Done():
			refresh()
			if hasty || leaving {
				time.AfterFunc(hurryTime, patient.end)
			}
			return interrupted, leaving
		case <-tick.C:
			refresh()
		case <-board.stops():
			stop(os.Interrupt)
		case <-t.byHand:
			go func() { saved <- run.Checkpoint(context.Background(), "by hand") }()
		case err := <-t.trouble:
			note := fmt.Sprintf("note: %v", err)
			if say(note); board != nil {
				passed = append(passed[max(len(passed)-7, 0):], note)
			}
		case err := <-saved:
			if err != nil {
				say(fmt.Sprintf("checkpoint failed: %v", err))
			} else if p.End(); !board.say("checkpoint taken") && !t.json {
				fmt.Fprintln(t.out, "checkpoint taken")
			}
		case sig := <-t.signals:
			reason := emergencies[sig]
			if reason == "" {
				stop(sig)
				continue
			}
			if !leaving {
				interrupted, leaving = true, true
				board.close()
				board = nil
				p.End()
				leave(t, run, reason)
			}
		}
	}
}
