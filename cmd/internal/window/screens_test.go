package window_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/crash"
)

// look is how a window is shown.
type look struct {
	width, height int // of the display, in pixels
	theme         string
	scale         string
}

func (l look) String() string { return fmt.Sprintf("%dx%d-%s-%s", l.width, l.height, l.theme, l.scale) }

// looks returns the looks for screenshots: three sizes, two themes, two scales.
func looks() (all []look) {
	for _, size := range [][2]int{{1000, 640}, {1280, 800}, {1920, 1200}} {
		for _, theme := range []string{"light", "dark"} {
			for _, scale := range []string{"1", "1.5"} {
				all = append(all, look{size[0], size[1], theme, scale})
			}
		}
	}
	return all
}

// TestScreens takes a screenshot of every screen into bin/screens: in one look, or in all of them with make screens.
func TestScreens(t *testing.T) {
	t.Parallel()
	all := looks()
	if os.Getenv("THRONG_SCREENS") == "" {
		all = []look{{1280, 800, "light", "1"}}
	}
	for _, l := range all {
		t.Run(l.String(), func(t *testing.T) { l.tour(t) })
	}
}

// tour goes through all screens, with a finished run and then with a run in progress.
func (l look) tour(t *testing.T) {
	d := newDesktop(t, l.width, l.height)
	d.save(`{"time-scale": "1200"}`)
	l.crashed(d)
	l.open(d)
	d.until("what happened before", func() bool { return d.find("Close") != nil })
	l.shot(d, "crash")
	d.until("the report closed", func() bool { // the window takes its size at the same time, so a click may miss
		if p := d.find("Close"); p != nil {
			d.press(p.center())
		}
		return d.find("Close") == nil
	})
	l.fill(d) // which an immediate update may have reverted
	l.shot(d, "setup")
	d.click("Edit scenario…")
	d.until("the text of the scenario", func() bool { return d.shows("kind: http") && d.find("No problems") != nil })
	l.shot(d, "editor")
	d.click("Setup")
	d.click("Try one agent…")
	d.click("Try")
	d.until("the output", func() bool { return d.find("Try") != nil && d.shows("Output") })
	l.shot(d, "try")
	d.click("Setup")
	l.reveal(d, "the length", 3./4, func() *part { return d.find("24") })
	d.click("24")
	d.xdotool("key", "ctrl+a", "type", "2")
	d.until("a short run", func() bool { return d.shows("2 cycles,") })
	d.click("Launch")
	d.until("the end", func() bool { return d.find("Show results") != nil })
	l.shot(d, "ended")
	d.click("Show results")
	d.until("results", func() bool { return d.shows("the result is") })
	l.shot(d, "results")
	d.command("report")
	d.until("what a report may hold", func() bool { return d.find("Cancel") != nil })
	l.shot(d, "report")
	d.xdotool("key", "Escape")
	l.help(d)
	d.xdotool("key", "ctrl+q")
	d.ended()

	l.open(d)
	l.reveal(d, "the length", 3./4, func() *part { return d.find("2") }) // which is remembered
	d.click("2")
	d.xdotool("key", "ctrl+a", "type", "24")
	d.until("a longer run", func() bool { return d.shows("24 cycles,") })
	d.click("Launch")
	l.live(d)
	d.click("Compare")
	d.until("two runs", func() bool { return d.shows("which all runs have completed") })
	l.shot(d, "compare")
	l.bin(d)
	for _, page := range []string{"Results", "Calibrate", "Settings"} {
		d.click(page)
		d.still(page+", drawn", func() *part { return d.find(page) })
		l.shot(d, strings.Replace(strings.ToLower(page), "results", "results-in-progress", 1))
	}
	d.xdotool("key", "ctrl+slash")
	d.until("the keys", func() bool { return d.shows("Keyboard shortcuts") })
	l.shot(d, "keys")
	d.xdotool("key", "Escape", "key", "ctrl+q")
	d.click("Stop and close")
	d.ended()
}

// open starts the program, and waits for Setup.
func (l look) open(d *desktop) {
	d.t.Helper()
	d.start("FYNE_THEME="+l.theme, "FYNE_SCALE="+l.scale)
	l.fill(d)
	d.click("Setup")
	d.until("the built-in scenario", func() bool { return d.shows("9 ok") })
	l.fill(d) // the program may have set its own size after the first time
}

// fill makes the window fill the display.
func (l look) fill(d *desktop) {
	d.t.Helper()
	d.xdotool("search", "--sync", "--onlyvisible", "--name", "Throng", "windowmove", "0", "0", "windowsize", fmt.Sprint(l.width), fmt.Sprint(l.height))
}

