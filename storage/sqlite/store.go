// Package sqlite is the local store: the journal of every run, its checkpoints and its metrics in one SQLite file.
//
// One connection writes, a few read. A run's [Journal] encodes rows in the goroutines that hand them over and writes
// them from one goroutine of its own, first in, first out; sessions, memory changes and requests are written as packs
// of what came together, so that a million tiny sessions cost a thousand rows.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
)

const fileName = "throng.db"

// Exists reports whether there is a store in a folder.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, fileName))
	return err == nil
}

// Options are how a store writes. The zero value is ready for use.
type Options struct {
	// OnCommit, if set, is called after the n-th commit of this process is durable and before anybody who waits for
	// it hears of it; n counts from 1. It is for tests.
	OnCommit func(n int64)
	// CommitEvery is how long rows wait at most that nobody waits for; 0 is 100 ms.
	CommitEvery time.Duration
	// CommitRows is how many of them are committed sooner; 0 is 10,000. Four times as many may queue.
	CommitRows int
	// RetryEvery is how long a journal waits before it tries again to write; 0 is a second.
	RetryEvery time.Duration
	// Now is the clock of the trash; nil is [time.Now].
	Now func() time.Time
	// OnGone, if set, is called, from another goroutine, with a run that is being removed without anybody waiting for it:
	// what belongs to it elsewhere may go too. It may be called again for the same run.
	OnGone func(run engine.RunID)
	// Updating, if set, hears how far the backup is that is made of an older store before it is brought up to date; from
	// several goroutines, one call at a time.
	Updating func(Update)
	// Logger hears of trouble and of what was found at opening; nil is [slog.Default].
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.CommitEvery <= 0 {
		o.CommitEvery = 100 * time.Millisecond
	}
	if o.CommitRows <= 0 {
		o.CommitRows = 10_000
	}
	if o.RetryEvery <= 0 {
		o.RetryEvery = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Store is one file of runs. It is safe for concurrent use.
type Store struct {
	dir     string
	options Options
	notice  string
	opened  *flock.Flock // shared by all processes that have the store open
	writer  *sql.DB      // one connection
	next    int64        // of the journal's positions, as far as this process knows; its transactions have it
	reader  *sql.DB
	log     logState // the writer's
	commits atomic.Int64
	written atomic.Int64 // journal rows made durable by this process
	worked  atomic.Int64 // nanoseconds that the writers of journals were at work

	lookOnly bool   // nothing can be written
	copied   string // a folder with what is looked at; "" is that it is looked at where it is

	stop    context.CancelFunc // ends the background work
	working sync.WaitGroup
	tidied  chan struct{} // closed when what was left by interrupted deletions and imports is gone

	mu       sync.Mutex
	closed   bool
	journals map[*Journal]struct{}
	claimed  string // the run that this process has in progress
}

// Open opens the store in a folder and makes both if they are missing. A file that is damaged is set aside, see
// [Store.Notice]. The errors are ErrNewer, if a newer version wrote the file; it is left as it is; ErrNoRoom, if the
// folder cannot be written and holds no store; one that it holds can be looked at, see [Store.Notice]; and ErrInUse.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{dir: dir, options: o.withDefaults(), journals: map[*Journal]struct{}{}, tidied: make(chan struct{})}
	if err := s.open(); err != nil {
		if looked := s.look(err); looked != nil {
			return nil, fmt.Errorf("open the store in %s: %w", dir, looked)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	if s.lookOnly {
		close(s.tidied)
		return s, nil
	}
	s.working.Go(func() { s.tidy(ctx) })
	return s, nil
}

// Notice says what happened at opening that a person should know; empty if nothing did.
func (s *Store) Notice() string { return s.notice }

// Written returns how many journal rows this process has made durable.
func (s *Store) Written() int64 { return s.written.Load() }

// Worked returns for how long this process's writers of journals were at work, so far.
func (s *Store) Worked() time.Duration { return time.Duration(s.worked.Load()) }

// Connections is how many connections to the file this store has open.
func (s *Store) Connections() int {
	return s.writer.Stats().OpenConnections + s.reader.Stats().OpenConnections
}

// Close flushes the journals that are open and closes the file. It waits 5 s at most for a disk that cannot be
// written.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	open := make([]*Journal, 0, len(s.journals))
	for j := range s.journals {
		open = append(open, j)
	}
	s.mu.Unlock()

	s.stop()
	s.working.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var errs []error
	for _, j := range open {
		errs = append(errs, j.Close(ctx))
	}
	errs = append(errs, s.reader.Close(), s.writer.Close(), s.opened.Close())
	if s.copied != "" {
		errs = append(errs, os.RemoveAll(s.copied))
	}
	return errors.Join(errs...)
}

// Dir is the folder of the store.
func (s *Store) Dir() string { return s.dir }

func (s *Store) path() string { return filepath.Join(s.dir, fileName) }

// write runs f in a transaction of the one writer. An error rolls it back.
func (s *Store) write(f func(tx txn) error) error {
	if err := s.transact(f); err != nil {
		return err
	}
	n := s.commits.Add(1)
	if s.options.OnCommit != nil {
		s.options.OnCommit(n)
	}
	return nil
}

func (s *Store) transact(f func(tx txn) error) error {
	if s.lookOnly {
		return errLookOnly
	}
	tx, err := s.writer.BeginTx(context.Background(), nil)
	if err != nil {
		return translate(err)
	}
	if err := f(txn{tx, &s.next}); err != nil {
		_ = tx.Rollback() // where the disk was the trouble, SQLite has done it
		return translate(err)
	}
	return translate(tx.Commit())
}

// txn is a transaction of the writer. Its statements take no context: without one that can end, the driver needs no
// goroutine for each, and they are short.
type txn struct {
	tx   *sql.Tx
	next *int64 // the store's
}

func (t txn) exec(query string, args ...any) error {
	_, err := t.tx.ExecContext(context.Background(), query, args...)
	return err
}

// changed runs a statement and returns how many rows it changed or removed.
func (t txn) changed(query string, args ...any) (int64, error) {
	result, err := t.tx.ExecContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t txn) row(query string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(context.Background(), query, args...)
}

func (t txn) rows(query string, args ...any) (*sql.Rows, error) {
	return t.tx.QueryContext(context.Background(), query, args...)
}

// positions reserves n positions of the journal and returns the first. Mostly no other process has taken any since this
// one did: then it need not be asked what is next, which costs more than all else in a small transaction.
func positions(tx txn, n int64) (first int64, err error) {
	first = *tx.next
	*tx.next += n
	known, err := tx.changed(`UPDATE positions SET next = ? WHERE next = ?`, first+n, first)
	if err != nil || known > 0 {
		return first, err
	}
	err = tx.row(`UPDATE positions SET next = next + ? RETURNING next`, n).Scan(tx.next)
	return *tx.next - n, err
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
