// Command bundle makes of the program what can be double-clicked: from what is built, what opens where it was built, or,
// with -package, what one hands over. FyneApp.toml says what the program is called.
//
// An application bundle for macOS is made by Fyne's packaging tool. What it gets wrong is put right in mac.go: it counts
// Build up and writes FyneApp.toml anew, so it works on a copy.
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
)

func main() {
	exe := flag.String("exe", filepath.Join("bin", "throng"), "the built program, for a bundle")
	out := flag.String("out", "dist", "the folder to leave it in")
	packs := flag.Bool("package", false, "build the programs and make packages of them")
	system := flag.String("system", runtime.GOOS, "the system to make packages for; another than this one takes its C compiler in CC; for Windows it is mingw without")
	arch := flag.String("arch", runtime.GOARCH, "its processor; packages for macOS are for both")
	tags := flag.String("tags", "", "the tags to build with for this system")
	flag.Parse()
	if *system != runtime.GOOS {
		*tags = "" // they choose how this system draws
	}
	j := job{system: *system, arch: *arch, root: ".", exe: *exe, out: *out, tags: *tags, identity: os.Getenv("SIGN_IDENTITY")}
	what, doing := bundle, "make the bundle:"
	if *packs {
		what, doing = pack, "make the package:"
	}
	made, err := what(context.Background(), j)
	if err != nil {
		fmt.Fprintln(os.Stderr, doing, err)
		os.Exit(1)
	}
	for _, path := range made {
		fmt.Println("made", path)
	}
}

// job is something to make.
type job struct {
	system   string // darwin, linux or windows
	arch     string // as Go calls it
	root     string // where FyneApp.toml is
	exe      string // the built program
	ctl      string // the built terminal program; "" leaves it out
	out      string // where the result goes; what was there before of the same name is replaced
	tags     string // to build with
	identity string // of who signs for macOS; "" signs without one
	unsigned bool   // leave signing out, which takes a Mac

	app app
}

// open makes the job's paths absolute, reads what the program is called, and makes the folder for the result and one in
// it to work in.
func (j *job) open() (work string, err error) {
	for _, path := range []*string{&j.root, &j.exe, &j.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return "", err
		}
	}
	if j.app, err = readApp(j.root); err != nil {
		return "", err
	}
	if err := os.MkdirAll(j.out, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(j.out, ".bundle-")
}

// bundle makes what opens the built program by double-click, and returns the paths of what it made.
func bundle(ctx context.Context, j job) ([]string, error) {
	finish := map[string]func(context.Context, job, string) ([]string, error){"darwin": bundleMac, "linux": bundleLinux}[j.system]
	if finish == nil {
		return nil, fmt.Errorf("there is none for %s", j.system)
	}
	work, err := j.open()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // what is left over is in the way of nobody
	return finish(ctx, j, work)
}

// run runs a command in dir and returns what it printed, which is part of the error too.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	return runWith(ctx, nil, dir, name, args...)
}

// runWith is run with more in the environment.
func runWith(ctx context.Context, env []string, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
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
	return writeFile(to, data, mode)
}

// writeFile writes a file, with the folders that it takes; umask does not count.
func writeFile(path string, data []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
