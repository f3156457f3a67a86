package file

import (
	"context"
	"database/sql"
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

// Names and number of backups that precede an update.
const (
	BackupMark  = ".backup-v" // then the version of the schema, a dash and the time
	PartMark    = ".part"     // an incomplete backup
	KeptBackups = 2
	// spareBytes is the free space that a migration needs in addition to the backup: changed pages go to the log first.
	spareBytes     = 64 << 20
	updateInterval = 200 * time.Millisecond
)

// Update is the progress of a migration to the newest version of the schema.
type Update struct {
	From, To    int64 // versions of the schema
	Done, Bytes int64 // of the backup that precedes it
}

// String describes the progress as a sentence.
func (u Update) String() string {
	if u.Done >= u.Bytes {
		return "The store of runs is being updated; its backup is complete."
	}
	return fmt.Sprintf("The store of runs is being updated for this version of Throng, after a backup: %s of %s.",
		engine.FormatBytes(u.Done), engine.FormatBytes(u.Bytes))
}

// FreeBytes returns the free space of a disk. Tests replace it.
var FreeBytes = machine.FreeDisk

// update migrates the schema. A store with runs is backed up first, and stays unchanged if the backup or a migration
// fails.
func (f *File) update(from int64) error {
	if from == 0 {
		return Migrate(f.Writer, NewestVersion())
	}
	if noRuns(f.Writer) {
		return Migrate(f.Writer, NewestVersion())
	}
	backup, err := f.BackUp(from)
	if err != nil {
		return fmt.Errorf("back up the store before its update: %w; the store is unchanged", err)
	}
	f.pruneBackups() // before the migration, because one that fails does so at each start
	if err := Migrate(f.Writer, NewestVersion()); err != nil {
		return fmt.Errorf("update the store from version %d: %w; %s", from, err, f.restore(from, backup))
	}
	f.notice = fmt.Sprintf("The store of runs was updated. A backup from before the update is in the same folder: %s.", filepath.Base(backup))
	f.options.Logger.Info("store updated", "from", from, "to", NewestVersion(), "backup", filepath.Base(backup))
	return nil
}

// Outdated reports whether the store in a folder has runs and an older version of the schema. Opening it may take a while.
func Outdated(dir string) bool {
	if !Exists(dir) {
		return false
	}
	f := &File{dir: dir}
	f.Writer = Connect(f.Path(), true, 1) // read-only
	version, err := SchemaVersion(f.Writer)
	outdated := err == nil && version > 0 && version < NewestVersion() && !noRuns(f.Writer)
	return f.Writer.Close() == nil && outdated
}

// noRuns reports whether the store has no runs.
func noRuns(db *sql.DB) bool {
	var any int
	err := db.QueryRowContext(context.Background(), `SELECT count(*) FROM (SELECT 1 FROM runs LIMIT 1)`).Scan(&any)
	return err == nil && any == 0
}

// BackUp copies the store to a file in the same folder and checks the copy.
func (f *File) BackUp(from int64) (path string, err error) {
	bytes := max(Size(f.Path()), 0) + max(Size(f.Path()+"-wal"), 0)
	free, err := FreeBytes(f.dir)
	if err == nil && free < bytes+spareBytes {
		return "", fmt.Errorf("%w: the update needs %s and some working space, and %s are free; free some space, or move the folder %s to a larger disk",
			engine.ErrNoRoom, engine.FormatBytes(bytes), engine.FormatBytes(free), f.dir)
	}
	path = f.Path() + BackupMark + strconv.FormatInt(from, 10) + "-" + time.Now().UTC().Format("20060102T150405Z")
	part := path + PartMark
	for _, old := range f.backups(PartMark) { // from interrupted updates
		_ = os.Remove(old)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove(part))
		}
	}()
	if err := createPrivate(part); err != nil {
		return "", err
	}
	stop := f.reportUpdate(part, Update{From: from, To: NewestVersion(), Bytes: max(bytes, 1)})
	_, err = f.Writer.ExecContext(context.Background(), `VACUUM INTO ?`, part)
	stop()
	if err != nil {
		if a := Advice(err); a != "" {
			return "", fmt.Errorf("%w; %s", err, a)
		}
		return "", err
	}
	if err := f.verify(part); err != nil {
		return "", fmt.Errorf("the copy is damaged: %w", err)
	}
	if err := syncFile(part); err != nil {
		return "", err
	}
	return path, os.Rename(part, path)
}

