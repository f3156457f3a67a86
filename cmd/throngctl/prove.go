package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/proof"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
)

// proveCmd runs a scenario and kills its process repeatedly.
type proveCmd struct {
	File string `arg:"" optional:"" help:"Scenario file, or the name of a built-in scenario (default: all built-in scenarios, small)."`
	selection

	Kills int  `default:"20" placeholder:"N" help:"Kills over all trials."`
	Only  int  `placeholder:"TRIAL" help:"Run only this trial."`
	Keep  bool `help:"Keep the folders of the trials and their rows in the database."`
	proof.Flags
	jsonFlag
	Yes bool `short:"y" help:"Skip the confirmation before calling real services."`
	flags.Settings
	flags.Adaptive
	flags.Fixed
	flags.Services
	DatabaseURL string `name:"database-url" placeholder:"URL" help:"Also send results to this Postgres database and compare them there; the rows are deleted at the end." group:"Results"`
}

// Run is called by kong.
func (c *proveCmd) Run(ctx context.Context, t *terminal) error {
	if c.Kills < 1 {
		return &engine.FieldError{Field: "kills", Problem: "a proof needs kills", Hint: "at least 1"}
	}
	all, err := c.proofs(ctx, t)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // a signal kills the child processes and removes their folders
		select {
		case <-t.signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	var reports []*prove.Report
	for i := range all {
		r, err := c.prove(ctx, t, &all[i])
		if errors.Is(err, errInterrupted) {
			fmt.Fprintln(t.err, "Interrupted; the processes of the proof are stopped and their folders deleted.")
			return exitError(exitInterrupted)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", all[i].Name, err)
		}
		reports = append(reports, r)
	}
	return c.proved(t, all, reports)
}

// proofs returns the scenarios that the flags select, checked.
func (c *proveCmd) proofs(ctx context.Context, t *terminal) (all []proof.Proof, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if c.File == "" {
		return c.builtIn(t, program)
	}
	asRun := runCmd{
		File: c.File, selection: c.selection,
		Settings: c.Settings, Adaptive: c.Adaptive, Fixed: c.Fixed, Services: c.Services,
	}
	l, err := asRun.launch(ctx, t)
	if err != nil {
		return nil, err
	}
	p := proof.Proof{Name: c.File, Config: prove.Config{
		Program: program, Env: t.hooks.env, Data: t.data, Kills: c.Kills, Seed: l.Settings.Seed, Only: c.Only, Keep: c.Keep, AtOnce: runtime.NumCPU(),
	}}
	if p.Fleet, err = c.Of(&l); err != nil {
		return nil, err
	}
	if flags.Given(c.Settings.Plugins)[engine.LimitSetting] != "" {
		p.Limit = l.Settings.Limit
	}
	if p.Database, err = (databaseFlag{DatabaseURL: c.DatabaseURL}).named(t); err != nil {
		return nil, err
	}
	if err := askDestinations(t, &l); err != nil {
		return nil, err
	}
	c.arguments(&p.Config, append(l.Permits().Allowed(), c.Allow...)) // the child processes have their own data folders
	if outside := asked(&l); len(outside) > 0 {
		p.AtOnce = 1
		if !c.agree(t, outside) {
			if t.json {
				return nil, &engine.FieldError{Field: "json", Problem: "cannot ask whether real services may be called; nothing was started", Hint: "add --yes"}
			}
			fmt.Fprintln(t.out, "Nothing was started.")
			return nil, exitError(exitFailed)
		}
	}
	return []proof.Proof{p}, nil
}

// asked returns the services of a launch that are not mocks.
func asked(l *app.Launch) (all []string) {
	for _, o := range l.Permits().PlannedServices() {
		if !o.Embedded {
			all = append(all, o.Name)
		}
	}
	return all
}

// agree asks whether real services may be called repeatedly.
func (c *proveCmd) agree(t *terminal, outside []string) bool {
	if t.json { // cannot ask
		return c.Yes
	}
	fmt.Fprintf(t.out, "%s %s not a mock: all requests of a run are sent to %s up to %d times, with their cost and effects.\n"+
		"The services must answer equal requests equally, and must honor Idempotency-Key.\n",
		strings.Join(outside, ", "), show.Plural(len(outside), "is", "are"), show.Plural(len(outside), "it", "them"), c.Kills+1)
	return c.Yes || t.answer("Continue? Type yes: ") == "yes"
}

// arguments sets the command lines of the child processes.
func (c *proveCmd) arguments(p *prove.Config, allowed []string) {
	run := []string{c.File, fmt.Sprintf("--seed=%d", p.Seed)}
	flag := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				run = append(run, "--"+name+"="+v)
			}
		}
	}
	flag("set", pairs(c.Set)...)
	flag("agents", strings.Join(c.Agents, ","))
	flag("filter", c.Filter)
	flag("chain", c.Chain)
	flag("payload", c.Payload)
	p.Given = c.Into(flags.Given(c.Settings.Plugins, c.Fixed.Plugins))
	for _, name := range slices.Sorted(maps.Keys(p.Given)) {
		if name != "seed" && name != "max-concurrent" && name != "keep-awake" {
			flag(name, p.Given[name])
		}
	}
	flag("mock-latency", c.MockLatency)
	flag("mock-fault", pairs(c.MockFault)...)
	flag("service", pairs(c.Service)...)
	if c.MockScarcity {
		run = append(run, "--mock-scarcity")
	}
	flag("allow", allowed...)
	p.Run = run
	for _, host := range allowed {
		p.Resume = append(p.Resume, "--allow="+host)
	}
}

