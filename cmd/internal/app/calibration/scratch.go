package calibration

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

const scratchPrefix = "calibrate-"

// Scratch creates a temporary folder in the data folder; leave removes it. It also removes the folders of dead processes.
func Scratch(data string) (dir string, leave func() error, err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", nil, err
	}
	left, err := filepath.Glob(filepath.Join(data, scratchPrefix+"*"))
	if err != nil {
		return "", nil, err
	}
	for _, old := range left {
		lock := flock.New(filepath.Join(old, "lock"))
		if free, err := lock.TryLock(); err == nil && free {
			if err := errors.Join(lock.Unlock(), os.RemoveAll(old)); err != nil {
				slog.Warn("cannot remove the folder of an earlier calibration", "folder", old, "error", err)
			}
		}
	}
	if dir, err = os.MkdirTemp(data, scratchPrefix); err != nil {
		return "", nil, fmt.Errorf("create a store for the measurements: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	leave = func() error { return errors.Join(lock.Close(), os.RemoveAll(dir)) }
	if _, err := lock.TryLock(); err != nil {
		return "", nil, errors.Join(err, leave())
	}
	return dir, leave, nil
}
