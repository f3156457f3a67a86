package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// laterVersions adds two versions to the schema until the end of the test, each with a table.
func laterVersions(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { file.Migrations = file.Embedded })
	file.Migrations = laterSchema()
}

// laterSchema returns the schema and two versions after it.
func laterSchema() fs.FS {
	schema, err := file.Embedded.ReadFile("migrations/0001_schema.sql")
	if err != nil {
		panic(err)
	}
	return fstest.MapFS{
		"migrations/0001_schema.sql": {Data: schema},
		"migrations/0002_first.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE first (x);\n")},
		"migrations/0003_second.sql": {Data: []byte("-- +goose Up\nCREATE TABLE second (x);\n")},
	}
}

// olderStore returns the folder of a store with a run that has the version before laterVersions, which it adds.
func olderStore(t *testing.T, statements ...string) (dir string) {
	t.Helper()
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	j := newRun(t, s, "r")
	if err := errors.Join(j.Commit(t.Context(), make(engine.SessionRows, 10)), j.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	statement(t, s, statements...)
	closeStore(t, s)
	laterVersions(t)
	return s.file.Dir()
}

// backups returns the complete and incomplete backups in a folder.
func backups(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"+file.BackupMark+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		names = append(names, filepath.Base(path))
	}
	return names
}

// versionOf returns the version of a store's file.
func versionOf(t *testing.T, path string) int64 {
	t.Helper()
	db := file.Connect(path, true, 1)
	version, err := file.SchemaVersion(db)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return version
}

// TestUpdate updates an older store, and checks that it is backed up first, with progress.
func TestUpdate(t *testing.T) {
	dir := olderStore(t)
	for _, name := range []string{"v1-20250101T000000Z", "v1-20240101T000000Z", "v0-20230101T000000Z", "v1-20260101T000000Z" + file.PartMark} {
		write(t, filepath.Join(dir, file.Name+file.BackupMark[:len(file.BackupMark)-1]+name), []byte("of an earlier update"))
	}
	if !Outdated(dir) || Outdated(t.TempDir()) {
		t.Error("Outdated is wrong")
	}
	var told []Update
	s := openStore(t, dir, Options{Logger: quiet(), Updating: func(u Update) { told = append(told, u) }})
	names := backups(t, dir)
	if len(names) != file.KeptBackups || !strings.HasPrefix(names[1], "throng.db.backup-v1-") || names[0] != "throng.db.backup-v1-20250101T000000Z" {
		t.Fatalf("backups: %q", names)
	}
	if !strings.Contains(s.Notice(), names[1]) {
		t.Errorf("the notice is %q", s.Notice())
	}
	if len(told) < 2 || told[0].From != 1 || told[0].To != file.NewestVersion() || told[0].Done != 0 || told[len(told)-1].Done != told[0].Bytes {
		t.Errorf("the progress was %+v", told)
	}
	if !strings.Contains(told[0].String(), "after a backup: 0 B of ") {
		t.Errorf("the first progress is: %s", told[0])
	}
	closeStore(t, s)
	s = openStore(t, dir, Options{Logger: quiet(), Updating: func(Update) { t.Error("updated twice") }})
	if s.Notice() != "" || Outdated(dir) {
		t.Errorf("then the notice is %q", s.Notice())
	}
	closeStore(t, s)

	// An older Throng can open the backup.
	backup := filepath.Join(dir, names[1])
	if got := versionOf(t, backup); got != 1 {
		t.Errorf("the backup is version %d", got)
	}
	again := t.TempDir()
	if err := file.Copy(backup, filepath.Join(again, file.Name)); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, again, Options{Logger: quiet()})
	newRemote(t, s, "r", "a:1/x")
	if n := unsent(t, s, "r", "a:1/x"); n != 10 {
		t.Errorf("the backup has %d rows, want 10", n)
	}
	closeStore(t, s)
}

// TestUpdateOfAnEmptyStore checks that the update of an empty store makes no backup.
func TestUpdateOfAnEmptyStore(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	closeStore(t, s)
	laterVersions(t)
	s = openStore(t, s.file.Dir(), Options{Logger: quiet()})
	closeStore(t, s)
	if names := backups(t, s.file.Dir()); len(names) > 0 {
		t.Errorf("backups: %q", names)
	}
}

// TestUpdateFails makes the first or a later migration fail: the store does not change, the error names the backup, and the
// update succeeds after the cause is removed.
func TestUpdateFails(t *testing.T) {
	for _, tt := range []struct{ name, table, want string }{
		{"the first migration", "first", "the store is unchanged"},
		{"one after others", "second", "the store was restored"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := olderStore(t, `CREATE TABLE `+tt.table+` (x)`)
			_, err := Open(dir, Options{Logger: quiet()})
			names := backups(t, dir)
			if err == nil || len(names) != 1 || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), names[0]) {
				t.Fatalf("got %v with backups %q", err, names)
			}
			if got := versionOf(t, filepath.Join(dir, file.Name)); got != 1 {
				t.Errorf("the store is version %d", got)
			}
			db := file.Connect(filepath.Join(dir, file.Name), false, 1)
			_, err = db.ExecContext(t.Context(), `DROP TABLE `+tt.table)
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			s := openStore(t, dir, Options{Logger: quiet()})
			if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM runs`); n != 1 {
				t.Errorf("%d runs", n)
			}
			closeStore(t, s)
		})
	}
}

// TestUpdateWithoutRoom checks that an update with too little free space for a backup leaves the store unchanged and
// returns an error that says what to do.
func TestUpdateWithoutRoom(t *testing.T) {
	dir := olderStore(t)
	was := file.FreeBytes
	t.Cleanup(func() { file.FreeBytes = was })
	file.FreeBytes = func(string) (int64, error) { return 1000, nil }
	_, err := Open(dir, Options{Logger: quiet()})
	if !errors.Is(err, engine.ErrNoRoom) || !strings.Contains(err.Error(), "free some space, or move the folder") || !strings.Contains(err.Error(), "the store is unchanged") {
		t.Errorf("got %v", err)
	}
	if names := backups(t, dir); len(names) > 0 || versionOf(t, filepath.Join(dir, file.Name)) != 1 {
		t.Errorf("the store changed, or an incomplete backup is left: %q", names)
	}
	file.FreeBytes = func(string) (int64, error) { return 0, os.ErrPermission } // with an unknown size it is tried
	closeStore(t, openStore(t, dir, Options{Logger: quiet()}))
	if names := backups(t, dir); len(names) != 1 {
		t.Errorf("backups: %q", names)
	}
}

// TestNewerNamesABackup checks that the error about a newer store names a backup that can be opened.
func TestNewerNamesABackup(t *testing.T) {
	dir := olderStore(t)
	s := openStore(t, dir, Options{Logger: quiet()})
	statement(t, s, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	closeStore(t, s)
	_, err := Open(dir, Options{Logger: quiet()})
	if names := backups(t, dir); !errors.Is(err, engine.ErrNewer) || len(names) != 1 || !strings.Contains(err.Error(), names[0]) {
		t.Errorf("got %v with backups %q", err, names)
	}
}
