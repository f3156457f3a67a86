// Package file is the database file of a store: opening, locking, migrating and backing it up, its transactions, and its
// write-ahead log.
package file

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/gofrs/flock"
)

// Name is the name of the file in its folder.
const Name = "throng.db"

// Exists reports whether a folder has a store.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, Name))
	return err == nil
}

// Options configure a [File]. Logger is required.
type Options struct {
	// OnCommit, if set, is called after the n-th commit of this process is durable, before its writer continues. n counts
	// from 1.
	OnCommit func(n int64)
	// OnAlone, if set, is called while the file is being opened, if no other process has it open. An error is logged.
	OnAlone func(f *File) error
	// OnUpdate, if set, is called with the progress of the backup that precedes a migration. Calls come from several
	// goroutines, one at a time.
	OnUpdate func(Update)
	Logger   *slog.Logger
}

// File is an open database file. It is safe for concurrent use.
type File struct {
	dir     string
	options Options
	notice  string
	opened  *flock.Flock // shared by all processes that have the file open
	Writer  *sql.DB      // one connection; other packages only use it in tests, like Reader
	Reader  *sql.DB
	next    int64 // next free position of the journal, as far as this process knows; owned by the writer's transactions
	log     logState
	commits atomic.Int64
	suspect atomic.Bool // see [File.Suspect]

	readOnly bool   // nothing can be written
	Copied   string // temporary folder with the copy that is read; empty if the file itself is read
}

// Open opens the file in a folder and creates both if they are missing. A damaged file is renamed, see [File.Notice]. A file
// in a folder that cannot be written is opened read-only.
//
// The errors are ErrNewer if a newer version wrote the file, which is not changed; ErrNoRoom if the folder cannot be written
// and has no file; and ErrInUse.
func Open(dir string, o Options) (*File, error) {
	f := &File{dir: dir, options: o}
	if err := f.open(); err != nil {
		if err := f.openReadOnly(err); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Notice returns what the user should know about the opening of the file; empty if there is nothing.
func (f *File) Notice() string { return f.notice }

// Dir returns the folder of the file.
func (f *File) Dir() string { return f.dir }

// Path returns the path of the file.
func (f *File) Path() string { return filepath.Join(f.dir, Name) }

// ReadOnly returns errReadOnly if the file cannot be written, and else nil.
func (f *File) ReadOnly() error {
	if f.readOnly {
		return errReadOnly
	}
	return nil
}

// Connections returns the number of open connections.
func (f *File) Connections() int {
	return f.Writer.Stats().OpenConnections + f.Reader.Stats().OpenConnections
}

// Close closes the connections and releases the lock of the file.
func (f *File) Close() error {
	err := errors.Join(f.Reader.Close(), f.Writer.Close(), f.opened.Close())
	if f.Copied != "" {
		err = errors.Join(err, os.RemoveAll(f.Copied))
	}
	return err
}

// Write runs do in a transaction of the only writer, and reports the commit to [Options.OnCommit]. An error rolls it back.
func (f *File) Write(do func(tx Tx) error) error {
	if err := f.Transact(do); err != nil {
		return err
	}
	n := f.commits.Add(1)
	if f.options.OnCommit != nil {
		f.options.OnCommit(n)
	}
	return nil
}

// Transact runs do in a transaction of the only writer. An error rolls it back.
func (f *File) Transact(do func(tx Tx) error) error {
	if f.readOnly {
		return errReadOnly
	}
	tx, err := f.Writer.BeginTx(context.Background(), nil)
	if err != nil {
		return Translate(err)
	}
	if err := do(Tx{tx, f}); err != nil {
		_ = tx.Rollback() // after an error of the disk, SQLite has already rolled back
		return Translate(err)
	}
	return Translate(tx.Commit())
}

// Query yields the rows of a query, which is closed when the loop ends. Errors are translated.
func (f *File) Query(ctx context.Context, query string, args ...any) iter.Seq2[*sql.Rows, error] {
	return func(yield func(*sql.Rows, error) bool) {
		rows, err := f.Reader.QueryContext(ctx, query, args...)
		if err != nil {
			yield(nil, Translate(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			if !yield(rows, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, Translate(err))
		}
	}
}

// Row queries one row. The errors of its Scan are not translated.
func (f *File) Row(ctx context.Context, query string, args ...any) *sql.Row {
	return f.Reader.QueryRowContext(ctx, query, args...)
}

// Tx is a transaction of the writer. Its statements take no context: they are short, and with a context that can end the
// driver starts a goroutine for each of them.
type Tx struct {
	tx   *sql.Tx
	file *File
}

// Exec runs a statement.
func (t Tx) Exec(query string, args ...any) error {
	_, err := t.tx.ExecContext(context.Background(), query, args...)
	return err
}

// Changed runs a statement and returns how many rows it changed or deleted.
func (t Tx) Changed(query string, args ...any) (int64, error) {
	result, err := t.tx.ExecContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Row queries one row.
func (t Tx) Row(query string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(context.Background(), query, args...)
}

// Rows queries rows. The caller closes them.
func (t Tx) Rows(query string, args ...any) (*sql.Rows, error) {
	return t.tx.QueryContext(context.Background(), query, args...)
}

// Positions reserves n positions of the journal and returns the first.
//
// Reading the next position from the table costs more than everything else in a small transaction. It is only read if
// another process has reserved positions since this one did.
func (t Tx) Positions(n int64) (first int64, err error) {
	next := &t.file.next
	first = *next
	*next += n
	known, err := t.Changed(`UPDATE positions SET next = ? WHERE next = ?`, first+n, first)
	if err != nil || known > 0 {
		return first, err
	}
	t.file.suspect.Store(true)
	err = t.Row(`UPDATE positions SET next = next + ? RETURNING next`, n).Scan(next)
	return *next - n, err
}

// Suspect reports whether the write-ahead log may contain rows that no journal of this process removes: those that another process has
// written since the log was emptied, and those of [File.Suspect].
func (t Tx) Suspect() bool {
	var known bool
	err := t.Row(`SELECT next = ? FROM positions`, t.file.next).Scan(&known)
	return err != nil || !known || t.file.suspect.Load()
}

// Size returns the size of a file; -1 if it does not exist.
func Size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}
