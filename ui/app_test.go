package ui

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/calibrate"
	"github.com/throng-sim/throng/ui/compare"
	"github.com/throng-sim/throng/ui/experiments"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/internal/inspect"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/results"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/settings"
	"github.com/throng-sim/throng/ui/setup"
	"github.com/throng-sim/throng/ui/uitest"
)

// desk implements the desks of all screens, as far as the window itself needs them. It records the calls.
type desk struct {
	mu          sync.Mutex
	asked       []string
	interrupted *engine.RunRecord
	refusal     error
	notice      string
	settled     chan struct{}
	job, past   *live.Job
	sweep       *calibrate.State
	working     []experiments.Work
}

func (d *desk) ask(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, what)
}

func (d *desk) was(what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, a := range d.asked {
		if a == what {
			n++
		}
	}
	return n
}

func (d *desk) Notice() string { return d.notice }

func (d *desk) Interrupted(context.Context) (*engine.RunRecord, error) { return d.interrupted, nil }

func (d *desk) Stop(cut bool) error {
	d.ask(fmt.Sprintf("stop, cut %t", cut))
	return d.refusal
}

func (d *desk) Settled() <-chan struct{} { return d.settled }

type setupDesk struct {
	setup.Desk
	d *desk
}

func (setupDesk) Recheck()          {}
func (setupDesk) Fleet() fleet.Host { return nil }

func (s setupDesk) Choices(context.Context) ([]setup.Choice, error) { return nil, nil }
func (s setupDesk) Remote() string                                  { return "" }
func (s setupDesk) InProgress() string                              { return "" }
func (s setupDesk) Preset(context.Context) (string, error)          { return "", nil }
func (s setupDesk) ForkFrom(_ context.Context, f setup.Fork, _ map[string]string) (*setup.Scenario, error) {
	s.d.ask("read fork of " + string(f.Run))
	return nil, errors.New("no such run")
}

func (s setupDesk) Scenario(_ context.Context, name string, _ map[string]string) (*setup.Scenario, error) {
	s.d.ask("read " + name)
	return nil, errors.New("no such file")
}

type liveDesk struct {
	live.Desk
	d *desk
}

func (l liveDesk) Job() *live.Job { return l.d.job }
func (l liveDesk) Past(_ context.Context, run engine.RunID) (*live.Job, error) {
	l.d.ask("the history of " + string(run))
	return l.d.past, l.d.refusal
}
func (l liveDesk) Logged() (int, string, time.Time) { return 0, "", time.Time{} }

func (l liveDesk) RemoteState() (string, bool) { return "", true }

type runsDesk struct {
	runs.Desk
	d *desk
}

func (r runsDesk) Runs(context.Context) ([]engine.RunRecord, error)      { r.d.ask("list"); return nil, nil }
func (r runsDesk) Sizes(context.Context) (map[engine.RunID]int64, error) { return nil, nil }
func (r runsDesk) Experiment(engine.RunID) string                        { return "" }
func (r runsDesk) Busy() engine.RunID                                    { return "" }
func (r runsDesk) Remote() string                                        { return "" }
func (r runsDesk) OpenBundle(_ context.Context, path string) (engine.RunID, string, error) {
	r.d.ask("open " + path)
	return "", "", r.d.refusal
}

func (r runsDesk) Resume(_ context.Context, run engine.RunID, _ runs.Resumption) (string, error) {
	r.d.ask("resume " + string(run))
	return "", r.d.refusal
}

type resultsDesk struct{ results.Desk }

func (resultsDesk) Runs(context.Context) ([]engine.RunRecord, error) { return nil, nil }

type compareDesk struct{ compare.Desk }

func (compareDesk) Runs(context.Context) ([]engine.RunRecord, error) { return nil, nil }

type calibrateDesk struct {
	calibrate.Desk
	d *desk
}

func (c calibrateDesk) State() *calibrate.State                                { return c.d.sweep }
func (c calibrateDesk) Choices(context.Context) ([]calibrate.Choice, error)    { return nil, nil }
func (c calibrateDesk) Machine(context.Context) (m calibrate.Machine, _ error) { return m, nil }
func (c calibrateDesk) Earlier(context.Context) ([]calibrate.Found, string, error) {
	return nil, "", nil
}

