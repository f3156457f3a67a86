package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mattn/go-sqlite3"

	"github.com/throng-sim/throng/engine"
)

// errClosed is the error of a journal or store that takes no more rows.
var errClosed = fmt.Errorf("the journal is closed: %w", fs.ErrClosed)

// translate turns an error of the driver into one of the engine's sentinels, which it wraps together with it.
func translate(err error) error {
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
		return &unwritable{err}
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return fmt.Errorf("%w: %w", engine.ErrInUse, err)
	default:
		return err
	}
}

// unwritable is that the store cannot be written although there may be room. To a run that is the same.
type unwritable struct{ err error }

func (e *unwritable) Error() string   { return e.err.Error() }
func (e *unwritable) Unwrap() []error { return []error{engine.ErrNoRoom, e.err} }

// advice is what a person can do about an error that keeps the store from being written.
func advice(err error) string {
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

// full reports whether err says that the disk is full.
func full(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrFull
}

// damaged reports whether err says that the file is not a sound database.
func damaged(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrFormat)
}

// hopeless reports whether an error of writing is one that waiting does not end: the file, or its schema, is not in order.
func hopeless(err error) bool {
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
