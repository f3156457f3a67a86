//go:build unix

package awake

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestChildGoesWithItsRelease checks that releasing the hold ends the child process: a pipe that the child holds open
// closes.
func TestChildGoesWithItsRelease(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if out, err := exec.CommandContext(t.Context(), "mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v %s", err, out)
	}
	script := filepath.Join(dir, "caffeinate")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec 3>\"$1\"\necho awake >&3\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	release, err := holdByChild(script, pipe)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	said := make([]byte, len("awake\n"))
	if _, err := io.ReadFull(f, said); err != nil || string(said) != "awake\n" {
		t.Fatalf("%q, %v", said, err)
	}
	release()
	release()
	if rest, err := io.ReadAll(f); err != nil || len(rest) > 0 { // the read would not return if the child lived
		t.Errorf("%q, %v", rest, err)
	}
}

func TestChildThatIsNotThere(t *testing.T) {
	_, err := holdByChild(filepath.Join(t.TempDir(), "caffeinate"))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "caffeinate") {
		t.Errorf("%v", err)
	}
}
