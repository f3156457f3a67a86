package live

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/govern"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/ui/uitest"
)

// settle waits until the run has received every chosen limit.
func (st *stage) settle() {
	st.Until("the limit is set", st.limit.steer.settled)
	st.tick()
}

// TestDraggingTakesOver checks that a hand on the slider takes over from the governor, as one order on release.
func TestDraggingTakesOver(t *testing.T) {
	st := perform(t, governedRun())
	if got := st.limit.slider.Value(); got != 20 {
		t.Errorf("it is at %d, want the run's limit", got)
	}
	var last int
	for i := range 100 {
		last = st.drag(0.2 + float32(i)/200)
		want := "48 of " + engine.FormatCount(int64(last)) + " active"
		if last < 48 {
			want = "48 active, limit " + engine.FormatCount(int64(last))
		}
		if st.limit.active.Text() != want || st.limit.mode.Chosen() != manualMode {
			t.Fatalf("at %d it shows %s", last, st.limit.active.Text())
		}
	}
	st.run.change(func(s *engine.Snapshot) { s.Limit = 15 }) // the governor still moves it
	if st.tick(); st.limit.slider.Value() != last {
		t.Errorf("the thumb is torn from the hand, to %d", st.limit.slider.Value())
	}
	if got := st.run.orders(); got != "" {
		t.Errorf("before the release: %q", got)
	}
	st.limit.slider.DragEnd()
	st.settle()
	if got, want := st.run.orders(), fmt.Sprintf("limit %d user by hand", last); got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
	st.shows(t, fmt.Sprintf("You set %d.", last), "Return to automatic")
	st.Tap(st.root, "Return to automatic")
	st.settle()
	if got := st.run.orders(); !strings.HasSuffix(got, "; limit automatic user by hand") || st.limit.mode.Chosen() != automaticMode {
		t.Errorf("got calls %q, mode %d", got, st.limit.mode.Chosen())
	}
	st.hides(t, "Return to automatic")
}

// TestModeIsChosen checks that Manual keeps the current limit.
func TestModeIsChosen(t *testing.T) {
	st := perform(t, governedRun())
	st.limit.mode.Pick(manualMode)
	st.settle()
	st.limit.mode.Pick(automaticMode)
	st.settle()
	if got, want := st.run.orders(), "limit 20 user by hand; limit automatic user by hand"; got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
}

func TestLimitFromElsewhere(t *testing.T) {
	st := perform(t, running())
	st.run.change(func(s *engine.Snapshot) { s.Limit, s.Metrics.InFlight = 120, 80 })
	st.Tick() // immediately
	if got := st.limit.slider.Value(); got != 120 || st.limit.active.Text() != "80 of 120 active" {
		t.Errorf("it shows %d, %s", got, st.limit.active.Text())
	}
}

// TestLimitOnItsWay checks that the slider keeps its value until the run has received the new limit.
func TestLimitOnItsWay(t *testing.T) {
	st := perform(t, running())
	st.run.wait = make(chan struct{})
	st.drag(0.7)
	st.limit.slider.DragEnd()
	last := st.limit.slider.Value()
	st.Until("the limit is on its way", func() bool { return st.run.orders() != "" })
	st.tick()
	if got := st.limit.slider.Value(); got != last {
		t.Errorf("on its way it shows %d", got)
	}
	close(st.run.wait)
	st.settle()
	if got := st.limit.slider.Value(); got != last {
		t.Errorf("when the run has it, it shows %d", got)
	}
}

// TestKeysAreOneChange checks that several keys in quick succession are one order.
func TestKeysAreOneChange(t *testing.T) {
	st := perform(t, running())
	for range 5 {
		st.limit.step(1)
	}
	st.limit.step(-1)
	if got := st.run.orders(); got != "" || st.limit.slider.Value() != 54 {
		t.Errorf("got calls %q, at %d", got, st.limit.slider.Value())
	}
	st.settle()
	if got, want := st.run.orders(), "limit 54 user by hand"; got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
	st.limit.slider.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageUp})
	st.settle()
	if got := st.run.orders(); !strings.HasSuffix(got, "; limit 108 user by hand") {
		t.Errorf("got calls %q", got)
	}
}

