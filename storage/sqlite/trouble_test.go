package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// onConn runs f with the connection of the writer.
func onConn(t *testing.T, s *Store, f func(c *sqlite3.SQLiteConn)) {
	t.Helper()
	conn, err := s.file.Writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = conn.Raw(func(c any) error {
		f(c.(*sqlite3.SQLiteConn))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTrouble makes writes fail for every reason of a disk, and then succeed again: no row is lost or reordered, and the run
// is notified both times.
func TestTrouble(t *testing.T) {
	for _, c := range []struct {
		name, text string
		breakIt    func(t *testing.T, s *Store) (mend func())
	}{
		{"the disk is full", "free some space", func(t *testing.T, s *Store) func() {
			statement(t, s, fmt.Sprintf(`PRAGMA max_page_count = %d`, ask[int](t, s.file.Writer, `PRAGMA page_count`)+2))
			return func() { statement(t, s, `PRAGMA max_page_count = 1000000000`) }
		}},
		{"the disk is read-only", "permissions", func(t *testing.T, s *Store) func() {
			statement(t, s, `PRAGMA query_only = 1`)
			return func() { statement(t, s, `PRAGMA query_only = 0`) }
		}},
		{"another program has the lock", "close it", func(t *testing.T, s *Store) func() {
			statement(t, s, `PRAGMA busy_timeout = 1`)
			db := file.Connect(s.file.Path(), false, 1)
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
					t.Error(err)
				}
			}
		}},
		{"committing fails", "cannot be written", func(t *testing.T, s *Store) func() {
			onConn(t, s, func(c *sqlite3.SQLiteConn) { c.RegisterCommitHook(func() int { return 1 }) })
			return func() { onConn(t, s, func(c *sqlite3.SQLiteConn) { c.RegisterCommitHook(nil) }) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, t.TempDir(), Options{Logger: quiet(), RetryEvery: time.Millisecond, CommitEvery: time.Millisecond})
			defer closeStore(t, s)
			j := newRun(t, s, "r")
			const changes = 500
			row := func(i int) engine.ChangeRow {
				return engine.ChangeRow{Cycle: i, What: strings.Repeat("limit ", 100)}
			}
			if err := j.Commit(t.Context(), row(0)); err != nil {
				t.Fatal(err)
			}
			mend := c.breakIt(t, s)
			committed := make(chan error, 1)
			go func() {
				for i := 1; i < changes; i++ {
					j.Append(row(i))
				}
				committed <- j.Commit(context.Background(), row(changes))
			}()
			err := <-j.Trouble()
			if !errors.Is(err, engine.ErrNoRoom) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "loses nothing") {
				t.Errorf("got %v, want ErrNoRoom and what to do", err)
			}
			select {
			case err := <-committed:
				t.Errorf("committed in spite of the trouble: %v", err)
			default:
			}
			mend()
			if err := <-j.Trouble(); err != nil {
				t.Errorf("got %v, want an end of trouble", err)
			}
			if err := <-committed; err != nil {
				t.Error(err)
			}
			all, err := s.Changes(t.Context(), "r")
			if err != nil || len(all) != changes+1 {
				t.Fatalf("got %d changes, %v, want %d", len(all), err, changes+1)
			}
			for i, c := range all {
				if c.Cycle != i {
					t.Fatalf("change %d is number %d", c.Cycle, i)
				}
			}
		})
	}
}

