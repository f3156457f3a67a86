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

// everywhere are keys that mean the same wherever they are pressed.
var everywhere = [][2]string{
	{"The next field or button", "Tab"},
	{"The one before", "Shift+Tab"},
	{"Press the button, tick the box, open the choice", "Space"},
	{"Press the button, confirm what is asked", "Return"},
	{"Close what lies on top, leave what is open", "Esc"},
	{"A row of a table, a step of a slider", "Up, Down"},
	{"Copy what is selected, or the chosen row", copying.Keys()},
}

// showShortcuts shows all keys, made from the table of what can be done.
func (f *frame) showShortcuts() {
	var panels []fyne.CanvasObject
	for _, menu := range menus {
		var rows [][2]string
		for _, d := range f.deeds {
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

// sheetEms is how wide a menu's keys are, in letters' heights.
const sheetEms = 25

// keyList is what can be done with its keys at the right.
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
