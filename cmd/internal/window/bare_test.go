package window_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBareEnvironment starts the window as a double-click does: in /, with only a home folder and a display in the
// environment. It runs the mock to the end, then uses throngctl without a display.
func TestBareEnvironment(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	d.start()
	d.until("the built-in scenario", func() bool { return d.shows("8,928 sessions") })
	d.click("Launch")
	d.until("the end", func() bool { return d.find("Show results") != nil })
	d.click("Show results")
	d.until("a result that meets what was asked for", func() bool { return d.shows("finished") && d.shows("Audit") })
	d.shot("bare")
	d.xdotool("key", "ctrl+q")
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.log)
	}

	ctl := filepath.Join(t.TempDir(), "throngctl")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", buildTags(), "-o", ctl, "github.com/throng-sim/throng/cmd/throngctl")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	bare := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), ctl, args...)
		cmd.Dir, cmd.Env = "/", []string{"HOME=" + d.home}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("throngctl %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if runs := bare("runs"); strings.Count(runs, "finished") != 1 {
		t.Errorf("runs after the window:\n%s", runs)
	}
	bare("run", "shopping", "--cycles", "2")
	if runs := bare("runs"); strings.Count(runs, "finished") != 2 {
		t.Errorf("both runs:\n%s", runs)
	}
	for _, left := range []string{"throng", ".throng", "tmp"} {
		if _, err := os.Stat(filepath.Join(d.home, left)); err == nil {
			t.Errorf("%s was created in the home folder", left)
		}
	}
}

// TestSecondStart checks that a second start shows its file in the open window and ends.
func TestSecondStart(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	d.start()
	d.until("the built-in scenario", func() bool { return d.shows("8,928 sessions") })
	d.click("Results")
	file := filepath.Join(d.home, "one.throng.yaml")
	if err := os.WriteFile(file, []byte(oneScenario), 0o600); err != nil {
		t.Fatal(err)
	}
	again := exec.CommandContext(t.Context(), d.program, "one.throng.yaml")
	again.Dir, again.Env = d.home, []string{"HOME=" + d.home, "DISPLAY=" + d.display}
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("the second program: %v\n%s", err, out)
	}
	d.until("the file in the first window", func() bool { return d.shows("Opened by a double-click") && d.find("Launch") != nil })
	d.shot("second-start")
	if n := d.windows(); n != 1 {
		t.Errorf("%d windows", n)
	}
	if left, err := filepath.Glob(filepath.Join(d.home, ".local", "share", "throng", "control", "window*")); err != nil || len(left) != 1 {
		t.Errorf("%q %v", left, err)
	}
	d.xdotool("key", "ctrl+q")
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.log)
	}
	if left, err := filepath.Glob(filepath.Join(d.home, ".local", "share", "throng", "control", "*")); err != nil || len(left) != 0 {
		t.Errorf("not removed: %q %v", left, err)
	}
}

// TestNoDisplay checks that the program says what to do if it cannot open a window, and leaves no files.
func TestNoDisplay(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 640, 480)
	for _, display := range []string{"", "DISPLAY=:9999"} {
		cmd := exec.CommandContext(t.Context(), d.program)
		cmd.Dir, cmd.Env = "/", []string{"HOME=" + d.home, display}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || strings.Count(string(out), "\n") != 2 ||
			!strings.Contains(string(out), "cannot open a window") || !strings.Contains(string(out), "throngctl run") {
			t.Errorf("with %q: %v\n%s", display, err, out)
		}
	}
	if left, err := os.ReadDir(d.home); err != nil || len(left) > 0 {
		t.Errorf("not removed: %v %v", left, err)
	}
	if out, err := exec.CommandContext(t.Context(), d.program, "--version").Output(); err != nil || !strings.HasPrefix(string(out), "throng 0.") {
		t.Errorf("version: %v %s", err, out)
	}
}

// TestInstallTool has the window put the terminal program that lies next to it on PATH.
func TestInstallTool(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	own, bin := filepath.Join(filepath.Dir(d.program), "throngctl"), filepath.Join(d.home, ".local", "bin")
	if err := os.WriteFile(own, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.start("PATH=" + bin)
	d.until("the built-in scenario", func() bool { return d.shows("9 ok") })
	d.command("command line tool")
	d.until("what was done", func() bool { return d.shows("Linked "+bin) && d.find("Close") != nil })
	d.still("the dialog, drawn", func() *part { return d.find("Close") })
	d.shot("install-tool")
	if to, err := os.Readlink(filepath.Join(bin, "throngctl")); err != nil || to != own {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	d.click("Close")
	d.xdotool("key", "ctrl+q")
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.log)
	}
}
