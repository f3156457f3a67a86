package window_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditor writes a new scenario by keyboard: from a template, with a step that is inserted, keys that are completed, and a mistake that
// is corrected.
func TestEditor(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	d.start()
	d.until("the built-in scenario", func() bool { return d.find("New scenario…") != nil && d.shows("sessions") })
	d.click("New scenario…")
	d.until("the templates", func() bool { return d.find("HTTP journey") != nil && d.find("Rules only") != nil })
	d.shot("templates")
	d.click("HTTP journey")
	d.until("the text of the template", func() bool { return d.shows("from the template journey · not saved") && d.find("No problems") != nil })

	d.key("ctrl+Home")
	d.key("ctrl+shift+space")
	d.until("the kinds of steps", func() bool { return d.shows("step http") && d.shows("A request to an HTTP service.") })
	d.shot("insert-step")
	d.xdotool("key", "Down", "Down", "Down", "Down", "Down", "Down", "Return")
	d.until("an inserted step", func() bool { return d.shows("step record_2") })
	d.xdotool("type", "last")
	d.until("its name", func() bool { return d.shows("step last") })

	d.key("ctrl+End")
	d.xdotool("type", "warm")
	d.until("the menu", func() bool { return d.shows("warm_up") })
	d.xdotool("key", "Escape", "BackSpace", "BackSpace", "BackSpace", "BackSpace")
	d.key("ctrl+space")
	d.until("all keys", func() bool { return d.shows("functions\n") && d.shows("tools\n") })
	d.shot("complete")
	d.xdotool("key", "Escape", "type", "ordr: parallel")
	d.until("a problem", func() bool { return d.find("Problems (1)") != nil })
	d.click("Problems (1)")
	d.until("its fixes", func() bool { return d.find("Replace with order") != nil && d.find("Remove ordr") != nil })
	d.shot("fixes")
	d.click("Replace with order")
	d.until("the correction", func() bool { return d.shows("No problems found") && d.find("No problems") != nil })
	d.key("F5")
	d.until("a session", func() bool { return d.shows("customer-1, chain visit: ok") })
	d.shot("tried")
	drafts, err := filepath.Glob(filepath.Join(d.home, ".local", "share", "throng", "drafts", "*.json"))
	if err != nil || len(drafts) != 1 {
		t.Fatalf("drafts %v, %v", drafts, err)
	}
	text, err := os.ReadFile(drafts[0])
	if err != nil || !strings.Contains(string(text), "templates/journey.yaml") {
		t.Errorf("the draft is %s, %v", text, err)
	}
}
