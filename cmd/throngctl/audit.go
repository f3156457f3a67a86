package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/storage/sqlite"
)

// auditCmd recomputes what was recorded.
type auditCmd struct {
	RunID  string `arg:"" optional:"" name:"run" help:"Run ID or its beginning (default: the newest run)."`
	All    bool   `short:"a" help:"List every figure, not just groups and differences."`
	Export string `placeholder:"DIR" help:"Audit the files of an export in this folder, and compare them with the store if it holds the run."`
	databaseFlag
	jsonFlag
}

// Run is called by kong.
func (c *auditCmd) Run(ctx context.Context, t *terminal) error {
	if c.Export != "" {
		return c.files(ctx, t)
	}
	db, err := c.find(t)
	if err != nil {
		return err
	}
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		report, err := review.Audit(ctx, store, r.ID)
		if err == nil && db.URL != "" {
			var both *audit.Report
			if both, err = review.AuditSent(ctx, store, r.ID, db); err == nil {
				report.Add(both)
			} else if c.DatabaseURL == "" { // not requested
				fmt.Fprintf(t.err, "Rows in %s were not compared: %v\n", db.Target(), err)
				err = nil
			}
		}
		if err != nil {
			return err
		}
		return t.audited(report, c.All)
	})
}

// files audits an export.
func (c *auditCmd) files(ctx context.Context, t *terminal) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	report, known, err := review.AuditExport(ctx, store, c.Export)
	if err != nil {
		return err
	}
	if !known {
		fmt.Fprintf(t.err, "Run %s is not in the store: its files were only compared with each other.\n", report.Run)
	}
	return t.audited(report, c.All)
}

// audited prints what an audit found: every figure, or a line for each group and each figure that differs. A difference
// is an exit code.
func (t *terminal) audited(r *audit.Report, all bool) error {
	if t.json {
		err := t.print(newAudit(r))
		if err == nil && !r.Equal() {
			err = exitError(exitFailed)
		}
		return err
	}
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tVALUES\tRECORDED\tRECOMPUTED\t")
	if !all {
		for _, g := range r.Groups() {
			rowf(w, "%s\t%s\t\t\t%s\n", g.Name, engine.FormatCount(int64(g.Values)), grade(g.Differ, g.Values == 0))
		}
	}
	for i := range r.Figures {
		f := &r.Figures[i]
		if !all && f.Differ == 0 {
			continue
		}
		told := grade(f.Differ, f.Alone)
		if f.Bound != "" {
			told += " (within " + f.Bound + ")"
		}
		if f.Where != "" {
			told += ": " + f.Where
		}
		rowf(w, "%s: %s\t%s\t%s\t%s\t%s\n", f.Group, f.Name, engine.FormatCount(int64(f.Values)), f.Recorded, f.Recomputed, told)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "run %s: %s\n", r.Run, r.Summary())
	if !r.Equal() {
		return exitError(exitFailed)
	}
	return nil
}

// grade is what came of a comparison.
func grade(differ int, alone bool) string {
	switch {
	case alone:
		return "recorded only"
	case differ > 0:
		return engine.FormatCount(int64(differ)) + plural(differ, " differs", " differ")
	default:
		return "ok"
	}
}
