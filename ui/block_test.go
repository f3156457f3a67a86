package ui

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/settings"
	"github.com/throng-sim/throng/ui/uitest"
)

// comesBack runs f on the stand-in for the UI goroutine, and fails if f blocks.
func comesBack(t *testing.T, what string, do func()) {
	t.Helper()
	back := make(chan struct{})
	go func() {
		defer close(back)
		do()
	}()
	late := time.NewTimer(2 * time.Minute)
	defer late.Stop()
	select {
	case <-back:
	case <-late.C:
		stack := make([]byte, 1<<20)
		t.Fatalf("the UI goroutine waits: %s\n%s", what, stack[:runtime.Stack(stack, true)])
	}
}

// patientApp is the window with a desk that answers only while the door is open.
func patientApp(t *testing.T) (*uitest.Queue, *App, *patience) {
	q := uitest.Start(t)
	p := newPatience()
	var a *App
	comesBack(t, "opening the window", func() {
		a = New(&app{App: fyne.CurrentApp()}, p.desk())
		q.Drain()
	})
	t.Cleanup(func() {
		p.open()
		q.Until("no one waits any more", p.idle)
	})
	return q, a, p
}

// says is the text that each screen shows while it waits for its first answer.
var says = map[string]string{
	"Setup": "Loading scenarios…", "Live": "No run is in progress", "Runs": "Loading runs…", "Results": "Loading runs…", "Compare": "Loading runs…",
	experimentsTitle: "Loading experiments…", "Calibrate": "Loading scenarios…", "Settings": "Loading settings…",
}

// TestNothingIsWaitedFor checks that no screen blocks on a store that does not answer.
func TestNothingIsWaitedFor(t *testing.T) {
	q, a, p := patientApp(t)
	for _, page := range a.pages {
		comesBack(t, "showing "+page.title, func() {
			a.show(page)
			a.tick()
			q.Drain()
		})
		if !uitest.Shows(page.Content(), says[page.title]) {
			t.Errorf("%s does not show that it waits: %.300q", page.title, uitest.Texts(page.Content()))
		}
	}
	q.Until("the store is asked", func() bool { return !p.idle() })
}

// TestEveryButtonComesBack presses every button on every screen while nothing answers, and checks that none blocks.
func TestEveryButtonComesBack(t *testing.T) {
	q, a, p := patientApp(t)
	p.begun()
	p.open()
	pressed := map[string]bool{}
	for _, page := range a.pages {
		a.show(page)
		a.tick()
		q.Until(page.title+" has read what it shows", func() bool { return hasLoaded(page) && p.idle() })
		p.shut()
		for _, view := range a.views(page) {
			view()
			for _, b := range buttons(page.Content()) {
				name := page.title + ": " + b.Text
				pressed[b.Text] = true
				comesBack(t, "pressing "+name, func() {
					if b.Disabled() || !b.Visible() || strings.Contains(b.Text, "Open folder") { // another program
						return
					}
					test.Tap(b)
					a.tick()
					q.Drain()
					a.dismissAll()
				})
			}
		}
		for _, what := range reached[page.title] {
			q.Until(page.title+" asking for "+what+" by a button", func() bool { return p.stands(what) })
		}
		p.open()
		q.Until("all is answered", p.idle)
	}
	p.shut()
	for _, d := range a.commands {
		if strings.Contains(d.Name, "Quit") || strings.Contains(d.Name, "Close") || strings.Contains(d.Name, "Open the data") {
			continue
		}
		comesBack(t, "doing "+d.Name, func() {
			a.do(d)
			a.tick()
			q.Drain()
			a.dismissAll()
		})
	}
	for _, text := range []string{"Launch", "Pause", "Resume", "Audit", "Calibrate", "Test", "Save"} {
		if !pressed[text] {
			t.Errorf("there was no button %q among %v", text, pressed)
		}
	}
}

// views returns functions that show the parts of a page that are shown one at a time.
func (a *App) views(p *page) (all []func()) {
	if p != a.pageOf(settingsTitle) {
		return []func(){func() {}}
	}
	for _, section := range []string{settings.Database, settings.General, settings.Notifications, settings.Storage, settings.Privacy, "Machine and services"} {
		all = append(all, func() { a.settings.Open(section) })
	}
	return all
}

// loaded is a text that each screen shows once it has read its data.
var loaded = map[string][]string{
	"Setup": {"active", "shop.example.com"}, "Live": {"Shoppers"}, "Runs": {"interval"}, "Results": {"0 of 8,928"}, "Compare": {"2 cycles (0 to 1)"},
	experimentsTitle: {"Does eagerness pay?"}, "Calibrate": {"mac: 8 cores", "Marketplace shoppers"}, "Settings": {"Saved in the settings", "Machine and services"},
}

func hasLoaded(p *page) bool {
	if s, ok := p.screen.(*settings.Screen); ok && !uitest.Shows(p.Content(), loaded[p.title][0]) {
		s.Open(settings.Database)
	}
	uitest.Unfold(p.Content())
	for _, text := range loaded[p.title] {
		if !uitest.Shows(p.Content(), text) {
			return false
		}
	}
	return true
}

// reached lists the calls that the buttons of the screens must have made by the end.
var reached = map[string][]string{
	"Setup": {"Unallowed", "TestService"}, "Live": {"Pause"}, "Runs": {"Resume"}, "Results": {"Audit"},
	experimentsTitle: {"Unallowed of experiments"}, "Calibrate": {"Start"}, "Settings": {"SaveConnection"},
}

// dismissAll closes everything on top of the window.
func (a *App) dismissAll() {
	c := a.win.Canvas()
	for range 5 {
		if c.Overlays().Top() == nil {
			return
		}
		if !a.key(fyne.KeyEscape) {
			c.Overlays().Remove(c.Overlays().Top())
		}
	}
}

// buttons returns the buttons of a screen, the most important first, because others may have to wait while one works.
func buttons(o fyne.CanvasObject) (all []*widget.Button) {
	uitest.Walk(o, func(o fyne.CanvasObject) bool {
		if b, ok := o.(*widget.Button); ok {
			all = append(all, b)
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b *widget.Button) int { return rank(a) - rank(b) })
	return all
}

func rank(b *widget.Button) int {
	if b.Importance == widget.HighImportance {
		return 0
	}
	return 1
}
