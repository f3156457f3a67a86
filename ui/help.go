package ui

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/guide"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// guideTitle is the title of the guide's window and menu item.
const guideTitle = "Guide"

// firstPage is the guide's first page.
const firstPage = "01-first-steps.md"

// manual is the window of the guide, which stays open next to a run.
type manual struct {
	*frame
	screen *guide.Screen
}

// guideSize is the initial size of the window, in text heights.
var guideSize = fyne.NewSize(85, 62)

// showGuide opens the guide at a page or heading, or brings its window to the front.
func (a *App) showGuide(target string) {
	if a.manual == nil {
		a.manual = a.newManual(target)
	} else {
		a.manual.screen.Open(target)
	}
	a.manual.win.Show()
	a.manual.win.RequestFocus()
}

// searchGuide opens the guide and focuses its search field.
func (a *App) searchGuide() {
	if a.manual == nil {
		a.showGuide(firstPage)
	}
	a.manual.win.RequestFocus()
	a.manual.screen.Find()
}

func (a *App) newManual(target string) *manual {
	f := newFrame(a, guideTitle+" · Throng")
	f.single = true
	m := &manual{frame: f, screen: guide.New(f.win, target)}
	f.pages = []*page{{title: guideTitle, icon: theme.HelpIcon(), screen: m.screen}}
	f.build()
	c := f.win.Canvas()
	c.AddShortcut(&fyne.ShortcutCopy{}, func(fyne.Shortcut) { m.screen.Copy() })
	c.AddShortcut(&fyne.ShortcutSelectAll{}, func(fyne.Shortcut) { m.screen.SelectAll() })
	c.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyLeft, Modifier: fyne.KeyModifierAlt}, func(fyne.Shortcut) { m.screen.Turn(-1) })
	c.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyRight, Modifier: fyne.KeyModifierAlt}, func(fyne.Shortcut) { m.screen.Turn(1) })
	c.SetOnTypedKey(func(e *fyne.KeyEvent) {
		if !f.key(e.Name) {
			m.screen.Typed(e.Name)
		}
	})
	em := theme.TextSize()
	f.win.Resize(fyne.NewSize(guideSize.Width*em, guideSize.Height*em))
	f.win.SetOnClosed(func() {
		widgets.Forget(f.win)
		a.others = slices.DeleteFunc(a.others, func(one *frame) bool { return one == f })
		a.manual = nil
	})
	a.others = append(a.others, f)
	f.show(f.pages[0])
	return m
}

// helper is a screen that suggests a page of the guide for its current state; "" is the screen's page.
type helper interface{ Help() string }

// help opens the guide's page on the visible screen.
func (f *frame) help() {
	if m := f.of.manual; m != nil && m.frame == f {
		m.screen.Open(firstPage)
		return
	}
	target := f.current.help
	if s, ok := f.current.screen.(helper); ok {
		if now := s.Help(); now != "" {
			target = now
		}
	}
	f.of.showGuide(target)
}
