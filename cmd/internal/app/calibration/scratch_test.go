package calibration

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestScratchIsCleared checks that folders of dead processes are removed, and folders in use stay.
func TestScratchIsCleared(t *testing.T) {
	data := t.TempDir()
	dead := filepath.Join(data, scratchPrefix+"dead")
	long := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Mkdir(dead, 0o700), os.Chtimes(dead, long, long)); err != nil {
		t.Fatal(err)
	}
	first, leave, err := Scratch(data)
	if err != nil {
		t.Fatal(err)
	}
	second, leaveSecond, err := Scratch(data)
	if err != nil || second == first {
		t.Fatalf("%v, %s and %s", err, first, second)
	}
	if _, err := os.Stat(first); err != nil {
		t.Errorf("a folder in use: %v", err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder of a process that died: %v", err)
	}
	if err := errors.Join(leave(), leaveSecond()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("%v were not removed: %v", left, err)
	}
}
