package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesThatAreNotThere checks that errors about missing files do not name the system call, as in "statat
// people.csv".
func TestFilesThatAreNotThere(t *testing.T) {
	for text, want := range map[string]string{
		"title: A\npopulation: {from: people.csv}\nchain go:\n  step a: {kind: emit, event: e}\n":    "the population cannot be read: there is no file people.csv",
		"title: A\nfunctions: more.star\nchain go:\n  step a: {kind: emit, event: e}\n":              "the functions cannot be read: there is no file more.star",
		"title: A\npopulation: {from: ../people.csv}\nchain go:\n  step a: {kind: emit, event: e}\n": "the population cannot be read: ../people.csv: path escapes",
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "statat") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
