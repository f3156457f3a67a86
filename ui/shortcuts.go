package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

var copying = action.Action{Key: fyne.KeyC, Modifier: action.Command}

// everywhere are the keys with the same meaning everywhere.
var everywhere = [][2]string{
	{"Next field or button", "Tab"},
	{"Previous field or button", "Shift+Tab"},
	{"Press a button, toggle a checkbox, open a selection", "Space"},
	{"Press a button, confirm a dialog", "Return"},
	{"Close the dialog or the open item", "Esc"},
	{"Move in a table or slider", "Up, Down"},
	{"Copy the selection or the chosen row", copying.Keys()},
}

// showShortcuts shows all shortcuts.
func (f *frame) showShortcuts() {
	var panels []fyne.CanvasObject
	for _, menu := range menus {
		var rows [][2]string
		for _, d := range f.commands {
			if d.Menu != menu {
				continue
			}
			rows = append(rows, [2]string{d.Name, d.Keys()})
		}
		if len(rows) > 0 {
			panels = append(panels, keyList(menu, rows))
		}
	}
	panels = append(panels, keyList("Everywhere", everywhere))
	sheet := container.NewVScroll(container.NewPadded(form.NewPacked(sheetEms, panels...)))
	d := dialog.NewCustom("Keyboard shortcuts", "Close", sheet, f.win)
	widgets.Ask(f.win, d, d.Dismiss)
	size := f.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(size.Width*0.9, 3*(sheetEms+3)*theme.TextSize()), size.Height*0.92))
}

// sheetEms is the width of a menu's list of keys, in text heights.
const sheetEms = 25

// keyList returns a list of actions with their keys at the right.
func keyList(title string, rows [][2]string) fyne.CanvasObject {
	list := container.New(layout.NewCustomPaddedVBoxLayout(theme.Padding() / 2))
	for _, row := range rows {
		keys := widgets.NewText(row[1])
		keys.SetColor(widgets.ColorMuted)
		name := widgets.NewLine(theme.SizeNameText, widgets.Neutral)
		name.Set(row[0], widgets.Neutral)
		list.Add(container.NewBorder(nil, nil, nil, keys, name))
	}
	return container.NewBorder(widgets.NewHeading(title), nil, nil, nil, container.NewPadded(list))
}
