package main

import (
	"bytes"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestFollow follows the metrics of a run in another process until it ends.
func TestFollow(t *testing.T) {
	data := t.TempDir()
	cmd, stdout, _ := slowRun(t, data)
	live := filepath.Join(t.TempDir(), "live.csv")
	followed := make(chan int, 1)
	var said string
	go func() {
		code, _, stderr := ctl(t, "export", "--what", "metrics", "--follow", "-o", live, "--data", data)
		said = stderr
		followed <- code
	}()
	waitFor(t, "rows before the run is over", func() bool {
		text, err := os.ReadFile(live)
		return err == nil && bytes.Count(text, []byte("\n")) >= 3
	})
	if code, out, stderr := ctl(t, "stop", "--now", "--data", data); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if _, err := io.Copy(io.Discard, stdout); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // interrupted
	if code := <-followed; code != exitDone || !strings.Contains(said, "is no longer in progress: stopped") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	rows, err := csv.NewReader(strings.NewReader(read(t, live))).ReadAll()
	if err != nil || len(rows) < 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if _, all, _ := ctl(t, "export", "--what", "metrics", "--data", data); all != read(t, live) {
		t.Errorf("the followed rows differ from the exported ones:\n%s\n%s", read(t, live), all)
	}
}

// TestExportFormats checks which data can be exported in which format.
func TestExportFormats(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	if code, stdout, stderr := ctl(t, day(data)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for args, want := range map[string]string{
		"--what events --follow": "only metrics can be followed",
		"--follow":               "only metrics can be followed",
		"--what metrics --follow --format parquet":   "cannot be read before it is complete",
		"--what run --format parquet":                "run has only one format",
		"--what memory --format jsonl":               "memory has only one format",
		"--what sessions --format xml":               "must be one of",
		"--what sessions --format parquet -o " + out: "",
	} {
		code, _, stderr := ctl(t, append([]string{"export", "--data", data}, strings.Fields(args)...)...)
		if code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d\n%s", args, code, stderr)
		}
	}
	if code, lines, stderr := ctl(t, "export", "--data", data, "--what", "sessions", "--format", "jsonl"); code != exitDone || strings.Count(lines, "\n") != 90 || !strings.HasPrefix(lines, `{"cycle":0,"agent_index":0,"agent":"`) {
		t.Errorf("exit code %d\n%.300s%s", code, lines, stderr)
	}
	folder := filepath.Join(out, "all")
	if code, _, stderr := ctl(t, "export", "--data", data, "--format", "parquet", "-o", folder); code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	file := []byte(read(t, folder, "sessions.parquet"))
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil || f.NumRows() != 90 {
		t.Errorf("%v, %v", f, err)
	}
	if code, lines, _ := ctl(t, "export", "--data", data, "--what", "metrics", "--follow"); code != exitDone || !strings.HasPrefix(lines, "timestamp,") {
		t.Errorf("following a finished run: exit code %d\n%s", code, lines)
	}
}
