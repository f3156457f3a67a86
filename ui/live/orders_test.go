package live

import (
	"errors"
	"fmt"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// done waits until no order is on its way.
func (st *stage) done() {
	st.Until("all orders are carried out", func() bool { return len(st.orders.waiting) == 0 })
}

func TestOrdersReachTheRun(t *testing.T) {
	st := perform(t, running())
	st.Tap(st.root, "Pause")
	st.done()
	st.run.change(func(s *engine.Snapshot) {
		s.Phase, s.Reason = engine.Paused, byHand
		s.Changes = []engine.ChangeRow{
			{At: s.At, What: "phase", Old: "running", New: "paused"}, {At: s.At, What: engine.LimitSetting, Old: "50", New: "40"},
		}
	})
	st.Tick()
	st.hides(t, "Pause")
	st.Tap(st.root, "Resume")
	st.done()
	st.run.change(func(s *engine.Snapshot) {
		s.Phase, s.Reason = engine.Running, ""
		s.Changes = append(s.Changes, engine.ChangeRow{At: s.At, What: "phase", Old: "paused", New: "running"})
	})
	st.Tick()
	st.Tap(st.root, "Checkpoint now")
	st.done()
	st.Tap(st.root, "Stop")
	st.done()
	st.run.change(func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Draining, byHand })
	st.Tick()
	for _, b := range []*widget.Button{st.orders.pause, st.orders.checkpoint} {
		if !b.Disabled() {
			t.Errorf("%s can be tapped while the run drains", b.Text)
		}
	}
	st.Tap(st.root, "Cut now")
	st.done()
	if st.Tick(); !st.orders.stop.Disabled() {
		t.Error("sessions in flight can be cut twice")
	}
	st.run.change(func(s *engine.Snapshot) { s.Phase, s.Ending = engine.Ended, engine.EndStopped })
	st.Tick()
	st.Tap(st.root, "Show results")
	want := "pause user by hand; resume user; checkpoint by hand; stop user by hand; stop user by hand"
	if got := st.run.orders(); got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
	if len(st.results) != 1 || st.results[0] != "20300301-120000-abcd" {
		t.Errorf("results of %v were asked for", st.results)
	}
}

// TestPausedByTrouble checks that Resume is not offered for a run that its journal pauses.
func TestPausedByTrouble(t *testing.T) {
	s := running()
	s.Phase, s.Reason = engine.Paused, "no room on the disk"
	s.Changes = []engine.ChangeRow{{At: s.At, What: "phase", Old: "paused", New: "running"}}
	st := perform(t, s)
	if b := uitest.Button(st.root, "Resume"); b != nil {
		t.Error("the run can be resumed")
	}
	if b := uitest.Button(st.root, "Pause"); b == nil || b.Disabled() {
		t.Error("the run cannot be paused")
	}
}

func TestOrdersOnTheirWay(t *testing.T) {
	st := perform(t, running())
	st.run.wait = make(chan struct{})
	for _, b := range []*widget.Button{st.orders.pause, st.orders.checkpoint, st.orders.stop} {
		st.Tap(st.root, b.Text)
		if st.tick(); !b.Disabled() {
			t.Errorf("%s can be tapped twice", b.Text)
		}
	}
	close(st.run.wait)
	st.done()
	for _, b := range []*widget.Button{st.orders.pause, st.orders.checkpoint, st.orders.stop} {
		if b.Disabled() {
			t.Errorf("%s cannot be tapped again", b.Text)
		}
	}
}

func TestOrdersThatFail(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errBroken, "Checkpoint now failed: the disk is broken. Nothing has changed."},
		{fmt.Errorf("write: %w", engine.ErrNoRoom), "Checkpoint now failed: write: no room on the disk. No stored data is lost. Free some disk space and try again."},
		{engine.ErrEnded, "Checkpoint now is not possible: the run has ended."},
	} {
		st := perform(t, running())
		st.run.fail = c.err
		high := st.header.content.MinSize().Height
		st.Tap(st.root, "Checkpoint now")
		st.done()
		if got := st.orders.notice.Text(); got != c.want || !st.orders.notice.Visible() {
			t.Errorf("%v is shown as %q, want %q", c.err, got, c.want)
		}
		if got := st.header.content.Size().Height; got <= high {
			t.Errorf("the header is %v high with a notice, %v without", got, high)
		}
		st.run.fail = nil
		st.Tap(st.root, "Checkpoint now")
		st.done()
		if st.orders.notice.Visible() {
			t.Errorf("after a successful order it still shows %q", st.orders.notice.Text())
		}
	}
}

// TestLateOrder checks that the result of an order to one run is not shown for another run.
func TestLateOrder(t *testing.T) {
	st := perform(t, running())
	st.run.wait, st.run.fail = make(chan struct{}), errBroken
	st.Tap(st.root, "Pause")
	s := running()
	s.Run = "another"
	st.desk.job = jobOf(newFakeRun(s))
	st.tick()
	if st.orders.pause.Disabled() {
		t.Error("the other run cannot be paused")
	}
	close(st.run.wait)
	st.desk.job.Run.(*fakeRun).fail = nil
	st.Tap(st.root, "Checkpoint now")
	st.done()
	if st.orders.notice.Visible() {
		t.Errorf("got %q", st.orders.notice.Text())
	}
}

func TestExport(t *testing.T) {
	st := perform(t, running())
	st.pickPath = func(then func(string)) { then("/exports") }
	st.Tap(st.root, "Export CSV…")
	st.done()
	if len(st.desk.exported) != 1 || st.desk.exported[0] != "20300301-120000-abcd to /exports" {
		t.Errorf("exported %q", st.desk.exported)
	}
	st.shows(t, "Exported to /exports/throng-20300301-120000-abcd")
	st.desk.failing = errors.New("the folder is read-only")
	st.Tap(st.root, "Export CSV…")
	st.done()
	st.shows(t, "Export CSV failed: the folder is read-only. Nothing has changed.")
}

func TestExportAsksForAFolder(t *testing.T) {
	st := perform(t, running())
	st.Tap(st.root, "Export CSV…")
	top := st.win.Canvas().Overlays().Top()
	if top == nil {
		t.Fatal("no folder is asked for")
	}
	st.Tap(top, "Cancel")
	if st.win.Canvas().Overlays().Top() != nil || len(st.desk.exported) != 0 {
		t.Errorf("a dialog that was canceled exported %q", st.desk.exported)
	}
}

// drag moves the thumb to a fraction of the slider's width.
func (st *stage) drag(share float32) int {
	s := st.limit.slider
	s.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(s.Size().Width*share, 5)}})
	return s.Value()
}
