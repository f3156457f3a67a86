package ui

import (
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/editor"
	"github.com/throng-sim/throng/ui/setup"
)

// editing is the editor and its page. It opens from Setup and is not in the navigation.
type editing struct {
	screen *editor.Screen
	page   *page
	create func() // asks what a new scenario begins with
	open   func(name string)
}

// newEditing creates the editor and connects it with Setup.
func newEditing(a *App) *editing {
	e := &editing{screen: editor.New(a.desk.Editor, a.win, editor.Ways{
		Leave: func() { a.show(a.pages[0]) }, Saved: a.setup.Open, Order: a.setup.OrderOf, Import: a.importer(),
	})}
	e.page = &page{title: "Edit scenario", icon: theme.DocumentCreateIcon(), help: "../scenarios/README.md", screen: e.screen}
	show := func() {
		e.page.item = a.pages[0].item
		a.show(e.page)
	}
	e.create = func() { e.screen.New(show) }
	e.open = func(name string) {
		show()
		e.screen.Open(name, nil)
	}
	a.setup.SetEditing(setup.Editing{
		New:  e.create,
		Edit: e.open,
		Try: func(name string) {
			show()
			e.screen.Open(name, e.screen.Try)
		},
		Keep: func(o setup.Order) {
			show()
			e.screen.Put(o.Scenario, editor.Values{Parameters: o.Given, Cycles: o.Settings.Cycles, Services: o.Settings.Services})
		},
	})
	return e
}

// importer returns what opens the dialog for a scenario of the user's own backend; nil if there is none.
func (a *App) importer() func() {
	if a.wizard == nil {
		return nil
	}
	return a.wizard.Open
}
