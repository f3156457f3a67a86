package main

import (
	"crypto/md5" //nolint:gosec // packages list MD5 sums
	"debug/elf"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// libraries maps the shared libraries that the programs link or open at run time to Debian packages; "" marks a library that
// is not needed. Other libraries are an error.
var libraries = map[string]string{
	"libc.so.6": "libc6", "libm.so.6": "libc6", "libpthread.so.0": "libc6", "libdl.so.2": "libc6", "libresolv.so.2": "libc6",
	"librt.so.1": "libc6", "ld-linux-x86-64.so.2": "libc6", "ld-linux-aarch64.so.1": "libc6",
	"libGL.so.1": "libgl1", "libX11.so.6": "libx11-6", "libXcursor.so.1": "libxcursor1", "libXext.so.6": "libxext6",
	"libXi.so.6": "libxi6", "libXinerama.so.1": "libxinerama1", "libXrandr.so.2": "libxrandr2",
	"libXrender.so.1": "libxrender1", "libXxf86vm.so.1": "libxxf86vm1",
	// The window uses GLX, not Vulkan.
	"libGLX.so.0": "", "libEGL.so.1": "", "libGLESv1_CM.so.1": "", "libGLES_CM.so.1": "", "libGLESv2.so.2": "", "libOSMesa.so.8": "", "libOSMesa.so.6": "",
	"libOpenGL.so.0": "", "libX11-xcb.so.1": "", "libvulkan.so.1": "",
}

// opened matches the names of libraries that C code opens at run time.
var opened = regexp.MustCompile(`\b(lib[A-Za-z0-9_+-]+\.so\.[0-9]+)\x00`)

var glibc = regexp.MustCompile(`^GLIBC_2\.([0-9]+)`)

// needs returns the dependencies of a package with these programs.
func needs(programs ...string) ([]string, error) {
	packages, newest := map[string]bool{}, 0
	for _, program := range programs {
		names, version, err := shared(program)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", program, err)
		}
		newest = max(newest, version)
		for _, name := range names {
			pkg, known := libraries[name]
			if !known {
				return nil, fmt.Errorf("the program uses %s: add its package to needs.go", name)
			}
			if pkg != "" {
				packages[pkg] = true
			}
		}
	}
	delete(packages, "libc6")
	return append([]string{"libc6 (>= 2." + strconv.Itoa(newest) + ")"}, sorted(packages)...), nil
}

// shared returns the shared libraries that a program uses, and the newest C library version 2.N that it needs.
func shared(program string) (names []string, version int, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	if names, err = f.ImportedLibraries(); err != nil {
		return nil, 0, err
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return nil, 0, err
	}
	for _, s := range symbols {
		if found := glibc.FindStringSubmatch(s.Version); found != nil {
			minor, err := strconv.Atoi(found[1])
			if err != nil {
				return nil, 0, err
			}
			version = max(version, minor)
		}
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, 0, err
	}
	for _, found := range opened.FindAllSubmatch(text, -1) {
		names = append(names, strings.Clone(string(found[1])))
	}
	return names, version, nil
}

func sum(text []byte) [16]byte { return md5.Sum(text) } //nolint:gosec // as above
