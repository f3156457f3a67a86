package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/suggest"
)

// mostNames limits the names of a folder among which a misspelled one is looked for.
const mostNames = 1000

// absentError is the error for a file that does not exist, although the folder has one with a similar name.
type absentError struct {
	near string
	err  error
}

func (e *absentError) Error() string { return e.err.Error() }

func (e *absentError) Unwrap() error { return e.err }

// absent adds the nearest name of its folder to the error for a file.
func absent(root *os.Root, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, openErr := root.Open(filepath.FromSlash(path.Dir(name)))
	if openErr != nil {
		return err
	}
	defer func() { _ = dir.Close() }()      // it was only read
	names, _ := dir.Readdirnames(mostNames) // as many as there are
	near := suggest.Nearest(path.Base(name), names)
	if near == "" {
		return err
	}
	return &absentError{path.Join(path.Dir(name), near), err}
}

// why returns the cause of a file error without the name of the system call.
func why(name string, err error) error {
	if of, ok := errors.AsType[*absentError](err); ok {
		return fmt.Errorf("there is no file %s; did you mean %s?", name, of.near)
	}
	return cause(name, err)
}

func cause(name string, err error) error {
	var of *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", name)
	case errors.As(err, &of):
		return fmt.Errorf("%s: %w", name, of.Err)
	default:
		return err
	}
}

// unread reports a file that cannot be read; what says which, and the hint which it should be.
func unread(n *doc.Node, hint, what, name string, err error) {
	g := suggest.Guess{Hint: hint}
	if of, ok := errors.AsType[*absentError](err); ok {
		g = suggest.Guess{Meant: of.near, Hint: "did you mean `" + of.near + "`? " + hint}
	}
	n.Guess(g).Errorf("%s%v", what, cause(name, err))
}