type settingsDesk struct{ settings.Desk }

func (settingsDesk) Connection(context.Context) (settings.Connection, error) {
	return settings.Connection{}, nil
}

func (settingsDesk) Hook(context.Context) (settings.Hook, error) { return settings.Hook{}, nil }

func (settingsDesk) LogLevel() (string, []string)                        { return "info", []string{"info"} }
func (settingsDesk) Allowed(context.Context) ([]settings.Allowed, error) { return nil, nil }
func (settingsDesk) DataFolder() string                                  { return "/data" }
func (settingsDesk) ImportCA(context.Context, string) (string, error)    { return "", nil }
func (settingsDesk) RemoveCA(context.Context) error                      { return nil }
func (settingsDesk) RemoteState() (string, settings.State)               { return "", settings.Plain }
func (settingsDesk) Saved(context.Context) ([]settings.Setting, error)   { return nil, nil }

// run is a run in progress.
type run struct{ live.Run }

func (r run) ID() engine.RunID { return "r" }
func (r run) Snapshot() *engine.Snapshot {
	return &engine.Snapshot{Run: "r", At: time.Now(), Phase: engine.Running}
}
func (r run) Done() <-chan struct{} { return nil }

// app is a test app that records quitting.
type app struct {
	fyne.App
	quit int
}

func (a *app) Quit() { a.quit++ }

func start(t *testing.T, d *desk) (*uitest.Queue, *App, *app) {
	t.Helper()
	q := uitest.Start(t)
	fake := &app{App: fyne.CurrentApp()}
	if d.settled == nil {
		d.settled = make(chan struct{})
		close(d.settled)
	}
	a := New(fake, Desk{
		Setup: setupDesk{d: d}, Live: liveDesk{d: d}, Runs: runsDesk{d: d}, Results: resultsDesk{},
		Compare: compareDesk{}, Calibrate: calibrateDesk{d: d}, Settings: settingsDesk{}, Experiments: experimentsDesk{d: d}, Designer: designs{}, Store: d,
	})
	q.Drain()
	return q, a, fake
}

func (a *App) overlay() fyne.CanvasObject { return a.win.Canvas().Overlays().Top() }

func TestCloseWithNothingInProgress(t *testing.T) {
	_, a, fake := start(t, &desk{})
	a.close()
	if fake.quit != 1 || a.overlay() != nil {
		t.Errorf("quit %d times, asked %v", fake.quit, a.overlay() != nil)
	}
}

// TestCloseWhileARunGoesOn checks closing the window during a run, and while a run is being started and its job is not
// known yet.
func TestCloseWhileARunGoesOn(t *testing.T) {
	for name, job := range map[string]*live.Job{
		"begun":   {Run: run{}, Title: "Shoppers", Settings: engine.DefaultSettings()},
		"started": nil,
	} {
		t.Run(name, func(t *testing.T) { closeWhileARunGoesOn(t, &desk{settled: make(chan struct{}), job: job}) })
	}
}

func closeWhileARunGoesOn(t *testing.T, d *desk) {
	q, a, fake := start(t, d)
	a.close()
	a.close() // impatient
	if n := len(a.win.Canvas().Overlays().List()); n != 1 {
		t.Fatalf("asked in %d dialogs", n)
	}
	q.Tap(a.overlay(), "Keep running")
	if fake.quit != 0 || d.was("stop, cut false") != 0 || a.overlay() != nil {
		t.Error("the run was not kept running")
	}
	a.close()
	q.Tap(a.overlay(), "Stop and close")
	q.Until("stopped", func() bool { return d.was("stop, cut false") == 1 })
	if fake.quit != 0 {
		t.Error("quit before the run has ended")
	}
	q.Tap(a.overlay(), "Close now")
	q.Until("cut", func() bool { return d.was("stop, cut true") == 1 })
	close(d.settled)
	q.Until("quit", func() bool { return fake.quit == 1 })
}

