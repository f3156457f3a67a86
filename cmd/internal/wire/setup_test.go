package wire_test

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

// stubMachine runs .ci/setup on a machine of stubs: its PATH holds nothing but what bin says, each a shell script that
// first writes its name and arguments down.
type stubMachine struct {
	system string            // what uname says; "" is Linux
	user   string            // what id says; "" is 1000
	bin    map[string]string // name to script
	stays  bool              // the package managers do nothing
}

// Scripts of stubs.
const (
	stubWorks = "exit 0\n"
	stubFails = "exit 1\n"
)

// stubInstalls is a package manager that puts the compiler in place.
const stubInstalls = "case \"$*\" in *install*|*-S\\ *) [ ! -e \"$LATER\" ] || /bin/cp \"$LATER\" \"${0%/*}/gcc\";; esac\n"

// stubElevates is a sudo that runs its command.
const stubElevates = "[ \"$1\" != -n ] || shift\nexec \"$@\"\n"

// run returns what setup prints, the commands it ran on the way, and its exit code.
func (s stubMachine) run(t *testing.T) (output string, commands []string, code int) {
	t.Helper()
	dir := t.TempDir()
	log, later := filepath.Join(dir, "log"), filepath.Join(dir, "later")
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, script string) {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if !s.stays {
		write(later, "exit 0\n")
	}
	write(filepath.Join(bin, "uname"), "echo "+cmp.Or(s.system, "Linux")+"\n")
	write(filepath.Join(bin, "id"), "echo "+cmp.Or(s.user, "1000")+"\n")
	write(filepath.Join(bin, "go"), "echo gcc\n")
	for name, script := range s.bin {
		write(filepath.Join(bin, name), "echo \"${0##*/} $*\" >>\"$LOG\"\n"+script)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), shell, filepath.Join("..", "..", "..", ".ci", "setup"))
	command.Env = []string{"PATH=" + bin, "LOG=" + log, "LATER=" + later}
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
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "gcc ") {
			commands = append(commands, line)
		}
	}
	return string(printed), commands, command.ProcessState.ExitCode()
}

func TestSetup(t *testing.T) {
	const (
		gcc     = "gcc libc6-dev"
		byApt   = "apt-get install -y --no-install-recommends gcc libc6-dev"
		refresh = "apt-get update"
	)
	for _, c := range []struct {
		name     string
		machine  stubMachine
		commands []string
		code     int
		says     []string // nothing at all where it is empty
	}{
		{
			name:    "all there",
			machine: stubMachine{bin: map[string]string{"gcc": stubWorks, "apt-get": stubInstalls, "sudo": stubElevates}},
		},
		{
			name:     "apt as root",
			machine:  stubMachine{user: "0", bin: map[string]string{"apt-get": stubInstalls}},
			commands: []string{refresh, byApt},
			says:     []string{"a C compiler", "SQLite", "Installing it: " + refresh + " && " + byApt},
		},
		{
			name:     "apt with sudo",
			machine:  stubMachine{bin: map[string]string{"apt-get": stubInstalls, "sudo": stubElevates}},
			commands: []string{"sudo -n " + refresh, refresh, "sudo -n " + byApt, byApt},
			says:     []string{"Installing it: sudo " + refresh + " && sudo " + byApt},
		},
		{
			name:     "headers missing",
			machine:  stubMachine{user: "0", bin: map[string]string{"gcc": stubFails, "apt-get": stubInstalls}},
			commands: []string{refresh, byApt},
			says:     []string{"headers of the C library"},
		},
		{
			name:     "dnf",
			machine:  stubMachine{bin: map[string]string{"dnf": stubInstalls, "sudo": stubElevates}},
			commands: []string{"sudo -n dnf install -y gcc glibc-devel", "dnf install -y gcc glibc-devel"},
			says:     []string{"Installing it: sudo dnf install"},
		},
		{
			name:     "brew",
			machine:  stubMachine{bin: map[string]string{"brew": stubInstalls}},
			commands: []string{"brew install gcc"},
			says:     []string{"Installing it: brew install gcc"},
		},
		{
			name:    "brew as root",
			machine: stubMachine{user: "0", bin: map[string]string{"brew": stubInstalls}},
			code:    1,
			says:    []string{"another user", "    brew install gcc\n"},
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
			commands: []string{"sudo -n dnf install -y gcc glibc-devel"},
			code:     1,
			says:     []string{"did not work", "    sudo dnf install -y gcc glibc-devel\n"},
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
			says:    []string{"none of apt-get, dnf, pacman and brew", "    sudo apt-get install -y " + gcc + "\n"},
		},
		{
			name:    "Mac without command line tools",
			machine: stubMachine{system: "Darwin", bin: map[string]string{"gcc": stubWorks, "xcode-select": stubFails, "brew": stubInstalls}},
			// Only whether the tools are there is asked.
			commands: []string{"xcode-select -p"},
			code:     1,
			says:     []string{"    xcode-select --install\n"},
		},
		{
			name:     "Mac with command line tools",
			machine:  stubMachine{system: "Darwin", bin: map[string]string{"gcc": stubWorks, "xcode-select": stubWorks}},
			commands: []string{"xcode-select -p"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			output, commands, code := c.machine.run(t)
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

// pacman reads the lists of packages first where there are none, which depends on the machine the test runs on.
func TestSetupWithPacman(t *testing.T) {
	output, commands, code := stubMachine{user: "0", bin: map[string]string{"pacman": stubInstalls}}.run(t)
	if code != 0 || !strings.Contains(output, "Installing it: pacman -S") {
		t.Errorf("exit code %d: %s", code, output)
	}
	if got, want := commands[len(commands)-1], "pacman -S --needed --noconfirm gcc glibc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
