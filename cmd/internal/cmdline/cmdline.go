// Package cmdline puts the terminal program on PATH, for people who have installed the window.
package cmdline

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Name is the name of the terminal program without the extension of the system.
const Name = "throngctl"

// Tool is the terminal program next to the window's.
type Tool struct {
	program string   // its path
	path    []string // the folders of PATH in a new terminal
	folders []string // for a link, the best first
}

// Find returns the terminal program next to the running one; nil if there is none, or if it is on PATH.
func Find() *Tool {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	t := &Tool{program: filepath.Join(filepath.Dir(exe), Name+filepath.Ext(exe)), path: searched(), folders: []string{"/usr/local/bin"}}
	if home, err := os.UserHomeDir(); err == nil {
		t.folders = append(t.folders, filepath.Join(home, ".local", "bin"))
	}
	if info, err := os.Stat(t.program); err != nil || !info.Mode().IsRegular() || t.first() == t.program {
		return nil
	}
	return t
}

// Program returns the path of the terminal program: next to the running one, or on PATH; "" if there is none.
func Program() string {
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		path := filepath.Join(filepath.Dir(exe), Name+filepath.Ext(exe))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	path, err := exec.LookPath(Name)
	if err != nil {
		return ""
	}
	return path
}

// searched returns the folders of PATH. A program that the Finder of macOS starts has a shorter PATH than a terminal, which adds the
// folders of path_helper(8).
func searched() []string {
	all := filepath.SplitList(os.Getenv("PATH"))
	if runtime.GOOS != "darwin" {
		return all
	}
	more, _ := filepath.Glob("/etc/paths.d/*")
	for _, file := range append([]string{"/etc/paths"}, more...) {
		text, _ := os.ReadFile(file)
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// first returns the terminal program that PATH leads to: that of the tool if it is the same file; "" if none.
func (t *Tool) first() string {
	own, err := os.Stat(t.program)
	if err != nil {
		return ""
	}
	for _, dir := range t.path {
		path := filepath.Join(dir, filepath.Base(t.program))
		info, err := os.Stat(path)
		switch {
		case err != nil || info.IsDir():
		case os.SameFile(info, own):
			return t.program
		default:
			return path
		}
	}
	return ""
}

// leads reports whether a folder is on PATH.
func (t *Tool) leads(dir string) bool {
	return slices.ContainsFunc(t.path, func(p string) bool { return p != "" && filepath.Clean(p) == filepath.Clean(dir) })
}

// shadow says that another terminal program comes first on PATH; "" if none does.
func (t *Tool) shadow() string {
	if first := t.first(); first != "" && first != t.program {
		return " Another " + Name + " comes first on PATH: " + first + "."
	}
	return ""
}
