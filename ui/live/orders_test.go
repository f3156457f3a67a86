package live

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/export"
	"github.com/throng-sim/throng/ui/uitest"
)

// done waits until no order is on its way.
func (st *stage) done() {
	st.Until("all orders are carried out", func() bool { return len(st.orders.waiting) == 0 })
}

func TestOrdersReachTheRun(t *testing.T) {
	st := perform(t, running())
	st.ToResume = func(engine.RunID) { t.Error("the run is resumed from the store") }
	st.Tap(st.root, "Pause")
	st.done()
	st.run.change(func(s *engine.Snapshot) {
		s.Phase, s.Reason = engine.Paused, byHand
		s.Changes = []engine.ChangeRow{
			{At: s.At, What: "phase", Old: "running", New: "paused"}, {At: s.At, What: engine.LimitSetting, Old: "50", New: "40"},
		}
	})
	st.Tick()
	if !st.orders.pause.Disabled() {
		t.Error("a paused run can be paused")
	}
	st.Tap(st.root, "Resume")
	st.done()
	st.run.change(func(s *engine.Snapshot) {
		s.Phase, s.Reason = engine.Running, ""
		s.Changes = append(s.Changes, engine.ChangeRow{At: s.At, What: "phase", Old: "paused", New: "running"})
	})
	st.Tick()
	st.hides(t, "Resume")
	st.pick(t, "More", "Checkpoint now")
	st.done()
	st.pick(t, "Stop", "Stop")
	st.done()
	st.run.change(func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Draining, byHand })
	st.Tick()
	if o := st.orders; !o.pause.Disabled() || o.checkpoint.can() || o.adjustRun.can() || o.stopRun.can() {
		t.Error("a draining run takes orders")
	}
	st.pick(t, "Stop", "Force stop")
	st.done()
	if st.Tick(); !st.orders.stop.Disabled() {
		t.Error("sessions in flight can be canceled twice")
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
	var resumed engine.RunID
	st.ToResume = func(run engine.RunID) { resumed = run }
	if st.Tap(st.root, "Resume"); resumed != "20300301-120000-abcd" {
		t.Errorf("resumed %q", resumed)
	}
	st.run.change(func(s *engine.Snapshot) { s.Ending = engine.EndFinished })
	st.Tick()
	st.hides(t, "Resume")
}

// TestForceStop checks that a running run can be stopped immediately.
func TestForceStop(t *testing.T) {
	st := perform(t, running())
	st.pick(t, "Stop", "Force stop")
	st.done()
	if got, want := st.run.orders(), "stop user by hand; stop user by hand"; got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
}

// TestButtonsKeepTheirPlaces checks that no button moves or changes its text in the timeline of a run.
func TestButtonsKeepTheirPlaces(t *testing.T) {
	st := perform(t, running())
	st.ToResume = func(engine.RunID) {}
	type place struct {
		at   fyne.Position
		text string
	}
	all := []*widget.Button{st.orders.results, st.orders.resume, st.orders.pause, st.orders.stop, st.orders.more}
	var places []place
	driver := fyne.CurrentApp().Driver()
	show(st.orders.results, true) // only visible objects have a position
	show(st.orders.resume, true)
	for _, b := range all {
		places = append(places, place{driver.AbsolutePositionForObject(b), b.Text})
	}
	below := driver.AbsolutePositionForObject(st.tiles.content)
	for _, change := range []func(s *engine.Snapshot){
		func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Paused, "by hand" },
		func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Draining, "by hand" },
		func(s *engine.Snapshot) { s.Breaker, s.BreakerWhy = engine.BreakerOpen, "60% of cycle 3 failed" },
		func(s *engine.Snapshot) { s.Governor, s.Limit = engine.Adaptive, 7 },
		func(s *engine.Snapshot) { s.Governor, s.Limit = engine.Manual, 10_000 },
		func(s *engine.Snapshot) { s.Inexact = &engine.Inexact{Cycle: 1, Why: "a step gave up"} },
		func(s *engine.Snapshot) { s.Phase, s.Ending, s.Reason = engine.Ended, engine.EndStopped, "by hand" },
	} {
		st.run.change(change)
		st.tick()
		for i, b := range all {
			if !b.Visible() {
				continue
			}
			if b.MinSize().Width > b.Size().Width+1 {
				t.Errorf("%s is %v wide and needs %v", b.Text, b.Size().Width, b.MinSize().Width)
			}
			if got := (place{driver.AbsolutePositionForObject(b), b.Text}); got != places[i] {
				t.Errorf("%s is at %v, was at %v", got.text, got.at, places[i].at)
			}
		}
		if got := driver.AbsolutePositionForObject(st.tiles.content); got != below {
			t.Errorf("what is below the header is at %v, was at %v", got, below)
		}
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
	st.shows(t, "Paused: no room on the disk")
}

