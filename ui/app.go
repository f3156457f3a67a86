// Package ui is the window: its screens, the way between them, and how it ends. What the screens show and do they ask
// of a [Desk].
package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/calibrate"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/inspect"
	"github.com/throng-sim/throng/ui/internal/words"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/results"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/settings"
	"github.com/throng-sim/throng/ui/setup"
)

// pulse is how often the visible screen looks at the run.
const pulse = 300 * time.Millisecond

// Desk is what the window and its screens ask for.
type Desk struct {
	Setup     setup.Desk
	Live      live.Desk
	Runs      runs.Desk
	Results   results.Desk
	Calibrate calibrate.Desk
	Settings  settings.Desk
	Store     Store
}

// Store is what the window itself asks for.
type Store interface {
	// Notice is what a person should know of how the store was opened; "" is nothing. It does not wait.
	Notice() string
	// Interrupted returns the newest run, if its process died before the run's end and nobody works on it.
	Interrupted(ctx context.Context) (*engine.RunRecord, error)
	// Stop has the run in progress end, and one that is only being started as soon as it has begun. Sessions in flight
	// end first, unless they are cut. It waits for the run's loop, a moment.
	Stop(cut bool) error
	// Settled is closed when the run in progress has ended and all that it left is written. It does not wait.
	Settled() <-chan struct{}
}

// screen is a page of the window. Its methods are called on the UI goroutine.
type screen interface {
	Content() fyne.CanvasObject
	Show()
	Hide()
	Tick()
}

// page is a screen with its place in the navigation.
type page struct {
	title string
	icon  fyne.Resource
	screen
	item *navItem
	look look // that it was drawn with
}

// look is what colours and sizes come from.
type look struct {
	fyne.Theme
	variant fyne.ThemeVariant
}

// App is the window with its screens.
type App struct {
	app     fyne.App
	win     fyne.Window
	desk    Desk
	pages   []*page
	current *page
	content *fyne.Container
	live    *live.Screen
	setup   *setup.Screen
	runs    *runs.Screen
	results *results.Screen
	pulse   *async.Pulse
	closing bool
}

const themeKey = "theme"

// New builds the window; [App.Run] shows it.
func New(app fyne.App, desk Desk) *App {
	a := &App{app: app, desk: desk, win: app.NewWindow("Throng")}
	choice := app.Preferences().StringWithFallback(themeKey, "system")
	app.Settings().SetTheme(NewLook(choice))

	a.setup = setup.New(desk.Setup, a.win, a.showLive)
	a.live = live.New(desk.Live, a.win, a.showResults)
	a.runs = runs.New(desk.Runs, a.win, a.showLive, a.showResults)
	a.results = results.New(desk.Results, a.win)
	a.pages = []*page{
		{title: "Setup", icon: theme.DocumentCreateIcon(), screen: a.setup},
		{title: "Live", icon: theme.MediaPlayIcon(), screen: a.live},
		{title: "Checkpoints", icon: theme.HistoryIcon(), screen: a.runs},
		{title: "Results", icon: theme.ListIcon(), screen: a.results},
		{title: "Calibrate", icon: theme.SearchIcon(), screen: calibrate.New(desk.Calibrate, calibrate.Setup{Order: a.setUp, Apply: a.apply})},
		{title: "Settings", icon: theme.SettingsIcon(), screen: settings.New(desk.Settings, a.win, choice, a.setTheme)},
	}
	a.build()
	return a
}

// build lays the window out.
func (a *App) build() {
	nav := container.NewVBox()
	for _, p := range a.pages {
		p.look = a.look()
		p.item = newNavItem(p.title, p.icon, func() { a.show(p) })
		nav.Add(p.item)
	}
	a.content = container.NewStack()
	a.win.SetContent(container.NewBorder(nil, nil, container.NewPadded(nav), nil, container.NewPadded(a.content)))
	a.win.SetPadded(false)
	a.win.Resize(fyne.NewSize(1280, 800))
	a.win.SetMaster()
	a.win.SetMainMenu(a.menu())
	a.win.SetCloseIntercept(a.close)
	a.win.SetOnDropped(func(_ fyne.Position, files []fyne.URI) {
		if len(files) > 0 {
			a.Open(files[0].Path())
		}
	})
	for i, p := range a.pages {
		a.win.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyName(rune('1' + i)), Modifier: fyne.KeyModifierShortcutDefault},
			func(fyne.Shortcut) { a.show(p) })
	}
	a.win.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyQ, Modifier: fyne.KeyModifierShortcutDefault},
		func(fyne.Shortcut) { a.close() })
	a.show(a.pages[0])
}

func (a *App) menu() *fyne.MainMenu {
	quit := fyne.NewMenuItem("Quit", a.close)
	quit.IsQuit = true
	view := fyne.NewMenu("View")
	for _, p := range a.pages {
		view.Items = append(view.Items, fyne.NewMenuItem(p.title, func() { a.show(p) }))
	}
	open := fyne.NewMenuItem("Open a scenario…", func() {
		a.show(a.pages[0])
		a.setup.Choose()
	})
	return fyne.NewMainMenu(fyne.NewMenu("File", open, fyne.NewMenuItemSeparator(), quit), view)
}

// Open shows a scenario file in Setup.
func (a *App) Open(path string) {
	a.show(a.pages[0])
	a.setup.Open(path)
}

// Quit ends an app's windows from any goroutine.
func Quit(app fyne.App) { async.Do(app.Quit) }