// reportUpdate reports the size of the copy periodically until stop is called.
func (f *File) reportUpdate(part string, u Update) (stop func()) {
	if f.options.OnUpdate == nil {
		return func() {}
	}
	f.options.OnUpdate(u)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(updateInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				u.Done = min(max(Size(part), 0), u.Bytes-1)
				f.options.OnUpdate(u)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		u.Done = u.Bytes
		f.options.OnUpdate(u)
	}
}

// verify checks the pages of a copy of the store, and its number of runs.
func (f *File) verify(path string) error {
	db := Connect(path, true, 1)
	err := check(db)
	var here, there int
	if err == nil {
		const count = `SELECT count(*) FROM runs`
		err = errors.Join(f.Writer.QueryRowContext(context.Background(), count).Scan(&here), db.QueryRowContext(context.Background(), count).Scan(&there))
	}
	if err == nil && here != there {
		err = fmt.Errorf("it has %d of %d runs", there, here)
	}
	return errors.Join(err, db.Close())
}

// restore replaces the store with its backup, if migrations before the failed one changed it, and returns a description of the
// result.
func (f *File) restore(from int64, backup string) string {
	kept := "the backup is " + filepath.Base(backup) + " in the same folder"
	if version, err := SchemaVersion(f.Writer); err == nil && version == from {
		return "the store is unchanged, and " + kept
	}
	err := errors.Join(f.Reader.Close(), f.Writer.Close())
	if err == nil {
		err = Copy(backup, f.Path()+PartMark)
	}
	for _, suffix := range []string{"-wal", "-shm"} { // of the file that is replaced
		if err == nil {
			err = remove(f.Path() + suffix)
		}
	}
	if err == nil {
		err = os.Rename(f.Path()+PartMark, f.Path())
	}
	if err != nil {
		return fmt.Sprintf("the store could not be restored (%v): rename the backup %s to %s", err, filepath.Base(backup), Name)
	}
	return "the store was restored from the backup, and " + kept
}

// pruneBackups removes all backups but the newest.
func (f *File) pruneBackups() {
	all := f.backups("")
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(backupTime(b), backupTime(a)) })
	for _, old := range all[min(KeptBackups, len(all)):] {
		if err := os.Remove(old); err != nil {
			f.options.Logger.Warn("an old backup cannot be removed", "error", err)
		}
	}
}

// backups returns the paths of the backups in the folder, or of the incomplete ones.
func (f *File) backups(ending string) (all []string) {
	found, _ := filepath.Glob(filepath.Join(escapeGlob(f.dir), Name+BackupMark+"*")) // the pattern is valid
	for _, path := range found {
		if strings.HasSuffix(path, PartMark) == (ending == PartMark) {
			all = append(all, path)
		}
	}
	return all
}

// escapeGlob escapes the name of a folder for use in a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}

// backupTime returns the time in the name of a backup. It sorts as text.
func backupTime(path string) string { return path[strings.LastIndex(path, "-")+1:] }

// backupFor returns the name of the newest backup that a given version can read; empty if there is none.
func (f *File) backupFor(version int64) string {
	all := f.backups("")
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(backupTime(b), backupTime(a)) })
	for _, path := range all {
		_, rest, _ := strings.Cut(filepath.Base(path), BackupMark)
		number, _, _ := strings.Cut(rest, "-")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n <= version {
			return filepath.Base(path)
		}
	}
	return ""
}

// Copy copies a file and syncs the copy.
func Copy(from, to string) (err error) {
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
		return errors.Join(err, remove(to))
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// remove removes a file, if it exists.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
