package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
)

// TestRunOutlivesItsReader checks that a run finishes if the reader of its output ends.
func TestRunOutlivesItsReader(t *testing.T) {
	data := t.TempDir()
	cmd, _, stderr := process(t, nil, day(data, "--json")...)
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = theirs
	_ = ours.Close() // from the first line on
	err = cmd.Run()
	_ = theirs.Close()
	if err == nil || cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("ended with %v\n%s", err, stderr)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, "finished") {
		t.Errorf("the run is not finished:\n%s", out)
	}
}

// TestPipesStayPipes checks that output to a pipe or a device is written to it and does not replace it.
func TestPipesStayPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		f, err := os.Open(pipe) // waits for a writer
		if err != nil {
			read <- err.Error()
			return
		}
		defer func() { _ = f.Close() }()
		text, _ := io.ReadAll(f)
		read <- string(text)
	}()
	if err := file.Write(pipe, func(w io.Writer) error { _, err := io.WriteString(w, "rows"); return err }); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "rows" {
		t.Errorf("read from the pipe: %q", got)
	}
	if there, err := os.Stat(pipe); err != nil || there.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", there, err)
	}
	link := filepath.Join(t.TempDir(), "full") // so that a mistake here does no harm
	if err := os.Symlink("/dev/full", link); err != nil {
		t.Fatal(err)
	}
	if err := file.Write(link, func(w io.Writer) error { _, err := io.WriteString(w, "rows"); return err }); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("write to a full device: %v", err)
	}
}
