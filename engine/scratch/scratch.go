// Package scratch makes temporary folders that do not outlive their process for long.
package scratch

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Folder is a temporary folder. The system frees its lock even if the process is killed, and a later process removes it.
type Folder struct {
	Path string
	lock *flock.Flock
}

const (
	lockFile = "lock"
	// youngest is the age from which a folder without a lock belongs to a process that was killed.
	youngest = time.Minute
)

// New makes a folder in parent whose name begins with prefix, and removes those of processes that were killed. "" stands for the
// system's folder for temporary files.
func New(parent, prefix string) (*Folder, error) {
	parent = cmp.Or(parent, os.TempDir())
	sweep(parent, prefix, time.Now().Add(-youngest))
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	f := open(path)
	if err := f.lock.Lock(); err != nil {
		return nil, errors.Join(fmt.Errorf("lock a temporary folder: %w", err), f.Remove())
	}
	return f, nil
}

func open(path string) *Folder { return &Folder{path, flock.New(filepath.Join(path, lockFile))} }

// sweep removes the folders, made before a moment, of processes that were killed, as far as the system lets it.
func sweep(parent, prefix string, before time.Time) {
	all, _ := filepath.Glob(filepath.Join(parent, prefix+"*")) // a prefix is not a pattern
	for _, path := range all {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || info.ModTime().After(before) {
			continue
		}
		f := open(path)
		if free, err := f.lock.TryLock(); err == nil && free {
			_ = f.Remove()
		}
	}
}

// Remove removes the folder with its content.
func (f *Folder) Remove() error {
	if err := errors.Join(f.lock.Unlock(), os.RemoveAll(f.Path)); err != nil {
		return fmt.Errorf("remove a temporary folder: %w", err)
	}
	return nil
}
