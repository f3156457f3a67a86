package ui

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/chart"
)

// The menus, from left to right.
const (
	menuFile   = "File"
	menuRun    = "Run"
	menuAgent  = "Agent"
	menuView   = "View"
	menuWindow = "Window"
	menuHelp   = "Help"
)

var menus = []string{menuFile, menuRun, menuAgent, menuView, menuWindow, menuHelp}

// deed is an action with where it is done: by the window, or on screens, whose actions of one name are one.
type deed struct {
	action.Action
	on     map[*page]action.Action
	over   bool // can be done while a dialog is open
	close  []desktop.CustomShortcut
	divide bool // a line stands above it in its menu
	item   *fyne.MenuItem
	from   *page // the first whose deed it is
}

// table lists everything that can be done in the window, in the order of its menus.
func (f *frame) table() []*deed {
	a := f.of
	ctrl := action.Command
	own := []*deed{
		{Action: action.Action{Name: "Open a scenario…", Menu: menuFile, Key: fyne.KeyO, Modifier: ctrl, Do: a.chooseScenario}},
	}
	own = append(own, f.ofScreens()...)
	for i, p := range f.pages {
		if f.single {
			break
		}
		own = append(own, &deed{Action: action.Action{Name: p.title, Menu: menuView, Key: fyne.KeyName(rune('1' + i)), Modifier: ctrl, Do: func() { f.show(p) }}})
	}
	for i, act := range chart.Actions(f.win.Canvas()) {
		own = append(own, &deed{Action: act, divide: i == 0})
	}
	plus := []desktop.CustomShortcut{{KeyName: fyne.KeyPlus, Modifier: ctrl | fyne.KeyModifierShift}, {KeyName: fyne.KeyEqual, Modifier: ctrl}, {KeyName: fyne.KeyEqual, Modifier: ctrl | fyne.KeyModifierShift}}
	return append(
		own,
		&deed{Action: action.Action{Name: "Larger text", Menu: menuView, Key: fyne.KeyPlus, Modifier: ctrl, Do: func() { a.zoom(+1) }}, over: true, divide: true, close: plus},
		&deed{Action: action.Action{Name: "Smaller text", Menu: menuView, Key: fyne.KeyMinus, Modifier: ctrl, Do: func() { a.zoom(-1) }}, over: true},
		&deed{Action: action.Action{Name: "Text as it was made", Menu: menuView, Key: fyne.Key0, Modifier: ctrl, Do: func() { a.zoom(0) }}, over: true},
		&deed{Action: action.Action{Name: "New window", Menu: menuWindow, Key: fyne.KeyN, Modifier: ctrl, Do: a.open}, over: true},
		&deed{Action: action.Action{Name: "Close window", Menu: menuWindow, Key: fyne.KeyW, Modifier: ctrl, Do: f.close}, over: true},
		&deed{Action: action.Action{Name: guideTitle, Menu: menuHelp, Key: fyne.KeyF1, Do: f.help}, over: true},
		&deed{Action: action.Action{Name: "Search the guide…", Menu: menuHelp, Key: fyne.KeyF3, Do: a.searchGuide}, over: true},
		&deed{Action: action.Action{Name: "Keyboard shortcuts", Menu: menuHelp, Key: fyne.KeySlash, Modifier: ctrl, Do: f.showShortcuts}},
		&deed{Action: action.Action{Name: "Show the tour", Menu: menuHelp, Key: fyne.KeySlash, Modifier: ctrl | fyne.KeyModifierShift, Do: a.showTour}},
		&deed{Action: action.Action{Name: "Open the log folder", Menu: menuHelp, Key: fyne.KeyG, Modifier: ctrl | fyne.KeyModifierAlt, Do: a.openLogs, Enabled: a.knowsProgram}, divide: true},
		&deed{Action: action.Action{Name: "About Throng", Menu: menuHelp, Key: fyne.KeyI, Modifier: ctrl | fyne.KeyModifierAlt, Do: a.showAbout, Enabled: a.knowsProgram}},
		&deed{Action: action.Action{Name: "Quit", Menu: menuFile, Key: fyne.KeyQ, Modifier: ctrl, Do: a.close}, over: true, divide: true},
	)
}

