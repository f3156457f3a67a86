package runs

import (
	"errors"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// withRemote is a desk with a database that contains two runs of other machines.
func withRemote() *fakeDesk {
	desk := two()
	desk.remote = "db.example:5432/crowd"
	desk.remoteRuns = []RemoteRun{
		{RunRecord: engine.RunRecord{ID: "far", Title: "Night", Created: began, Done: 80, Total: 160}, Machine: "attic", Checkpoints: 2},
		{RunRecord: engine.RunRecord{ID: "older", Title: "Day", Created: began, Ending: engine.EndFinished}},
	}
	desk.checkpoints["far"] = []engine.CheckpointRecord{{Run: "far", Number: 7, Cycle: 3, Reason: "stop", At: began, Newest: true}, {Run: "far", Number: 6, Cycle: 2, Reason: "night", At: began}}
	return desk
}

// overlay returns the open dialog, or nil.
func overlay(s *Screen) fyne.CanvasObject { return s.win.Canvas().Overlays().Top() }

func TestNothingToFetchFromWithoutADatabase(t *testing.T) {
	desk := two()
	_, s, _ := start(t, desk)
	if item := s.list.menu.menu().Items[0]; !item.Disabled || item.Label != "From Postgres… (set a database in Settings)" {
		t.Errorf("without a database, the menu offers %q, disabled %v", item.Label, item.Disabled)
	}
}

// TestFetch fetches an older checkpoint of another machine's run.
func TestFetch(t *testing.T) {
	desk := withRemote()
	q, s, _ := start(t, desk)
	s.browse()
	q.Until("the database's runs are shown", func() bool { return s.browser != nil && s.browser.number == 7 })
	text := strings.Join(uitest.Texts(overlay(s)), "\n")
	for _, want := range []string{"Night", "attic", "in progress", "80 (50%)", "Day", "unknown", "finished", "7 newest", "stop", "night"} {
		if !strings.Contains(text, want) {
			t.Errorf("not shown: %q in\n%s", want, text)
		}
	}
	s.browser.checkpoints.OnSelected("6")
	hold := make(chan struct{})
	desk.set(func() { desk.hold = hold })
	q.Tap(overlay(s), "Fetch")
	if b := s.browser; !b.fetch.Disabled() || b.bar.Hidden || b.close.Text != "Cancel" {
		t.Error("while it is fetched, it can be fetched again")
	}
	s.browser.choose("older")
	q.Until("how far it is is shown", func() bool { s.Tick(); return s.browser.bar.Value == 0.25 })
	desk.set(func() { desk.hold = nil })
	close(hold)
	q.Until("it is here", func() bool { return s.browser == nil && s.run() != nil && s.run().ID == "far" })
	if orders := desk.orders(); orders[len(orders)-1] != "fetch far 6" {
		t.Errorf("got calls %q", orders)
	}
	wantShown(t, s, "elsewhere", "attic", "db.example:5432/crowd", "in that database only")
	if text := s.detail.hint.Text(); !strings.Contains(text, "as a run of its own here. The results of this run are in db.example:5432/crowd") {
		t.Errorf("got %q", text)
	}
	if b := s.detail.resume; b.Disabled() || !strings.HasPrefix(b.Text, "Resume from ") {
		t.Errorf("%q is disabled: %v", b.Text, b.Disabled())
	}
	if !s.list.menu.send.Disabled() {
		t.Error("the results of another machine can be sent")
	}
	for _, name := range []string{"Results", "Export…", "Compare", "History"} {
		if b := uitest.Button(s.Content(), name); b == nil || !b.Disabled() {
			t.Errorf("%s is possible with a run of another machine", name)
		}
	}
}

func TestFetchInVain(t *testing.T) {
	desk := withRemote()
	q, s, _ := start(t, desk)
	desk.set(func() { desk.err = errors.New("nothing answers at db.example") })
	s.browse()
	q.Until("the trouble is said", func() bool { return strings.Contains(s.browser.notice.Text(), "Nothing answers at db.example") })
	if !s.browser.fetch.Disabled() {
		t.Error("nothing can be fetched")
	}
	q.Tap(overlay(s), "Close")
	desk.set(func() { desk.err, desk.remoteRuns = nil, nil })
	s.browse()
	q.Until("it is empty", func() bool {
		return strings.Contains(strings.Join(uitest.Texts(overlay(s)), " "), "No runs in the database yet.")
	})

	// An answer that arrives after the dialog was closed is dropped.
	hold := make(chan struct{})
	desk.set(func() { desk.hold, desk.remoteRuns = hold, withRemote().remoteRuns })
	b := s.browser
	b.look()
	q.Tap(overlay(s), "Close")
	close(hold)
	q.Drain()
	if s.browser != nil || b.runs != nil || b.ctx.Err() == nil {
		t.Error("a dialog that was closed continues")
	}
}
