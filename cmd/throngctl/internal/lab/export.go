package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/storage"
)

// standard is the file name that means standard output.
const standard = "-"

type exportCmd struct {
	File    string         `arg:"" help:"Experiment file."`
	Output  string         `short:"o" placeholder:"FILE" help:"File to write, or folder with --all (default: standard output; - means standard output)."`
	Effects bool           `help:"Export a row for each measure and point, with its difference from the baseline."`
	All     bool           `help:"Write both tables, the experiment and a README that describes them to the folder of -o."`
	Format  storage.Format `enum:"csv,jsonl,parquet" default:"csv" help:"Format of the tables: csv, jsonl or parquet."`
}

// Run is called by kong.
func (c *exportCmd) Run(ctx context.Context, t *Terminal) error {
	if c.Output == standard {
		c.Output = ""
	}
	if err := c.check(t); err != nil {
		return err
	}
	return t.measured(ctx, c.File, func(_ *experiments.Experiment, table *findings.Table) error {
		if c.All {
			return c.all(t, table)
		}
		sheet := table.Sheet()
		if c.Effects {
			sheet = findings.Compare(table).Sheet()
		}
		write := func(w io.Writer) error { return storage.WriteSheet(w, &sheet, c.Format) }
		if c.Output == "" {
			return write(show.Raw(t.Out))
		}
		return file.Write(c.Output, write)
	})
}

func (c *exportCmd) check(t *Terminal) error {
	_, shown := show.IsTerminal(show.Raw(t.Out))
	switch {
	case c.All && c.Effects:
		return &engine.FieldError{Field: "effects", Problem: "--all writes the effects, too", Hint: "leave out --effects"}
	case c.All && c.Output == "":
		return &engine.FieldError{Field: "output", Problem: "--all writes several files", Hint: "name a folder with -o DIR"}
	case c.Output == "" && c.Format == storage.Parquet && shown:
		return &engine.FieldError{Field: "format", Problem: "Parquet cannot be written to a terminal", Hint: "name a file with -o FILE"}
	}
	return nil
}

// all writes a folder with everything.
func (c *exportCmd) all(t *Terminal, table *findings.Table) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	if err := storage.ExportExperiment(c.Output, c.Format, &storage.Experiment{Table: table, Name: filepath.Base(c.File), File: text, Version: about.Version()}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.Out, "exported to %s\n", c.Output)
	return err
}
