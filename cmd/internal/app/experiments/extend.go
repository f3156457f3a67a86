package experiments

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/engine/experiment"
)

// New writes the commented file of an experiment for a scenario: a file, or a built-in one by its name. The error wraps os.ErrExist if
// the file of the experiment exists.
func New(data, of, file string) error {
	s, err := authoring.Open(data, of, nil)
	if err != nil {
		return err
	}
	name, err := Named(file, of)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(experiment.Sample(s, name))
	return errors.Join(err, f.Close())
}

// Named returns how the file of an experiment names a scenario: a file by its path relative to the experiment, a built-in one by its name.
func Named(file, of string) (string, error) {
	if _, err := os.Stat(of); err != nil {
		return of, nil
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(of)
	if err != nil {
		return "", err
	}
	path, err := filepath.Rel(dir, to)
	return filepath.ToSlash(path), err
}

// Extend writes additions into the file of an experiment and returns it. Everything else in the file stays. An execution in progress adds
// the runs. If the result would have mistakes, they are the error, and the file stays as it is. data is the data folder.
func Extend(data, file string, c experiment.Changes) (*experiment.Experiment, error) {
	e, err := Read(data, file)
	if err != nil {
		return nil, err
	}
	was, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text, err := e.Extend(file, was, c)
	if err != nil {
		return nil, err
	}
	if e, err = ReadAs(data, file, text); err != nil {
		return nil, fmt.Errorf("the file was not changed: %w", err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, was) {
		return nil, fmt.Errorf("%s changed in the meantime; nothing was written: try again", file)
	}
	return e, authoring.Replace(file, text)
}
