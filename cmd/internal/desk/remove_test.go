package desk

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/setup"
)

// noDeletion deletes the run only, and no rows elsewhere.
var noDeletion = runs.Deletion{}

// finish launches a run, waits for its end and returns it.
func finish(t *testing.T, d *Desk) engine.RunID {
	t.Helper()
	launch(t, d, func(o *setup.Order) {
		o.Settings.CheckpointEvery, o.Settings.KeepCheckpoints, o.Settings.Remote = time.Millisecond, 50, true
	})
	id := (liveDesk{d}).Job().ID()
	<-d.Settled()
	return id
}

// TestRunsGoWithTheirRows checks that a run is kept while its rows cannot be sent, and that its rows in the database can be
// deleted with it.
func TestRunsGoWithTheirRows(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	url := server.Database(t)
	d := open(t, t.TempDir())
	if err := (settingsDesk{d}).SaveConnection(t.Context(), url, ""); err != nil {
		t.Fatal(err)
	}
	server.Stop(t)
	first, second := finish(t, d), finish(t, d)
	screen := runsDesk{d}
	doomed, err := screen.Footprint(t.Context(), first)
	if err != nil || len(doomed.Sendings) != 1 || doomed.Sendings[0].Target != screen.Remote() || doomed.Sendings[0].Unsent < 80 {
		t.Fatalf("to delete: got %+v, %v", doomed, err)
	}
	if err := screen.Delete(t.Context(), first, runs.Deletion{Send: true}); err == nil || !strings.Contains(err.Error(), "was not deleted") {
		t.Errorf("got %v", err)
	}
	if old, err := screen.Old(t.Context(), runs.Age{Runs: 1}); err != nil || old.Runs != 0 || old.Kept != 1 {
		t.Errorf("old is %+v, %v", old, err)
	}
	server.Start(t)
	if err := screen.Delete(t.Context(), first, runs.Deletion{Send: true}); err != nil {
		t.Fatal(err)
	}
	if n, err := screen.WeighThere(t.Context(), first); err != nil || n < 80 {
		t.Errorf("%d rows of the deleted run are there, %v", n, err)
	}
	if err := screen.Delete(t.Context(), second, runs.Deletion{Send: true, There: true}); err != nil {
		t.Fatal(err)
	}
	if n, err := screen.WeighThere(t.Context(), second); err != nil || n != 0 {
		t.Errorf("%d rows of the second run are there, %v", n, err)
	}
	if left, err := screen.Runs(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%d runs remain, %v", len(left), err)
	}
}

// TestOldRunsAreDeleted checks that old checkpoints and runs are counted and deleted.
func TestOldRunsAreDeleted(t *testing.T) {
	d := open(t, t.TempDir())
	first, second := finish(t, d), finish(t, d)
	screen := runsDesk{d}
	points, err := screen.Checkpoints(t.Context(), second)
	if err != nil || len(points) < 3 {
		t.Fatalf("%d checkpoints, %v", len(points), err)
	}
	oldest := points[len(points)-1].Number
	if err := screen.DeleteCheckpoint(t.Context(), second, oldest); err != nil {
		t.Fatal(err)
	}
	age := runs.Age{Checkpoints: 1, Runs: 1}
	old, err := screen.Old(t.Context(), age)
	if err != nil || old.Runs != 1 || old.Checkpoints != len(points)-2 || old.Bytes <= 0 {
		t.Errorf("old is %+v, %v, of %d checkpoints", old, err, len(points)-1)
	}
	if gone, err := screen.Prune(t.Context(), age, false); err != nil || gone.Runs != 1 || gone.Checkpoints != len(points)-2 {
		t.Errorf("deleted: got %+v, %v", gone, err)
	}
	left, err := screen.Runs(t.Context())
	if err != nil || len(left) != 1 || left[0].ID != second {
		t.Errorf("remaining: got %+v, %v; deleted %s", left, err, first)
	}
	if points, err = screen.Checkpoints(t.Context(), second); err != nil || len(points) != 1 || !points[0].Newest {
		t.Errorf("%d checkpoints remain, %v", len(points), err)
	}
}
