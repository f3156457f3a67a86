package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// goneRuns are the runs that a store removed in the background.
type goneRuns struct {
	mu   sync.Mutex
	runs []engine.RunID
}

func (g *goneRuns) add(run engine.RunID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs = append(g.runs, run)
}

func (g *goneRuns) all() []engine.RunID {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.runs)
}

// TestTrashExpires checks that the contents of the trash are removed after 30 days, in a running program and at the start of
// a later one.
func TestTrashExpires(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var told goneRuns
		s := openStore(t, dir, Options{Logger: quiet(), OnGone: told.add})
		j := newRun(t, s, "r")
		for range 2 {
			j.Append(engine.CheckpointRow{Memory: map[int]*engine.Memory{1: memoryOf(1, 1)}})
		}
		if err := errors.Join(j.Close(t.Context()), s.TrashCheckpoints(t.Context(), "r", []int{1})); err != nil {
			t.Fatal(err)
		}
		for _, id := range []engine.RunID{"first", "second", "restored"} {
			if err := errors.Join(newRun(t, s, id).Close(t.Context()), s.Trash(t.Context(), id)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(36 * time.Hour)
		}
		if err := s.Restore(t.Context(), "restored", 0); err != nil {
			t.Fatal(err)
		}
		wantTrash := func(want ...string) {
			t.Helper()
			synctest.Wait()
			all, err := s.Trashed(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range all {
				got = append(got, called(b.Run.ID, b.Checkpoint))
			}
			if !slices.Equal(got, want) {
				t.Errorf("the trash has %q, want %q", got, want)
			}
		}
		wantTrash("run second", "run first", "checkpoint 1 of run r")
		time.Sleep(storage.TrashTime - 5*24*time.Hour)
		wantTrash("run second", "run first", "checkpoint 1 of run r")
		if gone := told.all(); len(gone) > 0 {
			t.Errorf("%q were removed too early", gone)
		}
		time.Sleep(24 * time.Hour) // 30 days after the first
		wantTrash("run second")
		if gone := told.all(); !slices.Equal(gone, []engine.RunID{"first"}) {
			t.Errorf("%q were removed, want the first", gone)
		}
		if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM checkpoints`); n != 1 {
			t.Errorf("%d checkpoints are kept, want the newest", n)
		}
		closeStore(t, s)

		time.Sleep(10 * 24 * time.Hour)
		s = openStore(t, dir, Options{Logger: quiet()})
		wantTrash()
		if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM runs`); n != 2 {
			t.Errorf("%d runs are kept, want r and the restored one", n)
		}
		closeStore(t, s)
	})
}

// TestInterruptedEmptying interrupts emptying the trash: a deletion that began is completed when the store is opened again,
// and the rest is still in the trash.
func TestInterruptedEmptying(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var emptying atomic.Bool
	s := openStore(t, dir, Options{Logger: quiet(), OnCommit: func(int64) {
		if emptying.Load() {
			cancel()
		}
	}})
	for _, id := range []engine.RunID{"waits", "begun"} { // the newest is deleted first
		j := newRun(t, s, id)
		for agent := range 2 * maintenanceRows {
			j.Append(engine.SessionRows{{Place: engine.Place{Agent: agent}, Outcome: engine.OK, Started: time.Now()}})
		}
		if err := errors.Join(j.Close(t.Context()), s.Trash(t.Context(), id)); err != nil {
			t.Fatal(err)
		}
	}
	emptying.Store(true)
	if _, err := s.EmptyTrash(ctx, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	emptying.Store(false)
	closeStore(t, s)

	var told goneRuns
	s = openStore(t, dir, Options{Logger: quiet(), OnGone: told.add})
	defer closeStore(t, s)
	<-s.tidied
	if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM runs`); n != 1 || !slices.Equal(told.all(), []engine.RunID{"begun"}) {
		t.Errorf("%d runs are left, and %q were removed", n, told.all())
	}
	if err := s.Restore(t.Context(), "waits", 0); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Deletion(t.Context(), "waits"); err != nil || n.Sessions != 2*maintenanceRows {
		t.Errorf("the remaining run has %d sessions, %v", n.Sessions, err)
	}
}

// TestTrashedRunsAreNotSent checks that unsent rows of a run in the trash wait, and are sent when the run is restored.
func TestTrashedRunsAreNotSent(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	const target = "a:1/x"
	j := newRun(t, s, "r")
	newRemote(t, s, "r", target)
	if err := errors.Join(j.Commit(t.Context(), make(engine.SessionRows, 10)), j.Close(t.Context()), s.Trash(t.Context(), "r")); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Outbox(t.Context(), target); err != nil || len(runs) != 0 {
		t.Errorf("unsent runs are %q, %v, want none", runs, err)
	}
	if _, err := s.Delivery(t.Context(), "r", target, storage.Cursor{}, 100); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if err := s.Restore(t.Context(), "r", 0); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Outbox(t.Context(), target); err != nil || len(runs) != 1 || unsent(t, s, "r", target) != 10 {
		t.Errorf("after restoring, unsent runs are %q, %v", runs, err)
	}
}

// TestImportOfATrashedRun checks that a run in the trash must be restored before more of it is fetched, and that a
// checkpoint in the trash is restored when it is fetched again.
func TestImportOfATrashedRun(t *testing.T) {
	from := openStore(t, t.TempDir(), Options{Logger: quiet()})
	state, rest := remembering(t, from)
	closeStore(t, from)
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	fetched := engine.RunRecord{ID: "r", Title: "r", Fetched: &engine.Fetched{Database: "db"}}
	take := func() {
		t.Helper()
		i, err := s.Import(t.Context(), fetched, state)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(i.Add(rest), i.Finish(), i.Close()); err != nil {
			t.Fatal(err)
		}
	}
	take()
	if err := s.Trash(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	var mistake *engine.FieldError
	if _, err := s.Import(t.Context(), fetched, state); !errors.As(err, &mistake) || !strings.Contains(mistake.Problem, "in the trash") {
		t.Errorf("got %v, want an error about the trash", err)
	}
	if err := s.Restore(t.Context(), "r", 0); err != nil {
		t.Fatal(err)
	}
	statement(t, s, `UPDATE checkpoints SET trashed = 1`) // an older checkpoint would exist in addition to the newest
	take()
	if all, err := s.Checkpoints(t.Context(), "r"); err != nil || len(all) != 1 {
		t.Errorf("there are %+v, %v, want the checkpoint that was fetched again", all, err)
	}
}

// TestTrashLeavesWhatIsBeingRemoved checks that a run that is being deleted cannot be moved to the trash.
func TestTrashLeavesWhatIsBeingRemoved(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	if err := newRun(t, s, "r").Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	key, err := s.key(t.Context(), "r") // as a second deletion reads it
	if err != nil {
		t.Fatal(err)
	}
	statement(t, s, `UPDATE runs SET hidden = 1`)
	if err := s.putAway(t.Context(), "r", key); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a run that is being deleted was moved to the trash: %v", err)
	}
	if all, err := s.Trashed(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("the trash has %+v, %v", all, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
