package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"

	"github.com/throng-sim/throng/cmd/internal/app/config"
)

// TestOverview checks that the same text is printed without arguments, for help and for --help, with the first steps and
// all commands.
func TestOverview(t *testing.T) {
	code, alone, stderr := ctl(t)
	if code != exitDone || stderr != "" {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		if code, out, _ := ctl(t, args...); code != exitDone || out != alone {
			t.Errorf("%v: exit code %d\n%s", args, code, out)
		}
	}
	for _, n := range model().Children {
		if got := strings.Contains(alone, "\n  "+n.Name+" "); got == n.Hidden {
			t.Errorf("command %s is listed: %v", n.Name, got)
		}
	}
	if len(firstSteps) != 5 {
		t.Errorf("%d first steps, want 5", len(firstSteps))
	}
	for _, s := range firstSteps {
		if !strings.Contains(alone, "\n  "+s.Title+" ") {
			t.Errorf("%s is not listed", s.Title)
		}
		if args := strings.Fields(s.Title)[1:]; flags.Child(model().Node, args[0]) == nil {
			t.Errorf("%s names no command", s.Title)
		}
	}
}

// TestHelpOfACommand checks that help COMMAND and COMMAND --help print the same text, with defaults and variables.
func TestHelpOfACommand(t *testing.T) {
	_, want, _ := ctl(t, "run", "--help")
	if code, got, stderr := ctl(t, "help", "run"); code != exitDone || got != want || stderr != "" {
		t.Errorf("exit code %d\n%s%s", code, got, stderr)
	}
	oneLine := strings.Join(strings.Fields(want), " ")
	for _, s := range config.RunSettings() {
		if !strings.Contains(oneLine, "env: "+s.Variable()) {
			t.Errorf("no variable %s", s.Variable())
		}
	}
	if !strings.Contains(oneLine, "(default: 50; env: THRONG_MAX_CONCURRENT)") {
		t.Errorf("no default and variable of --max-concurrent\n%s", want)
	}
	if _, help, _ := ctl(t, "prove", "--help"); !strings.Contains(help, "Kills over all trials (default: 20).") || !strings.Contains(help, "Show help.") {
		t.Errorf("no default of a flag\n%s", help)
	}
	if code, _, stderr := ctl(t, "help", "rnu"); code != exitUsage || !strings.Contains(stderr, "did you mean run?") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestVersion(t *testing.T) {
	if v := version(); !strings.HasPrefix(v, "throngctl "+about.Number) || !strings.Contains(v, "Go 1.") {
		t.Errorf("version is %q", v)
	}
	for _, args := range [][]string{{"version"}, {"--version"}, {"-v"}} {
		if code, out, stderr := ctl(t, args...); code != exitDone || strings.TrimSpace(out) != version() || stderr != "" {
			t.Errorf("%v: exit code %d, %q%s, want %q", args, code, out, stderr, version())
		}
	}
}

// TestSuggestions checks the suggestions for misspelled commands, flags, scenarios, files, settings and guide pages.
func TestSuggestions(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "market.yaml"), "title: A\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"statsu"}, "did you mean status?"},
		{[]string{"run", "shopping", "--cylces", "3"}, "--cycles"},
		{[]string{"run", "shoping"}, "did you mean shopping?"},
		{[]string{"validate", filepath.Join(dir, "markt.yaml")}, "did you mean " + filepath.Join(dir, "market.yaml")},
		{[]string{"settings", "retires=3"}, "did you mean retries?"},
		{[]string{"scenarios", "wrold"}, "did you mean world?"},
		{[]string{"guide", "dashbord"}, "did you mean dashboard?"},
	} {
		args := c.args
		if len(args) > 1 {
			args = append(args, "--data", t.TempDir())
		}
		if code, _, stderr := ctl(t, args...); code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, want %q in\n%s", c.args, code, c.want, stderr)
		}
	}
}

// TestVariables checks that a setting's own variable takes precedence over that of an earlier Python runner.
func TestVariables(t *testing.T) {
	t.Setenv("THRONG_MAX_CONCURRENT", "7")
	t.Setenv("MAX_WORKERS", "9")
	_, out, _ := ctl(t, "settings", "--data", t.TempDir())
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); f[0] == "max-concurrent" && (f[1] != "7" || f[2] != "THRONG_MAX_CONCURRENT") {
			t.Errorf("got %s", line)
		}
	}
}
