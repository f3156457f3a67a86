package scratch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFoldersOfKilledProcesses checks that a folder goes whose process was killed, but no other.
func TestFoldersOfKilledProcesses(t *testing.T) {
	parent := t.TempDir()
	folder := func(prefix string) *Folder {
		f, err := New(parent, prefix)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	killed, alive, other := folder("a-"), folder("a-"), folder("b-")
	for _, f := range []*Folder{killed, other} {
		if err := f.lock.Unlock(); err != nil { // as the system does
			t.Fatal(err)
		}
	}
	file := filepath.Join(parent, "a-file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := func(when string, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	sweep(parent, "a-", time.Now().Add(-time.Hour))
	want("while its process may not have locked it yet", killed.Path)
	sweep(parent, "a-", time.Now().Add(time.Hour))
	if _, err := os.Stat(killed.Path); !os.IsNotExist(err) {
		t.Errorf("the folder of the killed process: %v", err)
	}
	want("after the killed process", alive.Path, other.Path, file)
	if err := alive.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(alive.Path); !os.IsNotExist(err) {
		t.Errorf("a removed folder: %v", err)
	}
}
