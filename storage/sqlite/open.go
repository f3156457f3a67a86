package sqlite

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
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"

	"github.com/throng-sim/throng/engine"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations holds the numbered files of the schema, in the folder migrations. Tests put further versions there.
var migrations fs.FS = embedded

const (
	// checkBytes is up to which size a file that was not closed is checked at opening: half a second's work.
	checkBytes = 64 << 20
	readers    = 4
)

// damageError says that the file is not a sound store.
type damageError struct{ what string }

func (e *damageError) Error() string { return "the file is damaged: " + e.what }

func (s *Store) open() (err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return noFolder(err)
	}
	alone, err := s.enter()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.opened.Close())
		}
	}()

	if err := tighten(s.dir); err != nil {
		s.options.Logger.Warn("others may be able to read the data folder", "folder", s.dir, "error", err)
	}
	err = s.openFile(alone)
	if damage, ok := errors.AsType[*damageError](err); ok {
		if !alone {
			return fmt.Errorf("%w, and another process has it open: close that first: %w", err, engine.ErrInUse)
		}
		if err := s.setAside(damage); err != nil {
			return err
		}
		err = s.openFile(alone)
	}
	if err != nil {
		return err
	}
	if alone {
		if err := s.sweepLeft(); err != nil {
			s.options.Logger.Warn("old requests of the journal are not removed", "error", err)
		}
		// Not atomic: another process may come in between, and finds a store in order.
		return errors.Join(s.opened.Unlock(), s.opened.RLock())
	}
	return nil
}

// openFile opens the file that is there, or makes it.
func (s *Store) openFile(alone bool) error {
	version, err := s.inspect(alone)
	if err != nil {
		return err
	}
	if err := makePrivate(s.path()); err != nil {
		return noFolder(err)
	}
	s.writer = connect(s.path(), false, 1)
	s.reader = connect(s.path(), true, readers)
	err = s.prepare(version, alone)
	if err == nil {
		return nil
	}
	err = errors.Join(err, s.reader.Close(), s.writer.Close())
	if damaged(err) {
		return &damageError{err.Error()}
	}
	if a := advice(err); a != "" {
		err = fmt.Errorf("%w; %s, then start again", err, a)
	}
	return err
}

// enter takes the lock that every process holds, shared, while it has the store open. It reports whether this process
// is the only one; then it has the lock for itself.
func (s *Store) enter() (alone bool, err error) {
	s.opened = flock.New(filepath.Join(s.dir, "throng.open"))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		for _, exclusive := range []bool{true, false} {
			try := s.opened.TryRLock
			if exclusive {
				try = s.opened.TryLock
			}
			if ok, err := try(); err != nil {
				return false, noFolder(err)
			} else if ok {
				return exclusive, nil
			}
		}
		select {
		case <-again.C: // another process is opening it
		case <-ctx.Done():
			return false, fmt.Errorf("another process has been opening it for 30 s: %w", engine.ErrInUse)
		}
	}
}

func noFolder(err error) error {
	return &unusable{err}
}

// unusable is a data folder in which nothing can be written.
type unusable struct{ err error }

func (e *unusable) Error() string {
	if errors.Is(e.err, syscall.ENOSPC) {
		return fmt.Sprintf("%v: %v; free some space, or choose another data folder", engine.ErrNoRoom, e.err)
	}
	return fmt.Sprintf("the folder cannot be used: %v; check its path and permissions, or choose another data folder", e.err)
}

func (e *unusable) Unwrap() []error { return []error{engine.ErrNoRoom, e.err} }

// inspect looks at the file without writing to it, unless its making was cut short, and returns the version of its schema;
// 0 if there is none yet.
func (s *Store) inspect(alone bool) (version int64, err error) {
	file, err := os.Open(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, noFolder(err)
	}
	var head [100]byte
	n, err := io.ReadFull(file, head[:])
	if err := errors.Join(file.Close()); err != nil {
		return 0, noFolder(err)
	}
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return 0, nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return 0, noFolder(err)
	case n < len(head) || !strings.HasPrefix(string(head[:]), "SQLite format 3\x00"):
		return 0, &damageError{"not a database"}
	}

	unclean := size(s.path()+"-wal") > 0
	db := connect(s.path(), true, 1)
	version, err = schemaVersion(db)
	if begun(err) {
		version, err = s.undo()
	}
	if err == nil && alone && unclean && size(s.path()) < checkBytes {
		err = check(db)
	}
	err = errors.Join(err, db.Close())
	if damaged(err) {
		return 0, &damageError{err.Error()}
	}
	if a := advice(err); a != "" {
		return 0, fmt.Errorf("%w; %s", translate(err), a)
	}
	if newest := newestVersion(); err == nil && version > newest {
		err = fmt.Errorf("%w: the store is version %d, this Throng knows %d; start the newer one, or choose another data folder", engine.ErrNewer, version, newest)
		if backup := s.backupFor(newest); backup != "" {
			err = fmt.Errorf("%w; as it was before it was brought up to date it is kept in the same folder, as %s", err, backup)
		}
	}
	return version, err
}

// schemaVersion reads what goose keeps.
func schemaVersion(db *sql.DB) (version int64, err error) {
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

// newestVersion is the highest number of a migration.
func newestVersion() (newest int64) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		panic(err) // embedded
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

// setAside renames the damaged file and what belongs to it.
func (s *Store) setAside(damage *damageError) error {
	aside := s.path() + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000Z")
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} { // the file itself last: interrupted, it is still found damaged
		if err := os.Rename(s.path()+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return noFolder(err)
		}
	}
	s.notice = fmt.Sprintf("The store of runs was damaged (%s). It was set aside as %s and kept; a new one was started.", damage.what, filepath.Base(aside))
	s.options.Logger.Warn("damaged store set aside", "file", aside, "damage", damage.what)
	return nil
}

// prepare brings the schema up to date and finds out whether the file can be written.
func (s *Store) prepare(version int64, alone bool) error {
	if version < newestVersion() {
		if !alone {
			return fmt.Errorf("it has to be brought up to date, and an older Throng has it open: close that first: %w", engine.ErrInUse)
		}
		if err := s.update(version); err != nil {
			return translate(err)
		}
	}
	err := s.transact(func(tx txn) error {
		_, err := positions(tx, 0)
		return err
	})
	if full(err) { // how a run does can be seen all the same, and one be deleted to make room
		s.notice = "The disk is full: the runs can be looked at, and nothing is begun or gone on with before you free some space."
		err = nil
	}
	if err != nil {
		return err
	}
	return translate(s.reader.PingContext(context.Background()))
}

func (s *Store) migrate() error { return s.migrateTo(newestVersion()) }

func (s *Store) migrateTo(version int64) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, s.writer, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.UpTo(context.Background(), version)
	return err
}

// size is the size of a file; -1 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}
