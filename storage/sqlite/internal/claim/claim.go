// Package claim says across processes which runs are in progress in a store, and who may start the next one.
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
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	"github.com/throng-sim/throng/storage/sqlite/internal/lock"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// A process has the turn while it executes runs: one run, or those of an experiment. Others wait in a [queue.Queue]. A run in progress
// has a claim of its own. Turn and claims are files that their process locks. A process that dies loses its locks. The holder of a
// turn or a claim is written to another file, because a locked file cannot be read on Windows.
const (
	turnName     = "turn"
	runPrefix    = "run-"
	lockSuffix   = ".lock"
	holderSuffix = ".json"

	// pollInterval is how often a waiting process tries again.
	pollInterval = 100 * time.Millisecond
	// A lock is tried lockTries times, retryInterval apart: another process may hold it only to check whether it is free.
	lockTries     = 5
	retryInterval = 10 * time.Millisecond
)

// Claims are the claims on a store. They are safe for concurrent use.
type Claims struct {
	dir    string
	queue  *queue.Queue
	check  func(ctx context.Context, run engine.RunID) error
	logger *slog.Logger

	mu   sync.Mutex
	mine map[string]Holder // of this process, by the name of the lock
}

// New returns the claims on the store in a folder. check returns an error if a run does not exist or cannot be claimed.
func New(dir string, logger *slog.Logger, check func(ctx context.Context, run engine.RunID) error) *Claims {
	return &Claims{dir: filepath.Join(dir, queue.Folder), queue: queue.Of(dir, logger), logger: logger, check: check, mine: map[string]Holder{}}
}

