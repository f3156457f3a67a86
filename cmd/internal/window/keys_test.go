package window_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// key presses keys while the window has the keyboard.
func (d *desktop) key(keys ...string) {
	d.t.Helper()
	d.xdotool(append([]string{"search", "--name", "Throng", "windowfocus", "--sync", "key"}, keys...)...)
}

// shut closes a window by keyboard. xdotool may fail when the window is gone and leave the keys pressed; pressing them
// again would have no effect.
func (d *desktop) shut(name string) {
	d.t.Helper()
	_, _ = d.drive("", "search", "--name", name, "windowfocus", "--sync", "key", "ctrl+w")
	d.xdotool("keyup", "w", "keyup", "ctrl")
}

// TestKeys uses the window without a mouse. Escape and F1, which the toolkit sends to the focused widget only, must work
// everywhere. The window opens again at its previous place.
func TestKeys(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1400, 900)
	d.start()
	d.key("ctrl+slash")
	d.until("the list of keys", func() bool { return d.shows("Close the dialog or the open item") })
	d.key("Tab", "Escape") // with the focus on its button
	d.until("the list closed", func() bool { return !d.shows("Close the dialog or the open item") })
	d.key("F1")
	d.until("the guide", func() bool { return d.open("^Guide") == 1 })
	d.shut("^Guide")
	d.until("its end", func() bool { return d.open("^Guide") == 0 })
	d.key("ctrl+comma")
	d.until("Settings", func() bool { return d.shows("Text size") })
	d.key("ctrl+minus")
	d.until("smaller text", func() bool { return d.shows("90%") })
	d.key("ctrl+n")
	d.until("the focus of the second window", func() bool { return d.windows() == 2 })
	d.shut("^Throng 2$")
	d.until("its end", func() bool { return d.windows() == 1 })

	d.xdotool("search", "--name", "^Throng$", "windowmove", "70", "40", "windowsize", "1100", "700")
	kept := filepath.Join(d.home, ".config", "fyne", "io.github.throng-sim.throng", "preferences.json")
	d.until("size and place kept", func() bool {
		text, err := os.ReadFile(kept)
		return err == nil && strings.Contains(string(text), `"left":70`) && strings.Contains(string(text), `"width":1100`)
	})
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.ended()
	d.start()
	d.until("the screen that it was closed on", func() bool { return d.windows() == 1 && d.shows("Text size") })
	if found := d.place(); !strings.Contains(found, "X=70") || !strings.Contains(found, "Y=40") || !strings.Contains(found, "WIDTH=1100") || !strings.Contains(found, "HEIGHT=700") {
		t.Errorf("opened at %s", found)
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.ended()
}
