package setup

import (
	"testing"

	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/uitest"
)

func TestWhatIsSetUpCanBeCalibrated(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.typed("Eagerness", "2.50")
	s.typed("Lowest limit", "30")
	if o, ok := s.screen.Order(); !ok || o.Scenario != "shopping" || o.Given["eagerness"] != "2.50" || o.Settings.Floor != 30 {
		t.Errorf("%+v, %v", o, ok)
	}
	s.screen.Apply(12)
	if o, ok := s.screen.Order(); !ok || o.Settings.Limit != 12 || o.Settings.Ceiling != 12 || o.Settings.Floor != 12 {
		t.Errorf("12 concurrently became %d, from %d to %d, %v", o.Settings.Limit, o.Settings.Floor, o.Settings.Ceiling, ok)
	}
	if !s.shows("12 of 372 shoppers concurrently") {
		t.Error("the fields do not follow")
	}
	s.typed("Random seed", "-1")
	if _, ok := s.screen.Order(); ok {
		t.Error("a mistake is not reported")
	}
}

func TestNothingIsSetUp(t *testing.T) {
	q := uitest.Start(t)
	s := New(&fakeDesk{}, test.NewTempWindow(t, container.NewStack()), Ways{})
	s.Apply(5)
	if o, ok := s.Order(); ok || o.Scenario != "" {
		t.Errorf("%+v, %v", o, ok)
	}
	q.Drain()
}
