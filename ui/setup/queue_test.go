package setup

import (
	"testing"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestLaunchWaitsItsTurn checks that a run in progress is shown before the launch, and that the next run is queued, can be canceled, and
// starts at the end of the other.
func TestLaunchWaitsItsTurn(t *testing.T) {
	desk := &fakeDesk{busy: "A run is in progress.", settled: make(chan struct{})}
	s := shown(t, desk)
	if !s.shows("A run is in progress.") || uitest.Button(s.screen.bar.panel, "Open Live") == nil {
		t.Fatalf("the bar shows %q", uitest.Texts(s.screen.bar.panel))
	}
	s.tap(launchNext)
	s.Until("queued", func() bool { s.screen.Tick(); return s.shows("Queued: starts when it ends.") })
	s.tap("Cancel")
	s.until("Not launched: start canceled.")
	s.tap(launchNext)
	s.Until("queued", func() bool { s.screen.Tick(); return s.shows("Queued: starts when it ends.") })
	if s.launched > 0 {
		t.Error("the run was launched early")
	}
	desk.mu.Lock()
	desk.busy = ""
	desk.mu.Unlock()
	close(desk.settled)
	s.Until("launched", func() bool { return s.launched == 1 })
	if s.screen.Tick(); s.shows("A run is in progress.") || s.screen.bar.launch.Text != launchNow || s.screen.bar.launch.Disabled() {
		t.Errorf("after the launch the bar shows %q", uitest.Texts(s.screen.bar.panel))
	}
}

// TestTheForecastIsMadeAgainAfterARun checks that the end of a run is noticed while Setup is shown.
func TestTheForecastIsMadeAgainAfterARun(t *testing.T) {
	desk := &fakeDesk{busy: "A run is in progress."}
	s := shown(t, desk)
	s.until("from what the scenario says")
	s.screen.Tick()
	desk.mu.Lock()
	desk.busy, desk.measured = "", "r1"
	desk.mu.Unlock()
	s.screen.Tick()
	s.until("(r1)")
}
