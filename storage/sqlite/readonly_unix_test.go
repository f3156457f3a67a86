//go:build unix

package sqlite

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	waiting "github.com/throng-sim/throng/storage/sqlite/queue"
)

// otherUser is the ID of a user without files.
const otherUser = 65534

// TestOpenReadOnly opens stores that cannot be written: one that was closed, and one whose newest rows are only in its log.
// Root may write everywhere, so as root the test runs again as another user.
func TestOpenReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		again(t, otherUser)
		return
	}
	for _, closed := range []bool{true, false} {
		dir := t.TempDir()
		s := openStore(t, dir, Options{Logger: quiet()})
		j := newRun(t, s, "r")
		if err := j.Commit(t.Context(), engine.ChangeRow{What: engine.LimitSetting}); err != nil {
			t.Fatal(err)
		}
		if !closed { // as in the middle of a run
			copied := t.TempDir()
			for _, name := range []string{file.Name, file.Name + "-wal"} {
				if err := file.Copy(filepath.Join(dir, name), filepath.Join(copied, name)); err != nil {
					t.Fatal(err)
				}
			}
			dir = copied
		}
		closeStore(t, s)
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		look, err := Open(dir, Options{Logger: quiet()})
		if err != nil {
			t.Fatalf("closed %t: %v", closed, err)
		}
		if changes, err := look.Changes(t.Context(), "r"); err != nil || len(changes) != 1 {
			t.Errorf("closed %t: %d changes, %v", closed, len(changes), err)
		}
		if !strings.Contains(look.Notice(), "can be read") {
			t.Errorf("notice %q", look.Notice())
		}
		if _, err := look.ClaimWait(t.Context(), "r", waiting.Entry{}, nil); err == nil || !strings.Contains(err.Error(), "only be read") || strings.Contains(err.Error(), engine.ErrNoRoom.Error()) {
			t.Errorf("claimed: %v", err)
		}
		if _, err := look.Journal("r"); err == nil {
			t.Error("its journal can be written")
		}
		copied := look.file.Copied
		closeStore(t, look)
		if _, err := os.Stat(copied); copied != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the copy stays: %v", err)
		}
	}
	empty := t.TempDir()
	if err := os.Chmod(empty, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := Open(empty, Options{Logger: quiet()})
	if !errors.Is(err, engine.ErrNoRoom) || !strings.Contains(err.Error(), "permissions") {
		t.Errorf("got %v, want ErrNoRoom and what to do", err)
	}
	if err != nil && strings.Contains(err.Error(), engine.ErrNoRoom.Error()) {
		t.Errorf("got %v, but the disk is not full", err)
	}
}

// again runs the test as another user, with a copy of this program that the user may read.
func again(t *testing.T, user uint32) {
	t.Helper()
	dir, err := os.MkdirTemp("", "throng-*") //nolint:usetesting // a folder of the test is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "test")
	if err := errors.Join(os.Chmod(dir, 0o755), copyProgram(program)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as user %d: %v\n%s", user, err, out)
	}
}

func copyProgram(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return errors.Join(err, from.Close())
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close(), from.Close())
}