// TestCloseWhileACalibrationGoesOn checks that closing the window during a calibration asks, and does not mention
// checkpoints.
func TestCloseWhileACalibrationGoesOn(t *testing.T) {
	d := &desk{settled: make(chan struct{}), sweep: &calibrate.State{Running: true}}
	_, a, _ := start(t, d)
	a.close()
	if !uitest.Shows(a.overlay(), "A calibration is in progress") || uitest.Shows(a.overlay(), "checkpoint") {
		t.Errorf("got %q", uitest.Texts(a.overlay()))
	}
	close(d.settled)
}

// TestWhatWasFoundGoesToSetup checks that Apply shows the result of a calibration in Setup.
func TestWhatWasFoundGoesToSetup(t *testing.T) {
	d := &desk{sweep: &calibrate.State{Found: &calibrate.Found{Title: "Shoppers", Level: 7, Low: 5, High: 9, Words: "7 sessions concurrently."}}}
	q, a, _ := start(t, d)
	a.show(a.pageOf("Calibrate"))
	q.Drain()
	if o, ok := a.setUp(); ok || o.Scenario != "" {
		t.Errorf("Setup shows %+v, %v", o, ok)
	}
	q.Tap(a.current.Content(), "Apply")
	if a.current.title != "Setup" {
		t.Errorf("it shows %s", a.current.title)
	}
}

func TestInterruptedRunIsOffered(t *testing.T) {
	d := &desk{interrupted: &engine.RunRecord{ID: "r1", Title: strings.Repeat("Shoppers ", 30), Done: 1200, Total: 8928, Created: time.Now()}}
	q, a, _ := start(t, d)
	a.greet()
	q.Until("asked", func() bool { return a.overlay() != nil })
	if !uitest.Shows(a.overlay(), "1,200 of 8,928 sessions") {
		t.Errorf("the offer shows %q", uitest.Texts(a.overlay()))
	}
	if w := a.overlay().MinSize().Width; w > a.win.Canvas().Size().Width {
		t.Errorf("the offer is %v wide, more than the window", w)
	}
	q.Tap(a.overlay(), "Not now")
	if d.was("resume r1") != 0 || a.current.title != "Setup" {
		t.Error("resumed without a request")
	}
	a.greet()
	q.Until("asked", func() bool { return a.overlay() != nil })
	q.Tap(a.overlay(), "Resume")
	q.Until("resumed", func() bool { return a.current.title == "Live" })
	if d.was("resume r1") != 1 {
		t.Errorf("asked %q", d.asked)
	}
}

func TestResumingThatFailsSaysWhy(t *testing.T) {
	d := &desk{interrupted: &engine.RunRecord{ID: "r1", Title: "Shoppers"}, refusal: errors.New("the disk is full"), notice: "A damaged store was set aside."}
	q, a, _ := start(t, d)
	a.greet()
	q.Until("asked", func() bool { return a.overlay() != nil && uitest.Button(a.overlay(), "Resume") != nil })
	if !uitest.Shows(a.overlay(), d.notice) {
		t.Errorf("the notice is not shown with the offer: %q", uitest.Texts(a.overlay()))
	}
	q.Tap(a.overlay(), "Resume")
	q.Until("told", func() bool { return uitest.Shows(a.overlay(), "he disk is full") })
	if a.current.title == "Live" {
		t.Error("a run that was not resumed is shown")
	}
}

// TestNoticeAlone checks a notice at startup without an interrupted run to continue.
func TestNoticeAlone(t *testing.T) {
	d := &desk{notice: "Throng ended unexpectedly."}
	q, a, _ := start(t, d)
	a.greet()
	q.Until("told", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), d.notice) })
	q.Tap(a.overlay(), "OK")
}