// TestLimitIsUndone checks that undo returns to the limits and the mode before, as new changes.
func TestLimitIsUndone(t *testing.T) {
	st := perform(t, governedRun())
	if st.limit.steer.canUndo() {
		t.Error("there is nothing to undo")
	}
	for _, share := range []float32{0.5, 0.8} {
		st.drag(share)
		st.limit.slider.DragEnd()
		st.settle()
	}
	before := st.run.orders()
	for st.limit.steer.canUndo() {
		st.limit.steer.undo()
		st.settle()
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(before, "limit "), " ")
	if got, want := st.run.orders(), before+"; limit "+first+" user undo; limit automatic user undo"; got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
	if n := len(st.run.Snapshot().Changes); n != 4 || st.limit.mode.Chosen() != automaticMode {
		t.Errorf("%d changes, mode %d", n, st.limit.mode.Chosen())
	}
}

func TestLimitThatIsRefused(t *testing.T) {
	st := perform(t, running())
	st.run.limit = func(string) error { return engine.ErrEnded }
	st.drag(0.9)
	st.limit.slider.DragEnd()
	st.settle()
	st.shows(t, "Setting the limit is not possible: the run has ended.")
	if got := st.limit.slider.Value(); got != 50 || st.limit.steer.canUndo() {
		t.Errorf("the slider is at %d, the limit is 50", got)
	}
}

func TestNoLimitAfterTheEnd(t *testing.T) {
	for _, phase := range []engine.Phase{engine.Draining, engine.Ended} {
		s := running()
		s.Phase = phase
		st := perform(t, s)
		st.limit.step(1)
		if !st.limit.slider.Disabled() || !st.limit.mode.Disabled() || st.limit.slider.Value() != 50 {
			t.Errorf("the limit of a run that is %s can be changed", phase)
		}
		st.desk.job = jobOf(newFakeRun(running()))
		if st.tick(); st.limit.slider.Disabled() || st.limit.mode.Disabled() {
			t.Error("the limit of the next run cannot be changed")
		}
	}
}

func TestSliderIsBounded(t *testing.T) {
	st := perform(t, running())
	job := jobOf(st.run)
	job.Settings.Floor, job.Settings.Ceiling = 5, 500_000
	st.desk.job = job
	st.tick()
	st.shows(t, "1", "10k")
	if low, high := st.drag(0), st.drag(1); low != 1 || high != 10_000 {
		t.Errorf("the slider's range is %d to %d", low, high)
	}
}

// TestSliderMovesARun checks with the real engine and governor that the slider's limit is the number of sessions in flight.
func TestSliderMovesARun(t *testing.T) {
	q := uitest.Start(t)
	var inFlight, most atomic.Int64
	crowd := &enginetest.Crowd{
		Work: 4 * time.Millisecond,
		Began: func(*engine.Session) {
			now := inFlight.Add(1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
		},
		Ended: func(*engine.Session) { inFlight.Add(-1) },
	}
	cfg := enginetest.Config(1_000_000, crowd, nil)
	cfg.Settings.Limit, cfg.Settings.Ceiling = 1, 2
	governor, err := govern.New(cfg.Settings.Steering, govern.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Governor = governor
	run, err := run.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{Queue: q, desk: &fakeDesk{job: &Job{Run: run, Title: "A crowd", Agents: 1_000_000, Settings: cfg.Settings}}}
	st.open(t)
	st.Show()
	if got := most.Load(); got > 2 {
		t.Errorf("%d in flight under a ceiling of 2", got)
	}
	high := st.drag(0.5)
	st.limit.slider.DragEnd()
	st.Until("as many sessions are in flight as the slider says", func() bool { return most.Load() == int64(high) })
	if high < 64 || run.Snapshot().Limit != high || run.Snapshot().Governor != engine.Manual {
		t.Errorf("the slider is at %d, the limit is %d", high, run.Snapshot().Limit)
	}
	st.tick()
	st.Tap(st.root, "Pause")
	st.Until("the run is paused", func() bool { st.tick(); return run.Snapshot().Phase == engine.Paused && inFlight.Load() == 0 })
	st.shows(t, "Paused: by hand", "Resume")
	st.pick(t, "Stop", "Stop")
	st.Until("the run has ended", func() bool { st.tick(); return run.Snapshot().Phase == engine.Ended })
	st.tick()
	st.shows(t, "stopped: by hand", "Show results")
	changes := run.Snapshot().Changes
	if c := changes[len(changes)-3]; c.What != engine.LimitSetting || c.Old != engine.Automatic || c.New != fmt.Sprint(high) || c.Who != "user" {
		t.Errorf("changes %+v", changes)
	}
	test.Tap(st.limit.why)
}
