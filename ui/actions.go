package ui

import (
	"runtime"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/helpmenu"
)

// The menus, from left to right.
const (
	menuFile  = "File"
	menuEdit  = "Edit"
	menuRun   = "Run"
	menuAgent = "Agent"
	menuView  = "View"
	menuHelp  = "Help"
)

var menus = []string{menuFile, menuEdit, menuRun, menuAgent, menuView, menuHelp}

// command is an action and where it is done: by the window, or on screens. Actions of the same name on several screens are one command.
type command struct {
	action.Action
	on     map[*page]action.Action
	over   bool          // possible while a dialog is open
	typed  fyne.Shortcut // what a focused text field or table gets instead; nil if it gets none
	close  []desktop.CustomShortcut
	divide bool // the menu has a separator above it
	item   *fyne.MenuItem
	from   *page // the first page with this command
}

// aboutTitle is the name of the command that shows the version.
const aboutTitle = "About Throng"

// quitMenu is the menu with Quit; "" on a Mac, where the system has it in the menu of the program.
var quitMenu = action.On("", menuFile)

// paletteTitle is the name of the command that finds all others.
const paletteTitle = "Search actions…"

// table returns the commands of the window, in the order of the menus.
func (f *frame) table() []*command {
	a := f.of
	ctrl := action.Command
	own := []*command{
		{Action: action.Action{Name: "New scenario…", Menu: menuFile, Do: func() { a.editor.create() }}},
		{Action: action.Action{Name: "New scenario from your backend…", Menu: menuFile, Do: a.importer(), Enabled: func() bool { return a.wizard != nil }}},
		{Action: action.Action{Name: "Open a scenario…", Menu: menuFile, Key: fyne.KeyO, Modifier: ctrl, Do: a.chooseScenario}},
	}
	own = f.ofScreens(append(own, f.editing()...))
	for i, p := range f.pages {
		if f.single || p.title == settingsTitle { // Settings have keys of their own
			break
		}
		own = append(own, &command{Action: action.Action{Name: p.title, Menu: menuView, Key: screenKey(i), Modifier: ctrl, Do: func() { f.show(p) }}})
	}
	for i, act := range chart.Actions(f.win.Canvas()) {
		own = append(own, &command{Action: act, divide: i == 0})
	}
	plus := []desktop.CustomShortcut{{KeyName: fyne.KeyPlus, Modifier: ctrl | fyne.KeyModifierShift}, {KeyName: fyne.KeyEqual, Modifier: ctrl}, {KeyName: fyne.KeyEqual, Modifier: ctrl | fyne.KeyModifierShift}}
	return append(
		append(own, f.ofHelp()...),
		&command{Action: action.Action{Name: "Larger text", Menu: menuView, Key: fyne.KeyPlus, Modifier: ctrl, Do: func() { a.zoom(+1) }}, over: true, divide: true, close: plus},
		&command{Action: action.Action{Name: "Smaller text", Menu: menuView, Key: fyne.KeyMinus, Modifier: ctrl, Do: func() { a.zoom(-1) }}, over: true},
		&command{Action: action.Action{Name: "Default text size", Menu: menuView, Key: fyne.Key0, Modifier: ctrl, Do: func() { a.zoom(0) }}, over: true},
		&command{Action: action.Action{Name: "New window", Menu: menuFile, Key: fyne.KeyN, Modifier: ctrl, Do: a.open}, over: true, divide: true},
		&command{Action: action.Action{Name: "Close window", Menu: menuFile, Key: fyne.KeyW, Modifier: ctrl, Do: f.close}, over: true},
		&command{Action: action.Action{Name: settingsTitle + "…", Menu: menuFile, Key: fyne.KeyComma, Modifier: ctrl, Do: a.showSettings}, divide: true, close: []desktop.CustomShortcut{{KeyName: screenKey(len(a.pages) - 1), Modifier: ctrl}}},
		&command{Action: action.Action{Name: "Quit", Menu: quitMenu, Key: fyne.KeyQ, Modifier: ctrl, Do: a.close}, over: true, divide: true},
	)
}

// screenKey is the key of a screen in the navigation.
func screenKey(i int) fyne.KeyName { return fyne.KeyName(rune('1' + i)) }

