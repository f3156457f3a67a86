package sqlite

import (
	"crypto/rand"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// TestLogStaysShort writes much while there is always a short read in progress: the write-ahead log stays short.
func TestLogStaysShort(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet(), CommitEvery: time.Millisecond})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	other := file.Connect(s.file.Path(), true, 2) // as another process
	defer func() { _ = other.Close() }()
	begin := func() *sql.Tx {
		tx, err := other.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Error(err)
			return nil
		}
		var n int
		if err := tx.QueryRowContext(t.Context(), `SELECT count(*) FROM runs`).Scan(&n); err != nil {
			t.Error(err)
		}
		return tx
	}
	stop := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		last := begin()
		for last != nil {
			pause := time.NewTimer(20 * time.Millisecond)
			<-pause.C
			next := begin() // before the last one has ended
			if err := last.Rollback(); err != nil {
				t.Error(err)
			}
			last = next
			select {
			case <-stop:
				if last != nil {
					_ = last.Rollback()
				}
				return
			default:
			}
		}
	})
	const row, rows = 2 << 20, 80
	longest := int64(0)
	for i := range rows {
		body := make([]byte, row)
		_, _ = rand.Read(body)
		place := engine.Place{Agent: i}
		if err := j.Commit(t.Context(), engine.AnswerRow{Place: place, Entry: engine.Entry{Path: "step", Attempts: 1, Output: body}}); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, s.file.LogSize())
	}
	close(stop)
	reading.Wait()
	if t.Logf("wrote %d MB, the log had up to %d MB", rows*row>>20, longest>>20); longest > file.LogWarning {
		t.Errorf("the write-ahead log grew to %d bytes", longest)
	}
}
