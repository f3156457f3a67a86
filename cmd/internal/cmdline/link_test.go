//go:build !windows

package cmdline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tool returns a tool with a program and two folders for links, which do not exist.
func tool(t *testing.T) *Tool {
	t.Helper()
	root := t.TempDir()
	u := &Tool{program: filepath.Join(root, "Throng's.app", Name), folders: []string{filepath.Join(root, "local", "bin"), filepath.Join(root, "home", ".local", "bin")}}
	u.path = append([]string{"", root}, u.folders...)
	write(t, u.program, "#!/bin/sh\n")
	return u
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// installed installs the program and checks the link.
func installed(t *testing.T, u *Tool, dir string) {
	t.Helper()
	text, command, err := u.Install(t.Context())
	to := filepath.Join(dir, Name)
	if err != nil || command != "" || !strings.HasPrefix(text, "Linked "+to+" to "+u.program+".") {
		t.Fatalf("got %q, %q, %v", text, command, err)
	}
	if target, err := os.Readlink(to); err != nil || target != u.program {
		t.Errorf("%s leads to %q: %v", to, target, err)
	}
	if left, err := filepath.Glob(to + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// TestInstall checks which folder gets the link: the first that is on PATH and writable.
func TestInstall(t *testing.T) {
	u := tool(t)
	if u.first() != "" {
		t.Fatal("it is on PATH")
	}
	installed(t, u, u.folders[1]) // the system's does not exist, the user's is made
	if u.first() != u.program {
		t.Errorf("PATH leads to %q", u.first())
	}
	if err := os.MkdirAll(u.folders[0], 0o755); err != nil {
		t.Fatal(err)
	}
	installed(t, u, u.folders[0])
	u.program = filepath.Join(t.TempDir(), "newer", Name)
	write(t, u.program, "")
	installed(t, u, u.folders[0]) // over the link of another version
	u.path = u.folders[1:]
	if text, _, err := u.Install(t.Context()); err != nil || !strings.Contains(text, u.folders[1]) {
		t.Errorf("got %q, %v", text, err)
	}
	older := filepath.Join(t.TempDir(), "older")
	write(t, filepath.Join(older, Name), "")
	u.path = append([]string{older}, u.path...)
	if text, _, err := u.Install(t.Context()); err != nil || !strings.Contains(text, "comes first on PATH: "+older) {
		t.Errorf("with another version on PATH: %q, %v", text, err)
	}
}

// TestInstallByHand checks the command for a user who may not write to a folder on PATH.
func TestInstallByHand(t *testing.T) {
	u := tool(t)
	u.path = u.path[:2]
	text, command, err := u.Install(t.Context())
	program := strings.ReplaceAll(u.program, "'", `'\''`)
	if want := "sudo mkdir -p " + u.folders[0] + " && sudo ln -sf '" + program + "' " + filepath.Join(u.folders[0], Name); err != nil || command != want || !strings.Contains(text, "type this in a terminal") {
		t.Errorf("got %q, %q, %v, want %q", text, command, err, want)
	}
	if err := os.MkdirAll(u.folders[0], 0o755); err != nil {
		t.Fatal(err)
	}
	if _, command, _ = u.Install(t.Context()); !strings.HasPrefix(command, "sudo ln ") {
		t.Errorf("got %q for a folder that exists", command)
	}
}

// TestInstallKeepsFiles checks that a file is never replaced, and that a program on a disk image is not linked.
func TestInstallKeepsFiles(t *testing.T) {
	u := tool(t)
	taken := filepath.Join(u.folders[0], Name)
	write(t, taken, "mine")
	if _, _, err := u.Install(t.Context()); err == nil || !strings.Contains(err.Error(), taken) {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(taken); err != nil || string(text) != "mine" {
		t.Errorf("the file is %q, %v", text, err)
	}
	u.program = "/Volumes/Throng/Throng.app/Contents/MacOS/throngctl"
	if _, _, err := u.Install(t.Context()); err == nil || !strings.Contains(err.Error(), "Applications") {
		t.Errorf("from a disk image: %v", err)
	}
}

// TestFind checks that there is nothing to install if no terminal program is next to the running one.
func TestFind(t *testing.T) {
	if u := Find(); u != nil {
		t.Fatalf("found %+v", u)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe, err = filepath.EvalSymlinks(exe)
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(exe), Name+filepath.Ext(exe))
	write(t, beside, "")
	t.Cleanup(func() { _ = os.Remove(beside) })
	if u := Find(); u == nil || u.program != beside {
		t.Fatalf("found %+v", u)
	}
	t.Setenv("PATH", filepath.Dir(exe))
	if u := Find(); u != nil {
		t.Errorf("found %+v, which is on PATH", u)
	}
}
