// Package bundles has the commands that pack a run into one file, check such a file, and open it.
package bundles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/runbundle"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Terminal is what the commands need of the program.
type Terminal struct {
	Out    io.Writer
	JSON   bool
	Data   string
	Failed error // of a bundle that is not what it says
	// With opens the store and finds a run by a name; "" is the newest run.
	With func(ctx context.Context, name string, f func(*sqlite.Store, engine.RunRecord) error) error
	// Process prepares a command line of throngctl as a process with a data folder.
	Process func(ctx context.Context, data string, args ...string) (*exec.Cmd, error)
}

// Commands are the commands about bundles.
type Commands struct {
	Make   makeCmd   `cmd:"" default:"withargs" help:"Pack a run into one file: scenario, parameters, seed, settings, journal, versions and digests. This is the default: bundle RUN means bundle make RUN."`
	Verify verifyCmd `cmd:"" help:"Check a bundle: its files, its figures and results, and, if the run was recorded, a replay without a network."`
	Open   openCmd   `cmd:"" help:"Add the run of a bundle to the store."`
}

type makeCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	Out   string `short:"o" placeholder:"FILE" help:"File to write (default: throng-RUN.zip). It must not exist."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Run is called by kong.
func (c *makeCmd) Run(ctx context.Context, t *Terminal) error {
	return t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		path := c.Out
		if path == "" {
			path = "throng-" + string(r.ID) + ".zip"
		}
		if there, err := os.Stat(path); err == nil && there.Mode().IsRegular() {
			return &engine.FieldError{Field: "output", Problem: path + " already exists", Hint: "nothing was written; choose another file with -o"}
		}
		var m *runbundle.Manifest
		err := file.Write(path, func(w io.Writer) (err error) {
			m, err = runbundle.Write(ctx, store, r.ID, w)
			return err
		})
		if err != nil {
			return err
		}
		if t.JSON {
			return answer.Print(t.Out, answer.Bundle{File: path, Manifest: *m})
		}
		_, err = fmt.Fprintf(t.Out, "Wrote %s: run %s, %s. It holds what agents and services said, as far as the run keeps it.\n%s\nCheck it anywhere: throngctl bundle verify %s\n",
			path, m.Run, sessions(m), m.Kept(), path)
		return err
	})
}

func sessions(m *runbundle.Manifest) string { return engine.Counted(m.Sessions, "session", "sessions") }

type verifyCmd struct {
	File string `arg:"" help:"Bundle to check."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run is called by kong. A difference sets the exit code.
func (c *verifyCmd) Run(ctx context.Context, t *Terminal) (err error) {
	b, err := runbundle.Open(ctx, c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	found := answer.BundleCheck{File: c.File, Run: b.Run, Files: len(b.Files)}
	report, err := b.Audit(ctx)
	if err != nil {
		return err
	}
	found.Figures, found.FiguresDiffer, _ = report.Counts()
	if found.Changed, err = b.Changed(ctx); err != nil {
		return err
	}
	if err := c.replay(ctx, t, b, &found); err != nil {
		return err
	}
	found.Sound = found.FiguresDiffer == 0 && len(found.Changed) == 0 && len(found.ReplayDiffers) == 0
	if t.JSON {
		err = answer.Print(t.Out, found)
	} else {
		err = explain(t.Out, &b.Manifest, &found, report.Summary())
	}
	if err == nil && !found.Sound {
		err = t.Failed
	}
	return err
}

// replay replays the run in the folder of the bundle, in another process.
func (c *verifyCmd) replay(ctx context.Context, t *Terminal, b *runbundle.Bundle, found *answer.BundleCheck) error {
	if !b.Recorded {
		found.NotReplayed = "the answers were not recorded (throngctl run --record)"
		return nil
	}
	cmd, err := t.Process(ctx, b.Dir, "run", "--replay="+string(b.Run), "--json")
	if err != nil {
		return err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(errs.String())
		var failed answer.Error
		if json.Unmarshal([]byte(said), &failed) == nil {
			said = failed.Error
			if len(failed.Mistakes) == 1 && failed.Mistakes[0].Field == "replay" { // its recording is incomplete, or it was changed by hand
				found.NotReplayed = strings.TrimPrefix(said, "replay: ")
				return nil
			}
		}
		if said != "" { // else the run missed a criterion, as it may have done before
			return fmt.Errorf("the run cannot be replayed: %s", said)
		}
	}
	found.Replayed = true
	found.ReplayDiffers, err = b.Replayed(ctx)
	return err
}

// explain prints the result of a check.
func explain(w io.Writer, m *runbundle.Manifest, c *answer.BundleCheck, summary string) error {
	out := show.NewTable(w)
	fmt.Fprintf(out, "Run\t%s: %s, seed %d, made by Throng %s\n", m.Run, m.Title, m.Seed, m.Throng)
	fmt.Fprintf(out, "Files\tall %d as the bundle lists them\n", c.Files)
	fmt.Fprintf(out, "Manifest\tdescribes the run\n")
	fmt.Fprintf(out, "Figures\t%s\n", summary)
	fmt.Fprintf(out, "Results\t%s\n", asBefore(c.Changed, "sessions, events and memory as when the bundle was made"))
	switch {
	case c.Replayed:
		fmt.Fprintf(out, "Replay\t%s\n", asBefore(c.ReplayDiffers, "the same sessions, events and memory"))
	default:
		fmt.Fprintf(out, "Replay\tnot possible: %s\n", c.NotReplayed)
	}
	return out.Flush()
}

// asBefore describes files that differ.
func asBefore(changed []string, same string) string {
	if len(changed) == 0 {
		return same
	}
	return "different: " + strings.Join(changed, ", ")
}

type openCmd struct {
	File string `arg:"" help:"Bundle to open."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run is called by kong.
func (c *openCmd) Run(ctx context.Context, t *Terminal) (err error) {
	b, err := runbundle.Open(ctx, c.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.Add(ctx, t.Data); err != nil {
		return err
	}
	if t.JSON {
		return answer.Print(t.Out, answer.Bundle{File: c.File, Manifest: b.Manifest})
	}
	fmt.Fprintf(t.Out, "Added run %s: %s, %s. All files are as the bundle lists them.\n", b.Run, b.Title, sessions(&b.Manifest))
	out := show.NewTable(t.Out)
	fmt.Fprintf(out, "Check its results:\tthrongctl bundle verify %s\n", c.File)
	if b.Replayable() {
		fmt.Fprintf(out, "Replay it:\tthrongctl run --replay %s\n", b.Run)
	}
	fmt.Fprintf(out, "Write a report:\tthrongctl report %s\n", b.Run)
	return out.Flush()
}
