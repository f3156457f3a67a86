package app

import (
	"context"
	"errors"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// AuditAll audits the finished runs of a store: all figures that a test leaves must agree with the journal.
func AuditAll(t *testing.T, store *sqlite.Store) {
	t.Helper()
	ctx := context.Background() // the context of the test may be done
	runs, err := store.Runs(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, r := range runs {
		report, err := review.Audit(ctx, store, r.ID)
		if _, inProgress := errors.AsType[*engine.FieldError](err); inProgress {
			continue
		}
		if err != nil {
			t.Errorf("audit of the test's stores: %v", err)
			continue
		}
		for _, f := range report.Figures {
			if f.Differ > 0 {
				t.Errorf("run %s, %s: %s: recorded %s, recomputed %s (%d of %d differ) %s", r.ID, f.Group, f.Name, f.Recorded, f.Recomputed, f.Differ, f.Values, f.Where)
			}
		}
	}
}
