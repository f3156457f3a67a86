package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesStayPipes: what is written to a pipe or a device goes through it, and does not take its place.
func TestPipesStayPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		f, err := os.Open(pipe) // waits for who writes
		if err != nil {
			read <- err.Error()
			return
		}
		defer func() { _ = f.Close() }()
		text, _ := io.ReadAll(f)
		read <- string(text)
	}()
	if err := writeFile(pipe, func(w io.Writer) error { _, err := io.WriteString(w, "rows"); return err }); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "rows" {
		t.Errorf("behind the pipe there is %q", got)
	}
	if there, err := os.Stat(pipe); err != nil || there.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", there, err)
	}
	link := filepath.Join(t.TempDir(), "full") // so that a mistake here does no harm
	if err := os.Symlink("/dev/full", link); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(link, func(w io.Writer) error { _, err := io.WriteString(w, "rows"); return err }); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("onto a full device: %v", err)
	}
}
