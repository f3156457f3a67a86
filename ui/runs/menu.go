package runs

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/export"
)

// moreMenu is the menu of what is rarely needed: other machines, the trash, cleaning up, sorting.
type moreMenu struct {
	screen *Screen
	send   *widget.Button // the buttons are not shown; actions press them
	remote *widget.Button
	bundle *widget.Button
	trash  *widget.Button
	prune  *widget.Button
}

func newMoreMenu(s *Screen) *moreMenu {
	m := &moreMenu{screen: s}
	m.send = widget.NewButtonWithIcon("Send to Postgres", theme.UploadIcon(), s.send)
	m.remote = widget.NewButtonWithIcon("From Postgres…", theme.DownloadIcon(), s.browse)
	m.bundle = widget.NewButtonWithIcon("Open bundle…", theme.FolderOpenIcon(), func() { s.pickFile(s.OpenBundle) })
	m.trash = widget.NewButtonWithIcon("Trash…", theme.DeleteIcon(), s.showTrash)
	m.prune = widget.NewButtonWithIcon("Clean up…", theme.ContentClearIcon(), s.CleanUp)
	enable(m.send, false)
	enable(m.remote, false)
	return m
}

// draw enables what is possible.
func (m *moreMenu) draw() {
	s := m.screen
	database := s.desk.Remote() != ""
	r := s.run()
	enable(m.remote, database)
	enable(m.send, database && r != nil && r.Fetched == nil && s.working[r.ID] == "")
}

// menu returns the menu. An item that is not possible says why.
func (m *moreMenu) menu() *fyne.Menu {
	s := m.screen
	m.draw()
	item := func(b *widget.Button, why string) *fyne.MenuItem {
		text := b.Text
		if b.Disabled() && why != "" {
			text += " (" + why + ")"
		}
		i := fyne.NewMenuItem(text, b.OnTapped)
		i.Icon, i.Disabled = b.Icon, b.Disabled()
		return i
	}
	const noDatabase = "set a database in Settings"
	sendWhy := noDatabase
	if s.desk.Remote() != "" {
		sendWhy = "the results of this run are there"
		if r := s.run(); r == nil {
			sendWhy = "select a run"
		} else if s.working[r.ID] != "" {
			sendWhy = "wait for the current operation"
		}
	}
	sort := fyne.NewMenuItem("Sort by", nil)
	sort.ChildMenu = fyne.NewMenu("")
	for column := range runColumns {
		name := runColumns[column].Title
		if column == columnStar {
			name = "Star"
		}
		i := fyne.NewMenuItem(name, func() { s.list.sortBy(column) })
		i.Checked = column == s.list.sorted
		sort.ChildMenu.Items = append(sort.ChildMenu.Items, i)
	}
	return fyne.NewMenu("", item(m.remote, noDatabase), item(m.send, sendWhy), item(m.bundle, ""), fyne.NewMenuItemSeparator(), item(m.trash, ""), item(m.prune, ""), fyne.NewMenuItemSeparator(), sort)
}

// open opens the menu below a button, or above it if there is no room.
func (m *moreMenu) open(at *widget.Button) {
	driver := fyne.CurrentApp().Driver()
	canvas := driver.CanvasForObject(at)
	if canvas == nil {
		return
	}
	menu := widget.NewPopUpMenu(m.menu(), canvas)
	place, size := driver.AbsolutePositionForObject(at), menu.MinSize()
	y := place.Y + at.Size().Height
	if y+size.Height > canvas.Size().Height {
		y = max(place.Y-size.Height, 0)
	}
	menu.ShowAtPosition(fyne.NewPos(max(place.X+at.Size().Width-size.Width, 0), y))
}

// Actions returns the actions on runs, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	const ctrl, shift = action.Command, action.Command | fyne.KeyModifierShift
	d, l := s.detail, s.list
	chosen := func() bool { return s.run() != nil }
	return slices.Concat([]action.Action{
		action.Press(d.resume, action.Action{Name: "Resume run", Menu: "Run", Key: fyne.KeyReturn, Modifier: shift}),
		action.Press(d.fork, action.Action{Name: "Fork…", Menu: "Run", Key: fyne.KeyF9}),
		action.Press(d.ask, action.Action{Name: "Ask agents…", Menu: "Run", Sub: "Selected run"}),
		action.Press(d.results, action.Action{Name: "Show results", Menu: "Run", Key: fyne.KeyL, Modifier: ctrl}),
		action.Press(l.compare, action.Action{Name: "Compare…", Menu: "Run", Sub: "Selected run", Key: fyne.KeyC, Modifier: shift}),
		action.Press(l.menu.send, action.Action{Name: "Send to Postgres", Menu: "File", Sub: "Database", Key: fyne.KeyU, Modifier: ctrl}),
		action.Press(l.menu.remote, action.Action{Name: "From Postgres…", Menu: "File", Sub: "Database", Key: fyne.KeyU, Modifier: shift}),
		action.Press(l.menu.bundle, action.Action{Name: "Open bundle…", Menu: "File"}),
		action.Press(l.remove, action.Action{Name: "Delete run…", Menu: "File", Key: fyne.KeyD, Modifier: ctrl}),
		action.Press(d.removePoint, action.Action{Name: "Delete checkpoint", Menu: "File", Key: fyne.KeyD, Modifier: shift}),
		{Name: "Clean up…", Menu: "File", Do: s.CleanUp},
		action.Press(d.replay, action.Action{Name: "History", Menu: "Run", Sub: "Selected run", Key: fyne.KeyH, Modifier: shift}),
		{Name: "Undo", Menu: "Edit", Key: fyne.KeyZ, Modifier: ctrl, Do: s.Undo, Enabled: func() bool { return s.visible && len(s.undo.past) > 0 }},
		action.Press(l.menu.trash, action.Action{Name: "Trash…", Menu: "File"}),
		{Name: "Find…", Menu: "Edit", Key: fyne.KeyF, Modifier: ctrl, Do: func() { s.win.Canvas().Focus(l.search) }},
	}, export.Actions(l.exportMarked, func() bool { return !l.export.Disabled() }), []action.Action{
		{Name: "Rename run", Menu: "Run", Sub: "Selected run", Key: fyne.KeyF2, Do: d.focusName, Enabled: chosen},
		{Name: "Add or remove star", Menu: "Run", Sub: "Selected run", Do: func() { s.star(s.chosen) }, Enabled: chosen},
		{Name: "Edit note", Menu: "Run", Sub: "Selected run", Key: fyne.KeyI, Modifier: ctrl, Do: d.note.Focus, Enabled: chosen},
	})
}
