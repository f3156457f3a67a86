package action

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

func TestKeysInWords(t *testing.T) {
	for _, c := range []struct {
		key         fyne.KeyName
		modifier    fyne.KeyModifier
		mac, others string
	}{
		{fyne.KeyE, fyne.KeyModifierControl, "Ctrl+E", "Ctrl+E"},
		{fyne.KeyReturn, fyne.KeyModifierSuper | fyne.KeyModifierShift, "Shift+Cmd+Return", "Shift+Super+Return"},
		{fyne.KeyF1, 0, "F1", "F1"},
		{fyne.KeyUp, fyne.KeyModifierAlt, "Option+Up", "Alt+Up"},
	} {
		if got := keys(c.key, c.modifier, true); got != c.mac {
			t.Errorf("on a Mac it is %q, want %q", got, c.mac)
		}
		if got := keys(c.key, c.modifier, false); got != c.others {
			t.Errorf("elsewhere it is %q, want %q", got, c.others)
		}
	}
}

// TestPressFollowsItsButton checks that the action of a button cannot be done while the button is hidden or disabled.
func TestPressFollowsItsButton(t *testing.T) {
	test.NewTempApp(t)
	pressed := 0
	b := widget.NewButton("Launch", func() { pressed++ })
	a := Press(b, Action{Name: "Launch"})
	for _, c := range []struct {
		set  func()
		want int
	}{{b.Hide, 0}, {b.Show, 1}, {b.Disable, 1}, {b.Enable, 2}} {
		c.set()
		could := a.Can()
		was := pressed
		a.Do()
		if pressed != c.want || could != (pressed > was) {
			t.Errorf("pressed %d times, want %d; enabled: %v", pressed, c.want, could)
		}
	}
	if always := (&Action{}); !always.Can() || always.Shortcut() != nil {
		t.Error("an action without conditions can be done, and one without a key has no shortcut")
	}
}
