package runs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/export"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestShowsRunsAndTheNewest(t *testing.T) {
	q, s, _ := start(t, two())
	q.Until("the sizes are known", func() bool { return s.sizes != nil })
	wantShown(t, s,
		"2026-01-02 15:04:05", "Shoppers", "interrupted", "816 (9%)", "no failures", "Greeters", "finished", "8,928 (100%)", "1 MB", // the list
		"agents = 372", "shop = corner", "50 at the start; 1 to 100", "0, as fast as possible", "24 cycles", // the newest
		"2 newest", "700 (7%)", "interval", "123 kB", "300 (3%)", "pause", "2 kB", // its checkpoints
	)
	if got, want := s.detail.hint.Text(), "Resume continues with the first step that is not done. The 116 sessions completed since this checkpoint are not run again."; got != want {
		t.Errorf("reported about resuming: %q, want %q", got, want)
	}
	if got := s.detail.limit.Text; got != "50" {
		t.Errorf("the limit is filled in with %q, want the run's own", got)
	}
}

func TestLimitFollowsTheRun(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	again := func(limit int) string {
		desk.set(func() {
			desk.runs = slices.Clone(desk.runs)
			desk.runs[0].Limit = limit
		})
		s.load()
		wait(q, s)
		return s.detail.limit.Text
	}
	if got := again(140); got != "140" {
		t.Errorf("filled in is %s, want the run's limit now", got)
	}
	s.detail.limit.SetText("7")
	if got := again(150); got != "7" {
		t.Errorf("the user's text became %s", got)
	}
}

func TestNoRunYet(t *testing.T) {
	q, s, h := start(t, &fakeDesk{})
	wantShown(t, s, "No runs yet.")
	if uitest.Button(s.Content(), "Resume") != nil {
		t.Error("without a run, Resume is offered")
	}
	q.Tap(s.Content(), "Set up a run")
	if h.setUp != 1 {
		t.Error("the button of the empty list does not open Setup")
	}
}

// TestKeysWithoutARun presses all keys of the screen before runs are read, without runs, and after the last run was
// deleted.
func TestKeysWithoutARun(t *testing.T) {
	desk := two()
	desk.runs = desk.runs[:1]
	q, s, h := start(t, desk)
	run := s.chosen
	press := func(when string) {
		t.Helper()
		for _, a := range s.Actions() {
			switch a.Name {
			case "Clean up…", "Trash…", "Undo", "Find…", "Open bundle…": // need no run
				continue
			}
			if a.Can() {
				t.Errorf("%s: %s can be done", when, a.Name)
			}
			a.Do()
		}
	}
	s.delete(run, Deletion{})
	wait(q, s)
	before := len(desk.orders())
	press("after the last was deleted")
	s.Select("20300301-120000-none")
	press("of a run that was not read")
	wait(q, s)
	if after := desk.orders(); len(after) != before || len(h.results)+len(h.compared)+len(h.replayed)+len(h.forks)+h.resumed > 0 {
		t.Errorf("got calls %q, reports %+v", after[before:], *h)
	}
	_, s, _ = start(t, &fakeDesk{})
	press("without one")
	s = New(&fakeDesk{remote: "db.example.com/app"}, s.win, Ways{})
	press("before they are read")
}

func TestDeleteShowsWhatWillGo(t *testing.T) {
	desk := two()
	desk.footprint.Sendings = []view.Sending{{Target: "db.example.com/throng"}}
	q, s, _ := start(t, desk)
	ask := func() fyne.CanvasObject {
		t.Helper()
		q.Tap(s.Content(), "Delete…")
		q.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
		return s.win.Canvas().Overlays().Top()
	}
	dialog := ask()
	if text := "8,928 sessions, 2,034 events, 3 checkpoints, about 4.1 MB of run new."; !uitest.Shows(dialog, text) {
		t.Errorf("%q is not shown in %q", text, uitest.Texts(dialog))
	}
	if text := "are kept"; !uitest.Shows(dialog, text) {
		t.Errorf("the sent results are not reported: %q", uitest.Texts(dialog))
	}
	q.Tap(dialog, "Cancel")
	wait(q, s)
	wantOrders(t, desk, "weigh new")

	q.Tap(ask(), "Delete")
	wait(q, s)
	wantOrders(t, desk, "weigh new", "weigh new", "delete new")
	wantShown(t, s, "Shoppers (new). It stays in the trash for 30 days.")
	if s.chosen != "old" || len(s.runs) != 1 {
		t.Errorf("after deleting, %s is chosen, shown: %q", s.chosen, uitest.Texts(s.Content()))
	}
}

