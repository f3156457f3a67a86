package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// tryCmd runs one session and shows what its steps do.
type tryCmd struct {
	File  string            `arg:"" help:"Scenario file, or the name of a built-in scenario."`
	Set   map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`
	Agent string            `placeholder:"ID" help:"Agent ID or index (default: the first agent)."`
	jsonFlag

	settingFlags
	newFlags
	outsideFlags
}

// Run is called by kong.
func (c *tryCmd) Run(ctx context.Context, t *terminal) error {
	s, err := t.load(c.File, scenario.Extras{Parameters: c.Set})
	if err != nil {
		return err
	}
	if err := s.PrintWarnings(t.err); err != nil {
		return err
	}
	as := validateCmd{settingFlags: c.settingFlags, newFlags: c.newFlags, outsideFlags: c.outsideFlags}
	l := app.Launch{Services: app.Services{Scenario: s, Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts}
	if l.Settings, err = as.settings(t, s); err != nil {
		return err
	}
	if err := errors.Join(t.askSecrets(l), t.askDestinations(&l)); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-t.signals:
			stop()
		case <-over:
		}
	}()
	trial, err := l.Try(ctx, c.Agent)
	if trial == nil {
		return err
	}
	if c.JSON {
		fmt.Fprint(t.out, trial.JSON())
	} else {
		printTrial(t.out, trial)
	}
	switch {
	case err != nil:
		fmt.Fprintln(t.err, "The session was cancelled.")
		return exitError(exitInterrupted)
	case !trial.Outcome.Commits():
		return exitError(exitFailed)
	}
	return nil
}

// printTrial writes a session step by step.
func printTrial(w io.Writer, t *engine.Trial) {
	fmt.Fprintf(w, "agent %s (index %d), chain %s: %s\n", t.ID, t.Agent, t.Chain, t.Ended())
	printSections(w, "  ", t.Begins())
	t.Walk(func(depth int, s *engine.TrialStep) {
		indent := strings.Repeat("  ", depth)
		name := s.Name
		if s.Pass > 0 {
			name = fmt.Sprintf("%s (pass %d)", name, s.Pass)
		}
		line := slices.DeleteFunc([]string{name, s.Kind, s.About(), s.Where()}, func(part string) bool { return part == "" })
		fmt.Fprintf(w, "\n%s%s\n", indent, strings.Join(line, "  "))
		printSections(w, indent+"  ", s.Sections())
	})
	fmt.Fprintln(w, "\nafter the session")
	printSections(w, "  ", t.Leaves())
}

func printSections(w io.Writer, indent string, all []engine.Section) {
	for _, s := range all {
		text := strings.ReplaceAll(strings.TrimRight(s.Text, "\n"), "\n", "\n"+indent+"  ")
		fmt.Fprintf(w, "%s%s\n", indent, s.Title)
		if text != "" {
			fmt.Fprintf(w, "%s  %s\n", indent, text)
		}
	}
}
