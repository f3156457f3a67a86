package filedialog

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestDialogs checks, with a program in the place of zenity, what is asked and what the answers mean.
func TestDialogs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems need no program for their dialogs")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	asked := filepath.Join(dir, "asked")
	answer := func(script string) {
		t.Helper()
		text := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + asked + "\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, "zenity"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	answer("echo /tmp/mine.throng.yaml")
	d := New()
	if d == nil {
		t.Fatal("there are no dialogs with a program that shows them")
	}
	for _, c := range []struct {
		name string
		ask  func() (string, error)
		want []string
	}{
		{"folder", func() (string, error) { return d.Folder(t.Context(), "A folder") }, []string{"--directory", "A folder"}},
		{"file", func() (string, error) { return d.File(t.Context(), "A file", []string{".yaml", ".ai"}) }, []string{"A file", "*.[yY][aA][mM][lL]"}},
		{"save", func() (string, error) { return d.Save(t.Context(), "Save as", "mine.yaml") }, []string{"--save", "mine.yaml"}},
	} {
		path, err := c.ask()
		if err != nil || path != "/tmp/mine.throng.yaml" {
			t.Errorf("%s: got %q, %v", c.name, path, err)
		}
		got, err := os.ReadFile(asked)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(got), want) {
				t.Errorf("%s: asked %q, without %q", c.name, got, want)
			}
		}
	}
	answer("exit 1")
	if path, err := d.Folder(t.Context(), "A folder"); path != "" || err != nil {
		t.Errorf("after Cancel: got %q, %v", path, err)
	}
	answer("echo broken >&2; exit 3")
	if _, err := d.Folder(t.Context(), "A folder"); err == nil {
		t.Error("a broken dialog returns no error")
	}
}
