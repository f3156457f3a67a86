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

// pack builds and packages the programs, and returns the paths of the packages.
func pack(ctx context.Context, j job) ([]string, error) {
	kind := map[string]func(context.Context, job, string) ([]string, error){"darwin": packMac, "linux": packLinux, "windows": packWindows, imageSystem: packImage}[j.system]
	if kind == nil {
		return nil, fmt.Errorf("there is none for %s", j.system)
	}
	work, err := j.open()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a leftover folder does no harm
	if j.app.release, err = readRelease(ctx, j.root, j.app.Details.Version); err != nil {
		return nil, err
	}
	return kind(ctx, j, work)
}

// called returns the file name of the package with an extension.
func (j *job) called(ending string) string {
	name, command, r := j.app.Details.Name, j.app.command(), j.app.release
	switch ending {
	case ".dmg":
		return name + "-" + r.version + "-macos-universal" + ending
	case ".zip":
		return name + "-" + r.version + "-windows-" + j.arch + ending
	}
	return command + "-" + r.version + "-linux-" + j.arch + ending
}

// mingw holds the C cross-compilers for Windows, by processor.
var mingw = map[string]string{"amd64": "x86_64-w64-mingw32-gcc", "arm64": "aarch64-w64-mingw32-gcc"}

// build builds both programs for a processor, without local paths and debug tables, and stores their paths in the job. Stack
// traces are unaffected.
func (j *job) build(ctx context.Context, dir, arch string) error {
	ending, windowFlags := "", "-s -w"
	if j.system == "windows" {
		ending, windowFlags = ".exe", "-s -w -H windowsgui" // otherwise a console opens with the window
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

// licenses returns the license texts of everything in the programs. It does not ask the program, which may be built for
// another system.
func licenses() (string, error) {
	all, err := assets.Licenses()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, l := range all {
		fmt.Fprintln(&text, l)
	}
	return text.String(), nil
}

// texts returns the texts that the terminal program prints for packages. It omits texts that the program does not know.
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
