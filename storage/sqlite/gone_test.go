package sqlite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestNoRunIsClaimedDuringItsDeletion has another process claim a run at the moment when it is moved to the trash, and a third one
// empty the trash then.
func TestNoRunIsClaimedDuringItsDeletion(t *testing.T) {
	dir := t.TempDir()
	other := openStore(t, dir, Options{Logger: quiet()})
	j := newRun(t, other, "r")
	j.Append(engine.SessionRows{{Outcome: engine.OK}})
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var (
		deleting, hidden atomic.Bool
		looked           = make(chan struct{})
		once             sync.Once
		release          func()
		claimed          error
	)
	s := openStore(t, dir, Options{
		Logger: quiet(),
		Now: func() time.Time { // between the check that the run is not in progress, and its disappearance
			if deleting.Swap(false) {
				release, claimed = other.Claim(t.Context(), "r")
				hidden.Store(true)
			}
			once.Do(func() { close(looked) }) // when the store was opened
			return time.Now()
		},
		OnCommit: func(int64) {
			if hidden.Swap(false) {
				if _, err := other.EmptyTrash(t.Context(), time.Now()); err != nil {
					t.Error(err)
				}
			}
		},
	})
	<-looked
	deleting.Store(true)
	err := s.Trash(t.Context(), "r")
	if claimed != nil { // the deletion came first
		if err != nil || !errors.Is(claimed, engine.ErrInUse) {
			t.Errorf("the deletion ended with %v, the claim with %v", err, claimed)
		}
	} else {
		release()
		if _, gone := other.Run(t.Context(), "r"); gone != nil {
			t.Errorf("the run was deleted although it is in progress: %v; the deletion ended with %v", gone, err)
		}
	}
	if err := errors.Join(s.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}

// TestReadersNoticeADeletion deletes a run while another process reads it: the reader must not take the rest of its rows for all of
// them.
func TestReadersNoticeADeletion(t *testing.T) {
	readers := map[string]func(ctx context.Context, s *Store, meanwhile func()) error{
		"Sessions": func(ctx context.Context, s *Store, meanwhile func()) error {
			for _, err := range s.Sessions(ctx, "r", 0, 0) {
				if meanwhile(); err != nil {
					return err
				}
			}
			return nil
		},
		"Journaled": func(ctx context.Context, s *Store, meanwhile func()) error {
			for _, err := range s.Journaled(ctx, "r") {
				if meanwhile(); err != nil {
					return err
				}
			}
			return nil
		},
		"Metrics": func(ctx context.Context, s *Store, meanwhile func()) error {
			for _, err := range s.Metrics(ctx, "r", time.Time{}) {
				if meanwhile(); err != nil {
					return err
				}
			}
			return nil
		},
		"CycleSessions": func(ctx context.Context, s *Store, meanwhile func()) error {
			_, err := s.CycleSessions(ctx, "r", 0, 0, func(*engine.SessionRow) { meanwhile() })
			return err
		},
		"Recording": func(ctx context.Context, s *Store, meanwhile func()) error {
			r, err := s.Recording(ctx, "r")
			if err != nil {
				return err
			}
			if p, err := r.Session(ctx, 0, 0); err != nil || len(p) != 1 {
				return errors.Join(errors.New("no answer before the deletion"), err)
			}
			meanwhile()
			_, err = r.Session(ctx, 1, 0)
			return err
		},
	}
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, other := openStore(t, dir, Options{Logger: quiet()}), openStore(t, dir, Options{Logger: quiet()})
			j := newRun(t, s, "r")
			at := time.Now()
			for cycle := range 3 {
				for agent := range 2 * packRows / 3 * 2 {
					place := engine.Place{Cycle: cycle, Agent: agent}
					j.Append(engine.SessionRows{{Place: place, Outcome: engine.OK}}, engine.MetricsRow{At: at})
					j.Append(engine.AnswerRow{Place: place, Entry: engine.Entry{Path: "a", Attempts: 1}})
					at = at.Add(time.Second)
				}
			}
			if err := j.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			meanwhile := sync.OnceFunc(func() {
				if err := other.Delete(t.Context(), "r"); err != nil {
					t.Error(err)
				}
			})
			if err := read(t.Context(), s, meanwhile); !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("got %v, want that the run was deleted", err)
			}
			if err := errors.Join(s.Close(), other.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
