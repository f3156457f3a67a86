// Command licenses collects the licenses of everything that is linked into Throng on any system, into
// assets/licenses.json.gz. Run it with `make licenses`.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/throng-sim/throng/assets"
)

const module = "github.com/throng-sim/throng"

// systems are the supported systems, with their build tags.
var systems = []struct{ system, tags string }{{"linux", "gles,x11"}, {"darwin", ""}, {"windows", ""}}

// linked is a module with the folders of its packages that are linked.
type linked struct {
	path, version, root string
	dirs                map[string]bool
}

func main() {
	root, err := goEnv("GOMOD")
	if err == nil {
		err = run(filepath.Dir(root))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "licenses: %v\n", err)
		os.Exit(1)
	}
}

// run writes the file of a repository.
func run(root string) error {
	modules, err := modules(root)
	if err != nil {
		return err
	}
	all, err := collect(modules)
	if err != nil {
		return err
	}
	text, err := packed(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "assets", "licenses.json.gz"), text, 0o644)
}

// modules returns the modules that are linked on any system.
func modules(root string) (map[string]*linked, error) {
	all := map[string]*linked{}
	for _, s := range systems {
		cmd := exec.Command("go", "list", "-e", "-deps", "-tags", s.tags, "-json=Dir,Standard,Module", "./cmd/throng", "./cmd/throngctl") //nolint:noctx // a tool of the build
		cmd.Dir, cmd.Stderr = root, os.Stderr
		cmd.Env = append(os.Environ(), "GOOS="+s.system, "GOARCH=amd64", "CGO_ENABLED=1")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list what is linked on %s: %w", s.system, err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Dir      string
				Standard bool
				Module   *struct{ Path, Version, Dir string }
			}
			if err := d.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			m := p.Module
			if p.Standard || m == nil || m.Path == module {
				continue
			}
			if all[m.Path] == nil {
				all[m.Path] = &linked{m.Path, m.Version, m.Dir, map[string]bool{}}
			}
			all[m.Path].dirs[p.Dir] = true
		}
	}
	return all, nil
}

