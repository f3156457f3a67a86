package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/image/draw"
)

// bundleLinux makes a desktop entry, with an icon, that opens the program where it was built.
func bundleLinux(_ context.Context, j job, _ string) ([]string, error) {
	name := filepath.Join(j.out, j.app.Details.Name)
	if err := copyFile(filepath.Join(j.root, j.app.Details.Icon), name+".png", 0o644); err != nil {
		return nil, err
	}
	// Desktops only start entries that are executable.
	entry := j.app.entry(execValue(j.exe), escapeBackslash(name+".png"))
	return []string{name + ".desktop"}, writeFile(name+".desktop", []byte(entry), 0o755)
}

// packLinux builds the programs and makes packages of distributions, and an archive for others.
func packLinux(ctx context.Context, j job, work string) ([]string, error) {
	if err := j.build(ctx, filepath.Join(work, "built"), j.arch); err != nil {
		return nil, err
	}
	return packTree(ctx, j, work)
}

// packTree packs built programs.
func packTree(ctx context.Context, j job, work string) ([]string, error) {
	t, err := j.tree(ctx)
	if err != nil {
		return nil, err
	}
	made, err := packNfpm(ctx, j, t, work)
	if err != nil {
		return nil, err
	}
	archive, err := packArchive(ctx, j, t, work)
	return append(made, archive), err
}

// tree holds the files to install, by their paths below a prefix.
type tree map[string]file

type file struct {
	text []byte
	mode fs.FileMode
}

// write writes a tree to a folder. All files get the time of the release.
func (t tree) write(dir string, r release) error {
	for path, f := range t {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(path)), f.text, f.mode); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, r.made, r.made)
	})
}

// iconSizes are the sizes of the icon theme hicolor, the fallback of all themes, in pixels.
var iconSizes = []int{16, 22, 24, 32, 48, 64, 128, 256, 512}

// workerUnit is the unit of systemd for a worker. No package switches it on.
const workerUnit = "examples/workers/throng-worker.service"

// tree returns the files that every kind of Linux package installs.
func (j *job) tree(ctx context.Context) (tree, error) {
	a, t := &j.app, tree{}
	for path, program := range map[string]string{"bin/" + a.command(): j.exe, "bin/" + a.command() + "ctl": j.ctl} {
		text, err := os.ReadFile(program)
		if err != nil {
			return nil, err
		}
		t[path] = file{text, 0o755}
	}
	add := func(path, text string) { t[path] = file{[]byte(text), 0o644} }
	add("share/applications/"+a.Details.ID+".desktop", a.entry(a.command(), a.Details.ID))
	add("share/mime/packages/"+a.Details.ID+".xml", a.mime())
	add("share/metainfo/"+a.metainfoID()+".metainfo.xml", a.metainfo())
	if err := j.icons(t); err != nil {
		return nil, err
	}
	unit, err := os.ReadFile(filepath.Join(j.root, workerUnit))
	if err != nil {
		return nil, err
	}
	add("lib/systemd/system/"+path.Base(workerUnit), string(unit))
	return t, j.documents(ctx, t)
}

// documents adds the licenses, and the completions and the manual page of the terminal program.
func (j *job) documents(ctx context.Context, t tree) error {
	name := j.app.command()
	add := func(path, text string) { t[path] = file{[]byte(text), 0o644} }
	copyright, err := licenses()
	if err != nil {
		return err
	}
	add("share/doc/"+name+"/copyright", copyright)
	texts := j.texts(ctx)
	for shell, path := range map[string]string{
		"bash": "share/bash-completion/completions/" + name + "ctl",
		"zsh":  "share/zsh/vendor-completions/_" + name + "ctl",
		"fish": "share/fish/vendor_completions.d/" + name + "ctl.fish",
	} {
		if texts[shell] != "" {
			add(path, texts[shell])
		}
	}
	if texts["man"] != "" {
		t["share/man/man1/"+name+"ctl.1.gz"] = file{gzipped(texts["man"]), 0o644}
	}
	return nil
}

// icons adds the icon as SVG and in all sizes.
func (j *job) icons(t tree) error {
	icon, err := os.Open(filepath.Join(j.root, j.app.Details.Icon))
	if err != nil {
		return err
	}
	defer func() { _ = icon.Close() }()
	large, err := png.Decode(icon)
	if err != nil {
		return err
	}
	for _, size := range iconSizes {
		var text bytes.Buffer
		if err := png.Encode(&text, scaled(large, size)); err != nil {
			return err
		}
		t[fmt.Sprintf("share/icons/hicolor/%dx%d/apps/%s.png", size, size, j.app.Details.ID)] = file{text.Bytes(), 0o644}
	}
	drawn, err := os.ReadFile(filepath.Join(j.root, strings.TrimSuffix(j.app.Details.Icon, ".png")+".svg"))
	if err != nil {
		return err
	}
	t["share/icons/hicolor/scalable/apps/"+j.app.Details.ID+".svg"] = file{drawn, 0o644}
	return nil
}

