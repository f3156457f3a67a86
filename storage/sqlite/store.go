// Package sqlite is the local store: the journals of all runs, their checkpoints and their metrics in one SQLite file.
//
// One connection writes and a few read. A run's [Journal] encodes rows in the goroutines that append them and writes them in
// order from a goroutine of its own. Sessions, memory changes and requests that arrive together are written as one pack, so
// that a million tiny sessions need a thousand rows.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/claim"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	waiting "github.com/throng-sim/throng/storage/sqlite/queue"
)

// ErrDamaged says that a part of the store cannot be read. Errors that wrap it begin with the cause.
var ErrDamaged = blob.ErrDamaged

// Update is the progress of a migration to the newest version of the schema.
type Update = file.Update

// Exists reports whether a folder has a store.
func Exists(dir string) bool { return file.Exists(dir) }

// Outdated reports whether the store in a folder has runs and an older version of the schema. Opening it may take a while.
func Outdated(dir string) bool { return file.Outdated(dir) }

// UnpackLog returns the bytes of a part of a mock shop's log from a remote database. Its errors say that it is damaged.
func UnpackLog(part []byte) ([]byte, error) { return blob.UnpackForeign(part) }

// Options configure a store. The zero value is ready for use.
type Options struct {
	// OnCommit, if set, is called after the n-th commit of this process is durable and before waiting callers continue. n
	// counts from 1. It is for tests.
	OnCommit func(n int64)
	// CommitEvery is the longest time that rows are queued while no caller waits for them; 0 is 100 ms.
	CommitEvery time.Duration
	// CommitRows is the number of queued rows that are committed without waiting longer; 0 is 10,000. The queue holds up to
	// four times as many.
	CommitRows int
	// RetryEvery is the time between attempts to write after an error; 0 is 1 s.
	RetryEvery time.Duration
	// Now is the clock of the trash; nil is [time.Now].
	Now func() time.Time
	// OnGone, if set, is called from another goroutine with a run that is being removed in the background, so that files of
	// the run outside of the store can be removed too. It may be called again for the same run.
	OnGone func(run engine.RunID)
	// Updating, if set, is called with the progress of the backup that precedes a migration. Calls come from several
	// goroutines, one at a time.
	Updating func(Update)
	// Logger receives problems and the findings of opening the store; nil is [slog.Default].
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
	*core
	runs
	checkpoints
	history
	outbox
	imports
	removal
	trash

	written atomic.Int64 // journal rows made durable by this process
	worked  atomic.Int64 // nanoseconds for which journal writers were busy

	stop    context.CancelFunc // ends the background work
	working sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	journals map[*Journal]struct{}
}

// core is what all parts of a store share.
type core struct {
	file    *file.File
	claims  *claim.Claims
	options Options
	tidied  chan struct{} // closed when the remains of interrupted deletions and imports are removed
}

// The parts of a store.
type (
	runs        struct{ *core } // the list of runs
	history     struct{ *core } // the journals of runs, as they are read
	outbox      struct{ *core } // the rows that remote databases lack
	removal     struct{ *core } // deletions of runs
	checkpoints struct {
		*core
		removal
	}
	imports struct {
		*core
		removal
	}
	trash struct {
		*core
		removal
		checkpoints
	}
)

// Open opens the store in a folder and creates both if they are missing. A damaged file is renamed, see [Store.Notice]. A
// store in a folder that cannot be written is opened read-only.
//
// The errors are ErrNewer if a newer version wrote the file, which is not changed; ErrNoRoom if the folder cannot be written
// and has no store; and ErrInUse.
func Open(dir string, o Options) (*Store, error) {
	c := &core{options: o.withDefaults(), tidied: make(chan struct{})}
	c.claims = claim.New(dir, c.options.Logger, c.claimable)
	deletions := removal{c}
	kept := checkpoints{c, deletions}
	s := &Store{
		core: c, runs: runs{c}, checkpoints: kept, history: history{c}, outbox: outbox{c}, imports: imports{c, deletions}, removal: deletions,
		trash: trash{c, deletions, kept}, journals: map[*Journal]struct{}{},
	}
	var err error
	c.file, err = file.Open(dir, file.Options{
		OnCommit: c.options.OnCommit, OnUpdate: c.options.Updating, Logger: c.options.Logger,
		OnAlone: func(f *file.File) error {
			c.file = f
			return s.sweepClosed()
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", dir, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	if c.file.ReadOnly() != nil {
		close(c.tidied)
		return s, nil
	}
	s.working.Go(func() { s.tidy(ctx) })
	return s, nil
}

// claimable returns an error if a run does not exist or the store is read-only.
func (s *core) claimable(ctx context.Context, run engine.RunID) error {
	if err := s.file.ReadOnly(); err != nil {
		return err
	}
	_, err := s.key(ctx, run)
	return err
}

// Notice returns what the user should know about the opening of the store; empty if there is nothing.
func (s *Store) Notice() string { return s.file.Notice() }

// Written returns the number of journal rows that this process made durable.
func (s *Store) Written() int64 { return s.written.Load() }

// Worked returns the total time for which the journal writers of this process were busy.
func (s *Store) Worked() time.Duration { return time.Duration(s.worked.Load()) }

// Connections returns the number of open connections to the file.
func (s *Store) Connections() int { return s.file.Connections() }

// Dir returns the folder of the store.
func (s *Store) Dir() string { return s.file.Dir() }

// Claim makes a run one in progress until release is called or the process ends. If it is in progress already, the error
// wraps ErrInUse and names its process. A process that claims several runs should have the turn; see [Store.Turn].
func (s *Store) Claim(ctx context.Context, run engine.RunID) (release func(), err error) {
	return s.claims.Claim(ctx, run)
}

// Hold keeps a run as it is until release is called or the process ends: it can be neither claimed nor deleted. It is not in progress. work
// names what it is held for.
func (s *Store) Hold(ctx context.Context, run engine.RunID, work string) (release func(), err error) {
	return s.claims.Hold(ctx, run, work)
}

// Turn waits in the queue until this process may execute runs, until release is called or the process ends; see [Store.ClaimWait].
func (s *Store) Turn(ctx context.Context, e waiting.Entry, onWait func(holder string)) (release func(), err error) {
	if err := s.file.ReadOnly(); err != nil {
		return nil, err
	}
	return s.claims.Turn(ctx, e, onWait)
}

// ClaimWait waits in the queue for a turn and claims a run. onWait, if set, receives the holder, first and when it changes.
func (s *Store) ClaimWait(ctx context.Context, run engine.RunID, e waiting.Entry, onWait func(holder string)) (release func(), err error) {
	return s.claims.Wait(ctx, run, e, onWait)
}

// Close flushes the open journals and closes the file. It waits at most 5 s for a disk that cannot be written.
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
	return errors.Join(append(errs, s.file.Close())...)
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
