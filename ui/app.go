package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/calibrate"
	"github.com/throng-sim/throng/ui/compare"
	"github.com/throng-sim/throng/ui/editor"
	"github.com/throng-sim/throng/ui/experiments"
	"github.com/throng-sim/throng/ui/experiments/designer"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/export"
	"github.com/throng-sim/throng/ui/internal/inspect"
	"github.com/throng-sim/throng/ui/internal/taskbar"
	"github.com/throng-sim/throng/ui/internal/tour"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/results"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/settings"
	"github.com/throng-sim/throng/ui/setup"
	"github.com/throng-sim/throng/ui/study"
	"github.com/throng-sim/throng/ui/wizard"
)

// pulse is the interval at which the visible screen is updated.
const pulse = 300 * time.Millisecond

// Desk is what the window and its screens need from the application.
type Desk struct {
	Setup   setup.Desk
	Editor  editor.Desk
	Live    live.Desk
	Runs    runs.Desk
	Results results.Desk
	Study   study.Desk // nil if there are no studies; their tabs and Ask agents… are then missing
	Compare compare.Desk
	// Experiments is nil if there are none; their page is then missing.
	Experiments experiments.Desk
	Designer    designer.Desk // nil if there are no experiments
	Calibrate   calibrate.Desk
	Settings    settings.Desk
	Import      wizard.Desk // nil if scenarios cannot be imported
	Store       Store
	Program     Program     // nil if there is no information on the program
	Tool        Tool        // nil if there is nothing to install
	Attach      Attach      // nil if the toolkit's windows are enough
	Dialogs     FileDialogs // nil uses the toolkit's
	// IconText, if set, shows a text next to the program's icon in the menu bar of macOS. Other systems show it as the icon's name, or not at all.
	IconText func(text string)
	// Drew, if set, is called by the UI goroutine a few times a second.
	Drew func()
}

// FileDialogs are file dialogs of the operating system.
type FileDialogs = widgets.FileDialogs

// Store is what the window itself needs from the application.
type Store interface {
	// Notice describes problems with opening the store and with the program's last exit; "" if none. It does not wait.
	Notice() string
	// Interrupted returns the newest run if its process ended before the run and no other process works on it.
	Interrupted(ctx context.Context) (*engine.RunRecord, error)
	// Stop stops the run in progress, or one that is being started as soon as it has begun. Sessions in flight complete first, unless cut
	// is set. It waits briefly for the run's loop.
	Stop(cut bool) error
	// Settled is closed when the run in progress has ended and all its data is written. It does not wait.
	Settled() <-chan struct{}
}

// App is the program's windows and their screens. The embedded frame is the first window; closing it ends the program.
type App struct {
	*frame
	app     fyne.App
	desk    Desk
	others  []*frame // additional windows, and the guide's
	manual  *manual  // nil while the guide is closed
	closers []closer // screens with text that may not be stored yet
	live    *live.Screen
	setup   *setup.Screen
	editor  *editing
	wizard  *wizard.Wizard // nil if scenarios cannot be imported
	runs    *runs.Screen
	results *results.Screen
	compare *compare.Screen
	asker   *study.Asker // nil if agents cannot be asked
	// experiments is nil if the application has none.
	experiments *experiments.Screen
	designer    *designer.Designer
	pulse       *async.Pulse
	settings    *settings.Screen
	choices     choices
	systemTray  *systemTray
	notifier    notifier
	icon        *taskbar.Icon
	tour        *tour.Tour // the newest; nil before the first
	opened      bool       // a file was opened, which the tour would get in the way of
	closing     bool
	ended       bool // the first window was closed

	// at the last tick, while the user may still be moving the window
	seenSize  fyne.Size
	seenPlace [2]int
}

const settingsTitle = "Settings"

func (a *App) showSettings() { a.show(a.pageOf(settingsTitle)) }

