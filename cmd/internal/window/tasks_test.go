package window_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestTasks does five things that the window is for, from its first start, takes a picture after each step and reports how long each took.
func TestTasks(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	d.start()
	for _, task := range []struct {
		name  string
		do    func(*desktop)
		limit time.Duration
	}{
		{"launch and slide", (*desktop).launchAndSlide, time.Minute},
		{"find why a run was slow", (*desktop).findSlow, patience},
		{"resume from the second-newest checkpoint", (*desktop).resumeEarlier, patience},
		{"open the orders in a table", (*desktop).openOrders, patience},
		{"read what pair-3 said", (*desktop).readPair, patience},
	} {
		begun := time.Now()
		task.do(d)
		took := time.Since(begun)
		t.Logf("%s: %.1f s", task.name, took.Seconds())
		if took > task.limit {
			t.Errorf("%s took %.0f s, which should take at most %.0f s", task.name, took.Seconds(), task.limit.Seconds())
		}
	}
	d.xdotool("key", "ctrl+q")
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.log)
	}
}

func (d *desktop) launchAndSlide() {
	d.until("the built-in scenario", func() bool { return d.shows("9 ok") })
	d.command("show the tour") // as at a first start that is not a test's
	d.until("its values", func() bool { return d.shows("Set for the tour") })
	d.shot("task-1-setup")
	d.click("Launch")
	d.until("a run in progress", func() bool { return d.find("running") != nil && d.limit() == 50 })
	d.shot("task-1-live")
	slider := d.still("the slider", func() *part { return d.kind("LimitSlider") }).Box
	y := slider.Min.Y + slider.Dy()/3
	d.drag(slider.Min.X+slider.Dx()/7, y, slider.Min.X+slider.Dx()*5/6, y)
	d.until("the limit of the hand", func() bool { return d.limit() > 100 && d.shows("You set ") && d.find("Return to automatic") != nil })
	d.shot("task-1-slid")
}

func (d *desktop) findSlow() {
	d.click("Steps")
	d.until("the steps with their figures", func() bool { return d.shows("p95") })
	d.shot("task-2-steps")
	d.click("Why this limit?")
	d.xdotool("sleep", "0.5")
	d.look()
	d.shot("task-2-why")
	d.xdotool("key", "Escape")
}

func (d *desktop) resumeEarlier() {
	for range 2 {
		d.command("checkpoint now")
		d.xdotool("sleep", "3")
	}
	d.xdotool("key", "ctrl+period")
	d.until("the end", func() bool { return d.find("Show results") != nil })
	d.shot("task-3-stopped")
	d.click("Runs")
	d.until("the run", func() bool { b := d.find("Resume"); return b != nil && !b.Disabled })
	d.shot("task-3-runs")
	marks := d.still("the checkpoints", func() *part { return d.kind("checkpointLine") })
	d.press(marks.center())
	d.xdotool("key", "End", "key", "Left")
	d.until("the action for an older checkpoint", func() bool { return d.shows("Resume from ") })
	d.shot("task-3-chosen")
	d.xdotool("key", "shift+ctrl+Return")
	d.until("the question", func() bool { return d.find("Change settings…") != nil })
	d.click("Resume")
	d.until("a run in progress", func() bool { return d.find("running") != nil })
	d.shot("task-3-resumed")
	d.xdotool("key", "ctrl+period")
	d.until("the end", func() bool { return d.find("Show results") != nil })
}

func (d *desktop) readPair() {
	d.click("Setup")
	d.still("Setup", func() *part { return d.find("New scenario…") })
	d.xdotool("sleep", "0.5")
	d.click("Conversations between two personas")
	d.until("the scenario", func() bool { return d.shows("12 agents, 1 cycle") && !d.shows("Set for the tour") })
	d.shot("task-4-setup")
	d.click("Launch")
	d.click("Transcript")
	d.until("what pair-3 said", func() bool {
		var headings []part
		for _, p := range d.shown {
			if strings.HasSuffix(p.Text, " · cycle 0") {
				headings = append(headings, p)
			}
		}
		if len(headings) == 1 && headings[0].Text == "pair-3 · cycle 0" {
			return d.shows("Bruno")
		}
		if tab := d.find("Transcript"); tab != nil && len(headings) > 0 { // the fourth row of the list, which the inspector does not list
			_, y := tab.center()
			d.xdotool("mousemove", strconv.Itoa(tab.Box.Min.X-80), strconv.Itoa(y+164), "click", "--repeat", "5", "4") // an earlier click may have scrolled it
			d.press(tab.Box.Min.X-80, y+164)
			d.xdotool("sleep", "0.5")
		}
		return false
	})
	d.shot("task-4-transcript")
}

func (d *desktop) openOrders() {
	d.click("Results")
	d.until("the results", func() bool { return d.shows("Outcomes") })
	d.shot("task-5-results")
	d.xdotool("key", "ctrl+e")
	d.click("Save here")
	var exported []string
	d.until("the exported orders", func() bool {
		exported, _ = filepath.Glob(filepath.Join(d.home, "throng-*", "events_order.csv"))
		return len(exported) == 1 && d.shows("Exported")
	})
	d.shot("task-5-exported")
	f, err := os.Open(exported[0])
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		d.t.Fatal(err)
	}
	column := slices.Index(rows[0], "final_total")
	if len(rows) < 20 || column < 0 {
		d.t.Fatalf("%d rows with the columns %q", len(rows), rows[0])
	}
	for _, row := range rows[1:] {
		if total, err := strconv.ParseFloat(row[column], 64); err != nil || total <= 0 {
			d.t.Errorf("an order has the total %q", row[column])
		}
	}
}