// ofHelp returns the commands of the menu Help.
func (f *frame) ofHelp() []*command {
	a := f.of
	all := []*command{
		{Action: action.Action{Name: guideTitle, Menu: menuHelp, Key: fyne.KeyF1, Do: f.help}, over: true},
		{Action: action.Action{Name: "Search the guide…", Menu: menuHelp, Key: fyne.KeyF3, Do: a.searchGuide}, over: true},
		{Action: action.Action{Name: paletteTitle, Menu: menuHelp, Key: fyne.KeyK, Modifier: action.Command, Do: f.showPalette}},
		{Action: action.Action{Name: "Keyboard shortcuts", Menu: menuHelp, Key: fyne.KeySlash, Modifier: action.Command, Do: f.showShortcuts}},
		{Action: action.Action{Name: "Show the tour", Menu: menuHelp, Do: a.showTour}},
	}
	if a.desk.Tool != nil {
		all = append(all, &command{Action: action.Action{Name: "Install command line tool…", Menu: menuHelp, Do: f.installTool}, divide: true})
	}
	return append(
		all,
		&command{Action: action.Action{Name: "Open log folder", Menu: menuHelp, Do: a.openLogs, Enabled: a.knowsProgram}, divide: true},
		&command{Action: action.Action{Name: aboutTitle, Menu: menuHelp, Do: a.showAbout, Enabled: a.knowsProgram}},
	)
}

// ofScreens adds the commands of the screens. A command of several screens is done on the visible one.
func (f *frame) ofScreens(all []*command) []*command {
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
			i := slices.IndexFunc(all, func(d *command) bool { return d.Name == act.Name })
			if i < 0 {
				i = len(all)
				all = append(all, &command{Action: act, on: map[*page]action.Action{}, from: p})
			}
			all[i].on[p] = act
		}
	}
	return all
}

// shortcuts returns the keys of a command as toolkit shortcuts. Those for text alone are the toolkit's.
func (d *command) shortcuts() (all []fyne.Shortcut) {
	if d.typed != nil && len(d.on) == 0 {
		return nil
	}
	if s := d.Shortcut(); s != nil {
		all = append(all, s)
	}
	for i := range d.close {
		all = append(all, &d.close[i])
	}
	return all
}

// where returns the page that a command is done on: the visible page, or otherwise that of the run in progress. ok is false if the command
// is not possible now.
func (f *frame) where(d *command) (on *page, ok bool) {
	if d.on == nil {
		return nil, d.Can()
	}
	if act, here := d.on[f.current]; here {
		return f.current, act.Can()
	}
	if act, ok := d.on[f.run]; ok { // commands of the run may be urgent, so they work on every page
		return f.run, act.Can()
	}
	return nil, false
}

// do performs a command of a menu or shortcut, if that is possible.
func (f *frame) do(d *command) {
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

// label returns the text of the command's menu item. On a Mac, the toolkit moves an item "About" into the menu of the program, as it moves
// "Settings…" there.
func (d *command) label() string {
	if runtime.GOOS == "darwin" && d.Name == aboutTitle {
		return "About"
	}
	return d.Name
}

// mainMenu returns the menus. Their shortcuts also work while an entry is focused.
func (f *frame) mainMenu() *fyne.MainMenu {
	f.menu = fyne.NewMainMenu()
	for _, name := range menus {
		m := fyne.NewMenu(name)
		var from *page
		for _, d := range f.commands {
			if d.Menu != name {
				continue
			}
			d.item = &fyne.MenuItem{Label: d.label(), Shortcut: d.Shortcut(), Action: func() { f.of.chosen(d) }}
			if child := subMenu(m, d.Sub); child != nil {
				child.Items = append(child.Items, d.item)
				continue
			}
			if d.divide || d.from != from && len(m.Items) > 0 {
				m.Items = append(m.Items, fyne.NewMenuItemSeparator())
			}
			from = d.from
			if d.Sub != "" {
				m.Items = append(m.Items, &fyne.MenuItem{Label: d.Sub, ChildMenu: fyne.NewMenu(d.Sub, d.item)})
				continue
			}
			m.Items = append(m.Items, d.item)
		}
		f.menu.Items = append(f.menu.Items, m)
	}
	f.printKeys()
	file := f.menu.Items[0].Items
	file[len(file)-1].IsQuit = true // otherwise the toolkit adds another item that quits, also on a Mac
	return f.menu
}

// chosen performs a command from the menu: in the focused window if possible, which may have another command with the same keys. On a Mac
// all windows share one menu.
func (a *App) chosen(d *command) {
	for _, f := range a.others {
		if f.native == nil || !f.native.Focused() {
			continue
		}
		if f.pass(d) {
			return
		}
		for _, same := range []func(*command) bool{
			func(own *command) bool { return own.Name == d.Name }, func(own *command) bool { return own.Keys() == d.Keys() },
		} {
			if i := slices.IndexFunc(f.commands, same); i >= 0 {
				f.do(f.commands[i])
				return
			}
		}
	}
	if !a.pass(d) {
		a.do(d)
	}
}

// drawMenu disables the commands that are not possible now, if that has changed.
func (f *frame) drawMenu() {
	if f.menu == nil {
		return
	}
	helpmenu.Set(menuHelp)
	changed := false
	for _, d := range f.commands {
		_, ok := f.where(d)
		ok = ok || d.typed != nil && f.focused() != nil
		if d.item != nil && d.item.Disabled == ok {
			d.item.Disabled, changed = !ok, true
		}
	}
	if changed {
		f.menu.Refresh()
	}
}