// ofScreens are the actions of the screens. Those of one name are one deed: it is done on the screen that is shown.
func (f *frame) ofScreens() (all []*deed) {
	pages := f.pages
	if f == f.of.frame {
		pages = append(slices.Clone(pages), f.of.editor.page)
	}
	for _, p := range pages {
		with, ok := p.screen.(actor)
		if !ok {
			continue
		}
		for _, act := range with.Actions() {
			i := slices.IndexFunc(all, func(d *deed) bool { return d.Name == act.Name })
			if i < 0 {
				i = len(all)
				all = append(all, &deed{Action: act, on: map[*page]action.Action{}, from: p})
			}
			all[i].on[p] = act
		}
	}
	return all
}

// shortcuts are the keys of a deed as the toolkit knows them.
func (d *deed) shortcuts() (all []fyne.Shortcut) {
	if s := d.Shortcut(); s != nil {
		all = append(all, s)
	}
	for i := range d.close {
		all = append(all, &d.close[i])
	}
	return all
}

// where is the page that a deed is done on: the one that is shown, or the one of the run in progress from any other. ok is
// that it can be done.
func (f *frame) where(d *deed) (on *page, ok bool) {
	if d.on == nil {
		return nil, d.Can()
	}
	if act, here := d.on[f.current]; here {
		return f.current, act.Can()
	}
	if act, ok := d.on[f.run]; ok { // what a run needs may be urgent
		return f.run, act.Can()
	}
	return nil, false
}

// do does what a person asked for by a menu or by keys, if that can be done.
func (f *frame) do(d *deed) {
	if f.win.Canvas().Overlays().Top() != nil && !d.over {
		return
	}
	on, ok := f.where(d)
	switch {
	case !ok:
	case on == nil:
		d.Do()
	default:
		f.show(on)
		act := d.on[on]
		act.Do()
	}
}

// mainMenu makes the menus. Their keys reach what they do even while an entry has the focus.
func (f *frame) mainMenu() *fyne.MainMenu {
	f.menu = fyne.NewMainMenu()
	for _, name := range menus {
		m := fyne.NewMenu(name)
		var from *page
		for _, d := range f.deeds {
			if d.Menu != name {
				continue
			}
			d.item = &fyne.MenuItem{Label: d.Name, Shortcut: d.Shortcut(), Action: func() { f.of.chosen(d) }, IsQuit: d.Name == "Quit"}
			if d.divide || d.from != from && len(m.Items) > 0 {
				m.Items = append(m.Items, fyne.NewMenuItemSeparator())
			}
			m.Items, from = append(m.Items, d.item), d.from
		}
		f.menu.Items = append(f.menu.Items, m)
	}
	return f.menu
}

// chosen does what was chosen in the menus: in the window that has the focus, where that can do it too, or does something
// else by the same keys. A Mac has one menu for all windows.
func (a *App) chosen(d *deed) {
	if typing, ok := a.win.Canvas().Focused().(fyne.Shortcutable); ok && d.Undoes() {
		typing.TypedShortcut(d.Shortcut())
		return
	}
	for _, f := range a.others {
		if f.native == nil || !f.native.Focused() {
			continue
		}
		for _, same := range []func(*deed) bool{
			func(own *deed) bool { return own.Name == d.Name }, func(own *deed) bool { return own.Keys() == d.Keys() },
		} {
			if i := slices.IndexFunc(f.deeds, same); i >= 0 {
				f.do(f.deeds[i])
				return
			}
		}
	}
	a.do(d)
}

// drawMenu greys out what cannot be done now, if that is something else than before.
func (f *frame) drawMenu() {
	if f.menu == nil {
		return
	}
	changed := false
	for _, d := range f.deeds {
		if _, ok := f.where(d); d.item != nil && d.item.Disabled == ok {
			d.item.Disabled, changed = !ok, true
		}
	}
	if changed {
		f.menu.Refresh()
	}
}

// clash returns what is wrong with the keys of the table; nil is nothing.
func clash(deeds []*deed) error {
	seen := map[string]string{}
	for _, d := range deeds {
		if d.Key == "" {
			return fmt.Errorf("%s has no shortcut", d.Name)
		}
		if !slices.Contains(menus, d.Menu) {
			return fmt.Errorf("%s stands in no menu", d.Name)
		}
		for _, act := range d.on {
			if act.Keys() != d.Keys() || act.Menu != d.Menu {
				return fmt.Errorf("%s has %s in one screen and %s in another", d.Name, d.Keys(), act.Keys())
			}
		}
		if other := seen[d.Keys()]; other != "" {
			return fmt.Errorf("%s and %s share %s", d.Name, other, d.Keys())
		}
		seen[d.Keys()] = d.Name
	}
	return nil
}
