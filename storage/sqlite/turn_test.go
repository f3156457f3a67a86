package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	waiting "github.com/throng-sim/throng/storage/sqlite/queue"
)

// TestTurn checks that a process with a turn has several runs in progress, while other work waits in line.
func TestTurn(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	for _, id := range []engine.RunID{"a", "b", "later"} {
		newRun(t, s, id)
	}
	end, err := s.Turn(t.Context(), waiting.Entry{Work: "the experiment prices"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	waits, claimed := make(chan string, 9), make(chan error, 1)
	go func() {
		release, err := s.ClaimWait(t.Context(), "later", waiting.Entry{}, func(holder string) { waits <- holder })
		if err == nil {
			release()
		}
		claimed <- err
	}()
	if got := <-waits; !strings.HasPrefix(got, "the experiment prices is in progress in process ") {
		t.Errorf("it waits for %q", got)
	}
	for _, id := range []engine.RunID{"a", "b"} {
		release, err := s.Claim(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	if _, err := s.Claim(t.Context(), "a"); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("claimed twice: %v", err)
	}
	select {
	case err := <-claimed:
		t.Fatalf("the waiting run did not wait: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	end()
	end()
	if err := <-claimed; err != nil {
		t.Error(err)
	}
}

// TestQueuedRun checks that a run which waits is neither interrupted nor to be deleted.
func TestQueuedRun(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	newRun(t, s, "now")
	newRun(t, s, "later")
	end, err := s.Claim(t.Context(), "now")
	if err != nil {
		t.Fatal(err)
	}
	state := func() (state string) {
		t.Helper()
		r, err := s.Run(t.Context(), "later")
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].ID == r.ID && all[i].State() != r.State() {
				t.Errorf("the run is %s, and listed as %s", r.State(), all[i].State())
			}
		}
		return r.State()
	}
	if got := state(); got != "interrupted" {
		t.Errorf("before it waits, it is %s", got)
	}
	turn, err := s.Turn(t.Context(), waiting.Entry{Work: "an experiment"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	waits, claimed := make(chan string, 9), make(chan error, 1)
	go func() {
		release, err := s.ClaimWait(t.Context(), "later", waiting.Entry{Run: "later"}, func(holder string) { waits <- holder })
		if err == nil {
			defer release()
			if got := state(); got != "in progress" {
				t.Errorf("in its turn, it is %s", got)
			}
		}
		claimed <- err
	}()
	<-waits
	if got := state(); got != "waiting" {
		t.Errorf("in the queue, it is %s", got)
	}
	for what, err := range map[string]error{"to the trash": s.Trash(t.Context(), "later"), "for good": s.Delete(t.Context(), "later")} {
		if !errors.Is(err, engine.ErrInUse) || !strings.Contains(err.Error(), "it waits in the queue as ") {
			t.Errorf("deleted %s: %v", what, err)
		}
	}
	turn()
	end()
	if err := <-claimed; err != nil {
		t.Error(err)
	}
}

// TestClaimsAreExclusive lets many claim the same runs. A run is in progress once at most, and no file is left at the end.
func TestClaimsAreExclusive(t *testing.T) {
	dir := t.TempDir()
	var stores []*Store
	for range 3 {
		s := openStore(t, dir, Options{Logger: quiet()})
		defer closeStore(t, s)
		stores = append(stores, s)
	}
	ids := []engine.RunID{"a", "b"}
	for _, id := range ids {
		newRun(t, stores[0], id)
	}
	var inside [2]atomic.Int32
	var times atomic.Int32
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			for range 40 {
				s, run := stores[i%3], i/3%2
				release, err := s.Claim(t.Context(), ids[run])
				if errors.Is(err, engine.ErrInUse) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside[run].Add(1); n != 1 {
					t.Errorf("run %s is in progress %d times", ids[run], n)
				}
				times.Add(1)
				if r, err := stores[(i+1)%3].Standing(t.Context(), ids[run]); err != nil || !r.InProgress {
					t.Errorf("run %s is claimed, but not in progress: %v", ids[run], err)
				}
				inside[run].Add(-1)
				release()
			}
		})
	}
	all.Wait()
	if times.Load() < 2 {
		t.Errorf("claimed %d times", times.Load())
	}
	left, err := os.ReadDir(filepath.Join(dir, waiting.Folder))
	if err != nil || len(left) > 0 {
		t.Errorf("got files %v, %v, want none", left, err)
	}
}

// TestStoredByEach checks that a journal counts what it writes itself, not what others write at the same time.
func TestStoredByEach(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	busy, idle := newRun(t, s, "a"), newRun(t, s, "b")
	for agent := range 200 {
		row := engine.SessionRow{Place: engine.Place{Agent: agent}, Outcome: engine.Failed, Error: strings.Repeat(string(rune('a'+agent%26)), 50)}
		if err := busy.Commit(t.Context(), engine.SessionRows{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := idle.Commit(t.Context(), engine.SessionRows{{Outcome: engine.OK}}); err != nil {
		t.Fatal(err)
	}
	if b, i := busy.Stored(), idle.Stored(); b < 16<<10 || i > 8<<10 {
		t.Errorf("stored %d bytes and %d bytes", b, i)
	}
	if err := errors.Join(busy.Close(t.Context()), idle.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
