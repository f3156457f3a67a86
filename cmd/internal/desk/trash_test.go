package desk

import (
	"os"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/runs"
)

// TestTrash checks that a deleted run is restored completely, and that emptying the trash deletes a run with the log of its
// mock.
func TestTrash(t *testing.T) {
	d := open(t, t.TempDir())
	first, second := finish(t, d), finish(t, d)
	screen := runsDesk{d}
	if err := screen.Note(t.Context(), first, "the one to keep"); err != nil {
		t.Fatal(err)
	}
	before, err := screen.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []engine.RunID{first, second} {
		if err := screen.Delete(t.Context(), run, noDeletion); err != nil {
			t.Fatal(err)
		}
	}
	all, err := screen.Trashed(t.Context())
	if err != nil || len(all) != 2 || all[1].Thing != (runs.Thing{Run: first}) || all[1].DaysLeft != 30 || all[1].Bytes <= 0 || all[1].Title == "" {
		t.Fatalf("trash: got %+v, %v", all, err)
	}
	if err := screen.Restore(t.Context(), all[1].Thing); err != nil {
		t.Fatal(err)
	}
	if after, err := screen.Runs(t.Context()); err != nil || len(after) != 1 || after[0].Note != "the one to keep" || after[0].Done != before[1].Done {
		t.Errorf("runs: got %+v, %v", after, err)
	}
	if summary, equal, err := (resultsDesk{d}).Audit(t.Context(), first); err != nil || !equal {
		t.Errorf("audit of the restored run: got %s, %v", summary, err)
	}
	for _, run := range []engine.RunID{first, second} {
		if _, err := os.Stat(config.ShopLog(d.data, run)); err != nil {
			t.Errorf("the mock's log: %v", err)
		}
	}
	if n, err := screen.EmptyTrash(t.Context(), time.Now()); err != nil || n != 1 {
		t.Errorf("deleted %d, %v, want the second run", n, err)
	}
	if _, err := os.Stat(config.ShopLog(d.data, second)); !os.IsNotExist(err) {
		t.Errorf("the log of the deleted run: %v", err)
	}
	if checks, err := (resultsDesk{d}).Checks(t.Context(), first); err != nil || len(checks) == 0 {
		t.Errorf("%d checks, %v", len(checks), err)
	}
}
