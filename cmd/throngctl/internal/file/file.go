// Package file writes output files.
package file

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/storage"
)

// CheckFolder checks, before a run, whether results could be written to a folder, which need not exist. It leaves no files
// behind.
func CheckFolder(dir string) error {
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

// plainly replaces the path of a temporary file in an error with the path that the user knows.
func plainly(path string, err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s cannot be written: %w", path, of.Err)
	}
	if of, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("%s cannot be written: %w", path, of.Err)
	}
	return err
}

// Write writes a file atomically.
func Write(path string, write func(io.Writer) error) error {
	if there, err := os.Stat(path); err == nil && there.IsDir() {
		return &engine.FieldError{Field: path, Problem: "is a folder", Hint: "name a file in it"}
	} else if err == nil && !there.Mode().IsRegular() {
		return writeInto(path, write)
	}
	f, err := storage.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return plainly(path, err)
	}
	w := bufio.NewWriter(f)
	err = errors.Join(write(w), w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// writeInto writes to a device or a pipe.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// WriteCSV writes a table to a file.
func WriteCSV(path string, s findings.Sheet) error {
	return Write(path, func(w io.Writer) error { return storage.WriteSheet(w, &s, storage.CSV) })
}