// New returns the windows; [App.Run] shows them.
func New(app fyne.App, desk Desk) *App {
	a := &App{app: app, desk: desk, choices: remembered(app.Preferences())}
	if os.Getenv(inspect.Env) == "" { // tests drive the toolkit's dialogs
		widgets.UseDialogs(desk.Dialogs)
	}
	app.Settings().SetTheme(a.choices.look())
	a.frame = newFrame(a, "Throng")
	a.notifier, a.icon = notifier{app: app, off: a.choices.silent}, taskbar.New(app.UniqueID(), picture(app.Icon()))

	a.setup = setup.New(desk.Setup, a.win, setup.Ways{
		Launched: a.showLive, Live: a.showLive, Settings: a.showDatabase, Runs: func() { a.show(a.pages[2]) }, Open: a.Open,
	})
	if desk.Import != nil {
		a.wizard = wizard.New(desk.Import, a.win, wizard.Ways{Created: a.created})
	}
	a.editor = newEditing(a)
	a.live = live.New(desk.Live, a.win, a.showResults)
	a.live.ToResume = a.resume
	if desk.Study != nil {
		a.asker = study.NewAsker(desk.Study, a.win, a.showSurvey)
		a.live.ToAsk = a.asker.Open
	}
	a.runs = runs.New(desk.Runs, a.win, runs.Ways{
		Setup: func() { a.show(a.pages[0]) }, Live: a.showLive, Results: a.showResults, Compare: a.showCompare, Replay: a.showPast, Fork: a.fork,
		Ask: a.live.ToAsk, Renamed: func(run engine.RunID, name string) { a.live.Rename(run, name) },
	})
	a.results = results.New(desk.Results, desk.Study, a.win)
	a.results.Lead(results.Ways{
		Setup: func() { a.show(a.pages[0]) }, Settings: a.showDatabase, Compare: func(run engine.RunID) { a.showCompare(run) },
		Clean: func() {
			a.show(a.pages[2])
			a.runs.CleanUp()
		},
		Replay: a.showPast, Ask: a.live.ToAsk,
	})
	a.compare = compare.New(desk.Compare)
	a.compare.Lead(func() { a.show(a.pages[0]) })
	a.settings = settings.New(desk.Settings, a.win, a.appearance())
	a.pages = a.withExperiments([]*page{
		{title: "Setup", icon: theme.DocumentCreateIcon(), help: "15-window.md#setup", screen: a.setup},
		{title: "Live", icon: theme.MediaPlayIcon(), help: "07-dashboard.md", screen: a.live},
		{title: "Runs", icon: theme.HistoryIcon(), help: "15-window.md#runs", screen: a.runs},
		{title: "Results", icon: theme.ListIcon(), help: "15-window.md#results-and-compare", screen: a.results},
		{title: "Compare", icon: theme.GridIcon(), help: "15-window.md#results-and-compare", screen: a.compare},
		{title: "Calibrate", icon: theme.SearchIcon(), help: "08-concurrency.md#calibrate", screen: calibrate.New(desk.Calibrate, calibrate.Setup{Order: a.setUp, Apply: a.apply})},
		{title: settingsTitle, icon: theme.SettingsIcon(), help: "15-window.md#settings", screen: a.settings},
	})
	a.run = a.pages[1]
	a.build()
	return a
}

// build lays out the first window.
func (a *App) build() {
	a.frame.build()
	a.win.Resize(a.choices.size)
	a.win.SetMaster()
	a.win.SetMainMenu(a.mainMenu())
	a.win.SetCloseIntercept(a.close)
	a.win.SetOnClosed(func() { a.ended = true })
	a.win.SetOnDropped(func(_ fyne.Position, files []fyne.URI) {
		if len(files) > 0 {
			a.Open(files[0].Path())
		}
	})
	restore(a)
}

// chooseScenario asks for a scenario file.
func (a *App) chooseScenario() {
	a.show(a.pages[0])
	a.setup.Choose()
}

// complain shows an error that belongs to no screen.
func (a *App) complain(err error) { widgets.Complain(a.win, err) }

