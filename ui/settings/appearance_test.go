package settings

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestTheLookIsChosen(t *testing.T) {
	s := shown(t, General, &fakeDesk{})
	var radio *widget.RadioGroup
	uitest.Walk(s.screen.Content(), func(o fyne.CanvasObject) bool {
		if r, ok := o.(*widget.RadioGroup); ok {
			radio = r
		}
		return radio == nil
	})
	if radio == nil || radio.Selected != "Dark" || len(s.looks) != 0 {
		t.Fatalf("the look in force is not shown, or was set again: %v", s.looks)
	}
	radio.SetSelected("System")
	radio.SetSelected("Light")
	if want := []string{"system", "light"}; !slices.Equal(s.looks, want) {
		t.Errorf("chosen were %v, want %v", s.looks, want)
	}
}

// TestAppearance sets the text size and the notifications.
func TestAppearance(t *testing.T) {
	s := shown(t, General, &fakeDesk{})
	if !s.shows("100%") {
		t.Error("the size in force is not shown")
	}
	slider := s.screen.looks.scale
	slider.OnChanged(1.4)
	if !s.shows("140%") || len(s.scales) != 0 {
		t.Errorf("the size is set during the drag: %v", s.scales)
	}
	slider.OnChangeEnded(1.4)
	if !slices.Equal(s.scales, []float64{1.4}) {
		t.Errorf("got calls %v", s.scales)
	}
	s.screen.Scaled(0.8)
	if !s.shows("80%") || slider.Value != 0.8 || len(s.scales) != 1 {
		t.Errorf("a size set elsewhere: %v, set %v", slider.Value, s.scales)
	}
	s.screen.Open(Notifications)
	boxes := map[string]*widget.Check{}
	uitest.Walk(s.screen.Content(), func(o fyne.CanvasObject) bool {
		if c, ok := o.(*widget.Check); ok {
			boxes[c.Text] = c
		}
		return true
	})
	for _, k := range view.NotificationKinds {
		if box := boxes[k.About]; box == nil || box.Checked == (k.Occasion == view.OnStall) {
			t.Fatalf("whether %s is reported is not shown", k.Occasion)
		}
		test.Tap(boxes[k.About])
	}
	if len(s.notify) != len(view.NotificationKinds) || s.notify[0] != "ended false" || !slices.Contains(s.notify, "stalled true") {
		t.Errorf("got calls %v", s.notify)
	}
}
