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
	case a.Key == fyne.KeyZ && a.Modifier == Command:
		return &fyne.ShortcutUndo{}
	case a.Key == fyne.KeyY && a.Modifier == Command:
		return &fyne.ShortcutRedo{}
	}
	return &desktop.CustomShortcut{KeyName: a.Key, Modifier: a.Modifier}
}

// Keys that differ between systems: macOS and its text fields use those of the other systems for something else.
var (
	RedoKey   = On(binding{fyne.KeyZ, Command | fyne.KeyModifierShift}, binding{fyne.KeyY, Command})
	LimitKeys = On(fyne.KeyModifierAlt|Command, Command) // with Up and Down
)

type binding struct {
	Key      fyne.KeyName
	Modifier fyne.KeyModifier
}

const onMac = runtime.GOOS == "darwin"

// On returns what applies on this system.
func On[T any](mac, others T) T {
	if onMac {
		return mac
	}
	return others
}

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
func (a *Action) Keys() string {
	if a.Key == "" {
		return ""
	}
	return keys(a.Key, a.Modifier, onMac)
}

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
