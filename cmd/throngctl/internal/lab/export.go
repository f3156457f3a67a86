package lab

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
	"github.com/throng-sim/throng/storage"
)

// standard is the file name that means standard output.
const standard = "-"

type exportCmd struct {
	File    string         `arg:"" help:"Experiment file."`
	Output  string         `short:"o" placeholder:"FILE" help:"File to write, or folder with --all (default: standard output; - means standard output)."`
	Effects bool           `help:"Export a row for each measure and point, with its difference from the baseline."`
	Real    bool           `help:"Export a row for each column of the real data and point, with its distances."`
	All     bool           `help:"Write all tables, the experiment and a README that describes them to the folder of -o."`
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
	return t.measured(ctx, c.File, func(x *experiments.Experiment, table *findings.Table) error {
		if c.All {
			if err := x.Export(c.Output, c.Format, table); err != nil {
				return err
			}
			_, err := fmt.Fprintf(t.Out, "exported to %s\n", c.Output)
			return err
		}
		sheet := table.Sheet()
		switch real := nearest.Rank(table); {
		case c.Effects:
			sheet = findings.Compare(table).Sheet()
		case c.Real && real == nil:
			return &engine.FieldError{Field: "real", Problem: "the experiment names no real data", Hint: "add `validate_against` to the experiment or its scenario"}
		case c.Real:
			sheet = real.Sheet()
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
	case c.Real && (c.All || c.Effects):
		return &engine.FieldError{Field: "real", Problem: "--real writes another table than --effects, and --all writes it, too", Hint: "use one of them"}
	case c.All && c.Output == "":
		return &engine.FieldError{Field: "output", Problem: "--all writes several files", Hint: "name a folder with -o DIR"}
	case c.Output == "" && c.Format == storage.Parquet && shown:
		return &engine.FieldError{Field: "format", Problem: "Parquet cannot be written to a terminal", Hint: "name a file with -o FILE"}
	}
	return nil
}

type reportCmd struct {
	File   string `arg:"" help:"Experiment file."`
	Output string `short:"o" placeholder:"FILE" help:"HTML file to write; - means standard output (default: NAME.html)."`
	jsonFlag
}

// Run is called by kong.
func (c *reportCmd) Run(ctx context.Context, t *Terminal) error {
	if c.JSON && c.Output == standard {
		return &engine.FieldError{Field: "json", Problem: "the report itself goes to standard output", Hint: "add -o FILE, or leave out --json"}
	}
	return t.measured(ctx, c.File, func(x *experiments.Experiment, table *findings.Table) error {
		if c.Output == standard {
			return x.Report(t.Out, table)
		}
		path := c.Output
		if path == "" {
			path = strings.TrimSuffix(filepath.Base(c.File), experiment.Ending) + ".html"
		}
		if err := file.Write(path, func(w io.Writer) error { return x.Report(w, table) }); err != nil {
			return err
		}
		done := "report of the experiment: " + path
		if t.JSON {
			return answer.Print(t.Out, answer.Done{Done: done})
		}
		_, err := fmt.Fprintln(t.Out, done)
		return err
	})
}
