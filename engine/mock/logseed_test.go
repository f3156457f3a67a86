package mock

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLogSeed checks that a log returns its seed, an empty one none, and that any other file is rejected.
func TestLogSeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.log")
	for _, c := range []struct {
		name string
		text []byte // nil: there is no file
		seed uint64
		ok   bool
		bad  bool
	}{
		{name: "none"},
		{name: "empty", text: []byte{}},
		{name: "torn", text: appendSettings(nil, 7)[:logStart-1]},
		{name: "begun", text: appendSettings(nil, 7), seed: 7, ok: true},
		{name: "something else", text: []byte("title: Shop, and a long text"), bad: true},
	} {
		if c.text != nil {
			if err := os.WriteFile(path, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		seed, ok, err := LogSeed(path)
		if seed != c.seed || ok != c.ok || (err != nil) != c.bad {
			t.Errorf("%s: got %d, %v, %v", c.name, seed, ok, err)
		}
	}
}