// crashed leaves the files of a program that crashed during a run.
func (l look) crashed(d *desktop) {
	d.t.Helper()
	dir := crash.Folder(filepath.Join(d.home, ".local", "share", "throng"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	text := "program: Throng 0.1.0\nsystem: linux on amd64, 2 processors\ndoing: run 7 of shopping, in progress\n\n" + string(debug.Stack())
	if err := os.WriteFile(filepath.Join(dir, "new-20261112T081500Z-1.txt"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// help goes through the program's help and information screens.
func (l look) help(d *desktop) {
	d.t.Helper()
	d.click("Settings")
	for _, title := range []string{"Notifications", "Database", "Telemetry"} {
		d.click(title)
		l.shot(d, "settings-"+strings.ToLower(strings.Fields(title)[0]))
	}
	d.command("about")
	d.until("the licenses", func() bool { return d.shows("MIT") })
	l.shot(d, "about")
	d.xdotool("key", "Escape", "key", "F1")
	d.until("the guide", func() bool { return d.open("^Guide") == 1 })
	d.xdotool("search", "--name", "^Guide", "windowmove", "0", "0", "windowsize", fmt.Sprint(l.width), fmt.Sprint(l.height), "windowraise", "windowfocus")
	l.shot(d, "guide")
	d.xdotool("key", "F3", "type", "checkpoint")
	d.xdotool("sleep", "1")
	l.shot(d, "guide-search")
	d.shut("^Guide")
	d.until("the guide closed", func() bool { return d.open("^Guide") == 0 })
	d.xdotool("search", "--name", "Throng", "windowfocus", "--sync")
}

// live goes through the views of a run in progress.
func (l look) live(d *desktop) {
	d.t.Helper()
	d.until("some of a run", func() bool { return d.cycle() >= 5 })
	l.shot(d, "live")
	d.click("Agents")
	l.reveal(d, "the agents", 3./4, func() *part { return d.kind("crowd.Grid") })
	grid := d.still("the agents", func() *part { return d.kind("crowd.Grid") })
	l.shot(d, "agents")
	d.press(grid.Box.Min.X+grid.Box.Dx()/3, grid.Box.Min.Y+min(grid.Box.Dy(), l.height*9/10-grid.Box.Min.Y)/3) // if it is visible
	d.until("one agent", func() bool { b := d.find("Copy as JSON"); return b != nil && !b.Disabled })
	l.shot(d, "agent")
	d.click("Steps")
	d.click("Graph")
	d.until("the chain with its figures", func() bool { return d.shows("p95 ") })
	l.shot(d, "chain")
	for _, tab := range []string{"Transcript", "Events", "Changes", "Log"} {
		d.click(tab)
		l.shot(d, strings.ToLower(tab))
	}
	d.click("Overview")
	line := d.still("the line of time", func() *part { return d.kind("Scrubber") })
	d.press(line.center())
	d.until("a moment that is past", func() bool { return d.shows("in the history") })
	l.shot(d, "past")
}

// reveal scrolls until a part is visible above a share of the height.
func (l look) reveal(d *desktop, what string, above float64, find func() *part) {
	d.t.Helper()
	d.xdotool("mousemove", fmt.Sprint(l.width*2/3), fmt.Sprint(l.height*2/5))
	d.until(what+" in view", func() bool {
		p := find()
		if p != nil && float64(p.Box.Min.Y) > above*float64(l.height) {
			d.xdotool("click", "5")
			return false
		}
		return p != nil
	})
}

// bin selects the finished run and opens the trash.
func (l look) bin(d *desktop) {
	d.t.Helper()
	d.click("Runs")
	d.until("the run in progress", func() bool { return d.shows("This run is in progress") })
	l.shot(d, "runs")
	scale, err := strconv.ParseFloat(l.scale, 64)
	if err != nil {
		d.t.Fatal(err)
	}
	filter := d.still("the runs", func() *part { return d.find("All states") })
	x, y := filter.center()
	d.press(x-int(100*scale), y+int(82*scale)) // the second row: the inspector does not list table rows
	d.until("the run that ended", func() bool { return d.shows("Ended") })
	l.shot(d, "runs-ended")
	d.command("trash")
	d.until("the trash", func() bool { return d.find("Empty trash…") != nil })
	l.shot(d, "bin")
	d.click("Close")
}

// busy are the prefixes of texts that are shown while data loads.
var busy = []string{"Reading", "Looking at", "Looking into", "Looking for", "Working", "Counting", "Asking", "Weighing", "Trying", "Checking"}

// shot takes a screenshot once all data is loaded and drawn.
func (l look) shot(d *desktop, name string) {
	d.t.Helper()
	d.until(name+", read", func() bool {
		return !slices.ContainsFunc(d.texts(), func(text string) bool {
			return strings.HasSuffix(text, "…") && slices.ContainsFunc(busy, func(word string) bool { return strings.HasPrefix(text, word) })
		})
	})
	d.xdotool("sleep", "0.4") // the next frame draws the loaded data
	d.shot(name + "-" + l.String())
}