func pairs(of map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, name+"="+of[name])
	}
	return all
}

// builtIn returns proofs of all built-in scenarios, which share the kills.
func (c *proveCmd) builtIn(t *terminal, program string) (all []proof.Proof, err error) {
	if c.Only > 0 || len(c.Set)+len(c.MockFault)+len(c.Service)+len(c.Agents) > 0 || c.Filter+c.Chain+c.Payload+c.MockLatency+c.DatabaseURL != "" {
		return nil, &engine.FieldError{Field: "prove", Problem: "these flags need a scenario", Hint: "throngctl prove shopping …"}
	}
	given := c.Into(flags.Given(c.Settings.Plugins, c.Fixed.Plugins))
	seed := prove.DefaultSeed
	if text := given["seed"]; text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			return nil, &engine.FieldError{Field: "seed", Problem: fmt.Sprintf("%q is not a whole number", text)}
		}
		delete(given, "seed")
	}
	if len(given) > 0 {
		return nil, &engine.FieldError{Field: "prove", Problem: "these flags need a scenario", Hint: "throngctl prove shopping …"}
	}
	fleet, err := c.Trials()
	if err != nil {
		return nil, err
	}
	shared := prove.Config{Program: program, Env: t.hooks.env, Kills: c.Kills, Seed: seed, Keep: c.Keep, Fleet: fleet, AtOnce: runtime.NumCPU()}
	return proof.BuiltIn(&shared), nil
}

// prove executes one proof and shows its progress.
func (c *proveCmd) prove(ctx context.Context, t *terminal, p *proof.Proof) (*prove.Report, error) {
	out := t.out
	if t.json {
		out = t.err
	}
	line := show.NewProgress(out, false)
	defer line.End()
	p.Tell = func(at prove.Progress) {
		text := fmt.Sprintf("%s  killed %d/%d times  %d resumes  %d trials differ", p.Name, at.Kills, at.Of, at.Resumes, at.Differ)
		if at.Undisturbed {
			text = p.Name + "  undisturbed, for comparison"
		}
		line.Say(time.Now(), text, !at.Undisturbed && at.Kills >= at.Of)
	}
	return prove.Prove(ctx, p.Config)
}

// proved prints the results. The error is the exit code.
func (c *proveCmd) proved(t *terminal, all []proof.Proof, reports []*prove.Report) error {
	proofs := []answer.Proof{}
	var failed error
	for i, r := range reports {
		proofs = append(proofs, answer.NewProof(all[i].Name, r))
		if r.Failed() != nil {
			failed = exitError(exitFailed)
		}
	}
	if t.json {
		return errors.Join(failed, t.print(proofs))
	}
	if err := answer.PrintProofs(t.out, proofs); err != nil {
		return err
	}
	proof.Explain(t.out, all, reports)
	return failed
}
