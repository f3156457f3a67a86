package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// scratch is a temporary folder. The system frees its lock even if the process is killed, and a later process removes it.
type scratch struct {
	folder string
	lock   *flock.Flock
}

const (
	scratchPrefix = "throng-fleet-"
	scratchLock   = "lock"
	// scratchAge is the age from which a folder without a lock belongs to a process that was killed.
	scratchAge = time.Minute
)

// newScratch makes a folder, and removes those of processes that were killed.
func newScratch() (*scratch, error) {
	sweepScratch(time.Now().Add(-scratchAge))
	folder, err := os.MkdirTemp("", scratchPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a folder for the fleet's server: %w", err)
	}
	s := &scratch{folder, flock.New(filepath.Join(folder, scratchLock))}
	if err := s.lock.Lock(); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the folder of the fleet's server: %w", err), os.RemoveAll(folder))
	}
	return s, nil
}

// sweepScratch removes the folders, made before a moment, of processes that were killed, as far as the system lets it.
func sweepScratch(before time.Time) {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*")) // the pattern is right
	for _, folder := range all {
		if info, err := os.Lstat(folder); err != nil || !info.IsDir() || info.ModTime().After(before) {
			continue
		}
		s := scratch{folder, flock.New(filepath.Join(folder, scratchLock))}
		if free, err := s.lock.TryLock(); err == nil && free {
			_ = s.remove()
		}
	}
}

func (s *scratch) remove() error {
	if err := errors.Join(s.lock.Unlock(), os.RemoveAll(s.folder)); err != nil {
		return fmt.Errorf("remove the folder of the fleet's server: %w", err)
	}
	return nil
}
