package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/machine"
)

const (
	backupMark  = ".backup-v" // then the version of the schema, a dash and the time
	partMark    = ".part"     // a backup that is not whole yet
	keptBackups = 2
	// spareBytes is what a disk must have free beside the backup: the new version's own pages go to the log first.
	spareBytes  = 64 << 20
	updateEvery = 200 * time.Millisecond
)

// Update is the way from an older version of the store to this one.
type Update struct {
	From, To    int64 // versions of the schema
	Done, Bytes int64 // of the backup that is made first
}

// String says how far it is.
func (u Update) String() string {
	if u.Done >= u.Bytes {
		return "The backup is there; the store of runs is being brought up to date."
	}
	return fmt.Sprintf("The store of runs is being brought up to date for this version of Throng. A backup is made first: %s of %s.",
		engine.FormatBytes(u.Done), engine.FormatBytes(u.Bytes))
}

// freeBytes is replaced by tests.
var freeBytes = machine.FreeDisk

// update brings the schema of a store up to date. One that has runs is backed up first, and is as it was if that or a
// migration fails.
func (s *Store) update(from int64) error {
	if from == 0 {
		return s.migrate()
	}
	if s.noRuns() {
		return s.migrate()
	}
	backup, err := s.backUp(from)
	if err != nil {
		return fmt.Errorf("a backup before it is brought up to date: %w; the store is as it was", err)
	}
	s.pruneBackups() // now: what fails here fails at each start
	if err := s.migrate(); err != nil {
		return fmt.Errorf("bring it up to date from version %d: %w; %s", from, err, s.putBack(from, backup))
	}
	s.notice = fmt.Sprintf("The store of runs was brought up to date. As it was before it is kept as %s, beside it.", filepath.Base(backup))
	s.options.Logger.Info("store brought up to date", "from", from, "to", newestVersion(), "backup", filepath.Base(backup))
	return nil
}

// Outdated reports whether there is a store in a folder that an older version wrote and that has runs: bringing it up to
// date may take a while.
func Outdated(dir string) bool {
	if !Exists(dir) {
		return false
	}
	s := &Store{dir: dir}
	s.writer = connect(s.path(), true, 1) // which nobody writes with
	version, err := schemaVersion(s.writer)
	outdated := err == nil && version > 0 && version < newestVersion() && !s.noRuns()
	return s.writer.Close() == nil && outdated
}

// noRuns reports whether there is nothing to lose.
func (s *Store) noRuns() bool {
	var any int
	err := s.writer.QueryRowContext(context.Background(), `SELECT count(*) FROM (SELECT 1 FROM runs LIMIT 1)`).Scan(&any)
	return err == nil && any == 0
}

// backUp copies the store into a file beside it, and looks whether the copy is sound.
func (s *Store) backUp(from int64) (path string, err error) {
	bytes := max(size(s.path()), 0) + max(size(s.path()+"-wal"), 0)
	free, err := freeBytes(s.dir)
	if err == nil && free < bytes+spareBytes {
		return "", fmt.Errorf("%w: it takes %s and some room to work in, and %s are free; make room, or move the folder %s to a larger disk",
			engine.ErrNoRoom, engine.FormatBytes(bytes), engine.FormatBytes(free), s.dir)
	}
	path = s.path() + backupMark + strconv.FormatInt(from, 10) + "-" + time.Now().UTC().Format("20060102T150405Z")
	part := path + partMark
	for _, left := range s.besides(partMark) { // of an update that was killed
		_ = os.Remove(left)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, gone(part))
		}
	}()
	if err := makePrivate(part); err != nil {
		return "", err
	}
	stop := s.tellUpdate(part, Update{From: from, To: newestVersion(), Bytes: max(bytes, 1)})
	_, err = s.writer.ExecContext(context.Background(), `VACUUM INTO ?`, part)
	stop()
	if err != nil {
		if a := advice(err); a != "" {
			return "", fmt.Errorf("%w; %s", err, a)
		}
		return "", err
	}
	if err := s.sound(part); err != nil {
		return "", fmt.Errorf("the copy is not sound: %w", err)
	}
	if err := synced(part); err != nil {
		return "", err
	}
	return path, os.Rename(part, path)
}

