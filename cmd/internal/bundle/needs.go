package main

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
)

// libraryPackages maps the shared libraries that the programs link or open at run time to the packages of Debian and Arch
// Linux. Other libraries are an error. RPM packages depend on the libraries themselves.
var libraryPackages = map[string]struct{ deb, arch string }{
	"libGL.so.1":       {"libgl1", "libglvnd"},
	"libX11.so.6":      {"libx11-6", "libx11"},
	"libXcursor.so.1":  {"libxcursor1", "libxcursor"},
	"libXext.so.6":     {"libxext6", "libxext"},
	"libXi.so.6":       {"libxi6", "libxi"},
	"libXinerama.so.1": {"libxinerama1", "libxinerama"},
	"libXrandr.so.2":   {"libxrandr2", "libxrandr"},
	"libXrender.so.1":  {"libxrender1", "libxrender"},
	"libXxf86vm.so.1":  {"libxxf86vm1", "libxxf86vm"},
}

// ignoredLibraries are parts of glibc, and libraries that are not needed: the window uses GLX, not Vulkan.
var ignoredLibraries = regexp.MustCompile(`^(lib(c|m|pthread|dl|resolv|rt|GLX|EGL|GLESv1_CM|GLES_CM|GLESv2|OSMesa|OpenGL|X11-xcb|vulkan)|ld-linux-(x86-64|aarch64))\.so\.[0-9]+$`)

// openedLibraries matches the names of libraries that C code opens at run time.
var openedLibraries = regexp.MustCompile(`\b(lib[A-Za-z0-9_+-]+\.so\.[0-9]+)\x00`)

var glibcVersion = regexp.MustCompile(`^GLIBC_2\.([0-9]+)`)

// libraries are the shared libraries that programs use, and the newest glibc version 2.N that they need.
type libraries struct {
	names map[string]bool
	glibc int
}

// usedLibraries returns the libraries of programs.
func usedLibraries(programs ...string) (libraries, error) {
	l := libraries{names: map[string]bool{}}
	for _, program := range programs {
		if err := l.add(program); err != nil {
			return l, fmt.Errorf("%s: %w", program, err)
		}
	}
	return l, nil
}

func (l *libraries) add(program string) error {
	f, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	names, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		if found := glibcVersion.FindStringSubmatch(s.Version); found != nil {
			minor, err := strconv.Atoi(found[1])
			if err != nil {
				return err
			}
			l.glibc = max(l.glibc, minor)
		}
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	for _, found := range openedLibraries.FindAllSubmatch(text, -1) {
		names = append(names, string(found[1]))
	}
	for _, name := range names {
		if _, known := libraryPackages[name]; known {
			l.names[name] = true
		} else if !ignoredLibraries.MatchString(name) {
			return fmt.Errorf("the program uses %s: add its packages to needs.go", name)
		}
	}
	return nil
}

// packages returns the dependencies of a package.
func (l libraries) packages(packager string) []string {
	form := map[string]string{"deb": "libc6 (>= 2.%d)", "rpm": "libc.so.6(GLIBC_2.%d)(64bit)", "archlinux": "glibc>=2.%d"}[packager]
	needed := map[string]bool{}
	for name := range l.names {
		switch packager {
		case "deb":
			name = libraryPackages[name].deb
		case "rpm": // as rpmbuild does: all distributions provide these names
			name += "()(64bit)"
		case "archlinux":
			name = libraryPackages[name].arch
		}
		needed[name] = true
	}
	return append([]string{fmt.Sprintf(form, l.glibc)}, slices.Sorted(maps.Keys(needed))...)
}
