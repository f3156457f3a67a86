// Package orders has the commands that steer the run in progress.
package orders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
)

// Terminal is what the commands need of the program.
type Terminal struct {
	Out  io.Writer
	JSON bool
	Data string
	// Steer calls f with a client of a run in progress; without a name, of the one that InProgress returns.
	Steer func(ctx context.Context, run string, f func(ctx context.Context, c *control.Client, run engine.RunID) error) error
	// InProgress returns a run by its name or, without one, the run in progress; nil if there is none.
	InProgress func(ctx context.Context, run string) (*engine.RunRecord, error)
}

// Which selects the run that receives an order.
type Which struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the run in progress)."`
}

// Because has the reason of an order.
type Because struct {
	Why string `placeholder:"TEXT" help:"Reason, recorded in the journal."`
}

// jsonFlag is the flag of commands with JSON output.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Set is the command set.
type Set struct {
	Settings []string `arg:"" optional:"" name:"name=value" help:"Settings to change (default: list them all). A run ID may come first."`
	Because
	jsonFlag
}

// Run is called by kong.
func (c *Set) Run(ctx context.Context, t *Terminal) error {
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
	return t.Steer(ctx, name, func(ctx context.Context, client *control.Client, id engine.RunID) error {
		if len(settings) == 0 {
			return t.tunables(ctx, client, id)
		}
		changes, err := client.Set(ctx, settings, c.Why)
		if _, mistaken := errors.AsType[*engine.FieldError](err); mistaken {
			return fmt.Errorf("nothing was changed: %w", err)
		} else if err != nil {
			return err
		}
		if t.JSON {
			return answer.Print(t.Out, answer.Changes{Run: id, Changes: changes})
		}
		w := show.NewTable(t.Out)
		for _, change := range changes {
			show.Row(w, "%s\t%s → %s\n", change.Name, change.Old, change.New)
		}
		return w.Flush()
	})
}

// tunables lists the settings that can be changed while a run is in progress.
func (t *Terminal) tunables(ctx context.Context, client *control.Client, id engine.RunID) error {
	tunables, err := client.Tunables(ctx)
	if err != nil {
		return err
	}
	if t.JSON {
		j := answer.Changes{Run: id}
		for _, one := range tunables {
			j.Tunables = append(j.Tunables, answer.Tunable{Name: one.Name, Value: one.Value, Meaning: one.Help})
		}
		return answer.Print(t.Out, j)
	}
	w := show.NewTable(t.Out)
	fmt.Fprintln(w, "SETTING\tVALUE\tMEANING")
	for _, tunable := range tunables {
		show.Row(w, "%s\t%s\t%s\n", tunable.Name, tunable.Value, tunable.Help)
	}
	return w.Flush()
}

// order sends an order and prints the confirmation.
func (t *Terminal) order(ctx context.Context, run string, give func(ctx context.Context, c *control.Client) error, done string) error {
	return t.Steer(ctx, run, func(ctx context.Context, c *control.Client, id engine.RunID) error {
		if err := give(ctx, c); err != nil {
			return err
		}
		if t.JSON {
			return answer.Print(t.Out, answer.Done{Run: id, Done: done})
		}
		fmt.Fprintf(t.Out, "run %s: %s\n", id, done)
		return nil
	})
}

// Pause is the command pause.
type Pause struct {
	Which
	Because
	jsonFlag
}

// Run is called by kong.
func (c *Pause) Run(ctx context.Context, t *Terminal) error {
	return t.order(ctx, c.RunID, func(ctx context.Context, client *control.Client) error { return client.Pause(ctx, c.Why) },
		"paused; sessions in flight finish; continue with: throngctl continue")
}

// Continue is the command continue.
type Continue struct {
	Which
	jsonFlag
}

// Run is called by kong.
func (c *Continue) Run(ctx context.Context, t *Terminal) error {
	return t.order(ctx, c.RunID, func(ctx context.Context, client *control.Client) error { return client.Continue(ctx) }, "continued")
}

// Stop is the command stop.
type Stop struct {
	Which
	jsonFlag
	Now bool `help:"Cancel sessions in flight instead of letting them finish; they run again on resume."`
	Because
}

// Run is called by kong.
func (c *Stop) Run(ctx context.Context, t *Terminal) error {
	record, err := t.InProgress(ctx, c.RunID)
	if err != nil {
		return err
	}
	run, what, then := c.RunID, "", ""
	if record != nil && record.InProgress {
		if run, what = string(record.ID), fmt.Sprintf(" %q", record.DisplayName()); record.Experiment != "" {
			file := experimentOf(t.Data, record)
			if c.RunID == "" {
				return &engine.FieldError{
					Field: "run", Problem: fmt.Sprintf("%s is a run of the experiment %q, which would stop with it; nothing was stopped", record.ID, record.Experiment),
					Hint: fmt.Sprintf("to stop the experiment: throngctl experiment stop %s; it keeps its completed runs, and throngctl experiment run %s continues it", file, file),
				}
			}
			then = fmt.Sprintf("; the experiment %q stops with it and keeps its completed runs; continue both with: throngctl experiment run %s", record.Experiment, file)
		} else {
			then = "; resume it with: throngctl resume " + run
		}
	}
	done := "stopping" + what + "; sessions in flight finish, then a checkpoint is taken" + then
	if c.Now {
		done = "stopping" + what + " immediately; sessions in flight are canceled and run again on resume" + then
	}
	return t.order(ctx, run, func(ctx context.Context, client *control.Client) error { return client.Stop(ctx, c.Now, c.Why) }, done)
}

// experimentOf returns the file of the experiment to which a run belongs.
func experimentOf(data string, r *engine.RunRecord) string {
	file := "FILE"
	all, _ := steering.List(data) // without it, the message says FILE
	for _, e := range all {
		if e.Title == r.Experiment && (file == "FILE" || e.Executor != nil) {
			file = e.File
		}
	}
	return file
}

// Checkpoint is the command checkpoint.
type Checkpoint struct {
	Which
	Because
	jsonFlag
}

// Run is called by kong.
func (c *Checkpoint) Run(ctx context.Context, t *Terminal) error {
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

// Retire is the command retire.
type Retire struct {
	someAgents
	jsonFlag
}

// Run is called by kong.
func (c *Retire) Run(ctx context.Context, t *Terminal) error {
	run, agents := c.split()
	return t.order(ctx, run, func(ctx context.Context, client *control.Client) error { return client.Retire(ctx, agents) },
		"retired from the next cycle on: "+strings.Join(agents, ", "))
}

// Requeue is the command requeue.
type Requeue struct {
	someAgents
	jsonFlag
}

// Run is called by kong.
func (c *Requeue) Run(ctx context.Context, t *Terminal) error {
	run, agents := c.split()
	return t.order(ctx, run, func(ctx context.Context, client *control.Client) error { return client.Requeue(ctx, agents) },
		"retrying: "+strings.Join(agents, ", "))
}

// Broadcast is the command broadcast.
type Broadcast struct {
	First  string   `arg:"" name:"text" help:"Message, in quotes."`
	Second string   `arg:"" optional:"" name:"word" help:"The message, if a run ID comes first."`
	More   []string `arg:"" optional:"" name:"agent" help:"More agents for --to."`
	jsonFlag
	To []string `placeholder:"AGENT" sep:"," help:"Agent IDs to send to (default: all agents)."`
}

// split separates the run ID, the message and the agents. Agents after the value of --to follow the message.
func (c *Broadcast) split() (run, text string, to []string, err error) {
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
func (c *Broadcast) Run(ctx context.Context, t *Terminal) error {
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
