package runs

import (
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestAnyCheckpointCanBeForked forks from the newest and from an older checkpoint, also of a finished run, and checks
// that a run without checkpoints cannot be forked.
func TestAnyCheckpointCanBeForked(t *testing.T) {
	desk := two()
	of := &desk.runs[0]
	of.Parent, of.ForkCycle, of.ForkedAt, of.Kept, of.Created = "old", 1, began, 372, began
	q, s, h := start(t, desk)
	wantShown(t, s, "Continues", view.DoneOf(of).Brief())
	if uitest.Shows(s.Content(), "Shoppers (fork)") {
		t.Error("a fork has another name in the list than elsewhere")
	}
	q.Tap(s.Content(), "Fork…")
	s.detail.points.OnSelected("1")
	q.Tap(s.Content(), "Fork…")
	s.Select("old")
	wait(q, s)
	s.detail.points.OnSelected("1")
	q.Tap(s.Content(), "Fork…")
	if want := []string{"new at 2, renewed false", "new at 1, renewed false", "old at 1, renewed false"}; !slices.Equal(h.forks, want) {
		t.Errorf("forked were %q, want %q", h.forks, want)
	}
	desk.set(func() { desk.checkpoints["old"] = nil })
	s.load()
	wait(q, s)
	if b := uitest.Button(s.Content(), "Fork…"); !b.Disabled() {
		t.Error("a run without a checkpoint can be forked")
	}
}

// TestAChangedScenarioIsAskedAbout checks that resuming with a changed scenario asks: the original scenario resumes the
// run, the new one opens a fork in Setup.
func TestAChangedScenarioIsAskedAbout(t *testing.T) {
	desk := two()
	desk.changed = &Changed{What: "shop.yaml changed: line 3", Checkpoint: 2, Readable: true}
	q, s, h := start(t, desk)
	top := func() bool { return s.win.Canvas().Overlays().Top() != nil }
	ask := func() {
		t.Helper()
		q.Tap(s.Content(), "Resume")
		wait(q, s)
		q.Until("asked", top)
		if !uitest.Shows(s.win.Canvas().Overlays().Top(), "shop.yaml changed: line 3") {
			t.Errorf("the dialog shows %q", uitest.Texts(s.win.Canvas().Overlays().Top()))
		}
	}
	ask()
	q.Tap(s.win.Canvas().Overlays().Top(), "Cancel")
	ask()
	q.Tap(s.win.Canvas().Overlays().Top(), "Fork with new scenario…")
	if want := []string{"new at 2, renewed true"}; !slices.Equal(h.forks, want) || h.resumed != 0 {
		t.Errorf("forked were %q, want %q; resumed %d", h.forks, want, h.resumed)
	}
	ask()
	q.Tap(s.win.Canvas().Overlays().Top(), "Resume as before")
	wait(q, s)
	if h.resumed != 1 {
		t.Errorf("resumed %d times", h.resumed)
	}
	wantOrders(t, desk, "resume new with 0", "resume new with 0", "resume new with 0", "resume new with 0 as it was")

	desk.changed = &Changed{What: "shop.yaml cannot be read", Checkpoint: 2}
	s.Ask("new", &Changed{What: "shop.yaml cannot be read", Checkpoint: 2})
	if uitest.Button(s.win.Canvas().Overlays().Top(), "Fork with new scenario…") != nil {
		t.Error("an unreadable scenario can be used for a fork")
	}
}

// TestANoteOfAResumption checks that the note about a resumed run is shown and that the run continues.
func TestANoteOfAResumption(t *testing.T) {
	desk := two()
	desk.note = "shop.yaml is gone"
	q, s, h := start(t, desk)
	q.Tap(s.Content(), "Resume")
	wait(q, s)
	if h.resumed != 1 || !uitest.Shows(s.win.Canvas().Overlays().Top(), "shop.yaml is gone") {
		t.Errorf("resumed %d times, without the note", h.resumed)
	}
}

// TestADoubleClickOpensResults opens the results of the run under the pointer.
func TestADoubleClickOpensResults(t *testing.T) {
	q, s, h := start(t, two())
	s.Select("old")
	wait(q, s)
	s.list.table.OnDoubled("old")
	if want := []engine.RunID{"old"}; !slices.Equal(h.results, want) {
		t.Errorf("opened were %q, want %q", h.results, want)
	}
}
