package file

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"

	"github.com/throng-sim/throng/engine"
)

// Embedded holds the schema of this version.
//
//go:embed migrations/*.sql
var Embedded embed.FS

// Migrations has the numbered files of the schema in the folder migrations. Tests add versions.
var Migrations fs.FS = Embedded

const (
	// checkBytes is the size up to which a file that was not closed is checked when it is opened, in less than half a
	// second.
	checkBytes = 64 << 20
	readers    = 4
)

// damageError says that the file is not a valid store.
type damageError struct{ what string }

func (e *damageError) Error() string { return "the file is damaged: " + e.what }

func (f *File) open() (err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return FolderError(err)
	}
	alone, err := f.lock()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.opened.Close())
		}
	}()

	if err := restrict(f.dir); err != nil {
		f.options.Logger.Warn("other users may be able to read the data folder", "folder", f.dir, "error", err)
	}
	err = f.openFile(alone)
	if damage, ok := errors.AsType[*damageError](err); ok {
		if !alone {
			return fmt.Errorf("%w, and another process has it open: close that first: %w", err, engine.ErrInUse)
		}
		if err := f.setAside(damage); err != nil {
			return err
		}
		err = f.openFile(alone)
	}
	if err != nil {
		return err
	}
	if alone {
		if f.options.OnAlone != nil {
			if err := f.options.OnAlone(f); err != nil {
				f.options.Logger.Warn("old requests of the journal cannot be removed", "error", err)
			}
		}
		// This is not atomic. Another process may open the file in between; the file is consistent then.
		return errors.Join(f.opened.Unlock(), f.opened.RLock())
	}
	return nil
}

// openFile opens the file, or creates it.
func (f *File) openFile(alone bool) error {
	version, err := f.inspect(alone)
	if err != nil {
		return err
	}
	if err := createPrivate(f.Path()); err != nil {
		return FolderError(err)
	}
	f.Writer = Connect(f.Path(), false, 1)
	f.Reader = Connect(f.Path(), true, readers)
	err = f.prepare(version, alone)
	if err == nil {
		return nil
	}
	err = errors.Join(err, f.Reader.Close(), f.Writer.Close())
	if damaged(err) {
		return &damageError{err.Error()}
	}
	if a := Advice(err); a != "" {
		err = fmt.Errorf("%w; %s, then start again", err, a)
	}
	return err
}

// lock takes the lock that every process shares while it has the file open. It reports whether this process is the only one;
// then the lock is exclusive.
func (f *File) lock() (alone bool, err error) {
	f.opened = flock.New(filepath.Join(f.dir, "throng.open"))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		for _, exclusive := range []bool{true, false} {
			try := f.opened.TryRLock
			if exclusive {
				try = f.opened.TryLock
			}
			if ok, err := try(); err != nil {
				return false, FolderError(err)
			} else if ok {
				return exclusive, nil
			}
		}
		select {
		case <-retry.C: // another process is opening it
		case <-ctx.Done():
			return false, fmt.Errorf("another process has been opening it for 30 s: %w", engine.ErrInUse)
		}
	}
}

// inspect reads the version of the schema; 0 if there is none yet. It writes only if the creation of the file was
// interrupted.
func (f *File) inspect(alone bool) (version int64, err error) {
	file, err := os.Open(f.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, FolderError(err)
	}
	var head [100]byte
	n, err := io.ReadFull(file, head[:])
	if err := errors.Join(file.Close()); err != nil {
		return 0, FolderError(err)
	}
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return 0, nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return 0, FolderError(err)
	case n < len(head) || !strings.HasPrefix(string(head[:]), "SQLite format 3\x00"):
		return 0, &damageError{"not a database"}
	}

	unclean := Size(f.Path()+"-wal") > 0
	db := Connect(f.Path(), true, 1)
	version, err = SchemaVersion(db)
	if needsRollback(err) {
		version, err = rollBack(f.Path())
	}
	if err == nil && alone && unclean && Size(f.Path()) < checkBytes {
		err = check(db)
	}
	err = errors.Join(err, db.Close())
	if damaged(err) {
		return 0, &damageError{err.Error()}
	}
	if a := Advice(err); a != "" {
		return 0, fmt.Errorf("%w; %s", Translate(err), a)
	}
	if newest := NewestVersion(); err == nil && version > newest {
		err = fmt.Errorf("%w: the store is version %d, this Throng knows %d; start the newer one, or choose another data folder", engine.ErrNewer, version, newest)
		if backup := f.backupFor(newest); backup != "" {
			err = fmt.Errorf("%w; a backup from before the update is in the same folder: %s", err, backup)
		}
	}
	return version, err
}

// SchemaVersion reads the version from the table of goose.
func SchemaVersion(db *sql.DB) (version int64, err error) {
	ctx := context.Background()
	var ours, tables int
	err = db.QueryRowContext(ctx, `SELECT coalesce(sum(name = 'goose_db_version'), 0), count(*)
		FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).Scan(&ours, &tables)
	if err != nil {
		return 0, err
	}
	if ours == 0 {
		if tables > 0 {
			return 0, &damageError{"a database of another program"}
		}
		return 0, nil
	}
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&version)
	return version, err
}

func check(db *sql.DB) error {
	var found string
	if err := db.QueryRowContext(context.Background(), `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return &damageError{found}
	}
	return nil
}

// NewestVersion returns the highest number of a migration.
func NewestVersion() (newest int64) {
	files, err := fs.ReadDir(Migrations, "migrations")
	if err != nil {
		panic(err) // Embedded
	}
	for _, f := range files {
		number, _, _ := strings.Cut(f.Name(), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic(err)
		}
		newest = max(newest, n)
	}
	return newest
}

// setAside renames the damaged file, its log and its index.
func (f *File) setAside(damage *damageError) error {
	aside := f.Path() + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000Z")
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} { // the file itself is last, so that after an interruption it is found damaged again
		if err := os.Rename(f.Path()+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return FolderError(err)
		}
	}
	f.notice = fmt.Sprintf("The store of runs was damaged (%s). It was renamed to %s, and a new store was created.", damage.what, filepath.Base(aside))
	f.options.Logger.Warn("damaged store renamed", "file", aside, "damage", damage.what)
	return nil
}

// prepare migrates the schema and checks that the file can be written.
func (f *File) prepare(version int64, alone bool) error {
	if version < NewestVersion() {
		if !alone {
			return fmt.Errorf("the store must be updated, but an older Throng has it open; close that first: %w", engine.ErrInUse)
		}
		if err := f.update(version); err != nil {
			return Translate(err)
		}
	}
	err := f.Transact(func(tx Tx) error {
		_, err := tx.Positions(0)
		return err
	})
	if full(err) { // runs can still be read, and deleted to free space
		f.notice = "The disk is full: runs can be read, but not started or resumed until you free some space."
		err = nil
	}
	if err != nil {
		return err
	}
	return Translate(f.Reader.PingContext(context.Background()))
}

// Migrate brings the schema of a database to a version.
func Migrate(db *sql.DB, version int64) error {
	dir, err := fs.Sub(Migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.UpTo(context.Background(), version)
	return err
}
