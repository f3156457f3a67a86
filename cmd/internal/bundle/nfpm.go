package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// nfpmCommand makes the packages of Linux distributions. This is the newest version that the Go module proxy serves
// completely.
const nfpmCommand = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

// packagers are the package formats with both programs, by their names in nfpm. Alpine has musl, and the window needs glibc: its
// package has the terminal program only; see packAlpine.
var packagers = []string{"archlinux", "deb", "rpm"}

const maintainer = "The Throng authors <throng-sim@users.noreply.github.com>"

// packNfpm makes the packages with a tree of files, and returns their paths. They need no scripts: triggers of other packages
// update the databases of desktop entries and MIME types.
func packNfpm(ctx context.Context, j job, t tree, work string) ([]string, error) {
	used, err := usedLibraries(j.exe, j.ctl)
	if err != nil {
		return nil, err
	}
	files, out := filepath.Join(work, "files"), filepath.Join(work, "packages")
	if err := t.write(files, j.app.release); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	for _, packager := range packagers {
		if err := j.nfpm(ctx, packager, j.nfpmConfig(packager, used, t, files), work, out); err != nil {
			return nil, err
		}
	}
	return j.keep(out)
}

// nfpm makes a package in the folder out.
func (j *job) nfpm(ctx context.Context, packager string, config map[string]any, work, out string) error {
	text, err := json.Marshal(config) // JSON is also YAML
	if err != nil {
		return err
	}
	path := filepath.Join(work, packager+".yaml")
	if err := writeFile(path, text, 0o644); err != nil {
		return err
	}
	_, err = run(ctx, j.root, "go", "run", nfpmCommand, "package", "--packager", packager, "--config", path, "--target", out)
	return err
}

// keep moves all files of a folder to the output folder, and returns their paths.
func (j *job) keep(folder string) ([]string, error) {
	made, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return nil, err
	}
	for i, path := range made {
		made[i] = filepath.Join(j.out, filepath.Base(path))
		if err := os.Rename(path, made[i]); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// packAlpine makes a package for Alpine Linux with the terminal program, which needs no shared libraries.
func packAlpine(ctx context.Context, j job, work string) ([]string, error) {
	text, err := os.ReadFile(j.ctl)
	if err != nil {
		return nil, err
	}
	a := &j.app
	t := tree{"bin/" + filepath.Base(j.ctl): {text, 0o755}}
	if err := j.documents(ctx, t); err != nil {
		return nil, err
	}
	files, out := filepath.Join(work, "files"), filepath.Join(work, "packages")
	if err := errors.Join(t.write(files, a.release), os.MkdirAll(out, 0o755)); err != nil {
		return nil, err
	}
	c := j.nfpmConfig("apk", libraries{}, t, files)
	c["name"], c["depends"] = a.command()+"ctl", []string{"ca-certificates"}
	c["description"] = "run crowds of simulated agents from a terminal"
	delete(c, "recommends")
	delete(c, "suggests")
	// The versions of Alpine have few words, and git is one (https://wiki.alpinelinux.org/wiki/Package_policies).
	if base, _, early := strings.Cut(a.release.version, "-"); early {
		c["version"], c["version_schema"] = base+"_git"+a.release.made.Format("20060102"), "none"
	}
	if err := j.nfpm(ctx, "apk", c, work, out); err != nil {
		return nil, err
	}
	return j.keep(out)
}

// nfpmConfig returns the configuration of a package (https://nfpm.goreleaser.com/docs/configuration). The files of the tree are
// in the given folder.
func (j *job) nfpmConfig(packager string, used libraries, t tree, folder string) map[string]any {
	a := &j.app
	summary := strings.ToLower(a.LinuxAndBSD.Comment[:1]) + a.LinuxAndBSD.Comment[1:]
	text := fmt.Sprintf(`%s runs hundreds to a million simulated agents on an engine that is
bounded, exact and durable: shoppers against a backend, or what you describe
in a scenario file. This package has the window and the terminal program,
%sctl.`, a.Details.Name, a.command())
	c := map[string]any{
		"name": a.command(), "arch": j.arch, "version": a.release.version, "mtime": a.release.made, "disable_globbing": true,
		"maintainer": maintainer, "homepage": homepage, "license": "MIT",
		"depends": used.packages(packager), "recommends": []string{"xdg-utils"}, "suggests": []string{"gnome-keyring"},
	}
	// Paths that are not those of Debian, by the paths in the tree.
	licenses := "share/licenses/" + a.command()
	moved := map[string]string{
		"share/doc/" + a.command() + "/copyright":              licenses + "/LICENSE",
		"share/zsh/vendor-completions/_" + a.command() + "ctl": "share/zsh/site-functions/_" + a.command() + "ctl",
	}
	var contents []any
	switch packager {
	case "deb":
		c["description"], c["section"], c["priority"] = summary+"\n"+text, "devel", "optional"
		c["recommends"] = []string{"xdg-utils", "default-dbus-session-bus | dbus-session-bus"}
		c["deb"] = map[string]any{"compression": "zstd"} // every Debian with a new enough glibc reads it
		moved = nil
	case "rpm":
		c["description"] = text
		c["rpm"] = map[string]any{"summary": summary, "compression": "zstd", "buildhost": "localhost"}
		// Removing an RPM package leaves folders that it does not own. Other formats own all their folders.
		contents = append(contents, map[string]any{"dst": "/usr/" + licenses, "type": "dir", "file_info": map[string]any{"mode": 0o755, "mtime": a.release.made}})
	case "archlinux":
		// nfpm omits the pre-release of a semantic version from .PKGINFO.
		c["description"], c["version"], c["version_schema"] = summary, strings.ReplaceAll(a.release.version, "-", ""), "none"
		c["archlinux"] = map[string]any{"packager": maintainer}
	}
	for _, path := range slices.Sorted(maps.Keys(t)) {
		contents = append(contents, map[string]any{
			"src": filepath.Join(folder, path), "dst": "/usr/" + cmp.Or(moved[path], path),
			"file_info": map[string]any{"mode": t[path].mode, "mtime": a.release.made},
		})
	}
	c["contents"] = contents
	return c
}
