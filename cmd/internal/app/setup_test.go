package app_test

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stubMachine runs .ci/setup with a PATH of stubs: shell scripts that first log their names and arguments.
type stubMachine struct {
	system string            // output of uname; "" is Linux
	user   string            // output of id; "" is 1000
	bin    map[string]string // name to script
	stays  bool              // the package managers do nothing
	has    string            // additional programs that work and are not logged
	folder []string          // content of the folder of PostgreSQL's programs
}

// Scripts of stubs.
const (
	stubWorks = "exit 0\n"
	stubFails = "exit 1\n"
	// stubHeadless is a compiler that finds only the headers of C.
	stubHeadless = "while read -r line; do case $line in *stdlib.h*) ;; *) exit 1 ;; esac; done\n"
)

// Programs of a machine.
const (
	toBuild = "gcc pkg-config"
	toPack  = "xz"
	toRead  = "dpkg-deb rpm"
	toDrive = "Xvfb xauth xdotool import"
	toServe = "initdb pg_ctl"
	toPool  = "pgbouncer"
)

// stubInstalls is a package manager whose packages are all installed.
const stubInstalls = "case \"$*\" in *install*|*-S\\ *) [ ! -e \"$LATER\" ] || for name in " +
	toBuild + " " + toPack + " " + toRead + " " + toDrive + " " + toServe + " " + toPool + "; do /bin/cp \"$LATER\" \"${0%/*}/$name\"; done;; esac\n"

// stubElevates is a sudo that runs its command.
const stubElevates = "[ \"$1\" != -n ] || shift\nexec \"$@\"\n"

