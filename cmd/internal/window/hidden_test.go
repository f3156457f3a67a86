package window_test

import "testing"

// TestHiddenScreensKeepTheirSize checks that a screen looks the same after the toolkit has dropped what it knew of hidden widgets, which it
// does after a minute.
func TestHiddenScreensKeepTheirSize(t *testing.T) {
	d := newDesktop(t, 1280, 800)
	d.start("FYNE_CACHE=3s")
	d.until("the built-in scenario", func() bool { return d.shows("9 ok") })
	small := func() part { return d.still("a small button", func() *part { return d.find("Check again") }) }
	before := small()
	d.click("Runs")
	for range 14 { // the toolkit cleans up every 10 s, when something is drawn
		d.xdotool("mousemove", "50", "160", "sleep", "0.5", "mousemove", "50", "200", "sleep", "0.5")
	}
	d.click("Setup")
	if after := small(); after != before {
		t.Errorf("before %+v, after %+v", before, after)
	}
	d.xdotool("key", "ctrl+q")
	d.ended()
}