func TestNavigation(t *testing.T) {
	d := &desk{}
	q, a, _ := start(t, d)
	for i, title := range []string{"Setup", "Live", "Runs", "Results", "Compare", experimentsTitle, "Calibrate", "Settings"} {
		test.Tap(a.pages[i].item)
		q.Drain()
		if a.current.title != title || !a.current.item.selected || a.content.Objects[0].(*container.Scroll).Content != a.current.Content() {
			t.Errorf("item %d shows %s, want %s", i, a.current.title, title)
		}
		a.tick()
	}
	if a.pages[0].item.selected {
		t.Error("two screens are marked")
	}
	a.Open("/scenarios/mine.yaml")
	q.Until("read", func() bool { return d.was("read /scenarios/mine.yaml") > 0 })
	a.Open("/mail/run.ZIP")
	if q.Until("opened", func() bool { return d.was("open /mail/run.ZIP") > 0 }); a.current.title != "Runs" {
		t.Errorf("a bundle shows %s", a.current.title)
	}
	a.showResults("r")
	if a.current.title != "Results" {
		t.Errorf("results show %s", a.current.title)
	}
	a.showCompare("r")
	if a.current.title != "Compare" {
		t.Errorf("a comparison shows %s", a.current.title)
	}
}

func TestThemeIsRemembered(t *testing.T) {
	_, a, fake := start(t, &desk{})
	background := func() any { return fake.Settings().Theme().Color(theme.ColorNameBackground, theme.VariantDark) }
	dark := background()
	a.setTheme("light")
	if background() == dark {
		t.Error("the light theme looks dark")
	}
	if got := fake.Preferences().String(themeKey); got != "light" {
		t.Errorf("kept %q", got)
	}
	a.setTheme("system")
	if background() != dark {
		t.Error("the system's theme does not follow its variant")
	}
}

// TestThemeReachesScreensThatWereHidden checks that a new theme applies to screens that were shown before and are
// hidden.
func TestThemeReachesScreensThatWereHidden(t *testing.T) {
	q, a, _ := start(t, &desk{})
	shown := func() (found color.Color) {
		uitest.Walk(a.runs.Content(), func(o fyne.CanvasObject) bool {
			if text, ok := o.(*canvas.Text); ok && text.Text == "State" {
				found = text.Color
			}
			return found == nil
		})
		return found
	}
	for _, choice := range []string{"light", "dark"} {
		a.show(a.pages[2])
		q.Until("read", func() bool { return shown() != nil })
		a.show(a.pageOf(settingsTitle))
		a.setTheme(choice)
		before := shown()
		a.show(a.pages[2])
		q.Until("drawn in the theme "+choice, func() bool { return shown() == widgets.Color(widgets.ColorMuted) })
		if shown() == before {
			t.Errorf("%s has the colors of the previous theme", choice)
		}
	}
}

// TestInspectFindsWhatCanBeClicked checks that inspect finds the elements that the tests in the real window click.
func TestInspectFindsWhatCanBeClicked(t *testing.T) {
	q, a, _ := start(t, &desk{})
	a.win.Resize(fyne.NewSize(1280, 800))
	q.Drain()
	parts := inspect.Look(a.win)
	for _, text := range []string{"Live", "Settings", "Launch", "Open file…"} {
		i := slices.IndexFunc(parts, func(p inspect.Part) bool { return p.Text == text })
		if i < 0 {
			t.Errorf("%s is not found among %+v", text, parts)
			continue
		}
		if p := parts[i]; p.Box.Empty() || !p.Box.In(image.Rect(0, 0, 1280, 800)) {
			t.Errorf("%s is at %+v, outside the window", text, p)
		}
	}
	q.Drain()
}

// TestHistoryOfAPastRun checks that the history of a past run opens in Live, or that the reason is shown if it cannot.
func TestHistoryOfAPastRun(t *testing.T) {
	d := &desk{past: &live.Job{Run: run{}, Title: "Last month", Settings: engine.DefaultSettings()}}
	q, a, _ := start(t, d)
	a.showPast("old")
	q.Until("Live is shown", func() bool { return a.current.title == "Live" })
	if d.was("the history of old") != 1 || !uitest.Shows(a.current.Content(), "Last month") {
		t.Errorf("the screen shows %q", uitest.Texts(a.current.Content()))
	}
	d.refusal = errors.New("its results are elsewhere")
	a.showPast("other")
	q.Until("the refusal", func() bool { return a.overlay() != nil })
	if !uitest.Shows(a.overlay(), "elsewhere") {
		t.Errorf("got %q", uitest.Texts(a.overlay()))
	}
}

func (runsDesk) Waiting(context.Context) ([]runs.Waiting, error) { return nil, nil }