// run returns the output of setup, the commands it ran, and its exit code. Calls of a compiler or pkg-config do not count.
func (s stubMachine) run(t *testing.T, args ...string) (output string, commands []string, code int) {
	t.Helper()
	dir := t.TempDir()
	log, later := filepath.Join(dir, "log"), filepath.Join(dir, "later")
	bin, folder := filepath.Join(dir, "bin"), filepath.Join(dir, "postgresql", "15", "bin")
	for _, path := range []string{bin, folder} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, script string) {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if !s.stays {
		write(later, stubWorks)
	}
	write(filepath.Join(bin, "uname"), "echo "+cmp.Or(s.system, "Linux")+"\n")
	write(filepath.Join(bin, "id"), "echo "+cmp.Or(s.user, "1000")+"\n")
	write(filepath.Join(bin, "go"), "echo gcc\n")
	for name := range strings.FieldsSeq(s.has) {
		write(filepath.Join(bin, name), stubWorks)
	}
	for _, name := range s.folder {
		write(filepath.Join(folder, name), stubWorks)
	}
	for name, script := range s.bin {
		write(filepath.Join(bin, name), "echo \"${0##*/} $*\" >>\"$LOG\"\n"+script)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), shell, append([]string{filepath.Join("..", "..", "..", ".ci", "setup")}, args...)...)
	command.Env = []string{"PATH=" + bin, "LOG=" + log, "LATER=" + later, "POSTGRES_FOLDERS=" + filepath.Join(dir, "postgresql", "*", "bin"), "PGBOUNCER_PROGRAM="}
	printed, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	done, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(done)) {
		name, _, _ := strings.Cut(line, " ")
		if !slices.Contains(strings.Fields(toBuild), name) {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	return string(printed), commands, command.ProcessState.ExitCode()
}

// Packages by purpose and package manager.
const (
	aptGCC, aptGL = "gcc libc6-dev", "pkg-config libgl-dev libx11-dev libxcursor-dev libxrandr-dev libxinerama-dev libxi-dev libxxf86vm-dev"
	aptScreen     = "xvfb xauth xdotool imagemagick libgl1-mesa-dri"
	dnfGCC, dnfGL = "gcc glibc-devel", "pkgconf-pkg-config mesa-libGL-devel libX11-devel libXcursor-devel libXrandr-devel libXinerama-devel libXi-devel libXxf86vm-devel"
	dnfScreen     = "xorg-x11-server-Xvfb xorg-x11-xauth xdotool ImageMagick mesa-dri-drivers"
	otherGL       = "pkgconf mesa libx11 libxcursor libxrandr libxinerama libxi libxxf86vm"
	pacmanScreen  = "xorg-server-xvfb xorg-xauth xdotool imagemagick mesa"
	brewScreen    = "xorg-server xauth xdotool imagemagick mesa"
)

func TestSetup(t *testing.T) {
	const (
		refresh = "apt-get update"
		apt     = "apt-get install -y --no-install-recommends "
		byApt   = apt + aptGCC + " " + aptGL
		byDnf   = "dnf install -y " + dnfGCC + " " + dnfGL
	)
	for _, c := range []struct {
		name     string
		args     string
		machine  stubMachine
		commands []string
		code     int
		says     []string // no output if empty
	}{
		{
			name:    "all there",
			machine: stubMachine{has: toBuild, bin: map[string]string{"apt-get": stubInstalls, "sudo": stubElevates}},
		},
		{
			name:     "apt as root",
			machine:  stubMachine{user: "0", bin: map[string]string{"apt-get": stubInstalls}},
			commands: []string{refresh, byApt},
			says:     []string{"a C compiler", "SQLite", "headers of OpenGL and X11", "Installing it: " + refresh + " && " + byApt},
		},
		{
			name:     "apt with sudo",
			machine:  stubMachine{bin: map[string]string{"apt-get": stubInstalls, "sudo": stubElevates}},
			commands: []string{"sudo -n " + refresh, refresh, "sudo -n " + byApt, byApt},
			says:     []string{"Installing it: sudo " + refresh + " && sudo " + byApt},
		},
		{
			name:     "headers of C missing",
			machine:  stubMachine{user: "0", bin: map[string]string{"gcc": stubFails, "pkg-config": stubWorks, "apt-get": stubInstalls}},
			commands: []string{refresh, byApt},
			says:     []string{"headers of the C library"},
		},
		{
			name:     "headers of X11 missing",
			machine:  stubMachine{user: "0", bin: map[string]string{"gcc": stubHeadless, "pkg-config": stubWorks, "apt-get": stubInstalls}},
			commands: []string{refresh, apt + aptGL},
			says:     []string{"Throng needs:\n  - pkg-config and the headers of OpenGL and X11", "window"},
		},
		{
			name:     "OpenGL missing",
			machine:  stubMachine{user: "0", bin: map[string]string{"gcc": stubWorks, "pkg-config": stubFails, "apt-get": stubInstalls}},
			commands: []string{refresh, apt + aptGL},
			says:     []string{"Throng needs:\n  - pkg-config and"},
		},
		{
			name:     "pkg-config missing",
			machine:  stubMachine{user: "0", bin: map[string]string{"gcc": stubWorks, "apt-get": stubInstalls}},
			commands: []string{refresh, apt + aptGL},
			says:     []string{"Throng needs:\n  - pkg-config and"},
		},
		{
			name:     "dnf",
			machine:  stubMachine{bin: map[string]string{"dnf": stubInstalls, "sudo": stubElevates}},
			commands: []string{"sudo -n " + byDnf, byDnf},
			says:     []string{"Installing it: sudo dnf install"},
		},
		{
			name:     "brew",
			machine:  stubMachine{bin: map[string]string{"brew": stubInstalls}},
			commands: []string{"brew install gcc " + otherGL},
			says:     []string{"Installing it: brew install gcc"},
		},
		{
			name:    "brew as root",
			machine: stubMachine{user: "0", has: "pkg-config", bin: map[string]string{"brew": stubInstalls}},
			code:    1,
			says:    []string{"another user", "    brew install gcc " + otherGL + "\n"},
		},
		{
			name:    "no sudo",
			machine: stubMachine{bin: map[string]string{"apt-get": stubInstalls}},
			code:    1,
			says:    []string{"no sudo here", "    " + refresh + " && " + byApt + "\n"},
		},
		{
			name:     "a password is asked for",
			machine:  stubMachine{bin: map[string]string{"dnf": stubInstalls, "sudo": stubFails}},
			commands: []string{"sudo -n " + byDnf},
			code:     1,
			says:     []string{"did not work", "    sudo " + byDnf + "\n"},
		},
		{
			name:     "no network",
			machine:  stubMachine{user: "0", bin: map[string]string{"apt-get": stubFails}},
			commands: []string{refresh, byApt},
			code:     1,
			says:     []string{"no network", "    " + refresh + " && " + byApt + "\n"},
		},
		{
			name:     "installed and still missing",
			machine:  stubMachine{user: "0", stays: true, bin: map[string]string{"apt-get": stubInstalls}},
			commands: []string{refresh, byApt},
			code:     1,
			says:     []string{"still something is missing", byApt},
		},
		{
			name:    "no package manager",
			machine: stubMachine{},
			code:    1,
			says:    []string{"none of apt-get, dnf, pacman and brew", "    sudo apt-get install -y " + aptGCC + " " + aptGL + "\n"},
		},
		{
			name:    "Mac without command line tools",
			machine: stubMachine{system: "Darwin", bin: map[string]string{"gcc": stubWorks, "xcode-select": stubFails, "brew": stubInstalls}},
			// It only checks that the tools exist.
			commands: []string{"xcode-select -p"},
			code:     1,
			says:     []string{"    xcode-select --install\n"},
		},
		{
			name:     "Mac with command line tools",
			machine:  stubMachine{system: "Darwin", bin: map[string]string{"gcc": stubWorks, "xcode-select": stubWorks}},
			commands: []string{"xcode-select -p"},
		},

		{
			name:    "packages, all there",
			args:    "app",
			machine: stubMachine{has: toBuild + " " + toPack, bin: map[string]string{"apt-get": stubInstalls}},
		},
		{
			name:     "packages",
			args:     "app",
			machine:  stubMachine{user: "0", has: toBuild, bin: map[string]string{"apt-get": stubInstalls}},
			commands: []string{refresh, apt + "xz-utils"},
			says:     []string{"Throng needs:\n  - xz: "},
		},
		{
			name:     "packages on a Mac",
			args:     "app",
			machine:  stubMachine{system: "Darwin", has: "gcc", bin: map[string]string{"xcode-select": stubWorks, "brew": stubInstalls}},
			commands: []string{"xcode-select -p"},
		},
		{
			name:    "tests, all there",
			args:    "test",
			machine: stubMachine{has: toBuild + " " + toPack + " " + toRead + " " + toDrive + " " + toServe + " " + toPool, bin: map[string]string{"apt-get": stubInstalls}},
		},
		{
			name: "tests, PostgreSQL in its folder",
			args: "test",
			machine: stubMachine{
				has: toBuild + " " + toPack + " " + toRead + " " + toDrive + " " + toPool, folder: strings.Fields(toServe),
				bin: map[string]string{"apt-get": stubInstalls},
			},
		},
		{
			name: "tests, PostgreSQL without its server",
			args: "test",
			machine: stubMachine{
				user: "0", has: toBuild + " " + toPack + " " + toRead + " " + toDrive + " " + toPool, folder: []string{"initdb"},
				bin: map[string]string{"apt-get": stubInstalls},
			},
			commands: []string{refresh, apt + "postgresql"},
			says:     []string{"Throng needs:\n  - the programs of a PostgreSQL server"},
		},
		{
			name:     "tests, no pooler",
			args:     "test",
			machine:  stubMachine{user: "0", has: toBuild + " " + toPack + " " + toRead + " " + toDrive + " " + toServe, bin: map[string]string{"apt-get": stubInstalls}},
			commands: []string{refresh, apt + "pgbouncer"},
			says:     []string{"Throng needs:\n  - PgBouncer"},
		},
		{
			name:     "tests, no xdotool",
			args:     "test",
			machine:  stubMachine{user: "0", has: toBuild + " " + toPack + " " + toRead + " Xvfb xauth import initdb pg_ctl pgbouncer", bin: map[string]string{"apt-get": stubInstalls}},
			commands: []string{refresh, apt + aptScreen},
			says:     []string{"Throng needs:\n  - Xvfb, xauth, xdotool"},
		},
		{
			name:     "tests with apt",
			args:     "test",
			machine:  stubMachine{user: "0", bin: map[string]string{"apt-get": stubInstalls}},
			commands: []string{refresh, byApt + " xz-utils dpkg rpm " + aptScreen + " postgresql pgbouncer"},
			says:     []string{"a C compiler", "OpenGL and X11", "xz", "Xvfb", "PostgreSQL"},
		},
		{
			name:     "tests with dnf",
			args:     "test",
			machine:  stubMachine{user: "0", bin: map[string]string{"dnf": stubInstalls}},
			commands: []string{byDnf + " xz dpkg rpm " + dnfScreen + " postgresql-server pgbouncer"},
			says:     []string{"Installing it: dnf install"},
		},
		{
			name:     "tests with brew",
			args:     "test",
			machine:  stubMachine{bin: map[string]string{"brew": stubInstalls}},
			commands: []string{"brew install gcc " + otherGL + " xz dpkg rpm " + brewScreen + " postgresql@17 pgbouncer"},
			says:     []string{"Installing it: brew install"},
		},
		{
			name:    "tests on a Mac",
			args:    "test",
			machine: stubMachine{system: "Darwin", has: "gcc", bin: map[string]string{"xcode-select": stubWorks, "brew": stubInstalls, "apt-get": stubFails}},
			// Checked before and after.
			commands: []string{"xcode-select -p", "brew install postgresql@17 pgbouncer", "xcode-select -p"},
			says:     []string{"Throng needs:\n  - the programs of a PostgreSQL server", "Installing it: brew install postgresql@17 pgbouncer\n"},
		},
		{
			name:     "tests on a Mac without brew",
			args:     "test",
			machine:  stubMachine{system: "Darwin", has: "gcc", bin: map[string]string{"xcode-select": stubWorks}},
			commands: []string{"xcode-select -p"},
			says:     []string{"no PostgreSQL server", "skipped"},
		},
		{
			name:    "a word it does not know",
			args:    "tests",
			machine: stubMachine{has: toBuild, bin: map[string]string{"apt-get": stubInstalls}},
			code:    1,
			says:    []string{".ci/setup test, not .ci/setup tests"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			output, commands, code := c.machine.run(t, strings.Fields(c.args)...)
			if code != c.code {
				t.Errorf("exit code: got %d, want %d", code, c.code)
			}
			if !slices.Equal(commands, c.commands) {
				t.Errorf("commands: got %q, want %q", commands, c.commands)
			}
			if len(c.says) == 0 && output != "" {
				t.Errorf("output: got %q, want none", output)
			}
			for _, says := range c.says {
				if !strings.Contains(output, says) {
					t.Errorf("output: got\n%s\nwant it to say %q", output, says)
				}
			}
		})
	}
}

// TestSetupWithPacman allows for an update of the package lists, which pacman does first on machines that have none.
func TestSetupWithPacman(t *testing.T) {
	for args, packages := range map[string]string{
		"":     "gcc glibc " + otherGL,
		"test": "gcc glibc " + otherGL + " xz dpkg rpm-tools " + pacmanScreen + " postgresql pgbouncer",
	} {
		output, commands, code := stubMachine{user: "0", bin: map[string]string{"pacman": stubInstalls}}.run(t, strings.Fields(args)...)
		if code != 0 || !strings.Contains(output, "Installing it: pacman -S") {
			t.Errorf("exit code %d: %s", code, output)
		}
		if got, want := commands[len(commands)-1], "pacman -S --needed --noconfirm "+packages; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
