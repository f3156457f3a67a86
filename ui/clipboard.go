package ui

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// editing returns the commands of the Edit menu that a focused text field or table performs. Undo and Redo are those of the screen while
// nothing with shortcuts of its own is focused.
func (f *frame) editing() []*command {
	const ctrl = action.Command
	clipboard := f.of.app.Clipboard()
	entry := func(name string, key fyne.KeyName, modifier fyne.KeyModifier, to fyne.Shortcut) *command {
		return &command{Action: action.Action{Name: name, Menu: menuEdit, Key: key, Modifier: modifier}, typed: to, over: true, on: map[*page]action.Action{}}
	}
	undo, redo := entry("Undo", fyne.KeyZ, ctrl, &fyne.ShortcutUndo{}), entry("Redo", action.RedoKey.Key, action.RedoKey.Modifier, &fyne.ShortcutRedo{})
	cut, all := entry("Cut", fyne.KeyX, ctrl, &fyne.ShortcutCut{Clipboard: clipboard}), entry("Select all", fyne.KeyA, ctrl, &fyne.ShortcutSelectAll{})
	cut.divide = true
	return []*command{
		undo, redo, cut,
		entry("Copy", fyne.KeyC, ctrl, &fyne.ShortcutCopy{Clipboard: clipboard}),
		entry("Paste", fyne.KeyV, ctrl, &fyne.ShortcutPaste{Clipboard: clipboard}), all,
	}
}

// pass passes a command to the focused widget, if both have to do with text.
func (f *frame) pass(d *command) bool {
	to := f.focused()
	if d.typed == nil || to == nil {
		return false
	}
	to.TypedShortcut(d.typed)
	return true
}

// focused returns the focused widget if it handles shortcuts, as text fields and tables do.
func (f *frame) focused() fyne.Shortcutable {
	s, _ := f.win.Canvas().Focused().(fyne.Shortcutable)
	return s
}
