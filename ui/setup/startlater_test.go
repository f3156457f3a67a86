package setup

import (
	"testing"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestStartLater checks that a scheduled launch shows the remaining time, can be canceled, and can start immediately.
func TestStartLater(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.typed("Start at", "soon")
	if s.tap("Launch"); !s.shows("1 mistake: Start at") {
		t.Errorf("the bar shows %q", uitest.Texts(s.screen.bar.panel))
	}
	s.typed("Start at", "+2h")
	s.typed("Agents per wave", "50")
	s.tap("Launch")
	s.until("Starts in ")
	if s.launched > 0 {
		t.Error("the run was launched early")
	}
	s.tap("Cancel")
	s.until("Not launched: start canceled.")
	if s.screen.Tick(); s.screen.bar.launch.Text != "Launch" || s.screen.bar.cancel.Visible() {
		t.Errorf("the button shows %s", s.screen.bar.launch.Text)
	}
	s.tap("Launch")
	s.until("Starts in ")
	s.tap("Start now")
	s.Until("launched", func() bool { return s.launched == 1 })
	if got := s.desk.last(&s.desk.launched).Settings.Batch; got != 50 || s.screen.bar.cancel.Visible() {
		t.Errorf("launched with waves of %d", got)
	}
}

// TestAModelWritesThePopulation checks that the progress is shown, and that only the button cancels it, not a key.
func TestAModelWritesThePopulation(t *testing.T) {
	s := shown(t, &fakeDesk{writes: true})
	s.tap("Launch")
	s.Until("writing", func() bool { s.screen.Tick(); return s.shows("Writing personas: 12 of 24.") })
	s.screen.launch()
	s.screen.Tick()
	s.tap("Cancel")
	s.until("Not launched: 12 of 24 personas: stopped by the user")
	if s.screen.Tick(); s.screen.bar.launch.Text != "Launch" || s.screen.bar.launch.Disabled() {
		t.Errorf("the button shows %s", s.screen.bar.launch.Text)
	}
}
