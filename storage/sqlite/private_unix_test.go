//go:build unix

package sqlite

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// modes returns the modes of all files and folders in a folder, and of the folder itself as ".".
func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		name, _ := filepath.Rel(dir, path)
		if err == nil {
			all[name] = info.Mode()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestOnlyTheUserReadsTheStore checks that files have the mode 0600 and folders 0700 with any umask, including existing ones
// with wider modes, and that other files keep their mode.
func TestOnlyTheUserReadsTheStore(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
	put := func(dir, name string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	for _, name := range []string{"logs/throngctl.log", "mock/r.log", "claims/run-r.json", "crashes/one.txt", "settings.json", "throng.db.backup-v7-20260101T000000Z", "throng.db.damaged-x", "calibrations.json"} {
		put(dir, name)
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	newRun(t, s, "r")
	look := func() {
		t.Helper()
		for name, mode := range modes(t, dir) {
			if want := fs.FileMode(0o600); mode.IsRegular() && mode.Perm() != want || mode.IsDir() && mode.Perm() != 0o700 {
				t.Errorf("%s has the mode %v", name, mode)
			}
		}
	}
	look()
	if all := modes(t, dir); all["throng.db"] == 0 || all["throng.db-wal"] == 0 || all["throng.db-shm"] == 0 {
		t.Errorf("the files of the database are missing: %v", all)
	}
	backup, err := s.file.BackUp(1)
	if err != nil {
		t.Fatal(err)
	}
	if modes(t, dir)[filepath.Base(backup)] != 0o600 {
		t.Errorf("the backup has the mode %v", modes(t, dir)[filepath.Base(backup)])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look()

	shared := filepath.Join(t.TempDir(), "project")
	put(shared, "main.go")
	put(shared, "throng.db.backup-v7-20260101T000000Z")
	if err := os.Chmod(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(shared, "main.go"), filepath.Join(shared, "throng.link")); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(shared, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all := modes(t, shared)
	if all["."].Perm() != 0o755 || all["main.go"].Perm() != 0o666 || all["throng.db"].Perm() != 0o600 || all["throng.db.backup-v7-20260101T000000Z"].Perm() != 0o600 {
		t.Errorf("a folder with other things in it: %v", all)
	}
}
