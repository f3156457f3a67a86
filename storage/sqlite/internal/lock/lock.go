// Package lock has files that a process locks while it lives: other processes see from the lock whether it does.
package lock

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// Imports is the name of the lock of the process that adds runs of other stores to a store.
const Imports = "throng.import"

// Take locks a file, which it creates if necessary; nil if another has it.
func Take(path string, options ...flock.Option) (*flock.Flock, error) {
	lock := flock.New(path, options...)
	got, err := lock.TryLock()
	if err != nil || !got {
		return nil, err
	}
	mine, err := lock.Stat()
	now, gone := os.Stat(path)
	if err == nil && gone == nil && os.SameFile(mine, now) {
		return lock, nil
	}
	return nil, errors.Join(err, lock.Close()) // its holder removed it between opening and locking
}

// Await tries to lock a file awaits times, awaitPause apart.
const awaits, awaitPause = 20, 100 * time.Millisecond

// Await is like Take, but waits for one that has the lock for moments only.
func Await(ctx context.Context, path string) (*flock.Flock, error) {
	for try := 1; ; try++ {
		lock, err := Take(path)
		if lock != nil || err != nil || try == awaits {
			return lock, err
		}
		if err := Pause(ctx, awaitPause); err != nil {
			return nil, err
		}
	}
}

// Drop removes a locked file and unlocks it.
func Drop(lock *flock.Flock, logger *slog.Logger) {
	var closed, removed error
	if runtime.GOOS == "windows" { // removes no open file; if another process has opened it by now, that one removes it
		closed = lock.Close()
		_ = os.Remove(lock.Path())
	} else {
		removed = os.Remove(lock.Path())
		closed = lock.Close()
	}
	if errors.Is(removed, fs.ErrNotExist) {
		removed = nil
	}
	if err := errors.Join(removed, closed); err != nil {
		logger.Warn("a lock cannot be removed", "file", filepath.Base(lock.Path()), "error", err)
	}
}

// Held reports whether a living process has a lock. It removes the lock of a dead one, after a call of dead.
func Held(path string, logger *slog.Logger, dead func()) (bool, error) {
	lock, err := Take(path, flock.SetFlag(os.O_RDWR)) // does not create the file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil || lock == nil:
		return err == nil, err
	}
	dead()
	Drop(lock, logger)
	return false, nil
}

// renames is how often Replace tries, renamePause apart: on Windows, another process may be reading the old file.
const renames, renamePause = 10, 10 * time.Millisecond

// Replace replaces a file atomically.
func Replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
		for try := 1; try < renames && runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission); try++ {
			time.Sleep(renamePause)
			err = os.Rename(f.Name(), path)
		}
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
