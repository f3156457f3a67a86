package window_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// save writes run settings as if a user had saved them in Settings.
func (d *desktop) save(settings string) {
	d.t.Helper()
	dir := filepath.Join(d.home, ".local", "share", "throng")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(settings), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// active and limit return the sessions in flight and the concurrency limit that Live shows; -1 if it shows none.
func (d *desktop) active() int {
	active, _ := d.concurrency()
	return active
}

func (d *desktop) limit() int {
	_, limit := d.concurrency()
	return limit
}

func (d *desktop) concurrency() (active, limit int) {
	for _, text := range d.texts() {
		if _, err := fmt.Sscanf(strings.ReplaceAll(text, ",", ""), "%d of %d active", &active, &limit); err == nil && strings.HasSuffix(text, " active") {
			return active, limit
		}
	}
	return -1, -1
}

// cyclesDone are the completed cycles in the header of Live.
var cyclesDone = regexp.MustCompile(`(\d+) of \d+ cycles done`)

// cycle returns how many cycles of the run in progress are done, or 0 if no run is shown. A cycle may be skipped between two looks.
func (d *desktop) cycle() (n int) {
	for _, text := range d.texts() {
		if found := cyclesDone.FindStringSubmatch(text); found != nil {
			n, _ = strconv.Atoi(found[1]) // digits
			return n
		}
	}
	return 0
}

// TestWindow walks through the first hour with the program.
func TestWindow(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	d.save(`{"time-scale": "1200"}`) // a cycle begins every three seconds
	d.start()
	d.until("the built-in scenario", func() bool { return d.shows("8,928 sessions") && d.shows("9 ok") })
	d.shot("setup")

	d.click("Launch")
	d.until("a run in progress", func() bool { return d.find("running") != nil && d.limit() == 50 })

	d.click("Manual") // a governor would react to other load on this machine
	d.click("Changes")
	d.until("its change", func() bool { return d.shows("You set ") })
	d.shot("changes")

	slider := d.still("the slider", func() *part { return d.kind("LimitSlider") })
	box := slider.Box
	y := box.Min.Y + box.Dy()/3
	d.drag(box.Min.X+box.Dx()/2, y, box.Min.X+box.Dx()*5/6, y)
	d.until("a higher limit", func() bool { return d.limit() > 100 && d.shows("You set ") })

	d.click("Pause")
	d.until("the pause", func() bool { return d.find("paused") != nil && d.find("Resume") != nil && d.active() == 0 })
	d.shot("paused")
	raised := d.limit() // set by the last move of the drag
	d.click("Resume")
	d.until("the run continuing", func() bool { return d.find("running") != nil })
	d.xdotool("key", "ctrl+shift+k")
	d.until("sessions of the third cycle", func() bool { return d.cycle() >= 2 })
	d.shot("live")
	d.click("Steps")
	d.click("Graph")
	d.until("the chain with its figures", func() bool { return d.shows("Fill the cart") && d.shows("p95 ") })
	d.shot("chain")
	d.click("Overview")
	d.until("the charts", func() bool { return !d.shows("Fill the cart") && d.find("Whole run") != nil })
	d.xdotool("key", "ctrl+period")
	d.until("the end", func() bool { return d.find("Show results") != nil })
	d.shot("stopped")
	d.click("History")
	d.until("an earlier moment", func() bool { return d.shows("in the history") })
	d.shot("lookback")
	d.click("To the end")
	d.until("the current state", func() bool { return !d.shows("in the history") })

	d.click("Runs")
	d.until("the checkpoint of the stop", func() bool { return d.shows("stop") && d.find("Resume") != nil && !d.find("Resume").Disabled })
	d.shot("runs")
	d.click("Fork…")
	d.until("a fork in Setup", func() bool { return d.shows("Fork of ") && d.shows("No changes yet") })
	d.shot("fork")
	d.click("From the beginning instead")
	d.until("Setup without it", func() bool { return d.shows("8,928 sessions") && !d.shows("Fork of ") })
	d.click("Runs")
	d.until("Resume again", func() bool { return d.find("Resume") != nil && !d.find("Resume").Disabled })
	d.click("Resume")
	d.until("the run going on where it was", func() bool { return d.find("running") != nil })
	if got := d.limit(); got != raised {
		t.Errorf("resumed with a limit of %d after %d", got, raised)
	}

	d.xdotool("key", "ctrl+e")
	d.click("Save here")
	var exported []string
	d.until("the exported files", func() bool {
		exported, _ = filepath.Glob(filepath.Join(d.home, "throng-*", "sessions.csv"))
		return len(exported) == 1
	})
	text, err := os.ReadFile(exported[0])
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); !strings.HasPrefix(lines[0], "cycle,agent_index,agent,") || len(lines) < 2*372 {
		t.Errorf("sessions.csv has %d lines and begins with %q", len(lines), lines[0])
	}

	d.click("Results")
	d.until("results", func() bool { return d.shows("in progress") })
	d.shot("results")
	d.click("Calibrate")
	d.until("what can be measured", func() bool { return d.shows("Previous calibrations") && d.find("Calibrate") != nil })
	d.shot("calibrate")
	d.click("Settings")
	d.until("settings", func() bool { return d.shows("Database") })
	d.shot("settings")

	d.xdotool("key", "ctrl+q")
	d.click("Stop and close")
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.log)
	}
}

// TestWindowComesBack kills the program and resumes the run, then ends the program with SIGTERM.
func TestWindowComesBack(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	d.save(`{"time-scale": "1800"}`)
	d.start()
	d.click("Launch")
	d.until("two cycles", func() bool { return d.cycle() >= 2 })
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.ended()

	d.start()
	d.until("the offer to resume", func() bool { return d.shows("was interrupted") })
	d.still("the offer, drawn", func() *part { return d.find("Resume") })
	d.shot("interrupted")
	d.click("Resume")
	d.until("the run continuing", func() bool {
		return d.find("running") != nil && d.shows("cycles done") && !d.shows(", 0 of 24 cycles done")
	})
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d after SIGTERM\n%s", code, d.log)
	}

	d.start()
	d.until("the history of the run that was shown", func() bool { return d.find("Show results") != nil })
	d.shot("restored")
	d.click("Runs")
	d.until("the run that was stopped", func() bool { return d.shows("stopped") && d.shows("End reason") && d.shows("SIGTERM") })
	d.shot("emergency")
	d.click("Results")
	d.click("Audit")
	d.until("what the audit found", func() bool { return d.shows("figures recomputed, all equal") })
	d.still("the audit's end, drawn", func() *part { return d.find("Audit") })
	d.shot("audited")
	d.xdotool("key", "ctrl+q")
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d with nothing in progress\n%s", code, d.log)
	}
}
