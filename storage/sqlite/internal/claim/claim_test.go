package claim

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// TestHoldersAreReportedOnce waits for a run that is in progress while an experiment has the turn: each of the two is reported once,
// however long the wait is.
func TestHoldersAreReportedOnce(t *testing.T) {
	dir, free := t.TempDir(), func(context.Context, engine.RunID) error { return nil }
	logger := slog.New(slog.DiscardHandler)
	synctest.Test(t, func(t *testing.T) {
		holds, waits := New(dir, logger, free), New(dir, logger, free)
		pass, err := holds.Turn(t.Context(), queue.Entry{Work: "the experiment prices"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		release, err := holds.Claim(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		var reported []string
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = waits.Wait(ctx, "r", queue.Entry{Work: "run r"}, func(holder string) { reported = append(reported, holder) })
		if !errors.Is(err, context.DeadlineExceeded) || len(reported) != 2 || reported[0] == reported[1] {
			t.Errorf("%d holders were reported: %.2q; the wait ended with %v", len(reported), reported, err)
		}
		release()
		pass()
	})
}
