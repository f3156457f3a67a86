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

// goneRuns are those that a store removed by itself.
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

// TestTrashExpires has what was deleted stay for 30 days: then it goes by itself, in a program that is open and in one that
// is started later.
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
				t.Errorf("in the trash are %q, want %q", got, want)
			}
		}
		wantTrash("run second", "run first", "checkpoint 1 of run r")
		time.Sleep(storage.TrashTime - 5*24*time.Hour)
		wantTrash("run second", "run first", "checkpoint 1 of run r")
		if gone := told.all(); len(gone) > 0 {
			t.Errorf("%q are gone already", gone)
		}
		time.Sleep(24 * time.Hour) // the day on which the first has been there for 30
		wantTrash("run second")
		if gone := told.all(); !slices.Equal(gone, []engine.RunID{"first"}) {
			t.Errorf("%q are gone, want the first", gone)
		}
		if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM checkpoints`); n != 1 {
			t.Errorf("%d checkpoints are kept, want the newest", n)
		}
		closeStore(t, s)

		time.Sleep(10 * 24 * time.Hour)
		s = openStore(t, dir, Options{Logger: quiet()})
		wantTrash()
		if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM runs`); n != 2 {
			t.Errorf("%d runs are kept, want r and the one that was restored", n)
		}
		closeStore(t, s)
	})
}

// TestInterruptedEmptying has the emptying of the trash end in the middle: what was begun is removed when the store is opened
// again, the rest is in the trash still.
func TestInterruptedEmptying(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var emptying atomic.Bool
	s := openStore(t, dir, Options{Logger: quiet(), OnCommit: func(int64) {
		if emptying.Load() {
			cancel()
		}
	}})
	for _, id := range []engine.RunID{"waits", "begun"} { // the newest goes first
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
		t.Errorf("%d runs are left, and %q are gone", n, told.all())
	}
	if err := s.Restore(t.Context(), "waits", 0); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Doomed(t.Context(), "waits"); err != nil || n.Sessions != 2*maintenanceRows {
		t.Errorf("the one that waited has %d sessions, %v", n.Sessions, err)
	}
}

// TestTrashedRunsAreNotSent: what a database lacks of a run in the trash waits there, and is sent when the run is restored.
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
		t.Errorf("to be sent are %q, %v, want nothing", runs, err)
	}
	if _, err := s.Delivery(t.Context(), "r", target, storage.Cursor{}, 100); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if err := s.Restore(t.Context(), "r", 0); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Outbox(t.Context(), target); err != nil || len(runs) != 1 || unsent(t, s, "r", target) != 10 {
		t.Errorf("restored, to be sent are %q, %v", runs, err)
	}
}

// TestImportOfATrashedRun: what is in the trash has to come out of it before more of it is fetched; a checkpoint in the trash
// that is fetched again is there again.
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
		t.Errorf("got %v, want where it is", err)
	}
	if err := s.Restore(t.Context(), "r", 0); err != nil {
		t.Fatal(err)
	}
	statement(t, s, `UPDATE checkpoints SET trashed = 1`) // an older one would be there beside the newest
	take()
	if all, err := s.Checkpoints(t.Context(), "r"); err != nil || len(all) != 1 {
		t.Errorf("there are %+v, %v, want the one that was fetched again", all, err)
	}
}

// TestTrashLeavesWhatIsBeingRemoved where it is: half a run must not come back.
func TestTrashLeavesWhatIsBeingRemoved(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	if err := newRun(t, s, "r").Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	key, err := s.key(t.Context(), "r") // as whoever deletes it looks it up, while another does
	if err != nil {
		t.Fatal(err)
	}
	statement(t, s, `UPDATE runs SET hidden = 1`)
	if err := s.putAway("r", key); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("what is being removed was put into the trash: %v", err)
	}
	if all, err := s.Trashed(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("in the trash are %+v, %v", all, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
