package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// whichRun selects the run that receives an order.
type whichRun struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the run in progress)."`
}

// because has the reason of an order.
type because struct {
	Why string `placeholder:"TEXT" help:"Reason, recorded in the journal."`
}

var errNoneInProgress = errors.New("no run is in progress; start one with: throngctl run, or resume one with: throngctl resume")

// steer finds the run in progress and calls f with a client of its process. A signal cancels f.
func (t *terminal) steer(ctx context.Context, name string, f func(ctx context.Context, c *control.Client, run engine.RunID) error) error {
	var record *engine.RunRecord
	err := t.look(ctx, func(store *sqlite.Store) (err error) {
		record, err = inProgress(ctx, store, name)
		return err
	})
	switch {
	case err != nil:
		return err
	case record == nil:
		return errNoneInProgress
	case !record.InProgress && record.Ending == engine.EndFinished:
		return fmt.Errorf("run %s is not in progress: it has finished", record.ID)
	case !record.InProgress:
		return fmt.Errorf("run %s is not in progress; resume it with: throngctl resume %s", record.ID, record.ID)
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		select {
		case <-t.signals:
			giveUp(exitError(exitInterrupted))
		case <-ctx.Done():
		}
	}()
	c, err := control.Dial(ctx, t.data, record.ID)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return f(ctx, c, record.ID)
}

// look opens the store for f.
func (t *terminal) look(_ context.Context, f func(*sqlite.Store) error) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return f(store)
}

// inProgress returns a run by the start of its ID or, without one, the run in progress; nil if there is none.
func inProgress(ctx context.Context, store *sqlite.Store, name string) (*engine.RunRecord, error) {
	if name != "" {
		record, err := store.Run(ctx, engine.RunID(name))
		return &record, err
	}
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(runs, func(r engine.RunRecord) bool { return r.InProgress }); i >= 0 {
		return &runs[i], nil
	}
	return nil, nil //nolint:nilnil // no run is in progress
}

type setCmd struct {
	Settings []string `arg:"" optional:"" name:"name=value" help:"Settings to change (default: list them all). A run ID may come first."`
	because
	jsonFlag
}

// Run is called by kong.
func (c *setCmd) Run(ctx context.Context, t *terminal) error {
	name, pairs := "", c.Settings
	if len(pairs) > 0 && !strings.Contains(pairs[0], "=") {
		name, pairs = pairs[0], pairs[1:]
		if name == "" || name[0] < '0' || name[0] > '9' { // run IDs start with a digit
			return &engine.FieldError{Field: name, Problem: "expected name=value", Hint: "for example max-concurrent=30; throngctl set lists the settings"}
		}
	}
	var settings []engine.Assignment
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return &engine.FieldError{Field: pair, Problem: "expected name=value"}
		}
		settings = append(settings, engine.Assignment{Name: key, Value: value})
	}
	return t.steer(ctx, name, func(ctx context.Context, client *control.Client, id engine.RunID) error {
		w := show.NewTable(t.out)
		if len(settings) == 0 {
			tunables, err := client.Tunables(ctx)
			if err != nil {
				return err
			}
			if t.json {
				j := answer.Changes{Run: id}
				for _, one := range tunables {
					j.Tunables = append(j.Tunables, answer.Tunable{Name: one.Name, Value: one.Value, Meaning: one.Help})
				}
				return t.print(j)
			}
			fmt.Fprintln(w, "SETTING\tVALUE\tMEANING")
			for _, tunable := range tunables {
				show.Row(w, "%s\t%s\t%s\n", tunable.Name, tunable.Value, tunable.Help)
			}
			return w.Flush()
		}
		changes, err := client.Set(ctx, settings, c.Why)
		if _, mistaken := errors.AsType[*engine.FieldError](err); mistaken {
			return fmt.Errorf("nothing was changed: %w", err)
		} else if err != nil {
			return err
		}
		if t.json {
			return t.print(answer.Changes{Run: id, Changes: changes})
		}
		for _, change := range changes {
			show.Row(w, "%s\t%s → %s\n", change.Name, change.Old, change.New)
		}
		return w.Flush()
	})
}

// order sends an order and prints the confirmation.
func (t *terminal) order(ctx context.Context, run string, give func(ctx context.Context, c *control.Client) error, done string) error {
	return t.steer(ctx, run, func(ctx context.Context, c *control.Client, id engine.RunID) error {
		if err := give(ctx, c); err != nil {
			return err
		}
		if t.json {
			return t.print(answer.Done{Run: id, Done: done})
		}
		fmt.Fprintf(t.out, "run %s: %s\n", id, done)
		return nil
	})
}

