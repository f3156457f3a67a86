package action

import (
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Command is the key beside the space bar that shortcuts are made with: Cmd on a Mac, else Ctrl.
const Command = fyne.KeyModifierShortcutDefault

// Press is an action that presses a button: it can be done while that is shown and enabled.
func Press(b *widget.Button, a Action) Action {
	a.Enabled = func() bool { return b.Visible() && !b.Disabled() }
	a.Do = func() {
		if a.Enabled() {
			b.OnTapped()
		}
	}
	return a
}

// Can reports whether the action can be done now.
func (a *Action) Can() bool { return a.Enabled == nil || a.Enabled() }

// Shortcut returns the keys as the toolkit knows them; nil without a key.
func (a *Action) Shortcut() fyne.Shortcut {
	switch {
	case a.Key == "":
		return nil
	case a.Undoes():
		return &fyne.ShortcutUndo{}
	}
	return &desktop.CustomShortcut{KeyName: a.Key, Modifier: a.Modifier}
}

// Undoes reports whether the keys are those that undo: what is being typed has them first.
func (a *Action) Undoes() bool { return a.Key == fyne.KeyZ && a.Modifier == Command }

// modifiers in the order in which a system writes them; in words, as not every font has the signs.
var modifiers = []struct {
	key         fyne.KeyModifier
	mac, others string
}{
	{fyne.KeyModifierControl, "Ctrl", "Ctrl"},
	{fyne.KeyModifierAlt, "Option", "Alt"},
	{fyne.KeyModifierShift, "Shift", "Shift"},
	{fyne.KeyModifierSuper, "Cmd", "Super"},
}

// names of keys that the toolkit calls otherwise than what is printed on them.
var names = map[fyne.KeyName]string{
	fyne.KeyReturn: "Return", fyne.KeyBackspace: "Backspace", fyne.KeyDelete: "Delete", fyne.KeyEscape: "Esc",
	fyne.KeyUp: "Up", fyne.KeyDown: "Down", fyne.KeyLeft: "Left", fyne.KeyRight: "Right",
}

// Keys says the keys of the action in words: "Ctrl+Shift+E".
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
