package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/engine"
)

// standard is the name of a file that stands for the terminal, or for a program behind a pipe.
const standard = "-"

// folderFor tells before a run begins whether its results could be written into a folder, which need not be there yet. It
// leaves nothing behind.
func folderFor(dir string) error {
	if dir == "" {
		return nil
	}
	refused := func(problem string) error {
		return &engine.FieldError{Field: "export", Problem: problem, Hint: "nothing was started; name another folder"}
	}
	there, err := filepath.Abs(dir)
	if err != nil {
		return refused(err.Error())
	}
	for {
		found, err := os.Stat(there)
		if above := filepath.Dir(there); errors.Is(err, fs.ErrNotExist) && above != there {
			there = above
			continue
		}
		switch {
		case err != nil:
			return refused(plainly(dir, err).Error())
		case !found.IsDir():
			return refused(there + " is a file")
		}
		break
	}
	f, err := os.CreateTemp(there, ".throng-*")
	if err != nil {
		return refused(plainly(there, err).Error())
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return refused(err.Error())
	}
	return nil
}

// plainly names the file that a person knows in an error about another one that was to become it.
func plainly(path string, err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s cannot be written: %w", path, of.Err)
	}
	if of, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("%s cannot be written: %w", path, of.Err)
	}
	return err
}