type pauseCmd struct {
	whichRun
	because
	jsonFlag
}

// Run is called by kong.
func (c *pauseCmd) Run(ctx context.Context, t *terminal) error {
	return t.order(ctx, c.RunID, func(ctx context.Context, client *control.Client) error { return client.Pause(ctx, c.Why) },
		"paused; sessions in flight finish; continue with: throngctl continue")
}

type continueCmd struct {
	whichRun
	jsonFlag
}

// Run is called by kong.
func (c *continueCmd) Run(ctx context.Context, t *terminal) error {
	return t.order(ctx, c.RunID, func(ctx context.Context, client *control.Client) error { return client.Continue(ctx) }, "continued")
}

type stopCmd struct {
	whichRun
	jsonFlag
	Now bool `help:"Cancel sessions in flight instead of letting them finish; they run again on resume."`
	because
}

// Run is called by kong.
func (c *stopCmd) Run(ctx context.Context, t *terminal) error {
	done := "stopping; sessions in flight finish, then a checkpoint is taken"
	if c.Now {
		done = "stopping immediately; sessions in flight are canceled and run again on resume"
	}
	return t.order(ctx, c.RunID, func(ctx context.Context, client *control.Client) error { return client.Stop(ctx, c.Now, c.Why) }, done)
}

type checkpointCmd struct {
	whichRun
	because
	jsonFlag
}

// Run is called by kong.
func (c *checkpointCmd) Run(ctx context.Context, t *terminal) error {
	return t.order(ctx, c.RunID, func(ctx context.Context, client *control.Client) error { return client.Checkpoint(ctx, c.Why) }, "checkpoint taken")
}

// someAgents takes agents, optionally after a run ID.
type someAgents struct {
	Agents []string `arg:"" name:"agent" help:"Agent IDs, or indexes from 0. A run ID may come first."`
}

// split separates the run ID, which has a date and a dash, from agent IDs and indexes.
func (a *someAgents) split() (run string, agents []string) {
	if len(a.Agents) > 1 && flags.IsRun(a.Agents[0]) {
		return a.Agents[0], a.Agents[1:]
	}
	return "", a.Agents
}

type retireCmd struct {
	someAgents
	jsonFlag
}

// Run is called by kong.
func (c *retireCmd) Run(ctx context.Context, t *terminal) error {
	run, agents := c.split()
	return t.order(ctx, run, func(ctx context.Context, client *control.Client) error { return client.Retire(ctx, agents) },
		"retired from the next cycle on: "+strings.Join(agents, ", "))
}

type requeueCmd struct {
	someAgents
	jsonFlag
}

// Run is called by kong.
func (c *requeueCmd) Run(ctx context.Context, t *terminal) error {
	run, agents := c.split()
	return t.order(ctx, run, func(ctx context.Context, client *control.Client) error { return client.Requeue(ctx, agents) },
		"retrying: "+strings.Join(agents, ", "))
}

type broadcastCmd struct {
	First  string   `arg:"" name:"text" help:"Message, in quotes."`
	Second string   `arg:"" optional:"" name:"word" help:"The message, if a run ID comes first."`
	More   []string `arg:"" optional:"" name:"agent" help:"More agents for --to."`
	jsonFlag
	To []string `placeholder:"AGENT" sep:"," help:"Agent IDs to send to (default: all agents)."`
}

// split separates the run ID, the message and the agents. Agents after the value of --to follow the message.
func (c *broadcastCmd) split() (run, text string, to []string, err error) {
	words := append([]string{c.First, c.Second}, c.More...)
	if c.Second == "" {
		words = words[:1]
	}
	if len(words) > 1 && flags.IsRun(words[0]) {
		run, words = words[0], words[1:]
	}
	if len(words) > 1 && len(c.To) == 0 {
		return "", "", nil, &engine.FieldError{Field: "text", Problem: fmt.Sprintf("expected one message, got %d words", len(words)), Hint: "put the message in quotes"}
	}
	return run, words[0], slices.Concat(c.To, words[1:]), nil
}

// Run is called by kong.
func (c *broadcastCmd) Run(ctx context.Context, t *terminal) error {
	run, text, agents, err := c.split()
	if err != nil {
		return err
	}
	to := "all"
	if len(agents) > 0 {
		to = strings.Join(agents, ", ")
	}
	return t.order(ctx, run, func(ctx context.Context, client *control.Client) error { return client.Broadcast(ctx, agents, text) },
		"sent to "+to+"; it is in the inboxes from the next cycle on")
}
