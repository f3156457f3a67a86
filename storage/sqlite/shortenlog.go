package sqlite

import (
	"context"
	"time"
)

// shortenEvery is how long the writer leaves those alone who read the write-ahead log, after it waited in vain.
const shortenEvery = time.Second

// logState is what the writer knows of the write-ahead log.
type logState struct {
	again time.Time // not before
	told  bool      // that it is too long
}

// shortenLog has the write-ahead log begin anew once it has grown too long. A checkpoint by itself waits for nobody: where
// there is always somebody who reads, the log would grow without end. New readers do not hold this up; a transaction that
// somebody leaves open does.
func (s *Store) shortenLog(now time.Time) {
	length := size(s.path() + "-wal")
	if length <= walBytes || now.Before(s.log.again) {
		return
	}
	busy, err := s.restartLog()
	switch {
	case err != nil:
		s.options.Logger.Warn("the write-ahead log cannot be shortened", "bytes", length, "error", err)
	case !busy:
		s.log = logState{}
		return
	case length > walMost && !s.log.told:
		s.log.told = true
		s.options.Logger.Warn("another program keeps a transaction of the store open, so that its write-ahead log grows: close that program", "bytes", length)
	}
	s.log.again = now.Add(shortenEvery)
}

func (s *Store) restartLog() (busy bool, err error) {
	ctx := context.Background()
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	// So long it waits for those who read, at most.
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
