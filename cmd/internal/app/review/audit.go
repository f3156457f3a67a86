package review

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Audit recomputes the figures of a run from its journal, and checks that its agents' memory can be read. If the journal is
// not in this store, the error is a *engine.FieldError.
func Audit(ctx context.Context, store *sqlite.Store, run engine.RunID) (*audit.Report, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := CheckHere(&record); err != nil {
		return nil, err
	}
	report, err := audit.Run(ctx, store, run)
	if err != nil {
		return nil, err
	}
	if _, err := store.Memory(ctx, record.ID); err != nil {
		return nil, fmt.Errorf("audit run %s: the figures are readable, but the agents' memory is not: %w", record.ID, err)
	}
	return report, nil
}

// AuditSent compares the rows of a run in a database with the store: sums of columns, and every row. If the run was not
// completely sent, the error is a *engine.FieldError.
func AuditSent(ctx context.Context, store *sqlite.Store, run engine.RunID, db config.Database) (*audit.Report, error) {
	cfg, err := db.Config()
	if err != nil {
		return nil, err
	}
	waiting, err := store.Outbox(ctx, db.Target())
	if err != nil {
		return nil, err
	}
	if slices.Contains(waiting, run) { // unsent rows would count as missing
		return nil, &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s has rows that are not in %s yet", run, db.Target()), Hint: fmt.Sprintf("send them first: throngctl push %s", run),
		}
	}
	names, err := Names(ctx, store, run)
	if err != nil {
		return nil, err
	}
	report := &audit.Report{Run: run}
	err = postgres.Compare(ctx, cfg, store, run, names, func(table, figure, where string, same bool, there, here any) {
		report.Check("sent: "+table, figure, where, same, there, here)
	})
	return report, err
}

// AuditExport audits the exported files of a run. If the store has the run, it also compares the files with a new export.
// known reports whether the store has the run.
func AuditExport(ctx context.Context, store *sqlite.Store, dir string) (report *audit.Report, known bool, err error) {
	report, err = audit.Files(os.DirFS(dir))
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", dir, err)
	}
	if record, err := store.Run(ctx, report.Run); err != nil || record.Fetched != nil {
		return report, false, nil //nolint:nilerr // a run of another machine has only its files
	}
	fresh, err := os.MkdirTemp("", "throng-audit-")
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	names, err := Names(ctx, store, report.Run)
	if err != nil {
		return nil, true, err
	}
	if err := storage.ExportAll(ctx, fresh, store, report.Run, names, about.Version()); err != nil {
		return nil, true, err
	}
	for _, name := range []string{"sessions.csv", "events.csv", "timings.csv", "metrics.csv"} {
		there, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, true, err
		}
		here, err := os.ReadFile(filepath.Join(fresh, name))
		if err != nil {
			return nil, true, err
		}
		report.SameFile(name, there, here)
	}
	return report, true, nil
}
