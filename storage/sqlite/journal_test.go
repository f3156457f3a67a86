package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestAppendIsCommittedInTime appends rows without waiting: they are durable after CommitEvery, not before.
func TestAppendIsCommittedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir(), Options{Logger: quiet()})
		defer closeStore(t, s)
		j := newRun(t, s, "r")
		j.Append(engine.ChangeRow{})
		synctest.Wait()
		time.Sleep(50 * time.Millisecond)
		j.Append(engine.ChangeRow{}) // does not delay it
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{49 * time.Millisecond, 0}, {2 * time.Millisecond, 2}} {
			time.Sleep(c.after)
			synctest.Wait()
			if got := ask[int](t, s.file.Reader, `SELECT count(*) FROM changes`); got != c.want {
				t.Errorf("got %d rows, want %d", got, c.want)
			}
		}
	})
}

// TestManyRowsAreCommittedAtOnce fills the queue with CommitRows before the time is up.
func TestManyRowsAreCommittedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir(), Options{Logger: quiet(), CommitRows: 10, CommitEvery: time.Hour})
		defer closeStore(t, s)
		j := newRun(t, s, "r")
		for i, want := range []int{0, 10} {
			for range 9 - 8*i {
				j.Append(engine.ChangeRow{})
			}
			synctest.Wait()
			if got := ask[int](t, s.file.Reader, `SELECT count(*) FROM changes`); got != want {
				t.Errorf("got %d rows, want %d", got, want)
			}
		}
	})
}

// TestAppendWaitsWhileFull blocks the writer: four times CommitRows are queued, and further rows wait, in order.
func TestAppendWaitsWhileFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stand atomic.Pointer[chan struct{}]
		s := openStore(t, t.TempDir(), Options{Logger: quiet(), CommitRows: 10, OnCommit: func(int64) {
			if c := stand.Load(); c != nil {
				<-*c
			}
		}})
		defer closeStore(t, s)
		j := newRun(t, s, "r")
		proceed := make(chan struct{})
		stand.Store(&proceed)
		go func() { _ = j.Commit(context.Background(), engine.ChangeRow{}) }() // blocks the writer
		synctest.Wait()

		var appended atomic.Int64
		go func() {
			for i := range 100 {
				j.Append(engine.ChangeRow{Cycle: i + 1})
				appended.Add(1)
			}
		}()
		synctest.Wait()
		if got := appended.Load(); got != 40 {
			t.Errorf("%d rows were queued, want 40", got)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { cancel(engine.ErrCut) }()
		if err := j.Commit(ctx, engine.ChangeRow{Cycle: 1000}); !errors.Is(err, engine.ErrCut) {
			t.Errorf("commit to a full queue: got %v, want the context's cause", err)
		}
		stand.Store(nil)
		close(proceed)
		synctest.Wait()
		if err := j.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := s.Changes(t.Context(), "r")
		if err != nil || len(all) != 101 {
			t.Fatalf("got %d rows, %v, want 101", len(all), err)
		}
		for i, c := range all {
			if c.Cycle != i {
				t.Fatalf("row %d is number %d", i, c.Cycle)
			}
		}
	})
}

// TestCommitsAreGrouped waits in many goroutines: one transaction writes all rows that were queued during the previous one.
func TestCommitsAreGrouped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		var first atomic.Bool
		var commits atomic.Int64
		s := openStore(t, t.TempDir(), Options{Logger: quiet(), OnCommit: func(int64) {
			commits.Add(1)
			if first.CompareAndSwap(true, false) {
				<-proceed
			}
		}})
		defer closeStore(t, s)
		j := newRun(t, s, "r")
		commits.Store(0)
		first.Store(true)
		var wg sync.WaitGroup
		for agent := range 50 {
			wg.Go(func() {
				if err := j.Commit(t.Context(), engine.IntentRow{Place: engine.Place{Agent: agent}, Path: "buy"}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // the first one is being written, the others queue
		}
		j.Append(engine.ChangeRow{}) // no caller waits for this one, and it does not delay the others
		began := time.Now()
		close(proceed)
		wg.Wait()
		if time.Since(began) > 0 {
			t.Errorf("the commits waited for %v", time.Since(began))
		}
		if got := commits.Load(); got != 2 {
			t.Errorf("50 commits took %d transactions, want 2", got)
		}
		if n := ask[int](t, s.file.Reader, `SELECT sum(count) FROM requests`); n != 50 {
			t.Errorf("got %d intents, want 50", n)
		}
	})
}

// TestOnCommitComesBeforeWaiters checks that the hook is called before callers continue.
func TestOnCommitComesBeforeWaiters(t *testing.T) {
	var told atomic.Int64
	s := openStore(t, t.TempDir(), Options{Logger: quiet(), OnCommit: func(n int64) { told.Store(n) }})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	for range 20 {
		before := told.Load()
		if err := j.Commit(t.Context(), engine.ChangeRow{}); err != nil {
			t.Fatal(err)
		}
		if told.Load() != before+1 {
			t.Fatalf("the hook was last called with commit %d, want %d", told.Load(), before+1)
		}
	}
}