// Open opens a file: a bundle in Runs, an experiment in Experiments, a scenario in Setup, and the description or a recording of a backend
// in the dialog that makes a scenario of it.
func (a *App) Open(path string) {
	a.opened = true
	if strings.EqualFold(filepath.Ext(path), export.BundleEnding) {
		a.show(a.pageOf("Runs"))
		a.runs.OpenBundle(path)
		return
	}
	if a.openExperiment(path) {
		return
	}
	a.show(a.pages[0])
	if a.wizard == nil {
		a.setup.Open(path)
		return
	}
	async.Work(func() (bool, error) { return a.wizard.Accepts(path), nil }, func(accepts bool, _ error) {
		if accepts {
			a.wizard.Take(path)
		} else {
			a.setup.Open(path)
		}
	})
}

// created opens a scenario that was imported in the editor.
func (a *App) created(name string) {
	a.setup.Open(name)
	a.editor.open(name)
}

// Raise brings the window to the front, and opens a file if one is given. Call it on any goroutine.
func (a *App) Raise(path string) {
	async.Do(func() {
		if a.ended {
			return
		}
		if path != "" {
			a.Open(path)
		}
		a.win.Show()
		a.win.RequestFocus()
	})
}

// Panicked returns the value and stack of a panic on the UI goroutine. Panics of background work arrive there with their own stack.
func Panicked(value any, stack []byte) (any, []byte) {
	if p, ok := value.(async.Panic); ok {
		return p.Value, p.Stack
	}
	return value, stack
}

// Quit closes an app's windows. Call it on any goroutine but the UI goroutine.
func Quit(app fyne.App) { async.Do(func() { quit(app) }) }

// quit ends the toolkit's loop.
func quit(app fyne.App) {
	async.End()
	app.Quit()
}

// closer stores what the user entered last, and waits for it.
type closer interface{ Close() error }

// Run shows the window until it is closed. A run may still be in progress then, because a signal ends the program without asking.
func (a *App) Run() {
	a.Show()
	a.app.Run()
	a.Ended()
}

// Show shows the window in a program that is running or about to run.
func (a *App) Show() {
	a.pulse = async.Start(pulse, a.tick)
	a.app.Lifecycle().SetOnEnteredForeground(func() { a.notifier.seen = true })
	a.app.Lifecycle().SetOnExitedForeground(func() { a.notifier.seen = false })
	a.systemTray = newSystemTray(a)
	a.greet()
	if socket := os.Getenv(inspect.Env); socket != "" {
		if err := inspect.Serve(socket, a.win, func() time.Time { return a.seen }); err != nil {
			slog.Error("the window cannot be inspected", "error", err)
		}
	}
	a.win.Show()
}

// Ended stores what the user entered last, after the window was closed.
func (a *App) Ended() {
	async.End()
	if a.pulse != nil {
		a.pulse.Stop()
	}
	errs := []error{a.runs.Close(), a.results.Close(), a.editor.screen.Close()}
	for _, c := range a.closers {
		errs = append(errs, c.Close())
	}
	if err := errors.Join(errs...); err != nil {
		slog.Error("the last change of a note or scenario was not saved", "error", err)
	}
}

// tick reads the run's state. Only visible screens draw.
func (a *App) tick() {
	if a.ended { // a tick may still arrive, and accessing the closed window would end the process
		return
	}
	if a.desk.Drew != nil {
		a.desk.Drew()
	}
	a.live.Collect()
	if a.wizard != nil {
		a.wizard.Tick()
	}
	if a.designer != nil {
		a.designer.Tick()
	}
	if a.asker != nil {
		a.asker.Tick()
	}
	a.frame.tick()
	for _, f := range a.others {
		f.tick()
	}
	if a.tour != nil {
		a.tour.Follow()
	}
	a.follow()
	a.remember()
}

// showDatabase shows the settings of the database.
func (a *App) showDatabase() {
	a.showSettings()
	a.settings.Open(settings.Database)
}

func (a *App) showLive() { a.show(a.pages[1]) }

// showPast opens a run in the history of Live.
func (a *App) showPast(run engine.RunID) {
	async.Work(func() (*live.Job, error) { return a.desk.Live.Past(context.Background(), run) }, func(job *live.Job, err error) {
		if err != nil {
			widgets.Complain(a.win, err)
			return
		}
		a.live.History(job)
		a.showLive()
	})
}

