package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/storage/sqlite"
)

// auditCmd recomputes recorded figures.
type auditCmd struct {
	RunID  string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
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
		return c.audited(t, report, c.All)
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
	return c.audited(t, report, c.All)
}

// audited prints the result of an audit. A difference sets the exit code.
func (c *auditCmd) audited(t *terminal, r *audit.Report, all bool) error {
	if t.json {
		err := t.print(answer.NewAudit(r))
		if err == nil && !r.Equal() {
			err = exitError(exitFailed)
		}
		return err
	}
	if err := show.Audit(t.out, r, all); err != nil {
		return err
	}
	if !r.Equal() {
		return exitError(exitFailed)
	}
	return nil
}
