// Package claim holds the lock of the one run that may be in progress in a store, across processes.
package claim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// One run is in progress per store. Its process locks throng.lock and writes its name to throng.holder. A process that dies
// loses the lock, and its throng.holder is stale. Each waiting process has a ticket, a file that it locks; the name of the
// file has the time when it began to wait.
const (
	lockName     = "throng.lock"
	HolderName   = "throng.holder"
	TicketPrefix = "throng.waiting-"

	// pollInterval is how often a waiting process tries again.
	pollInterval = 100 * time.Millisecond
	// A lock is tried lockTries times, retryInterval apart: another process may hold it only to check whether it is free.
	lockTries     = 5
	retryInterval = 10 * time.Millisecond
)

// Claims are the claims on a store. They are safe for concurrent use.
type Claims struct {
	dir    string
	check  func(ctx context.Context, run engine.RunID) error
	logger *slog.Logger

	mu      sync.Mutex
	claimed string // the run that this process has in progress
}

// New returns the claims on the store in a folder. check returns an error if a run does not exist or cannot be claimed.
func New(dir string, logger *slog.Logger, check func(ctx context.Context, run engine.RunID) error) *Claims {
	return &Claims{dir: dir, logger: logger, check: check}
}

// Holder is the process that has a run in progress.
type Holder struct {
	Run     string    `json:"run"`
	Process int       `json:"process"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
}

// String describes the holder in a sentence.
func (h Holder) String() string {
	if h.Run == "" {
		return "another process has a run in progress"
	}
	return fmt.Sprintf("run %s is in progress in process %d (%s) since %s", h.Run, h.Process, h.Program, h.Since.Local().Format("2006-01-02 15:04:05"))
}

// Claim makes a run the one in progress until release is called or the process ends. If another run is in progress, the
// error wraps ErrInUse and names that run and its process.
func (c *Claims) Claim(ctx context.Context, run engine.RunID) (release func(), err error) {
	release, err = c.claim(ctx, run)
	if err != nil {
		err = fmt.Errorf("claim run %s: %w", run, err)
	}
	return release, err
}

func (c *Claims) claim(ctx context.Context, run engine.RunID) (release func(), err error) {
	if err := c.check(ctx, run); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(c.dir, lockName))
	for try := range lockTries {
		got, err := lock.TryLock()
		if err != nil {
			return nil, file.FolderError(err)
		}
		if got {
			return c.hold(ctx, run, lock)
		}
		if try+1 < lockTries {
			if err := Pause(ctx, retryInterval); err != nil {
				return nil, err
			}
		}
	}
	h, _ := c.readHolder()
	return nil, fmt.Errorf("%w: %s", engine.ErrInUse, h)
}

// hold records this process as the holder of the lock, and then checks that the run still exists. A deletion hides the run
// and then checks the holder, so that one of the two notices the other.
func (c *Claims) hold(ctx context.Context, run engine.RunID, lock *flock.Flock) (release func(), err error) {
	var once sync.Once
	release = func() {
		once.Do(func() {
			c.mu.Lock()
			c.claimed = ""
			c.mu.Unlock()
			if err := os.Remove(filepath.Join(c.dir, HolderName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				c.logger.Warn("the file of the holder cannot be removed", "error", err)
			}
			if err := lock.Close(); err != nil {
				c.logger.Error("the lock of the run cannot be released", "run", run, "error", err)
			}
		})
	}
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	text, err := json.Marshal(Holder{Run: string(run), Process: os.Getpid(), Program: filepath.Base(program), Since: time.Now().UTC()})
	if err == nil {
		err = replaceFile(filepath.Join(c.dir, HolderName), text)
	}
	if err == nil {
		c.mu.Lock()
		c.claimed = string(run)
		c.mu.Unlock()
		err = c.check(ctx, run)
	} else {
		err = file.FolderError(err)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// Wait is like Claim, but waits in line while another run is in progress. onWait, if set, is called with the holder when the
// wait begins and when the holder changes.
func (c *Claims) Wait(ctx context.Context, run engine.RunID, onWait func(holder string)) (release func(), err error) {
	if err := c.check(ctx, run); err != nil {
		return nil, fmt.Errorf("claim run %s: %w", run, err)
	}
	ticket, leave, err := c.queueUp()
	if err != nil {
		return nil, fmt.Errorf("wait to claim run %s: %w", run, err)
	}
	defer leave()
	reported := ""
	for {
		if c.firstInLine(ticket) {
			release, err := c.Claim(ctx, run)
			if !errors.Is(err, engine.ErrInUse) {
				return release, err
			}
		}
		if h, err := c.readHolder(); err == nil && h.String() != reported && onWait != nil {
			reported = h.String()
			onWait(reported)
		}
		if err := Pause(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

// queueUp creates and locks a ticket. Names of tickets sort by age.
func (c *Claims) queueUp() (ticket string, leave func(), err error) {
	for range lockTries {
		ticket = fmt.Sprintf("%s%020d-%d", TicketPrefix, time.Now().UnixNano(), os.Getpid())
		path := filepath.Join(c.dir, ticket)
		lock := flock.New(path)
		got, err := lock.TryLock()
		if err != nil {
			return "", nil, file.FolderError(err)
		}
		if !got || file.Size(path) < 0 { // another process removed it before it was locked
			continue
		}
		return ticket, func() {
			if err := errors.Join(os.Remove(path), lock.Close()); err != nil {
				c.logger.Warn("the ticket cannot be removed", "error", err)
			}
		}, nil
	}
	return "", nil, engine.ErrInUse
}

// firstInLine reports whether no living process has an older ticket. It removes the tickets of dead processes.
func (c *Claims) firstInLine(ticket string) bool {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return true // the lock itself decides
	}
	for _, e := range entries { // sorted
		if !strings.HasPrefix(e.Name(), TicketPrefix) || e.Name() >= ticket {
			continue
		}
		path := filepath.Join(c.dir, e.Name())
		lock := flock.New(path, flock.SetFlag(os.O_RDWR)) // does not create the file
		got, err := lock.TryLock()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && got:
			if err := errors.Join(os.Remove(path), lock.Close()); err != nil {
				c.logger.Warn("the ticket of a dead process cannot be removed", "error", err)
			}
		default:
			return false
		}
	}
	return true
}

// Holder returns the process that has a run in progress; ok is false if there is none.
func (c *Claims) Holder() (h Holder, ok bool) {
	h, err := c.readHolder()
	if err != nil {
		return h, false
	}
	c.mu.Lock()
	mine := c.claimed != "" && c.claimed == h.Run
	c.mu.Unlock()
	if mine {
		return h, true
	}
	lock := flock.New(filepath.Join(c.dir, lockName))
	free, err := lock.TryLock()
	if err != nil || !free {
		return h, err == nil
	}
	// The process died. Without its file, the next call does not need to try the lock.
	if err := errors.Join(os.Remove(filepath.Join(c.dir, HolderName)), lock.Close()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.logger.Warn("the file of the holder cannot be removed", "error", err)
	}
	return Holder{}, false
}

func (c *Claims) readHolder() (h Holder, err error) {
	text, err := os.ReadFile(filepath.Join(c.dir, HolderName))
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err == nil {
		err = engine.RunID(h.Run).Check()
	}
	if err != nil {
		return Holder{}, err
	}
	return h, nil
}

// replaceFile replaces a file atomically.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Pause waits for a time or the end of ctx, whose cause it returns.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
