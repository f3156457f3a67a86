package window_test

import (
	"os"
	"strconv"
	"testing"
)

// TestQuits quits the program many times, while screens are read: THRONG_QUITS times, or a few.
func TestQuits(t *testing.T) {
	t.Parallel()
	times := 4
	if text := os.Getenv("THRONG_QUITS"); text != "" {
		var err error
		if times, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	d := newDesktop(t, 1000, 640)
	for n := range times {
		d.start()
		d.until("the built-in scenario", func() bool { // not the screen of the last start
			if d.shows("Marketplace shoppers") && d.find("Launch") != nil {
				return true
			}
			d.click("Setup")
			return false
		})
		d.until("another screen, whose data is still on its way", func() bool { // the system may drop the first clicks
			if d.shows("Measures one limit after another") {
				return true
			}
			d.click("Calibrate")
			return false
		})
		d.xdotool("key", "ctrl+q")
		if code := d.ended(); code != 0 {
			t.Fatalf("exit code %d after quitting %d times\n%s", code, n, d.log)
		}
	}
}
