package window_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestCost measures the cost of the window while a run of a million agents keeps all workers busy: how long a call waits
// for the UI goroutine, and what share of a core drawing takes. It takes minutes and checks no results; run it with make
// window-cost.
func TestCost(t *testing.T) {
	length := os.Getenv("THRONG_WINDOW_COST")
	if length == "" {
		t.Skip("make window-cost measures")
	}
	each, err := time.ParseDuration(length)
	if err != nil {
		t.Fatal(err)
	}
	d := newDesktop(t, 1280, 800)
	d.save(`{"mock": "none"}`)
	d.start(d.million())
	d.until("the million", func() bool { return d.shows("1,000,000 shoppers") })
	d.click("Launch")
	d.until("a run in progress", func() bool { return d.find("running") != nil })

	t.Log("| shown | share of a core that drawing takes | a call waits, median | p99 | longest |")
	t.Log("|---|---|---|---|---|")
	shares := map[string][]float64{}
	waits := map[string][]time.Duration{}
	views := []string{"Settings", "Overview", "Agents", "Steps"}
	for range 5 {
		for _, view := range views {
			if view == "Settings" {
				d.click(view)
			} else {
				d.click("Live")
				d.click(view)
			}
			d.xdotool("sleep", "2") // until it is drawn and its data is loaded
			share, waited := d.measure(each)
			shares[view] = append(shares[view], share)
			waits[view] = append(waits[view], waited...)
		}
	}
	for _, view := range views {
		w := waits[view]
		slices.Sort(w)
		t.Logf("| %s | %.1f%% | %v | %v | %v |", view, median(shares[view]), w[len(w)/2], w[len(w)*99/100], w[len(w)-1])
	}
}

// million writes the built-in shoppers as a file with a million agents, and returns its path.
func (d *desktop) million() string {
	d.t.Helper()
	built := filepath.Join("..", "..", "..", "assets", "scenarios")
	dir := d.t.TempDir()
	for _, name := range []string{"shopping.yaml", "shopping.star"} {
		text, err := os.ReadFile(filepath.Join(built, name))
		if err != nil {
			d.t.Fatal(err)
		}
		many := strings.Replace(string(text), "default: 372", "default: 1000000", 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(many), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	return filepath.Join(dir, "shopping.yaml")
}

// measure returns the share of a core that drawing took for a while, and how long calls waited for the UI goroutine.
func (d *desktop) measure(length time.Duration) (share float64, waited []time.Duration) {
	d.t.Helper()
	began, before := time.Now(), d.drawing()
	for time.Since(began) < length {
		d.xdotool("sleep", "0.05")
		d.feel()
		v := d.vitals()
		waited = append(waited, v.waited)
	}
	return 100 * (d.drawing() - before).Seconds() / time.Since(began).Seconds(), waited
}

// feel reads the program's vitals only: reading all visible objects takes the UI goroutine longer than drawing them.
func (d *desktop) feel() {
	all := d.socket
	d.socket += ".process"
	d.look()
	d.socket = all
}

// drawing returns the CPU time of the program's first thread, which runs the UI goroutine, and of the display driver's
// threads, which draw in place of a graphics card. The driver's threads have names of their own.
func (d *desktop) drawing() (all time.Duration) {
	d.t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", d.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		d.t.Fatalf("no threads: %v", err)
	}
	first := fmt.Sprint(d.cmd.Process.Pid)
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil { // it has ended
			continue
		}
		head, after, _ := strings.Cut(string(text), ") ")
		id, name, _ := strings.Cut(head, " (")
		if id != first && name == filepath.Base(d.program) {
			continue
		}
		fields := strings.Fields(after)
		for _, ticks := range fields[11:13] { // in user and in system mode
			n, err := strconv.Atoi(ticks)
			if err != nil {
				d.t.Fatal(err)
			}
			const second = 100 // ticks, on Linux
			all += time.Duration(n) * time.Second / second
		}
	}
	return all
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
