package main

import (
	"context"
	"fmt"
	"io"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// standard is the file name that means standard output.
const standard = "-"

// reportCmd writes an HTML report.
type reportCmd struct {
	RunID   string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	Out     string `short:"o" placeholder:"FILE" help:"HTML file to write; - means standard output (default: throng-RUN.html)."`
	Against string `placeholder:"RUN" help:"Run to compare with."`
	Audit   bool   `help:"Audit the run first and include the result."`
	jsonFlag
}

// Run is called by kong.
func (c *reportCmd) Run(ctx context.Context, t *terminal) error {
	if c.JSON && c.Out == standard {
		return &engine.FieldError{Field: "json", Problem: "the report itself goes to standard output", Hint: "add -o FILE, or leave out --json"}
	}
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		how := review.ReportOptions{Against: engine.RunID(c.Against), Audit: c.Audit}
		if c.Out == standard {
			return review.Report(ctx, t.out, store, r.ID, how)
		}
		path := c.Out
		if path == "" {
			path = "throng-" + string(r.ID) + ".html"
		}
		if err := writeReport(ctx, path, store, r.ID, how); err != nil {
			return err
		}
		if t.json {
			return t.print(answer.Report{Run: r.ID, File: path})
		}
		_, err := fmt.Fprintf(t.out, "report of run %s: %s\n", r.ID, path)
		return err
	})
}

// reportName is the file name of the report in an export.
const reportName = "report.html"

// writeReport writes the report of a run into a file.
func writeReport(ctx context.Context, path string, store *sqlite.Store, run engine.RunID, how review.ReportOptions) error {
	return file.Write(path, func(w io.Writer) error { return review.Report(ctx, w, store, run, how) })
}
