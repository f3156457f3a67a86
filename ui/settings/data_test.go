package settings

import (
	"errors"
	"testing"

	"github.com/throng-sim/throng/ui/uitest"
)

func TestAnotherDataFolder(t *testing.T) {
	s := shown(t, Storage, &fakeDesk{})
	s.screen.data.ask("/other")
	if top := s.win.Canvas().Overlays().Top(); !uitest.Shows(top, "Nothing is moved or deleted") || !uitest.Shows(top, "/data/throng") {
		t.Error("the effect of another folder is not explained")
	}
	s.confirm("Cancel")
	s.screen.data.ask("/other")
	s.confirm("Change")
	s.asks("move /other")
	s.until("After a restart: /other")
	if len(s.desk.asked) != 1 {
		t.Errorf("got calls %q", s.desk.asked)
	}
	s.desk.set(func() { s.desk.err = errors.New("it cannot be written") })
	s.screen.data.move("/third")
	s.until("The data folder is not changed. It cannot be written")
}

// TestLogLevel sets the log level.
func TestLogLevel(t *testing.T) {
	s := shown(t, Storage, &fakeDesk{})
	s.Until("the level", func() bool { return s.screen.data.level.Selected == "info" })
	if s.desk.has("log info") {
		t.Error("showing it has set it")
	}
	s.screen.data.level.SetSelected("debug")
	s.asks("log debug")
}
