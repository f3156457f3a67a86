// Command bundle makes applications that can be double-clicked. It wraps a built program in place or, with -package, builds
// packages to distribute, with -image a container image, and with -managers writes how package managers install a release. FyneApp.toml has the name and version of the program.
//
// Fyne's packaging tool makes the application bundle for macOS. The tool increments Build and rewrites FyneApp.toml, so it
// works on a copy, and mac.go corrects its output.
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
	out := flag.String("out", "dist", "the output folder")
	packs := flag.Bool("package", false, "build the programs and package them")
	image := flag.Bool("image", false, "build the terminal program for Linux, and make a container image with it")
	manage := flag.Bool("managers", false, "write what Homebrew and winget need to install the packages in the output folder")
	system := flag.String("system", runtime.GOOS, "the system to make packages for; another than this one takes its C compiler in CC; for Windows it is mingw without")
	arch := flag.String("arch", runtime.GOARCH, "its processor; packages for macOS are for both")
	tags := flag.String("tags", "", "the tags to build with for this system")
	flag.Parse()
	if *system != runtime.GOOS {
		*tags = "" // the tags select the graphics of this system
	}
	j := job{system: *system, arch: *arch, root: ".", exe: *exe, out: *out, tags: *tags, identity: os.Getenv("SIGN_IDENTITY")}
	what, doing := bundle, "make the bundle:"
	switch {
	case *image:
		what, doing = pack, "make the image:"
		j.system = imageSystem
	case *packs:
		what, doing = pack, "make the package:"
	case *manage:
		what, doing = managers, "describe the packages:"
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

// job describes an output.
type job struct {
	system   string // darwin, linux, windows, or a container
	arch     string // a GOARCH
	root     string // the folder of FyneApp.toml
	exe      string // the built program
	ctl      string // the built terminal program; "" leaves it out
	out      string // output folder; files of the same name are replaced
	tags     string // build tags
	identity string // for signing on macOS; "" signs without a certificate
	unsigned bool   // do not sign: signing needs a Mac

	app app
}

// open makes the job's paths absolute, reads the name of the program, and makes the output folder and a work folder in it.
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

// bundle makes the files that open the built program by double-click, and returns their paths.
func bundle(ctx context.Context, j job) ([]string, error) {
	finish := map[string]func(context.Context, job, string) ([]string, error){"darwin": bundleMac, "linux": bundleLinux}[j.system]
	if finish == nil {
		return nil, fmt.Errorf("there is none for %s", j.system)
	}
	work, err := j.open()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a leftover folder does no harm
	return finish(ctx, j, work)
}

// run runs a command in dir and returns its output, which errors include too.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	return runWith(ctx, nil, dir, name, args...)
}

// runWith is run with additional environment variables.
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

// writeFile writes a file with the exact mode, and makes its folders.
func writeFile(path string, data []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