// TestOrderOfGoroutines appends and commits from many goroutines: the rows of each stay in order.
func TestOrderOfGoroutines(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet(), CommitEvery: time.Millisecond, CommitRows: 16})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	const workers, each = 8, 200
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				row := engine.ChangeRow{What: fmt.Sprint(w), Cycle: i}
				if i%10 > 0 {
					j.Append(row)
				} else if err := j.Commit(t.Context(), row); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := s.Changes(t.Context(), "r")
	if err != nil || len(all) != workers*each {
		t.Fatalf("got %d rows, %v, want %d", len(all), err, workers*each)
	}
	next := map[string]int{}
	for _, c := range all {
		if c.Cycle != next[c.What] {
			t.Fatalf("goroutine %s: row %d comes before row %d", c.What, c.Cycle, next[c.What])
		}
		next[c.What]++
	}
	if got := s.Written(); got != workers*each {
		t.Errorf("got %d rows written, want %d", got, workers*each)
	}
}

// TestRowsMayBeReused overwrites rows after they were appended.
func TestRowsMayBeReused(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet(), CommitEvery: time.Hour})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	data, output := []byte("data"), []byte("output")
	rows := engine.SessionRows{{
		Outcome: engine.OK, Steps: []engine.StepRecord{{Path: "buy", Attempts: 1, Statuses: []int{200}}},
		Events: []engine.Event{{Path: "buy", Name: "bought", Data: data}},
	}}
	var totals engine.Totals
	totals.FailedAgents = []uint64{1}
	memory := map[int]*engine.Memory{1: {Notes: [][]byte{[]byte("1")}}}
	record := engine.StepRecord{Path: "ask", Statuses: []int{200, 429}, Usage: &engine.Usage{Calls: 1}}
	j.Append(engine.SharedRow{Entry: engine.Entry{Attempts: 1, Statuses: record.Statuses, Output: output}, Record: &record})
	j.Append(rows, engine.AnswerRow{Entry: engine.Entry{Path: "buy", Output: output}}, engine.CheckpointRow{State: engine.State{Totals: totals}, Memory: memory})
	copy(data, "????")
	copy(output, "??????")
	rows[0].Steps[0] = engine.StepRecord{Path: "?"}
	rows[0].Events[0] = engine.Event{Name: "?"}
	rows[0] = engine.SessionRow{}
	totals.FailedAgents[0] = 99
	clear(memory)
	record.Statuses[0], record.Usage.Calls, record.Path = 429, 99, "?"
	if err := j.Commit(t.Context(), engine.ChangeRow{}); err != nil {
		t.Fatal(err)
	}
	for r, err := range s.Sessions(t.Context(), "r", 0, 0) {
		if err != nil || r.Steps[0].Path != "buy" || r.Events[0].Name != "bought" || string(r.Events[0].Data) != "data" {
			t.Errorf("got %+v, %v", r, err)
		}
	}
	if res, err := s.Resume(t.Context(), "r"); err != nil || string(res.Shared.Answers[engine.SharedKey{}].Output) != "output" ||
		res.Shared.Answers[engine.SharedKey{}].Statuses[0] != 200 || res.State.Totals.Shared.RateLimited != 1 || res.State.Totals.Shared.Usage.Calls != 1 {
		t.Errorf("got %+v, %v", res.Shared, err)
	}
	if got, err := s.Requests(t.Context(), "r", 0, 0); err != nil || string(got[0].Output) != "output" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, state, got, err := s.Checkpoint(t.Context(), "r", 1); err != nil || state.Totals.FailedAgents[0] != 1 || len(got) != 1 {
		t.Errorf("got %+v, %v, %v", state.Totals.FailedAgents, got, err)
	}
}

func TestClosedStore(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet(), CommitEvery: time.Hour})
	j := newRun(t, s, "r")
	j.Append(engine.ChangeRow{})
	closeStore(t, s)
	closeStore(t, s) // a second call does nothing
	if err := j.Commit(t.Context(), engine.ChangeRow{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("commit: got %v, want a closed journal", err)
	}
	s = openStore(t, s.file.Dir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	if all, err := s.Changes(t.Context(), "r"); err != nil || len(all) != 1 {
		t.Errorf("rows that were queued when the store was closed are lost: %v, %v", all, err)
	}
}

// TestPositionsAreNeverUsedTwice checks what the outbox relies on: deleted rows leave a gap.
func TestPositionsAreNeverUsedTwice(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	j := newRun(t, s, "old")
	for agent := range 10 {
		j.Append(engine.SessionRows{{Place: engine.Place{Agent: agent}, Outcome: engine.OK}})
	}
	if err := j.Commit(t.Context(), engine.BarrierRow{}); err != nil {
		t.Fatal(err)
	}
	last := ask[int64](t, s.file.Reader, `SELECT pos FROM barriers`)
	if last < 11 {
		t.Errorf("ten sessions and a barrier end at position %d", last)
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	if err := newRun(t, s, "new").Commit(t.Context(), engine.BarrierRow{}); err != nil {
		t.Fatal(err)
	}
	if got := ask[int64](t, s.file.Reader, `SELECT pos FROM barriers`); got <= last {
		t.Errorf("got position %d after %d", got, last)
	}
}