func TestDeletingGoesOnBelow(t *testing.T) {
	desk := two()
	desk.runs = append(desk.runs, record("older"), record("oldest"))
	q, s, _ := start(t, desk)
	for _, c := range []struct{ run, next engine.RunID }{{"old", "oldest"}, {"oldest", "older"}, {"older", "new"}, {"new", ""}} {
		s.Select(c.run)
		wait(q, s)
		s.delete(c.run, Deletion{})
		wait(q, s)
		if s.chosen != c.next {
			t.Errorf("after deleting %s, %q is chosen, want %q", c.run, s.chosen, c.next)
		}
	}
	wantShown(t, s, "No runs yet.")
}

func TestDeleteIsRefused(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	q.Tap(s.Content(), "Delete…")
	q.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	desk.set(func() { desk.err = engine.ErrInUse })
	q.Tap(s.win.Canvas().Overlays().Top(), "Delete")
	wait(q, s)
	wantShown(t, s, "The run is in progress, so nothing was changed.", "Shoppers")
}

func TestARunInProgressOrWaitingIsNotTouched(t *testing.T) {
	for _, c := range []struct {
		name string
		busy engine.RunID
		of   string
		want string
	}{
		{"an experiment", "", "Prices", "The experiment “Prices” executes this run in this window. Pause it, stop it or skip the run in Experiments. A run in progress cannot be deleted."},
		{"here", "new", "", "This run is in progress. See Live. Stop it there to resume from a checkpoint. A run in progress cannot be deleted. Stop it first."},
		{"elsewhere", "", "", "Another process works on this run. Here it is read-only. A run in progress cannot be deleted."},
		{"waiting", "", "", "This run waits in the queue. Cancel it there, above the list, to continue in another way. A run that waits cannot be deleted."},
	} {
		t.Run(c.name, func(t *testing.T) {
			desk := two()
			desk.runs[0].InProgress, desk.busy, desk.experiments = true, c.busy, map[engine.RunID]string{desk.runs[0].ID: c.of}
			state := "in progress"
			if c.name == "waiting" {
				state, desk.runs[0].InProgress, desk.runs[0].Queued = "waiting", false, "abcd"
			}
			_, s, _ := start(t, desk)
			for _, text := range []string{"Resume", "Delete…"} {
				if b := uitest.Button(s.Content(), text); !b.Disabled() {
					t.Errorf("%q is not disabled", text)
				}
			}
			if got := s.detail.hint.Text(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			wantShown(t, s, state)
		})
	}
}

func TestExportAsksWhere(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	home := t.TempDir()
	t.Setenv("HOME", home)
	pickFormat(t, q, s, "CSV…")
	picker := s.win.Canvas().Overlays().Top()
	if picker == nil {
		t.Fatal("no question is asked")
	}
	q.Tap(picker, "Save here")
	wait(q, s)
	wantOrders(t, desk, "csv new to "+home)
}

func TestExport(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	s.pickPath = func(_ string, then func(string)) { then("/there") }
	pickFormat(t, q, s, "CSV…")
	wait(q, s)
	wantOrders(t, desk, "csv new to /there")
	wantShown(t, s, "Exported to /there/throng-new. README.md describes each file and column.")
	if q.Tap(s.Content(), "Open folder"); !s.list.reveal.Visible() {
		t.Error("the folder of the export cannot be opened")
	}
	pickFormat(t, q, s, "Report…")
	wait(q, s)
	wantOrders(t, desk, "csv new to /there", "report new to /there")
	s.say("new", "Something else.", widgets.Good)
	if s.list.reveal.Visible() {
		t.Error("the button stays next to another message")
	}
}

// pickFormat opens the menu of Export and chooses a format.
func pickFormat(t *testing.T, q *uitest.Queue, s *Screen, name string) {
	t.Helper()
	q.Tap(s.Content(), "Export…")
	menu := s.win.Canvas().Overlays().Top()
	if menu == nil || !uitest.Shows(menu, name) {
		t.Fatalf("the button opens no menu with %s", name)
	}
	s.win.Canvas().Overlays().Remove(menu)
	for _, item := range export.Menu(s.list.exportMarked).Items {
		if item.Label == name {
			item.Action()
		}
	}
}

func TestWhatIsDoneToARunIsShown(t *testing.T) {
	desk := two()
	desk.hold, desk.remote = make(chan struct{}), "db.example.com/throng"
	q, s, _ := start(t, desk)
	s.list.menu.send.OnTapped()
	wantShown(t, s, "Sending to db.example.com/throng…")
	for _, text := range []string{"Resume", "Delete…", "Export…"} {
		if b := uitest.Button(s.Content(), text); !b.Disabled() {
			t.Errorf("%q can be tapped meanwhile", text)
		}
	}
	if !s.list.menu.send.Disabled() {
		t.Error("the results can be sent again meanwhile")
	}
	s.Select("old")
	if b := uitest.Button(s.Content(), "Delete…"); b.Disabled() {
		t.Error("another run is blocked")
	}
	close(desk.hold)
	wait(q, s)
	wantOrders(t, desk, "send new")
	wantShown(t, s, "Run new: Sending the results to db.example.com/throng. Settings shows the progress.")
}

func TestSendWantsADatabase(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	if item := s.list.menu.menu().Items[1]; !item.Disabled || item.Label != "Send to Postgres (set a database in Settings)" {
		t.Errorf("without a database, the menu offers %q, disabled %v", item.Label, item.Disabled)
	}
	desk.set(func() { desk.remote = "db.example.com/throng" })
	s.load()
	wait(q, s)
	if item := s.list.menu.menu().Items[1]; item.Disabled || s.list.menu.send.Disabled() {
		t.Error("results cannot be sent to the database that is set now")
	}
}

func TestResults(t *testing.T) {
	q, s, h := start(t, two())
	s.Select("old")
	q.Tap(s.Content(), "Results")
	if !slices.Equal(h.results, []engine.RunID{"old"}) {
		t.Errorf("asked for were the results of %q", h.results)
	}
}

func TestCompare(t *testing.T) {
	q, s, h := start(t, two())
	s.Select("old")
	q.Tap(s.Content(), "Compare")
	if !slices.Equal(h.compared, []engine.RunID{"old"}) {
		t.Errorf("compared was %q", h.compared)
	}
}

// TestButtonsFit checks that the row of buttons fits a window of 1280 x 800, with all buttons shown.
func TestButtonsFit(t *testing.T) {
	desk := two()
	desk.remote = "db.example:5432/throng"
	out := &desk.runs[0]
	out.Ending, out.Settings.Budget.Requests = engine.EndOutOfBudget, 1500
	out.Reason = "the budget of 1,500 requests is used up: 1,500 spent"
	_, s, _ := start(t, desk)
	wantShown(t, s, "New budget", "Compare")
	const beside = 150 // the navigation and the edges
	if wide := s.Content().MinSize().Width; wide > 1280-beside {
		t.Errorf("the screen is %v wide", wide)
	}
}

func TestTheListFollowsTheStore(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	s.Select("old")
	wait(q, s)
	before := desk.looked()
	s.Tick()
	if got := desk.looked(); got != before || s.loading {
		t.Error("every tick looks at the store")
	}
	desk.set(func() {
		newest := record("newest")
		newest.Title = "Talkers"
		desk.runs = append([]engine.RunRecord{newest}, desk.runs...)
	})
	for range refreshTicks {
		s.Tick()
	}
	wait(q, s)
	wantShown(t, s, "Talkers")
	if got := s.list.table.Selected(); got != "old" || s.chosen != "old" {
		t.Errorf("selected is %q, chosen %q, want still old", got, s.chosen)
	}
}

func TestARunThatBeginsIsSeenAtOnce(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	desk.set(func() { desk.busy, desk.runs[0].InProgress = "new", true })
	before := desk.looked()
	s.Tick()
	s.Tick()
	wait(q, s)
	if got := desk.looked(); got != before+1 {
		t.Errorf("the store was looked at %d times, want once", got-before)
	}
	wantShown(t, s, "This run is in progress. See Live.")
}

func TestALateAnswerIsDropped(t *testing.T) {
	desk := two()
	_, s, _ := start(t, desk)
	hold := make(chan struct{})
	desk.set(func() { desk.holdPoints = map[engine.RunID]chan struct{}{"old": hold} })
	answers := make(chan func(), 2)
	async.Replace(func(f func()) { answers <- f })
	s.Select("old")
	s.Select("new")
	(<-answers)() // of new: old is held up
	close(hold)
	(<-answers)()
	if s.of != "new" || len(s.checkpoints) != 2 || s.chosen != "new" {
		t.Errorf("shown are %d checkpoints of %s, chosen is %s", len(s.checkpoints), s.of, s.chosen)
	}
}

func TestTheStoreCannotBeRead(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	desk.set(func() { desk.readErr = fmt.Errorf("list the runs: disk I/O error") })
	s.load()
	wait(q, s)
	if got := s.list.status.Text(); !strings.Contains(got, "List the runs: disk I/O error") {
		t.Errorf("got %q", got)
	}
	wantShown(t, s, "Shoppers", "Greeters") // as far as is known
	desk.set(func() { desk.readErr = nil })
	s.load()
	wait(q, s)
	if s.list.trouble != "" || s.list.status.Text() != "2 runs" {
		t.Errorf("the store can be read again, but the screen still shows %q", s.list.status.Text())
	}
}

func TestManyRuns(t *testing.T) {
	desk := &fakeDesk{}
	for i := range 1000 {
		desk.runs = append(desk.runs, record(engine.RunID(fmt.Sprint("run ", i))))
	}
	q, s, _ := start(t, desk)
	s.Select("run 900")
	wait(q, s)
	wantShown(t, s, "run 900")
	if n := len(uitest.Texts(s.list.table)); n > 400 {
		t.Errorf("%d texts are shown of 1,000 runs", n)
	}
}

// TestNothingMoves checks that the buttons and lists stay where they are, whatever is chosen and said.
func TestNothingMoves(t *testing.T) {
	desk := two()
	desk.runs[1].Ending, desk.runs[1].Reason = engine.EndStopped, "by hand"
	third := record("third")
	finished(&third)
	desk.runs = append(desk.runs, third)
	q, s, _ := start(t, desk)
	d, l := s.detail, s.list
	places := func() (all []fyne.Position) {
		for _, o := range []fyne.CanvasObject{d.resume, d.limit, d.fork, d.results, d.replay, d.checkpointLine, d.points, d.removePoint, l.compare, l.export, l.remove, l.more, l.table} {
			all = append(all, fyne.CurrentApp().Driver().AbsolutePositionForObject(o))
		}
		return all
	}
	want := places()
	for what, do := range map[string]func(){
		"an older checkpoint":     func() { d.points.OnSelected("1") },
		"a stopped run":           func() { s.choose("old") },
		"a complete run":          func() { s.choose("third") },
		"a message":               func() { s.say("old", strings.Repeat("Exported to a folder. ", 20), widgets.Good) },
		"a deletion":              func() { s.undo.deleted(deletion{"a run", []Thing{{Run: "old"}}}) },
		"a text that is searched": func() { l.search.SetText("greet") },
		"no run":                  func() { l.search.SetText("nothing matches this") },
	} {
		do()
		wait(q, s)
		if got := places(); !slices.Equal(got, want) {
			t.Errorf("%s: the places are\n%v, want\n%v", what, got, want)
		}
	}
}

// TestHistory checks that History opens the chosen run.
func TestHistory(t *testing.T) {
	q, s, h := start(t, two())
	s.Select("old")
	q.Until("it is shown", func() bool { return !s.loading })
	q.Tap(s.Content(), "History")
	if !slices.Equal(h.replayed, []engine.RunID{"old"}) {
		t.Errorf("opened in the history %v", h.replayed)
	}
}