// TestTroubleIsNoWork checks that waiting for free space does not count as work of the writer.
func TestTroubleIsNoWork(t *testing.T) {
	const wait = 500 * time.Millisecond
	s := openStore(t, t.TempDir(), Options{Logger: quiet(), RetryEvery: wait, CommitEvery: time.Millisecond})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	if err := j.Commit(t.Context(), engine.ChangeRow{}); err != nil {
		t.Fatal(err)
	}
	statement(t, s, `PRAGMA query_only = 1`)
	j.Append(engine.ChangeRow{Cycle: 1})
	if err := <-j.Trouble(); err == nil {
		t.Error("the trouble was not reported")
	}
	statement(t, s, `PRAGMA query_only = 0`)
	began := time.Now()
	if err := <-j.Trouble(); err != nil {
		t.Errorf("got %v, want an end of trouble", err)
	}
	for range 2 { // the second begins after the first was accounted for
		if err := j.Commit(t.Context(), engine.ChangeRow{Cycle: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if worked := s.Worked(); worked >= wait && worked > time.Since(began)-wait/2 {
		t.Errorf("at work for %v, the wait of %v for room included", worked, wait)
	}
}

// TestTroubleInCheckpoint fills the disk in the middle of a checkpoint.
func TestTroubleInCheckpoint(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet(), RetryEvery: time.Millisecond})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	memory := map[int]*engine.Memory{}
	for agent := range 5000 {
		memory[agent] = &engine.Memory{Fields: []engine.Field{{Name: "a", Value: fmt.Append(nil, agent)}}}
	}
	statement(t, s, fmt.Sprintf(`PRAGMA max_page_count = %d`, ask[int](t, s.file.Writer, `PRAGMA page_count`)+60))
	committed := make(chan error, 1)
	go func() {
		committed <- j.Commit(context.Background(), engine.CheckpointRow{Cycle: 0, Memory: memory})
	}()
	if err := <-j.Trouble(); !errors.Is(err, engine.ErrNoRoom) {
		t.Errorf("got %v, want ErrNoRoom", err)
	}
	if all, err := s.Checkpoints(t.Context(), "r"); err != nil || len(all) != 0 {
		t.Errorf("an incomplete checkpoint is listed: %v, %v", all, err)
	}
	statement(t, s, `PRAGMA max_page_count = 1000000000`)
	if err := <-committed; err != nil {
		t.Fatal(err)
	}
	_, _, got, err := s.Checkpoint(t.Context(), "r", 1)
	if err != nil || len(got) != len(memory) {
		t.Errorf("got the memory of %d agents, %v, want %d", len(got), err, len(memory))
	}
}

func TestCloseInTrouble(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet(), RetryEvery: time.Millisecond, CommitRows: 2})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	statement(t, s, `PRAGMA query_only = 1`)
	j.Append(engine.ChangeRow{}, engine.ChangeRow{}, engine.ChangeRow{})
	if err := <-j.Trouble(); err == nil {
		t.Fatal("no trouble")
	}
	blocked := make(chan error, 1)
	go func() { blocked <- j.Commit(context.Background(), engine.ChangeRow{}) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := j.Close(ctx)
	if !errors.Is(err, engine.ErrNoRoom) || !strings.Contains(err.Error(), "rows could not be written") {
		t.Errorf("got %v, want the number of lost rows", err)
	}
	if err := <-blocked; err == nil {
		t.Error("a commit returned before its rows were durable")
	}
	statement(t, s, `PRAGMA query_only = 0`)
	if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM changes`); n != 0 {
		t.Errorf("got %d rows, want none", n)
	}
}

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ err, want error }{
		{sql.ErrNoRows, engine.ErrNotFound},
		{sqlite3.Error{Code: sqlite3.ErrFull}, engine.ErrNoRoom},
		{fmt.Errorf("commit: %w", sqlite3.Error{Code: sqlite3.ErrIoErr}), engine.ErrNoRoom},
		{sqlite3.Error{Code: sqlite3.ErrReadonly}, engine.ErrNoRoom},
		{sqlite3.Error{Code: sqlite3.ErrBusy}, engine.ErrInUse},
		{ErrDamaged, ErrDamaged},
	} {
		if got := file.Translate(c.err); !errors.Is(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.err, got, c.want)
		}
	}
	if file.Translate(nil) != nil {
		t.Error("nil was translated to an error")
	}
	// A read-only disk with free space was once reported as full.
	for _, err := range []error{file.Translate(sqlite3.Error{Code: sqlite3.ErrReadonly}), troubleOf(ErrDamaged)} {
		if strings.Contains(err.Error(), engine.ErrNoRoom.Error()) || !errors.Is(err, engine.ErrNoRoom) {
			t.Errorf("a disk with free space has the error %v", err)
		}
	}
}
