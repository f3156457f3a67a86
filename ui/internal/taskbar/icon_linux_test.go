package taskbar

import (
	"testing"

	"github.com/godbus/dbus/v5"
)

// TestDocksGetThePercentage checks the signals that docks listen to: one for each percentage, and one that removes the progress.
func TestDocksGetThePercentage(t *testing.T) {
	type update struct {
		progress float64
		visible  bool
	}
	got := make(chan update, 1)
	i := New("com.example.program", nil)
	i.emit = func(path dbus.ObjectPath, name string, values ...any) error {
		if !path.IsValid() || name != "com.canonical.Unity.LauncherEntry.Update" || values[0] != "application://com.example.program.desktop" {
			t.Errorf("emitted %s %s %v", path, name, values)
		}
		of := values[1].(map[string]dbus.Variant)
		got <- update{of["progress"].Value().(float64), of["progress-visible"].Value().(bool)}
		return nil
	}
	i.Show(-1) // nothing is shown
	for _, step := range []struct {
		do   func()
		want update
	}{
		{func() { i.Show(0.42) }, update{0.42, true}},
		{func() { i.Show(0.4201); i.Show(0.43) }, update{0.43, true}},
		{func() { i.Show(2) }, update{1, true}},
		{func() { i.Show(-1) }, update{0, false}},
		{func() { i.Show(-1); i.Show(0) }, update{0, true}},
		{func() { i.Show(-1) }, update{0, false}},
	} {
		if step.do(); <-got != step.want {
			t.Errorf("the dock was not sent %+v", step.want)
		}
	}
	if len(got) > 0 {
		t.Errorf("the dock was also sent %+v", <-got)
	}
}
