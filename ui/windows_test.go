package ui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestAnotherWindow opens a second window for comparison, and closes it without a question.
func TestAnotherWindow(t *testing.T) {
	q, a, p := filledApp(t)
	a.show(a.pages[3])
	typed(t, a.frame, fyne.KeyN, action.Command)
	if len(a.others) != 1 {
		t.Fatalf("there are %d further windows", len(a.others))
	}
	other := a.others[0]
	if other.current.title != "Results" || other.win.Title() != "Throng 2" {
		t.Errorf("%q shows %s, want Results, as the first does", other.win.Title(), other.current.title)
	}
	q.Until("its results", func() bool { a.tick(); return hasLoaded(other.current) && p.idle() })
	typed(t, other, fyne.Key1, action.Command)
	if other.current.title != "Live" || a.current.title != "Results" {
		t.Errorf("after Ctrl+1 it shows %s and the first %s", other.current.title, a.current.title)
	}
	if !uitest.Shows(other.current.Content(), "Shoppers") {
		t.Errorf("it does not show the run in progress, but %q", uitest.Texts(other.current.Content()))
	}
	other.native = &placed{} // has the focus
	for _, i := range a.win.MainMenu().Items[slices.Index(menus, menuView)].Items {
		if itemName(i) == "Compare" {
			i.Action()
		}
	}
	if other.current.title != "Compare" || a.current.title != "Results" {
		t.Errorf("a menu entry has it show %s and the first %s", other.current.title, a.current.title)
	}
	typed(t, other, fyne.KeyW, action.Command)
	if len(a.others) != 0 || a.overlay() != nil {
		t.Errorf("%d windows are left, asked: %v", len(a.others), a.overlay() != nil)
	}
	q.Until("what was written in it is kept", func() bool { return len(a.closers) == 0 })
	a.tick()
}

// TestCloseAsksInTheFirstWindow closes the first window by keyboard while a run is in progress.
func TestCloseAsksInTheFirstWindow(t *testing.T) {
	_, a, p := filledApp(t)
	p.settled = make(chan struct{})
	typed(t, a.frame, fyne.KeyW, action.Command)
	if a.overlay() == nil {
		t.Fatal("no question is asked")
	}
	pressed(a.frame, fyne.KeyEscape)
	if a.overlay() != nil || a.closing {
		t.Error("Escape does not keep the run running")
	}
	close(p.settled)
}

// TestNoScreenMakesTheWindowGrow checks that with the largest text a window on a small display keeps its size and its
// screens scroll.
func TestNoScreenMakesTheWindowGrow(t *testing.T) {
	q, a, _ := filledApp(t)
	a.setScale(largest)
	for _, p := range a.pages {
		a.show(p)
		q.Drain()
		if least := a.content.MinSize(); least.Width > 200 || least.Height > 200 {
			t.Errorf("%s wants at least %v", p.title, least)
		}
	}
}

func TestTextIsScaled(t *testing.T) {
	_, a, _ := start(t, &desk{})
	size := func() float32 { return widget.NewLabel("Text").MinSize().Height }
	made := size()
	typed(t, a.frame, fyne.KeyPlus, action.Command)
	typed(t, a.frame, fyne.KeyEqual, action.Command)
	if got := a.app.Preferences().Float(scaleKey); got != 1.2 || size() <= made {
		t.Errorf("after two steps the text is %v times as large, a line %v after %v", got, size(), made)
	}
	if !uitest.Shows(a.pageOf(settingsTitle).Content(), "120%") {
		t.Error("Settings does not show it")
	}
	a.setScale(largest - zoomStep)
	for range 2 {
		typed(t, a.frame, fyne.KeyPlus, action.Command)
	}
	if a.choices.scale != largest {
		t.Errorf("it grows to %v", a.choices.scale)
	}
	typed(t, a.frame, fyne.Key0, action.Command)
	if size() != made {
		t.Errorf("initially it is %v high, was %v", size(), made)
	}
	a.setScale(smallest + zoomStep)
	for range 2 {
		typed(t, a.frame, fyne.KeyMinus, action.Command)
	}
	if got := remembered(a.app.Preferences()).scale; got != smallest {
		t.Errorf("kept is %v, want %v", got, smallest)
	}
}

