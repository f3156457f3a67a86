package machines

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/workers"
)

// total returns the memory of this machine in bytes.
func total() uint64 { return machine.TotalMemory() }

// Commands are the commands for the workers of the run in progress.
type Commands struct {
	Status  statusCmd  `cmd:"" default:"withargs" help:"List the workers and what they do or, after the end of the run, what they did. This is the default: fleet means fleet status."`
	Drain   drainCmd   `cmd:"" help:"Let a worker end its sessions and take no others."`
	Undrain undrainCmd `cmd:"" help:"Let a worker that was drained take sessions again."`
	Remove  removeCmd  `cmd:"" help:"Remove a worker: its sessions in flight run again on the others."`
	Limit   limitCmd   `cmd:"" help:"Bound the sessions in flight of a worker; 0 sets no bound."`
}

// jsonFlag is the flag of commands with JSON output.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type statusCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the run in progress, or the newest)."`
	jsonFlag
}

// Run is called by kong.
func (c *statusCmd) Run(ctx context.Context, t *Terminal) error {
	switch r, err := t.InProgress(ctx, c.RunID); {
	case err != nil:
		return err
	case r == nil || !r.InProgress && r.Queued == "":
		return t.past(ctx, c.RunID)
	}
	return t.Steer(ctx, c.RunID, func(ctx context.Context, c *control.Client, _ engine.RunID) error {
		all, err := c.Workers(ctx)
		switch {
		case err != nil:
			return err
		case t.JSON:
			return answer.Print(t.Out, append([]workers.State{}, all...))
		case len(all) == 0:
			_, err := fmt.Fprintln(t.Out, "No worker has joined. Start one with the join line that the run printed: throngctl worker --join LINE")
			return err
		}
		w := show.NewTable(t.Out)
		fmt.Fprintln(w, "NAME\tSTATUS\tSYSTEM\tCORES\tLIMIT\tIN FLIGHT\tSESSIONS/S\tCPU\tMEMORY\tLAG")
		for i := range all {
			row(w, &all[i])
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for i := range all {
			if s := &all[i]; s.Why != "" {
				show.Row(t.Out, "%s is %s: %s\n", s.Name, s.Status, s.Why)
			}
		}
		return nil
	})
}

// row prints a worker.
func row(w io.Writer, s *workers.State) {
	limit := strconv.Itoa(s.Limit)
	if s.MaxLimit > 0 {
		limit += fmt.Sprintf(" (at most %d)", s.MaxLimit)
	}
	show.Row(w, "%s\t%s\t%s\t%d\t%s\t%d\t%.1f\t%.0f%%\t%s\t%s\n", s.Name, s.Status, s.System, s.Cores, limit, s.InFlight, s.PerSecond, s.CPU,
		engine.FormatBytes(int64(s.Memory)), s.Lag.Round(10*time.Microsecond))
}

// order sends an order about a worker and prints the confirmation.
func (t *Terminal) order(ctx context.Context, give func(ctx context.Context, c *control.Client) error, done string) error {
	return t.Steer(ctx, "", func(ctx context.Context, c *control.Client, run engine.RunID) error {
		if err := give(ctx, c); err != nil {
			return err
		}
		if t.JSON {
			return answer.Print(t.Out, answer.Done{Run: run, Done: done})
		}
		_, err := fmt.Fprintln(t.Out, done)
		return err
	})
}

// worker is the worker that a command is about.
type worker struct {
	Name string `arg:"" help:"Name of the worker; throngctl fleet status lists them."`
	jsonFlag
}

type drainCmd struct{ worker }

// Run is called by kong.
func (c *drainCmd) Run(ctx context.Context, t *Terminal) error {
	return t.order(ctx, func(ctx context.Context, client *control.Client) error { return client.DrainWorker(ctx, c.Name) },
		"worker "+c.Name+" ends its sessions and takes no others")
}

type undrainCmd struct{ worker }

// Run is called by kong.
func (c *undrainCmd) Run(ctx context.Context, t *Terminal) error {
	return t.order(ctx, func(ctx context.Context, client *control.Client) error { return client.UndrainWorker(ctx, c.Name) },
		"worker "+c.Name+" takes sessions again")
}

type removeCmd struct{ worker }

// Run is called by kong.
func (c *removeCmd) Run(ctx context.Context, t *Terminal) error {
	return t.order(ctx, func(ctx context.Context, client *control.Client) error { return client.RemoveWorker(ctx, c.Name) },
		"worker "+c.Name+" is removed; its sessions run again on the others")
}

type limitCmd struct {
	Limit string `arg:"" name:"name=n" help:"Name of the worker, and the most sessions that it has in flight."`
	jsonFlag
}

// Run is called by kong.
func (c *limitCmd) Run(ctx context.Context, t *Terminal) error {
	name, text, ok := strings.Cut(c.Limit, "=")
	most, err := strconv.Atoi(text)
	if !ok || name == "" || err != nil || most < 0 {
		return &engine.FieldError{Field: c.Limit, Problem: "expected NAME=N", Hint: "for example " + name + "=20; 0 sets no bound"}
	}
	done := fmt.Sprintf("worker %s has at most %s in flight", name, engine.Counted(int64(most), "session", "sessions"))
	if most == 0 {
		done = "worker " + name + " has its share of the limit in flight"
	}
	return t.order(ctx, func(ctx context.Context, client *control.Client) error { return client.LimitWorker(ctx, name, most) }, done)
}