// named matches the names of license files.
var named = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense|ofl|patents)([._-].*)?$|-(licen[cs]e|OFL)(\.(txt|md))?$`)

// texts returns the license texts in the folders of a module's packages, in their parents, and in subfolders with embedded
// files. Each text is returned once.
func (m *linked) texts() (names, texts []string, err error) {
	folders := map[string]bool{m.root: true}
	for dir := range m.dirs {
		for ; len(dir) > len(m.root); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range m.dirs {
		below, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is valid
		for _, sub := range below {
			switch filepath.Base(sub) {
			case "font", "fonts", "glfw", "deps", "data", "icons":
				folders[sub] = true
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		files, err := os.ReadDir(dir)
		if err != nil && dir == m.root {
			return nil, nil, err
		}
		for _, f := range files {
			if !f.Type().IsRegular() || !named.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
				continue
			}
			text, err := fs.ReadFile(os.DirFS(dir), f.Name())
			if err != nil {
				return nil, nil, err
			}
			clean := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(string(text), "?"), "\r\n", "\n"))
			if slices.Contains(texts, clean) {
				continue
			}
			name, _ := filepath.Rel(m.root, filepath.Join(dir, f.Name()))
			names, texts = append(names, filepath.ToSlash(name)), append(texts, clean)
		}
	}
	return names, texts, nil
}

// collect reads the licenses of modules, of Throng itself and of the Go library.
func collect(modules map[string]*linked) (all []assets.License, err error) {
	goroot, err := goEnv("GOROOT")
	if err != nil {
		return nil, err
	}
	gomod, err := goEnv("GOMOD")
	if err != nil {
		return nil, err
	}
	modules = maps.Clone(modules)
	modules["  throng"] = &linked{path: "Throng", root: filepath.Dir(gomod)}
	modules[" go"] = &linked{path: "Go's standard library", version: runtime.Version(), root: goroot}
	for _, key := range slices.Sorted(maps.Keys(modules)) {
		m := modules[key]
		names, texts, err := m.texts()
		if err != nil {
			return nil, fmt.Errorf("the license of %s: %w", m.path, err)
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("the module %s has no license that is known: add its file's name to `named`, or its text", m.path)
		}
		one := assets.License{Module: m.path, Version: m.version}
		var kinds []string
		for i, text := range texts {
			if k := kind(text); k != "" && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
			if i > 0 || names[i] != "LICENSE" {
				one.Text += "--- " + names[i] + " ---\n\n"
			}
			one.Text += text + "\n\n"
		}
		one.Text, one.Kind = strings.TrimSpace(one.Text), cmp.Or(strings.Join(kinds, ", "), "see the text")
		all = append(all, one)
		switch m.path {
		case sqliteModule:
			all = append(all, m.sqlite())
		case fyneModule:
			icons, err := icons(modules[apacheModule])
			if err != nil {
				return nil, err
			}
			all = append(all, icons)
		}
	}
	return all, nil
}

// sqliteModule includes SQLite, whose terms are not in any of its files.
const sqliteModule = "github.com/mattn/go-sqlite3"

func (m *linked) sqlite() assets.License {
	source, _ := os.ReadFile(filepath.Join(m.root, "sqlite3-binding.h")) // without the file the version is unknown
	one := assets.License{
		Module: "SQLite", Kind: "public domain",
		Text: "The author disclaims copyright to this source code. In place of a legal notice, here is a blessing:\n\n" +
			"    May you do good and not evil.\n    May you find forgiveness for yourself and forgive others.\n    May you share freely, never taking more than you give.",
	}
	if found := regexp.MustCompile(`#define SQLITE_VERSION\s+"([^"]+)"`).FindSubmatch(source); found != nil {
		one.Version = string(found[1])
	}
	return one
}

// fyneModule includes icons of another project. Their terms are not in any of its files; they are those of apacheModule,
// which Fyne also includes.
const (
	fyneModule   = "fyne.io/fyne/v2"
	apacheModule = "fyne.io/systray"
)

func icons(apache *linked) (one assets.License, err error) {
	if apache == nil {
		return one, fmt.Errorf("%s is not linked any more: take the text of the Apache License from another module", apacheModule)
	}
	_, texts, err := apache.texts()
	if err != nil {
		return one, err
	}
	if len(texts) != 1 || kind(texts[0]) != "Apache 2.0" {
		return one, fmt.Errorf("%s has other terms than the Apache License now: take its text from another module", apacheModule)
	}
	return assets.License{
		Module: "Material Design icons", Kind: "Apache 2.0",
		Text: "Copyright Google LLC. Most icons of the window are Material Design icons, some of them changed.\n\n" + texts[0],
	}, nil
}

// kinds are the patterns that identify licenses. The first match counts.
var kinds = []struct{ name, part string }{
	{"Apache 2.0", "apache license"},
	{"MPL 2.0", "mozilla public license"},
	{"OFL 1.1", "sil open font license"},
	{"GPL", "gnu general public license"},
	{"LGPL", "gnu lesser general public license"},
	{"Bitstream Vera", "bitstream vera"},
	{"zlib", "must not be misrepresented; you must not claim"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"BSD 3-Clause", "neither the name"},
	{"BSD 3-Clause", "may not be used to endorse"},
	{"BSD 2-Clause", "redistributions in binary form"},
	{"MIT", "permission is hereby granted, free of charge"},
	{"public domain", "public domain"},
}

// kind returns the name of a license, or "" if it is unknown.
func kind(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, k := range kinds {
		if strings.Contains(text, k.part) {
			return k.name
		}
	}
	return ""
}

// packed returns the content of the file. Equal licenses give equal bytes.
func packed(all []assets.License) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output() //nolint:noctx // a tool of the build
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}