// TestTextIsScaledWhileAFileIsChosen changes the text size while a file dialog is open, and checks that the dialog
// stays open in its folder.
func TestTextIsScaledWhileAFileIsChosen(t *testing.T) {
	for name, view := range map[string]dialog.ViewLayout{"grid": dialog.GridView, "list": dialog.ListView} {
		t.Run(name, func(t *testing.T) {
			q, a, _ := start(t, &desk{})
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "a folder that is inside"), 0o700); err != nil {
				t.Fatal(err)
			}
			a.app.Preferences().SetString("fyne:fileDialogLastFolder", storage.NewFileURI(dir).String())
			a.app.Preferences().SetInt("fyne:fileDialogViewLayout", int(view))
			a.setScale(smallest)
			var chosen string
			widgets.PickFolder(a.win, "Where to", "Choose", func(dir string) { chosen = dir })
			typed(t, a.frame, fyne.KeyPlus, action.Command)
			q.Drain()
			a.setScale(largest)
			q.Drain()
			typed(t, a.frame, fyne.KeyMinus, action.Command)
			q.Drain()
			if !uitest.Shows(a.overlay(), "Where to") {
				t.Fatalf("the picker shows %q", uitest.Texts(a.overlay()))
			}
			q.Tap(a.overlay(), "Choose")
			if chosen != dir || a.overlay() != nil {
				t.Errorf("chosen is %q, want %q; asked still: %v", chosen, dir, a.overlay() != nil)
			}
		})
	}
}

// placed is a window that can be moved.
type placed struct{ left, top int }

func (p *placed) Place() (x, y int) { return p.left, p.top }
func (p *placed) Move(x, y int)     { p.left, p.top = x, y }
func (p *placed) Focused() bool     { return true }

func TestSizeAndPlaceAreRemembered(t *testing.T) {
	_, a, fake := start(t, &desk{})
	at := &placed{left: 11, top: 22}
	a.native = at
	a.win.Resize(fyne.NewSize(1000, 700))
	a.tick() // a person may still be moving it
	if p := fake.Preferences(); p.Float(widthKey) == 1000 || p.Int(leftKey) == 11 {
		t.Error("the position is saved during the move")
	}
	a.tick()
	kept := remembered(fake.Preferences())
	if kept.size != fyne.NewSize(1000, 700) || kept.left != 11 || kept.top != 22 {
		t.Errorf("kept are %v at %d, %d", kept.size, kept.left, kept.top)
	}
	at.left, at.top = 0, 0
	a.place(a.frame)
	if at.left != 11 || at.top != 22 {
		t.Errorf("the window is at %d, %d", at.left, at.top)
	}
	fake.Preferences().SetFloat(widthKey, 3)
	if got := remembered(fake.Preferences()).size; got != firstSize {
		t.Errorf("a window of no width opens as %v", got)
	}
}

// gone is a window that the system no longer knows. Any call to it ends the process.
type gone struct{ Native }

// TestAClosedWindowIsNotAsked checks that a tick after the window was closed does nothing.
func TestAClosedWindowIsNotAsked(t *testing.T) {
	_, a, _ := start(t, &desk{})
	a.native = gone{}
	a.win.Close()
	a.tick() // else it panics
}

// moments is a run with a snapshot set by the test.
type moments struct {
	live.Run
	now *engine.Snapshot
}

func (m *moments) ID() engine.RunID           { return "r" }
func (m *moments) Snapshot() *engine.Snapshot { return m.now }
func (m *moments) Tunables() []engine.Tunable { return nil }
func (m *moments) Done() <-chan struct{}      { return nil }

// notified is an app that records notifications.
type notified struct {
	app
	told chan *fyne.Notification
}

func (h *notified) SendNotification(n *fyne.Notification) { h.told <- n }

func TestTheTitleFollowsTheRun(t *testing.T) {
	run := &moments{now: &engine.Snapshot{Run: "r", At: time.Now(), Phase: engine.Running, SessionCounts: engine.SessionCounts{Ended: 3750, Total: 8928}, Pace: engine.Pace{Elapsed: time.Minute, Remaining: 200 * time.Second}}}
	_, a, _ := start(t, &desk{job: &live.Job{Run: run, Title: "Shoppers", Settings: engine.DefaultSettings()}})
	for want, change := range map[string]func(s *engine.Snapshot){
		"Shoppers 42% · Throng":           func(*engine.Snapshot) {},
		"Shoppers paused at 42% · Throng": func(s *engine.Snapshot) { s.Phase = engine.Paused },
		"Shoppers finished · Throng":      func(s *engine.Snapshot) { s.Phase, s.Ending = engine.Ended, engine.EndFinished },
		"Shoppers running · Throng":       func(s *engine.Snapshot) { s.Total = 0 },
	} {
		s := *run.now
		change(&s)
		if got := stand(&live.Job{Run: &moments{now: &s}, Title: "Shoppers"}).title(); got != want {
			t.Errorf("the title is %q, want %q", got, want)
		}
	}
	a.tick()
	if got := a.win.Title(); got != "Shoppers 42% · Throng" {
		t.Errorf("the window is called %q", got)
	}
	if got := stand(a.desk.Live.Job()).line(); got != "Shoppers: 42%, 3 min left" {
		t.Errorf("the merge queue reports %q", got)
	}
	if got := stand(nil); got.title() != "Throng" || got.line() != "No run in progress" {
		t.Errorf("without a run: %q, %q", got.title(), got.line())
	}
}

