package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/throng-sim/throng/assets"
)

// pack builds the programs and makes packages of them, and returns the paths of what it made.
func pack(ctx context.Context, j job) ([]string, error) {
	kind := map[string]func(context.Context, job, string) ([]string, error){"darwin": packMac, "linux": packLinux, "windows": packWindows}[j.system]
	if kind == nil {
		return nil, fmt.Errorf("there is none for %s", j.system)
	}
	work, err := j.open()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // what is left over is in the way of nobody
	if j.app.release, err = readRelease(ctx, j.root, j.app.Details.Version); err != nil {
		return nil, err
	}
	return kind(ctx, j, work)
}

// called returns what the package with an ending is called.
func (j *job) called(ending string) string {
	name, command, r := j.app.Details.Name, j.app.command(), j.app.release
	switch ending {
	case ".dmg":
		return name + "-" + r.version + "-macos-universal" + ending
	case ".zip":
		return name + "-" + r.version + "-windows-" + j.arch + ending
	case ".deb":
		return command + "_" + r.deb() + "_" + j.arch + ending
	}
	return command + "-" + r.version + "-linux-" + j.arch + ending
}

// mingw are the C compilers for Windows elsewhere, by processor.
var mingw = map[string]string{"amd64": "x86_64-w64-mingw32-gcc", "arm64": "aarch64-w64-mingw32-gcc"}

// build builds both programs for a processor, without paths of this machine and tables for debuggers, and names them in
// the job. Stack traces stay as they are.
func (j *job) build(ctx context.Context, dir, arch string) error {
	ending, windowFlags := "", "-s -w"
	if j.system == "windows" {
		ending, windowFlags = ".exe", "-s -w -H windowsgui" // else a console opens beside the window
	}
	j.exe = filepath.Join(dir, j.app.command()+ending)
	j.ctl = filepath.Join(dir, j.app.command()+"ctl"+ending)
	for _, program := range []struct{ file, flags string }{{j.exe, windowFlags}, {j.ctl, "-s -w"}} {
		source := "./cmd/" + filepath.Base(program.file[:len(program.file)-len(ending)])
		env := []string{"GOOS=" + j.system, "GOARCH=" + arch, "CGO_ENABLED=1", "MACOSX_DEPLOYMENT_TARGET=" + oldestMac}
		if j.system == "windows" && runtime.GOOS != j.system && os.Getenv("CC") == "" {
			env = append(env, "CC="+mingw[arch])
		}
		if _, err := runWith(ctx, env, j.root, "go", "build", "-trimpath", "-tags", j.tags, "-ldflags", program.flags, "-o", program.file, source); err != nil {
			return err
		}
	}
	return nil
}

// licences are those of all that is in the programs, as a text. They are not asked of the program, which may be for another
// system.
func licences() (string, error) {
	all, err := assets.Licences()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, l := range all {
		fmt.Fprintln(&text, l)
	}
	return text.String(), nil
}

// texts are what the terminal program prints for packages; one that it does not know is left out.
func (j *job) texts(ctx context.Context) map[string]string {
	texts := map[string]string{}
	for name, args := range map[string][]string{
		"man": {"man"}, "bash": {"completion", "bash"}, "zsh": {"completion", "zsh"}, "fish": {"completion", "fish"},
	} {
		if text, err := run(ctx, j.root, j.ctl, args...); err == nil && text != "" {
			texts[name] = text
		}
	}
	return texts
}