// Holder is the process that has a turn or a run in progress.
type Holder struct {
	Work    string    `json:"work"` // such as run 20261126-120000-k3f9
	Process int       `json:"process"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
	Reads   bool      `json:"reads,omitempty"` // it only reads the run, see [Claims.Hold]
}

// String describes the holder in a sentence.
func (h Holder) String() string {
	if h.Work == "" {
		return "another process has a run in progress"
	}
	return fmt.Sprintf("%s is in progress in process %d (%s) since %s", h.Work, h.Process, h.Program, h.Since.Local().Format("2006-01-02 15:04:05"))
}

// Claim makes a run one in progress until release is called or the process ends. If it is in progress already, the error wraps
// ErrInUse and names the process.
func (c *Claims) Claim(ctx context.Context, run engine.RunID) (release func(), err error) {
	return c.claim(ctx, run, Holder{Work: "run " + string(run)})
}

// Hold keeps a run as it is until release is called or the process ends: it can be neither claimed nor deleted. It is not in progress. work
// says what it is held for.
func (c *Claims) Hold(ctx context.Context, run engine.RunID, work string) (release func(), err error) {
	return c.claim(ctx, run, Holder{Work: work, Reads: true})
}

func (c *Claims) claim(ctx context.Context, run engine.RunID, h Holder) (release func(), err error) {
	if err = c.check(ctx, run); err == nil {
		release, err = c.lock(ctx, runPrefix+string(run), h)
	}
	if err == nil {
		// A deletion blocks the run while it hides it.
		if err = c.check(ctx, run); err != nil {
			release()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("claim run %s: %w", run, err)
	}
	return release, nil
}

// Block keeps a run from being claimed until release is called; the error wraps ErrInUse if it is in progress. It is not shown as in
// progress.
func (c *Claims) Block(ctx context.Context, run engine.RunID) (release func(), err error) {
	name := runPrefix + string(run)
	held, err := c.take(ctx, name)
	if errors.Is(err, syscall.ENOSPC) { // there is no room for a claim either, and a deletion makes some
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	c.forget(name) // that of a process that died
	return func() { lock.Drop(held, c.logger) }, nil
}

// lock locks a turn or a run, and writes its holder, which is this process.
func (c *Claims) lock(ctx context.Context, name string, h Holder) (release func(), err error) {
	held, err := c.take(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.hold(name, h, held)
}

// take locks a turn or a run.
func (c *Claims) take(ctx context.Context, name string) (*flock.Flock, error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, file.FolderError(err)
	}
	for try := range lockTries {
		held, err := lock.Take(c.path(name))
		if err != nil {
			return nil, file.FolderError(err)
		}
		if held != nil {
			return held, nil
		}
		if try+1 < lockTries {
			if err := lock.Pause(ctx, retryInterval); err != nil {
				return nil, err
			}
		}
	}
	h, _ := c.readHolder(name)
	return nil, fmt.Errorf("%w: %s", engine.ErrInUse, h)
}

func (c *Claims) path(name string) string { return filepath.Join(c.dir, name+lockSuffix) }

// hold records this process as the holder of a lock.
func (c *Claims) hold(name string, h Holder, held *flock.Flock) (release func(), err error) {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	h.Process, h.Program, h.Since = os.Getpid(), filepath.Base(program), time.Now().UTC()
	text, err := json.Marshal(h)
	if err == nil {
		err = lock.Replace(c.holderPath(name), text)
	}
	if err != nil {
		lock.Drop(held, c.logger)
		return nil, file.FolderError(err)
	}
	c.mu.Lock()
	c.mine[name] = h
	c.mu.Unlock()
	var once sync.Once
	return func() {
		once.Do(func() {
			c.mu.Lock()
			delete(c.mine, name)
			c.mu.Unlock()
			c.forget(name)
			lock.Drop(held, c.logger)
		})
	}, nil
}

// forget removes the file of a holder.
func (c *Claims) forget(name string) {
	if err := os.Remove(c.holderPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.logger.Warn("the file of a holder cannot be removed", "file", name, "error", err)
	}
}

func (c *Claims) holderPath(name string) string { return filepath.Join(c.dir, name+holderSuffix) }

// Turn waits in the queue until this process may execute the work of an entry, until release is called or the process ends. onWait, if
// set, is called with the holder when the wait begins and when the holder changes. The error is [queue.ErrCanceled] if somebody
// canceled the entry.
func (c *Claims) Turn(ctx context.Context, e queue.Entry, onWait func(holder string)) (release func(), err error) {
	release, err = c.inLine(ctx, e, onWait, []string{turnName}, func() (func(), error) { return c.lock(ctx, turnName, Holder{Work: e.Work}) })
	if err != nil {
		return nil, fmt.Errorf("wait for other runs: %w", err)
	}
	return release, nil
}

// Wait waits in the queue for a turn, and claims a run for it.
func (c *Claims) Wait(ctx context.Context, run engine.RunID, e queue.Entry, onWait func(holder string)) (release func(), err error) {
	if err := c.check(ctx, run); err != nil {
		return nil, fmt.Errorf("claim run %s: %w", run, err)
	}
	release, err = c.inLine(ctx, e, onWait, []string{turnName, runPrefix + string(run)}, func() (func(), error) {
		pass, err := c.lock(ctx, turnName, Holder{Work: "run " + string(run)})
		if err != nil {
			return nil, err
		}
		release, err := c.Claim(ctx, run)
		if err != nil {
			pass()
			return nil, err
		}
		return func() { release(); pass() }, nil
	})
	if err != nil {
		return nil, fmt.Errorf("wait to claim run %s: %w", run, err)
	}
	return release, nil
}

// inLine waits until it is first in the queue and attempt succeeds. The names are those of the locks that attempt needs.
func (c *Claims) inLine(ctx context.Context, e queue.Entry, onWait func(holder string), names []string, attempt func() (func(), error)) (release func(), err error) {
	place, err := c.queue.Enter(e)
	if err != nil {
		return nil, err
	}
	defer place.Leave()
	reported := map[string]Holder{} // by the name of the lock
	for {
		first, err := place.First()
		if err != nil {
			return nil, err
		}
		if first {
			release, err := attempt()
			if err == nil {
				if err = place.Begin(); err != nil {
					release()
				}
			}
			if !errors.Is(err, engine.ErrInUse) {
				return release, err
			}
		}
		for _, name := range names {
			if h, ok := c.holder(name); ok && h != reported[name] && onWait != nil {
				reported[name] = h
				onWait(h.String())
			}
		}
		if err := lock.Pause(ctx, pollInterval); err != nil {
			return nil, err
		}
	}
}

// Holder returns the process that has a run in progress or holds it; ok is false if there is none.
func (c *Claims) Holder(run engine.RunID) (h Holder, ok bool) {
	return c.holder(runPrefix + string(run))
}

// Queued returns the runs that wait to start, with their IDs in the queue.
func (c *Claims) Queued() map[engine.RunID]string {
	waiting, _ := c.queue.List() // an entry that cannot be read waits for nothing
	var all map[engine.RunID]string
	for _, e := range waiting {
		if e.Run != "" {
			if all == nil {
				all = map[engine.RunID]string{}
			}
			all[e.Run] = e.ID
		}
	}
	return all
}

// Holders returns the runs in progress, and those that are held, with their processes. Without any, it returns nil.
func (c *Claims) Holders() map[engine.RunID]Holder {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil
	}
	var all map[engine.RunID]Holder
	for _, e := range entries {
		name, isHolder := strings.CutSuffix(e.Name(), holderSuffix)
		run, isRun := strings.CutPrefix(name, runPrefix)
		if !isHolder || !isRun {
			continue
		}
		if h, ok := c.holder(name); ok {
			if all == nil {
				all = map[engine.RunID]Holder{}
			}
			all[engine.RunID(run)] = h
		}
	}
	return all
}

func (c *Claims) holder(name string) (h Holder, ok bool) {
	c.mu.Lock()
	h, mine := c.mine[name]
	c.mu.Unlock()
	if mine {
		return h, true
	}
	h, err := c.readHolder(name)
	if err != nil {
		return h, false
	}
	held, err := lock.Held(c.path(name), c.logger, func() { c.forget(name) })
	return h, held && err == nil
}

func (c *Claims) readHolder(name string) (h Holder, err error) {
	text, err := os.ReadFile(c.holderPath(name))
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	return h, err
}
