// Command bundle makes of a built window program what can be double-clicked. It needs tar and xz for Linux.
//
// Fyne's packaging tool does the work, with the names in FyneApp.toml. What it gets wrong is put right here: it counts
// Build up and writes FyneApp.toml anew, so it works on a copy; each system's file says what else.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	exe := flag.String("exe", "bin/throng", "the built program")
	out := flag.String("out", "dist", "the folder to leave the bundle in")
	flag.Parse()
	made, err := bundle(context.Background(), job{system: runtime.GOOS, root: ".", exe: *exe, out: *out, sign: runtime.GOOS == "darwin"})
	if err != nil {
		fmt.Fprintln(os.Stderr, "make the bundle:", err)
		os.Exit(1)
	}
	for _, path := range made {
		fmt.Println("made", path)
	}
}

// job is one bundle to make.
type job struct {
	system string // darwin or linux
	root   string // where FyneApp.toml is
	exe    string // the built program
	out    string // where the bundle goes; what was there before of the same name is replaced
	sign   bool   // sign a bundle for macOS, which takes a Mac
}

// bundle returns the paths of what it made.
func bundle(ctx context.Context, j job) ([]string, error) {
	finish := map[string]func(context.Context, job, string) ([]string, error){"darwin": finishMac, "linux": finishLinux}[j.system]
	if finish == nil {
		return nil, fmt.Errorf("there is none for %s", j.system)
	}
	for _, path := range []*string{&j.root, &j.exe, &j.out} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = absolute
	}
	if err := os.MkdirAll(j.out, 0o755); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp(j.out, ".bundle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // what is left over is in the way of nobody
	if err := pack(ctx, j, work); err != nil {
		return nil, err
	}
	return finish(ctx, j, work)
}

// pack runs the packaging tool, which leaves its result in work.
func pack(ctx context.Context, j job, work string) error {
	source := filepath.Join(work, "source")
	// Beside the icon it wants to see a Go file, which it does not read.
	if err := os.CopyFS(filepath.Join(source, "assets"), os.DirFS(filepath.Join(j.root, "assets"))); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(j.root, "FyneApp.toml"), filepath.Join(source, "FyneApp.toml"), 0o644); err != nil {
		return err
	}
	tool, err := run(ctx, j.root, "go", "tool", "-n", "fyne")
	if err != nil {
		return err
	}
	_, err = run(ctx, work, strings.TrimSpace(tool), "package", "--target", j.system, "--source-dir", source,
		"--executable", j.exe, "--use-raw-icon") // the icon has its rounded corners and its margin
	return err
}

// run runs a command in dir and returns what it printed, which is part of the error too.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	// The tool packs once and so do we: its archive is for nobody, so in haste; ours takes all cores.
	cmd.Env = append(os.Environ(), "XZ_OPT=-0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), args[0], err, stderr.Bytes())
	}
	return string(out), nil
}

// copyFile copies a file.
func copyFile(from, to string, mode os.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, mode)
}

// rewrite replaces text in a file, each of which must be there.
func rewrite(path string, oldnew ...string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(data)
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(text, oldnew[i]) {
			return fmt.Errorf("%s has no %q: the packaging tool has changed", filepath.Base(path), oldnew[i])
		}
		text = strings.ReplaceAll(text, oldnew[i], oldnew[i+1])
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// glob returns the only file of a pattern.
func glob(parts ...string) (string, error) {
	found, err := filepath.Glob(filepath.Join(parts...))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("found %d of %s, not one", len(found), filepath.Join(parts...))
	}
	return found[0], nil
}
