package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/action"
)

// subMenu returns the submenu of a menu with a title, or nil.
func subMenu(m *fyne.Menu, title string) *fyne.Menu {
	for _, item := range m.Items {
		if title != "" && item.ChildMenu != nil && item.Label == title {
			return item.ChildMenu
		}
	}
	return nil
}

// unprinted is a shortcut that a menu does not print: it lacks the methods of [fyne.KeyboardShortcut].
type unprinted struct{ fyne.Shortcut }

// printKeys prints the shortcuts of the menus as part of their labels. The toolkit prints them with a fifth of the opacity of the text,
// fainter than those of disabled items. A Mac has menus of its own.
func (f *frame) printKeys() {
	if action.On(true, false) {
		return
	}
	keys := map[*fyne.MenuItem]string{}
	for _, d := range f.commands {
		if d.item != nil && d.item.Shortcut != nil {
			keys[d.item] = d.Keys()
			d.item.Shortcut = unprinted{d.item.Shortcut}
		}
	}
	for _, m := range f.menu.Items {
		alignKeys(m, keys)
	}
}

// alignKeys ends the labels of a menu and its submenus with their keys, at the right.
func alignKeys(m *fyne.Menu, keys map[*fyne.MenuItem]string) {
	width := func(text string) float32 { return fyne.MeasureText(text, theme.TextSize(), fyne.TextStyle{}).Width }
	space, hair := width(" "), width(hairSpace)
	var widest float32
	for _, item := range m.Items {
		label := width(item.Label)
		if key := keys[item]; key != "" {
			label += width(keyGap + key)
		}
		widest = max(widest, label)
		if item.ChildMenu != nil {
			alignKeys(item.ChildMenu, keys)
		}
	}
	for _, item := range m.Items {
		key := keys[item]
		if key == "" {
			continue
		}
		rest := widest - width(item.Label+key)
		n := int(rest / space)
		rest -= float32(n) * space
		fine := 0
		if hair > 0 && hair < space {
			fine = int(rest / hair)
		}
		item.Label += strings.Repeat(" ", n) + strings.Repeat(hairSpace, fine) + key + "  "
	}
}

const (
	hairSpace = "\u200a"
	keyGap    = "        " // at least, between a label and its keys
)
