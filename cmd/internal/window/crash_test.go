package window_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWindowAfterACrash crashes the program during a run, then its display. The next start must show once what happened and
// where the report is, and offer to resume the run.
func TestWindowAfterACrash(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	d.save(`{"time-scale": "1200"}`)
	d.start()
	d.click("Launch")
	d.until("a cycle", func() bool {
		return d.find("running") != nil && d.shows("cycles done") && !d.shows(", 0 of 24 cycles done")
	})
	if err := d.cmd.Process.Signal(syscall.SIGABRT); err != nil { // the Go runtime ends as after a panic
		t.Fatal(err)
	}
	d.ended()

	d.start()
	d.until("what happened", func() bool {
		return d.shows("ended unexpectedly on ") && d.shows("SIGABRT") && d.shows("doing: run ") && d.find("Close") != nil
	})
	if d.shows(d.home) {
		t.Errorf("the report names the home folder among %q", d.texts())
	}
	d.still("the report, drawn", func() *part { return d.find("Close") })
	d.shot("report")
	d.click("Close")
	d.until("the offer to resume", func() bool { return d.shows("was interrupted") && d.find("Resume") != nil })
	d.still("the offer, drawn", func() *part { return d.find("Resume") })
	d.shot("crashed")
	d.click("Resume")
	d.until("the run continuing", func() bool { return d.find("running") != nil })
	texts, err := filepath.Glob(filepath.Join(d.home, ".local", "share", "throng", "crashes", "2*.txt"))
	if err != nil || len(texts) != 1 {
		t.Fatalf("crash reports: %v %v", texts, err)
	}
	if text, err := os.ReadFile(texts[0]); err != nil || !strings.Contains(string(text), "SIGABRT") {
		t.Errorf("crash report: %s %v", text, err)
	}

	if err := d.x.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.ended()
	d.startX(1280, 800)
	d.start()
	d.until("the offer to resume", func() bool { return d.shows("was interrupted") && d.find("Not now") != nil })
	if d.shows("ended unexpectedly") {
		t.Error("reported twice")
	}
	d.click("Resume")
	d.until("the run going on after its display went", func() bool { return d.find("running") != nil })
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code := d.ended(); code != 0 {
		t.Errorf("exit code %d after SIGHUP\n%s", code, d.log)
	}
}