func (a *App) showResults(run engine.RunID) {
	a.results.Select(run)
	a.show(a.pages[3])
}

// showSurvey shows the answers to a survey.
func (a *App) showSurvey(run engine.RunID) {
	a.results.ShowSurvey(run)
	a.show(a.pages[3])
}

func (a *App) showCompare(runs ...engine.RunID) {
	a.compare.Select(runs...)
	a.show(a.pages[4])
}

// fork opens a fork of a run in Setup.
func (a *App) fork(run engine.RunID, checkpoint int, renewed bool) {
	a.setup.Fork(setup.Fork{Run: run, Checkpoint: checkpoint, Renewed: renewed})
	a.show(a.pages[0])
}

// setUp returns what Setup would launch, for the calibration.
func (a *App) setUp() (calibrate.Order, bool) {
	o, ok := a.setup.Order()
	if o.Fork != (setup.Fork{}) { // a fork cannot be calibrated
		return calibrate.Order{}, false
	}
	return calibrate.Order{Scenario: o.Scenario, Given: o.Given, Settings: &o.Settings, Allow: o.Allow}, ok
}

// apply sets a recommended limit in Setup.
func (a *App) apply(level int) {
	a.setup.Apply(level)
	a.show(a.pages[0])
}

// greet shows the reports of earlier crashes, and then the notices of begin.
func (a *App) greet() {
	if a.desk.Program == nil {
		a.begin()
		return
	}
	async.Work(func() ([]Report, error) { return a.desk.Program.Reports(context.Background()) }, func(all []Report, err error) {
		if err != nil {
			slog.Warn("cannot read the crash reports", "error", err)
		}
		a.showReports(all, a.begin)
	})
}

// begin shows the notices at the start, and offers to resume a run whose process ended before the run.
func (a *App) begin() {
	notice := a.desk.Store.Notice()
	async.Work(func() (*engine.RunRecord, error) { return a.desk.Store.Interrupted(context.Background()) },
		func(r *engine.RunRecord, err error) {
			switch {
			case err == nil && r != nil: // errors appear in the list of runs
				a.offer(r, notice)
			case notice != "":
				widgets.Tell(a.win, "Since the last session", words.NewParagraph(a.win, notice))
			default:
				a.welcome()
			}
		})
}

func (a *App) offer(r *engine.RunRecord, notice string) {
	done := engine.FormatCount(r.Done)
	if r.Total > 0 {
		done += " of " + engine.FormatCount(r.Total)
	}
	text := fmt.Sprintf("%s, started %s, was interrupted after %s sessions.\nNo results are lost, and no session is run twice.",
		r.DisplayName(), r.Created.Local().Format("Mon 2 Jan 15:04"), done)
	if notice != "" {
		text += "\n\n" + notice
	}
	ask := dialog.NewCustomConfirm("Resume the last run?", "Resume", "Not now", words.NewParagraph(a.win, text), func(yes bool) {
		if yes {
			a.resume(r.ID)
		}
	}, a.win)
	widgets.Ask(a.win, ask, ask.Confirm)
}

// resume resumes a run, after asking for what it needs.
func (a *App) resume(run engine.RunID) {
	async.Work(func() (string, error) { return a.desk.Runs.Resume(context.Background(), run, runs.Resumption{}) },
		func(note string, err error) { a.resumed(run, note, err) })
}

// resumed shows the resumed run, asks for what it needs, or shows the error.
func (a *App) resumed(run engine.RunID, note string, err error) {
	if runs.IsQuestion(err) {
		a.show(a.pages[2])
		a.runs.Ask(run, err)
		return
	}
	if err != nil {
		if !runs.Unlock(a.desk.Runs, a.win, err, func() { a.resume(run) }) {
			a.complain(err)
		}
		return
	}
	a.showLive()
	if note != "" {
		widgets.Tell(a.win, "The run continues", words.NewParagraph(a.win, note))
	}
}
