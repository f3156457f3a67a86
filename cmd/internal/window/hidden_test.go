package window_test

import "testing"

// TestHiddenScreensKeepTheirLayout checks that screens look the same after the toolkit has dropped what it knew of hidden widgets, which it
// does after a minute: small fields stay small, and what has changed meanwhile is shown immediately.
func TestHiddenScreensKeepTheirLayout(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	d.start("FYNE_CACHE=3s")
	d.until("the built-in scenario", func() bool { return d.shows("9 ok") })
	of := func(text string) part { return d.still(text+", at rest", func() *part { return d.find(text) }) }
	before := of("Check again")
	d.click("Launch")
	d.until("the run", func() bool { return d.find("running") != nil })
	d.click("Runs")
	d.until("the end", func() bool { return d.shows("finished") })
	for range 14 { // the toolkit cleans up every 10 s, when something is drawn
		d.xdotool("mousemove", "50", "160", "sleep", "0.5", "mousemove", "50", "200", "sleep", "0.5")
	}
	d.click("Setup")
	if after := of("Check again"); after.Box.Size() != before.Box.Size() { // its place depends on the forecast
		t.Errorf("before %+v, after %+v", before, after)
	}
	d.click("Live")
	d.until("the end of the run", func() bool { return d.find("Show results") != nil && d.find("finished") != nil })
	texts := []string{"finished", "Show results", "Save charts…", "History"}
	var first []part
	for _, text := range texts {
		first = append(first, of(text))
	}
	d.click("Runs")
	d.click("Live")
	for i, text := range texts {
		if second := of(text); second != first[i] {
			t.Errorf("at the first visit %+v, at the second %+v", first[i], second)
		}
	}
	d.xdotool("key", "ctrl+q")
	d.ended()
}
