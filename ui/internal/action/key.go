package action

import (
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Command is the modifier of shortcuts: Cmd on a Mac, otherwise Ctrl.
const Command = fyne.KeyModifierShortcutDefault

// Press returns an action that presses a button. It is enabled while the button is visible and enabled.
func Press(b *widget.Button, a Action) Action {
	a.Enabled = func() bool { return b.Visible() && !b.Disabled() }
	a.Do = func() {
		if a.Enabled() {
			b.OnTapped()
		}
	}
	return a
}

// Can reports whether the action is possible now.
func (a *Action) Can() bool { return a.Enabled == nil || a.Enabled() }

// Shortcut returns the toolkit's shortcut; nil without a key.
func (a *Action) Shortcut() fyne.Shortcut {
	switch {
	case a.Key == "":
		return nil
	case a.Undoes():
		return &fyne.ShortcutUndo{}
	}
	return &desktop.CustomShortcut{KeyName: a.Key, Modifier: a.Modifier}
}

// Undoes reports whether the keys are those for undo, which an entry handles first.
func (a *Action) Undoes() bool { return a.Key == fyne.KeyZ && a.Modifier == Command }

// modifiers in the system's order; as words, because not every font has the symbols
var modifiers = []struct {
	key         fyne.KeyModifier
	mac, others string
}{
	{fyne.KeyModifierControl, "Ctrl", "Ctrl"},
	{fyne.KeyModifierAlt, "Option", "Alt"},
	{fyne.KeyModifierShift, "Shift", "Shift"},
	{fyne.KeyModifierSuper, "Cmd", "Super"},
}

// names are the keys with other names in the toolkit than on keyboards.
var names = map[fyne.KeyName]string{
	fyne.KeyReturn: "Return", fyne.KeyBackspace: "Backspace", fyne.KeyDelete: "Delete", fyne.KeyEscape: "Esc",
	fyne.KeyUp: "Up", fyne.KeyDown: "Down", fyne.KeyLeft: "Left", fyne.KeyRight: "Right",
}

// Keys returns the keys as text: "Ctrl+Shift+E".
func (a *Action) Keys() string { return keys(a.Key, a.Modifier, runtime.GOOS == "darwin") }

func keys(key fyne.KeyName, modifier fyne.KeyModifier, mac bool) string {
	var parts []string
	for _, m := range modifiers {
		switch {
		case modifier&m.key == 0:
		case mac:
			parts = append(parts, m.mac)
		default:
			parts = append(parts, m.others)
		}
	}
	name, ok := names[key]
	if !ok {
		name = string(key)
	}
	return strings.Join(append(parts, name), "+")
}