func TestNotifications(t *testing.T) {
	running := engine.Snapshot{Phase: engine.Running, SessionCounts: engine.SessionCounts{Ended: 12, Total: 24}, Pace: engine.Pace{Elapsed: 5 * time.Second}}
	phase := func(who string) []engine.ChangeRow {
		return []engine.ChangeRow{{What: engine.PhaseChange, Old: "running", New: "paused", Who: who}}
	}
	for _, c := range []struct {
		name   string
		change func(s *engine.Snapshot)
		want   string // "" is nothing
	}{
		{"the end", func(s *engine.Snapshot) { s.Phase, s.Ending = engine.Ended, engine.EndFinished }, "Shoppers: finished|12 sessions in 5 s"},
		{"an end with failures", func(s *engine.Snapshot) {
			s.Phase, s.Ending, s.Outcomes = engine.Ended, engine.EndStopped, map[engine.Outcome]int64{engine.Failed: 2, engine.TimedOut: 1}
		}, "3 of them failed or timed out"},
		{"a pause by hand", func(s *engine.Snapshot) { s.Phase, s.Changes = engine.Paused, phase("user") }, ""},
		{"a pause by itself", func(s *engine.Snapshot) {
			s.Phase, s.Reason = engine.Paused, "no room on the disk"
		}, "Shoppers: paused|no room on the disk. All results are kept"},
		{"the breaker", func(s *engine.Snapshot) {
			s.Phase, s.Breaker, s.BreakerWhy, s.Changes = engine.Paused, engine.BreakerOpen, "half of a cycle failed", phase("breaker")
		}, "too many failures|half of a cycle failed"},
		{"a service", func(s *engine.Snapshot) {
			s.Services = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerOpen}}
		}, "Shoppers: shop is not answering"},
		{"nothing", func(s *engine.Snapshot) { s.Ended++ }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := uitest.Start(t)
			told := make(chan *fyne.Notification, 10)
			h := notifier{app: &notified{app: app{App: fyne.CurrentApp()}, told: told}, off: map[view.Occasion]bool{}}
			now := running
			job := &live.Job{Run: &moments{now: &now}, Title: "Shoppers"}
			h.follow(job)
			next := running
			c.change(&next)
			job.Run = &moments{now: &next}
			for _, quiet := range []func(h *notifier){func(h *notifier) {
				h.off = map[view.Occasion]bool{}
				for _, k := range view.NotificationKinds {
					h.off[k.Occasion] = true
				}
			}, func(h *notifier) { h.seen = true }} {
				silent := h
				quiet(&silent)
				silent.follow(job)
			}
			h.follow(job)
			h.follow(job) // it is news once
			h.tell("the last", "")
			var all []string
			q.Until("the last", func() bool {
				for len(told) > 0 {
					n := <-told
					all = append(all, n.Title+"|"+n.Content)
				}
				return len(all) > 0 && (c.want == "" || len(all) > 1)
			})
			if want := 1 + min(len(c.want), 1); len(all) != want {
				t.Fatalf("got %q", all)
			}
			if got := strings.Join(all, "\n"); c.want != "" && !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestSystemTrayPausesAndResumes checks the items of the system tray.
func TestSystemTrayPausesAndResumes(t *testing.T) {
	q, a, p := filledApp(t)
	p.shut()
	t.Cleanup(p.open)
	tr := &systemTray{app: a, shown: stand(p.job)}
	labels := func() (all []string) {
		for _, i := range tr.menu().Items {
			if !i.IsSeparator {
				all = append(all, i.Label)
			}
		}
		return all
	}
	if got := strings.Join(labels(), ", "); got != "Shoppers: 9%, Pause, Show, Quit" {
		t.Errorf("the menu is %s", got)
	}
	tr.menu().Items[1].Action()
	q.Until("paused", func() bool { return p.stands("Pause") })
	tr.shown.held = true
	if got := labels()[1]; got != "Resume" {
		t.Errorf("while paused the menu is %s", got)
	}
	tr.shown = stand(nil)
	if got := strings.Join(labels(), ", "); got != "No run in progress, Show, Quit" {
		t.Errorf("without a run the menu is %s", got)
	}
	var titles []string
	a.desk.IconText = func(text string) { titles = append(titles, text) }
	tr.drawn, tr.shown = time.Now(), standing{words: "9%"}
	tr.follow(standing{words: "10%"})
	tr.follow(standing{words: "10%", left: "1 min left"})
	if got := strings.Join(titles, ", "); got != "10%" {
		t.Errorf("the text next to the icon was set to %s", got)
	}
	if got := (standing{words: "finished", over: true}).percentage(); got != "" {
		t.Errorf("after the run the icon has the text %q", got)
	}
	var none *systemTray
	none.follow(standing{name: "nothing happens"})
}
