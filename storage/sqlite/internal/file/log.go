package file

import (
	"context"
	"sync"
	"time"
)

// lookInterval is how often the writer looks at the length of the write-ahead log.
const lookInterval = 10 * time.Millisecond

// restartInterval is how long the writer waits after a failed attempt to restart the write-ahead log: each attempt delays
// the readers.
const restartInterval = time.Second

// logState is the state of the attempts to restart the write-ahead log.
type logState struct {
	mu     sync.Mutex
	next   time.Time // of the next look or attempt
	warned bool      // the log was reported as too long
}

// LogSize returns the size of the write-ahead log in bytes.
func (f *File) LogSize() int64 { return max(Size(f.Path()+"-wal"), 0) }

// ShortenLog restarts the write-ahead log if it has grown too long. Each journal calls it after a commit.
//
// SQLite's automatic checkpoints do not wait for readers, so with continuous reads the log would grow without limit.
// New readers do not delay a restart; a transaction that a process keeps open does.
func (f *File) ShortenLog(now time.Time) {
	if !f.log.mu.TryLock() { // another journal looks
		return
	}
	defer f.log.mu.Unlock()
	if now.Before(f.log.next) {
		return
	}
	f.log.next = now.Add(lookInterval)
	length := f.LogSize()
	if length <= LogBytes {
		return
	}
	busy, err := f.restartLog()
	switch {
	case err != nil:
		f.options.Logger.Warn("the write-ahead log cannot be shortened", "bytes", length, "error", err)
	case !busy:
		f.log.next, f.log.warned = time.Time{}, false
		return
	case length > LogWarning && !f.log.warned:
		f.log.warned = true
		f.options.Logger.Warn("another program keeps a transaction of the store open, so that its write-ahead log grows: close that program", "bytes", length)
	}
	f.log.next = now.Add(restartInterval)
}

func (f *File) restartLog() (busy bool, err error) {
	ctx := context.Background()
	conn, err := f.Writer.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	// The checkpoint waits at most this long for readers.
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 250`); err != nil {
		return false, err
	}
	var pages, moved int
	err = conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(RESTART)`).Scan(&busy, &pages, &moved)
	if _, undo := conn.ExecContext(ctx, `PRAGMA busy_timeout = 5000`); err == nil {
		err = undo
	}
	return busy, err
}

// EmptyLog moves the write-ahead log into the file and truncates it. It does not wait for readers and reports whether it
// succeeded.
func (f *File) EmptyLog() bool {
	ctx := context.Background()
	conn, err := f.Writer.Conn(ctx)
	if err != nil {
		return false
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout=0`); err != nil {
		return false
	}
	defer conn.ExecContext(ctx, `PRAGMA busy_timeout=5000`) //nolint:errcheck // as [Connect] sets it
	var busy, pages, moved int
	err = conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
	if err != nil || busy != 0 {
		return false
	}
	f.suspect.Store(false) // rows that another process writes from now on have positions that this one does not know
	return true
}

// Suspect notes, if it is so, that the write-ahead log contains rows that no journal of this process removes, until it is emptied.
func (f *File) Suspect(contains bool) {
	if contains {
		f.suspect.Store(true)
	}
}
