package control

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRaise checks that a window receives files in order, also while a run in the same folder takes orders, and that it
// leaves no files.
func TestRaise(t *testing.T) {
	data, _ := serve(t, newFakeRun())
	if err := Raise(t.Context(), data, "a"); err == nil {
		t.Error("raised a window although none is open")
	}
	var shown []string
	for range 2 { // the second one finds the files of a process that died
		if _, err := makePlace(data, ofWindow); err != nil {
			t.Fatal(err)
		}
	}
	stop, err := ServeWindow(data, func(file string) { shown = append(shown, file) })
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"/scenarios/one.throng.yaml", "", "/two\nlines"}
	for _, file := range files {
		if err := Raise(t.Context(), data, file); err != nil {
			t.Error(err)
		}
	}
	c, err := reach(t.Context(), data, ofWindow)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("no JSON\n")); err != nil {
		t.Error(err)
	}
	answer := make([]byte, 200)
	if n, err := c.Read(answer); err != nil || !strings.Contains(string(answer[:n]), `"error"`) {
		t.Errorf("%s %v", answer, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if !slices.Equal(shown, files) {
		t.Errorf("shown %q", shown)
	}
	if left, err := os.ReadDir(filepath.Join(data, "control")); err != nil || len(left) != 1 || left[0].Name() != string(runID)+".sock" {
		t.Errorf("not removed: %v %v", left, err)
	}
	if err := Raise(t.Context(), data, "a"); err == nil {
		t.Error("raised a window that is closed")
	}
}