func scaled(img image.Image, size int) image.Image {
	to := image.NewNRGBA(image.Rect(0, 0, size, size))
	draw.CatmullRom.Scale(to, to.Bounds(), img, img.Bounds(), draw.Src, nil)
	return to
}

// gzipped compresses a text without a file name and time in the header.
func gzipped(text string) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = z.Write([]byte(text))                            // a buffer cannot fail
	_ = z.Close()
	return out.Bytes()
}

// entry returns the desktop entry of a command, which is already quoted.
func (a *app) entry(command, icon string) string {
	list := func(all []string) string { return strings.Join(all, ";") + ";" }
	return "[Desktop Entry]\nType=Application\nVersion=1.0\n" +
		"Name=" + a.Details.Name + "\nGenericName=" + a.LinuxAndBSD.GenericName + "\nComment=" + a.LinuxAndBSD.Comment + "\n" +
		"Exec=" + command + " %f\nIcon=" + icon + "\nTerminal=false\n" +
		"Categories=" + list(a.LinuxAndBSD.Categories) + "\nKeywords=" + list(a.LinuxAndBSD.Keywords) + "\n" +
		"MimeType=" + mimeType + ";\nStartupWMClass=" + a.Details.Name + "\n"
}

// mime returns the definition of the MIME type of scenario files.
func (a *app) mime() string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="` + mimeType + `">
    <comment>` + a.Details.Name + ` scenario</comment>
    <sub-class-of type="application/x-yaml"/>
    <icon name="` + a.Details.ID + `"/>
    <glob pattern="` + scenarioGlob + `"/>
  </mime-type>
</mime-info>
`
}

// metainfoID returns the program's ID for software centers, whose IDs have no hyphens. Those of Apple have no underscores.
func (a *app) metainfoID() string { return strings.ReplaceAll(a.Details.ID, "-", "_") }

// metainfo returns the description of the program for software centers
// (https://www.freedesktop.org/software/appstream/docs/chap-Metadata.html).
func (a *app) metainfo() string {
	kind := "stable"
	if strings.Contains(a.release.version, "-") {
		kind = "development"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<component type="desktop-application">
  <id>` + a.metainfoID() + `</id>
  <metadata_license>MIT</metadata_license>
  <project_license>MIT</project_license>
  <name>` + a.Details.Name + `</name>
  <developer id="` + strings.TrimSuffix(a.metainfoID(), "."+a.command()) + `">
    <name>The Throng authors</name>
  </developer>
  <summary>` + a.LinuxAndBSD.Comment + `</summary>
  <description>
    <p>` + longDescription + `</p>
  </description>
  <launchable type="desktop-id">` + a.Details.ID + `.desktop</launchable>
  <url type="homepage">` + homepage + `</url>
  <url type="bugtracker">` + homepage + `/issues</url>
  <provides>
    <binary>` + a.command() + `</binary>
    <binary>` + a.command() + `ctl</binary>
    <mediatype>` + mimeType + `</mediatype>
  </provides>
  <content_rating type="oars-1.1"/>
  <releases>
    <release version="` + a.release.version + `" type="` + kind + `" date="` + a.release.made.Format(time.DateOnly) + `"/>
  </releases>
</component>
`
}

//go:embed install.sh
var installScript string

// packArchive makes an archive with an install script.
func packArchive(ctx context.Context, j job, t tree, work string) (string, error) {
	name := j.called("")
	all := tree{}
	var paths []string
	for path, f := range t {
		all[path] = f
		paths = append(paths, path)
	}
	slices.Sort(paths)
	script := strings.NewReplacer("@NAME@", j.app.Details.Name, "@COMMAND@", j.app.command(), "@ID@", j.app.Details.ID, "@FILES@", strings.Join(paths, "\n")).Replace(installScript)
	all["install"] = file{[]byte(script), 0o755}
	if err := all.write(filepath.Join(work, name), j.app.release); err != nil {
		return "", err
	}
	archive := filepath.Join(j.out, j.called(".tar.xz"))
	// The output of xz depends on the number of threads.
	_, err := run(ctx, work, "tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu", "-I", "xz -6 -T2", "-cf", archive, name)
	return archive, err
}

// execValue quotes a path as the value of Exec: like a shell's double quotes, with percent signs doubled, then escaped like
// any value (Desktop Entry Specification 1.5, "The Exec key").
func execValue(path string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`, `%`, `%%`).Replace(path)
	return escapeBackslash(`"` + quoted + `"`)
}

func escapeBackslash(value string) string { return strings.ReplaceAll(value, `\`, `\\`) }