// tellUpdate tells how large the copy is, again and again, until the returned function is called.
func (s *Store) tellUpdate(part string, u Update) (stop func()) {
	if s.options.Updating == nil {
		return func() {}
	}
	s.options.Updating(u)
	done, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		tick := time.NewTicker(updateEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				u.Done = min(max(size(part), 0), u.Bytes-1)
				s.options.Updating(u)
			}
		}
	}()
	return func() {
		close(done)
		<-told
		u.Done = u.Bytes
		s.options.Updating(u)
	}
}

// sound checks a copy of the store: its pages, and that it has as many runs.
func (s *Store) sound(path string) error {
	db := connect(path, true, 1)
	err := check(db)
	var here, there int
	if err == nil {
		const count = `SELECT count(*) FROM runs`
		err = errors.Join(s.writer.QueryRowContext(context.Background(), count).Scan(&here), db.QueryRowContext(context.Background(), count).Scan(&there))
	}
	if err == nil && here != there {
		err = fmt.Errorf("it has %d of %d runs", there, here)
	}
	return errors.Join(err, db.Close())
}

// putBack makes the store what it was, if migrations before the one that failed have changed it, and says so.
func (s *Store) putBack(from int64, backup string) string {
	kept := "the backup is " + filepath.Base(backup) + " in the same folder"
	if version, err := schemaVersion(s.writer); err == nil && version == from {
		return "the store is as it was, and " + kept
	}
	err := errors.Join(s.reader.Close(), s.writer.Close())
	if err == nil {
		err = copied(backup, s.path()+partMark)
	}
	for _, suffix := range []string{"-wal", "-shm"} { // they belong to the file that goes
		if err == nil {
			err = gone(s.path() + suffix)
		}
	}
	if err == nil {
		err = os.Rename(s.path()+partMark, s.path())
	}
	if err != nil {
		return fmt.Sprintf("the store could not be put back (%v): rename the backup %s to %s", err, filepath.Base(backup), fileName)
	}
	return "the store was put back as it was, and " + kept
}

// pruneBackups removes all but the newest.
func (s *Store) pruneBackups() {
	all := s.besides("")
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(backupTime(b), backupTime(a)) })
	for _, old := range all[min(keptBackups, len(all)):] {
		if err := os.Remove(old); err != nil {
			s.options.Logger.Warn("an old backup stays", "error", err)
		}
	}
}

// besides are the backups in the folder, or what is left of those that are not whole.
func (s *Store) besides(ending string) (all []string) {
	found, _ := filepath.Glob(filepath.Join(escapeGlob(s.dir), fileName+backupMark+"*")) // the pattern is right
	for _, path := range found {
		if strings.HasSuffix(path, partMark) == (ending == partMark) {
			all = append(all, path)
		}
	}
	return all
}

// escapeGlob writes a folder's name so that it stands for itself in a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}

// backupTime is the time in a backup's name, as a text that sorts.
func backupTime(path string) string { return path[strings.LastIndex(path, "-")+1:] }

// backupFor names a backup that a store of a version would read; "" is none.
func (s *Store) backupFor(version int64) string {
	all := s.besides("")
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(backupTime(b), backupTime(a)) })
	for _, path := range all {
		_, rest, _ := strings.Cut(filepath.Base(path), backupMark)
		number, _, _ := strings.Cut(rest, "-")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n <= version {
			return filepath.Base(path)
		}
	}
	return ""
}

// copied copies a file durably.
func copied(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, gone(to))
	}
	return nil
}

func synced(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// gone removes a file, if there is one.
func gone(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