// Run shows the window until it is closed. A run may then still be in progress: a signal does not ask.
func (a *App) Run() {
	a.pulse = async.Start(pulse, a.tick)
	a.app.Lifecycle().SetOnStopped(a.pulse.Stop)
	a.greet()
	if socket := os.Getenv(inspect.Env); socket != "" {
		if err := inspect.Serve(socket, a.win); err != nil {
			slog.Error("the window cannot be inspected", "error", err)
		}
	}
	a.win.ShowAndRun()
}

// tick looks at the run; only the visible screen draws.
func (a *App) tick() {
	a.live.Collect()
	a.current.Tick()
}

// show makes a page the visible one.
func (a *App) show(p *page) {
	if a.current == p {
		return
	}
	if a.current != nil {
		a.current.Hide()
		a.current.item.choose(false)
	}
	a.current = p
	p.item.choose(true)
	a.content.Objects = []fyne.CanvasObject{p.Content()}
	a.content.Refresh()
	p.Show()
	if p.look != a.look() { // the toolkit brings a new look only to what is visible then
		a.app.Settings().SetTheme(a.look().Theme)
		p.look = a.look()
	}
}

func (a *App) look() look {
	s := a.app.Settings()
	return look{s.Theme(), s.ThemeVariant()}
}

func (a *App) showLive() { a.show(a.pages[1]) }

func (a *App) showResults(run engine.RunID) {
	a.results.Select(run)
	a.show(a.pages[3])
}

// setUp is what Setup would launch now, for the calibration.
func (a *App) setUp() (calibrate.Order, bool) {
	o, ok := a.setup.Order()
	return calibrate.Order{Scenario: o.Scenario, Given: o.Given, Settings: &o.Settings, Allow: o.Allow}, ok
}

// apply hands a recommended number of sessions to Setup.
func (a *App) apply(level int) {
	a.setup.Apply(level)
	a.show(a.pages[0])
}

func (a *App) setTheme(choice string) {
	a.app.Preferences().SetString(themeKey, choice)
	a.app.Settings().SetTheme(NewLook(choice))
	a.current.look = a.look()
}

// greet tells what is worth knowing at the start, and offers to go on with a run whose process died.
func (a *App) greet() {
	if notice := a.desk.Store.Notice(); notice != "" {
		dialog.ShowInformation("The store", notice, a.win)
	}
	async.Work(func() (*engine.RunRecord, error) { return a.desk.Store.Interrupted(context.Background()) },
		func(r *engine.RunRecord, err error) {
			if err == nil && r != nil { // else the list of runs will say what is wrong
				a.offer(r)
			}
		})
}

func (a *App) offer(r *engine.RunRecord) {
	done := engine.FormatCount(r.Done)
	if r.Total > 0 {
		done += " of " + engine.FormatCount(r.Total)
	}
	text := fmt.Sprintf("%s, begun %s, was interrupted after %s sessions.\nNothing that was done is lost, and nothing is done twice.",
		r.Title, r.Created.Local().Format("Mon 2 Jan 15:04"), done)
	ask := dialog.NewCustomConfirm("Go on with the last run?", "Resume", "Not now", words.NewParagraph(a.win, text), func(yes bool) {
		if !yes {
			return
		}
		async.Work(func() (struct{}, error) { return struct{}{}, a.desk.Runs.Resume(context.Background(), r.ID, 0, "") },
			func(_ struct{}, err error) {
				if err != nil {
					dialog.ShowError(err, a.win)
					return
				}
				a.showLive()
			})
	}, a.win)
	ask.Show()
}

// close ends the program; a run in progress is asked about, stopped and waited for.
func (a *App) close() {
	select {
	case <-a.desk.Store.Settled():
		a.app.Quit()
		return
	default:
	}
	if a.closing {
		return
	}
	a.closing = true
	title, text := "A run is in progress", "Sessions in flight end, then a checkpoint is taken.\nThe run can be resumed from Checkpoints at the step after the last one done."
	if s := a.desk.Calibrate.State(); s != nil && s.Running {
		title, text = "A calibration is in progress", "It is given up, and what it found is not kept."
	}
	ask := dialog.NewCustomConfirm(title, "Stop and close", "Keep running", widget.NewLabel(text), func(yes bool) {
		if !yes {
			a.closing = false
			return
		}
		a.stopAndClose()
	}, a.win)
	ask.Show()
}

// stopAndClose stops the run and quits when all that it left is written.
func (a *App) stopAndClose() {
	cut := widget.NewButton("Close at once", nil)
	state := widget.NewLabel("Stopping: sessions in flight end, then a checkpoint is taken.")
	wait := dialog.NewCustomWithoutButtons("Closing", container.NewVBox(state, widget.NewProgressBarInfinite(), container.NewCenter(cut)), a.win)
	stop := func(cut bool) {
		async.Work(func() (struct{}, error) { return struct{}{}, a.desk.Store.Stop(cut) },
			func(_ struct{}, err error) {
				if err != nil && !errors.Is(err, engine.ErrEnded) {
					state.SetText(err.Error())
				}
			})
	}
	cut.OnTapped = func() {
		cut.Disable()
		state.SetText("Cutting what is in flight; those sessions run again on resume.")
		stop(true)
	}
	wait.Show()
	stop(false)
	async.Work(func() (struct{}, error) {
		<-a.desk.Store.Settled()
		return struct{}{}, nil
	}, func(struct{}, error) { a.app.Quit() })
}