func TestOrdersOnTheirWay(t *testing.T) {
	st := perform(t, running())
	st.run.wait = make(chan struct{})
	st.Tap(st.root, "Pause")
	if st.tick(); !st.orders.pause.Disabled() {
		t.Error("a run can be paused twice")
	}
	for _, c := range []*command{&st.orders.checkpoint, &st.orders.stopRun, &st.orders.forceStop} {
		c.run()
		if st.tick(); c.can() {
			t.Errorf("%s can be chosen twice", c.name)
		}
	}
	close(st.run.wait)
	st.done()
	st.tick()
	if st.orders.pause.Disabled() || !st.orders.checkpoint.can() || !st.orders.stopRun.can() {
		t.Error("an order cannot be repeated")
	}
}

func TestOrdersThatFail(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errBroken, "The checkpoint failed: the disk is broken. Nothing has changed."},
		{fmt.Errorf("write: %w", engine.ErrNoRoom), "The checkpoint failed: write: no room on the disk. No stored data is lost. Free some disk space and try again."},
		{engine.ErrEnded, "The checkpoint is not possible: the run has ended."},
	} {
		st := perform(t, running())
		st.run.fail = c.err
		high := st.header.content.MinSize().Height
		st.pick(t, "More", "Checkpoint now")
		st.done()
		if got := st.header.banner.Text(); got != c.want {
			t.Errorf("%v is shown as %q, want %q", c.err, got, c.want)
		}
		if got := st.header.content.Size().Height; got != high {
			t.Errorf("the header is %v high with a message, %v without", got, high)
		}
		st.run.fail = nil
		st.pick(t, "More", "Checkpoint now")
		st.done()
		st.shows(t, "A checkpoint was taken.")
		now := st.now()
		st.now = func() time.Time { return now.Add(noticeLasts) }
		if st.draw(); st.header.banner.Text() != "" {
			t.Errorf("after a while it still shows %q", st.header.banner.Text())
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
	st.pick(t, "More", "Checkpoint now")
	st.done()
	if got := st.orders.notice.Text(); got != "A checkpoint was taken." {
		t.Errorf("got %q", got)
	}
}

// TestExport exports the run in progress in every format of the menu.
func TestExport(t *testing.T) {
	st := perform(t, running())
	st.pickPath = func(_, _ string, then func(string)) { then("/exports") }
	for i, f := range export.Formats {
		st.pick(t, "More", "Export…")
		st.choose(t, f.Name+"…")
		st.done()
		if want := "20300301-120000-abcd to /exports as " + f.ID; len(st.desk.exported) != i+1 || st.desk.exported[i] != want {
			t.Fatalf("exported %q, want %q at the end", st.desk.exported, want)
		}
		st.shows(t, "to /exports/throng-20300301-120000-abcd")
	}
	st.desk.failing = errors.New("the folder is read-only")
	st.pick(t, "More", "Export…")
	st.choose(t, "CSV…")
	st.done()
	st.shows(t, "The export failed: the folder is read-only. Nothing has changed.")
}

func TestExportAsksForAFolder(t *testing.T) {
	st := perform(t, running())
	st.pick(t, "More", "Export…")
	st.choose(t, "Parquet…")
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
