//go:build unix

package sqlite

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// nobody is a user that owns nothing.
const nobody = 65534

// TestOpenReadOnly is that a file which cannot be written is explained. Root may write everywhere, so there the test
// runs again as somebody else.
func TestOpenReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		again(t, nobody)
		return
	}
	dir := t.TempDir()
	closeStore(t, openStore(t, dir, Options{Logger: quiet()}))
	if err := os.Chmod(filepath.Join(dir, fileName), 0o400); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, Options{Logger: quiet()})
	if !errors.Is(err, engine.ErrNoRoom) || !strings.Contains(err.Error(), "permissions") {
		t.Errorf("got %v, want ErrNoRoom and what to do", err)
	}
	if err != nil && strings.Contains(err.Error(), engine.ErrNoRoom.Error()) {
		t.Errorf("got %v, and there is room", err)
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
