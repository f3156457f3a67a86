package file

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"github.com/throng-sim/throng/engine"
)

// errReadOnly is returned by every write to a file that is open read-only.
var errReadOnly error = &Unwritable{errors.New("the data folder cannot be written, so its runs can only be read: " +
	"copy it to a place that can be written, or choose another with --data")}

// Translate turns an error of the driver into a sentinel of the engine that wraps it.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return engine.ErrNotFound
	}
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrFull:
		return fmt.Errorf("%w: %w", engine.ErrNoRoom, err)
	case sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm:
		return &Unwritable{err}
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return fmt.Errorf("%w: %w", engine.ErrInUse, err)
	default:
		return err
	}
}

// Unwritable says that the store cannot be written, although there may be free space. It is an ErrNoRoom: a run treats both
// in the same way.
type Unwritable struct{ Err error }

func (e *Unwritable) Error() string { return e.Err.Error() }

// Unwrap returns ErrNoRoom and the cause.
func (e *Unwritable) Unwrap() []error { return []error{engine.ErrNoRoom, e.Err} }

// folderError says that nothing can be written in the data folder.
type folderError struct{ err error }

// FolderError wraps an error of a file operation in the data folder as an ErrNoRoom that says what to do.
func FolderError(err error) error { return &folderError{err} }

func (e *folderError) Error() string {
	if errors.Is(e.err, syscall.ENOSPC) {
		return fmt.Sprintf("%v: %v; free some space, or choose another data folder", engine.ErrNoRoom, e.err)
	}
	return fmt.Sprintf("the folder cannot be used: %v; check its path and permissions, or choose another data folder", e.err)
}

func (e *folderError) Unwrap() []error { return []error{engine.ErrNoRoom, e.err} }

// Advice says what the user can do about an error that prevents writing; empty for other errors.
func Advice(err error) string {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code {
	case sqlite3.ErrFull:
		return "the disk is full: free some space"
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrCantOpen:
		return "the data folder cannot be written: check its permissions, or choose another"
	case sqlite3.ErrIoErr:
		return "the disk reports errors: check that it is connected, healthy and has space"
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return "another program keeps the store locked: close it"
	default:
		return ""
	}
}

// full reports whether the disk is full.
func full(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrFull
}

// damaged reports whether the file is not a valid database.
func damaged(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrFormat)
}

// Permanent reports whether an error of a write persists however often the write is retried: the file or its schema is
// damaged.
func Permanent(err error) bool {
	var e sqlite3.Error
	if errors.Is(err, engine.ErrDamaged) || damaged(err) {
		return true
	}
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case sqlite3.ErrSchema, sqlite3.ErrMismatch, sqlite3.ErrRange:
		return true
	case sqlite3.ErrConstraint:
		return e.ExtendedCode != sqlite3.ErrConstraintCommitHook
	case sqlite3.ErrError:
		return strings.Contains(e.Error(), "no such ") || strings.Contains(e.Error(), "has no column")
	}
	return false
}
