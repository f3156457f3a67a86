package live

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestSliderSetsTheLimit(t *testing.T) {
	st := perform(t, running())
	if got := st.limit.slider.Value(); got != 50 {
		t.Errorf("it is at %d, want the run's limit", got)
	}
	var last int
	for i := range 100 {
		last = st.drag(0.2 + float32(i)/200)
		if got := st.limit.limit.Value(); got != engine.FormatCount(int64(last)) {
			t.Fatalf("at %d it shows %s", last, got)
		}
	}
	st.tick() // the snapshot still has the old limit
	if got := st.limit.slider.Value(); got != last {
		t.Errorf("the thumb jumped to %d", got)
	}
	st.limit.slider.DragEnd()
	st.Until("the last limit is set", st.limit.steer.settled)
	st.Tick()
	orders := strings.Split(st.run.orders(), "; ")
	if want := fmt.Sprintf("limit %d user slider", last); orders[len(orders)-1] != want {
		t.Errorf("the last order was %q, want %q", orders[len(orders)-1], want)
	}
	if len(orders) > 5 {
		t.Errorf("%d orders for one movement of the hand", len(orders))
	}
	if got := st.run.Snapshot().Limit; got != last || st.limit.slider.Value() != last {
		t.Errorf("the limit is %d, the slider at %d, want %d", got, st.limit.slider.Value(), last)
	}
}

// TestLimitsAreThrottled checks that the first limit is sent immediately, and later ones only at intervals.
func TestLimitsAreThrottled(t *testing.T) {
	st := perform(t, running())
	begun := time.Now()
	st.drag(0.3)
	st.Until("the first limit is set", func() bool { return st.run.orders() != "" && !st.limit.steer.busy })
	last := st.drag(0.4)
	st.Until("the second limit is set", st.limit.steer.settled)
	if took := time.Since(begun); took < steerEvery {
		t.Errorf("both were set after %v", took)
	}
	if got := st.run.Snapshot().Limit; got != last {
		t.Errorf("the limit is %d, want %d", got, last)
	}
}

func TestLimitFromElsewhere(t *testing.T) {
	st := perform(t, running())
	st.run.change(func(s *engine.Snapshot) { s.Limit, s.InFlight = 120, 80 })
	st.Tick() // immediately
	if got := st.limit.slider.Value(); got != 120 || st.limit.limit.Value() != "120" || st.limit.inFlight.Value() != "80" {
		t.Errorf("it shows %d, %s, %s in flight", got, st.limit.limit.Value(), st.limit.inFlight.Value())
	}
	held := st.drag(0.1)
	st.Until("the limit is set", st.limit.steer.settled)
	st.run.change(func(s *engine.Snapshot) { s.Limit = 300 })
	if st.tick(); st.limit.slider.Value() != held {
		t.Errorf("the thumb is torn from the hand, to %d", st.limit.slider.Value())
	}
	st.limit.slider.DragEnd()
	if st.tick(); st.limit.slider.Value() != 300 {
		t.Errorf("after the drag it is at %d", st.limit.slider.Value())
	}
}

// TestLimitOnItsWay checks that the slider keeps its value until the run has received the new limit.
func TestLimitOnItsWay(t *testing.T) {
	st := perform(t, running())
	st.run.wait = make(chan struct{})
	test.Tap(st.limit.more)
	st.Until("the limit is on its way", func() bool { return st.run.orders() != "" })
	st.tick()
	if got := st.limit.slider.Value(); got != 51 || st.limit.limit.Value() != "51" {
		t.Errorf("on its way it shows %d and %s", got, st.limit.limit.Value())
	}
	close(st.run.wait)
	st.Until("the limit is set", st.limit.steer.settled)
	if got := st.limit.slider.Value(); got != 51 {
		t.Errorf("when the run has it, it shows %d", got)
	}
}

// TestLettingGoDoesNotWait checks that the last limit of a drag is sent immediately.
func TestLettingGoDoesNotWait(t *testing.T) {
	st := perform(t, running())
	st.limit.steer.last = time.Now().Add(time.Hour) // so that the next would have to wait
	last := st.drag(0.7)
	if st.limit.steer.settled() || st.run.orders() != "" {
		t.Errorf("the order did not wait: %q", st.run.orders())
	}
	st.limit.slider.DragEnd()
	st.Until("the limit is set", st.limit.steer.settled)
	if got := st.run.Snapshot().Limit; got != last {
		t.Errorf("the limit is %d, want %d", got, last)
	}
}

func TestLimitByOne(t *testing.T) {
	st := perform(t, running())
	test.Tap(st.limit.more)
	st.Until("the limit is set", st.limit.steer.settled)
	test.Tap(st.limit.less)
	test.Tap(st.limit.less)
	st.Until("the limit is set", st.limit.steer.settled)
	if got, want := st.run.orders(), "limit 51 user slider; limit 49 user slider"; got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
}

func TestLimitThatIsRefused(t *testing.T) {
	st := perform(t, running())
	st.run.limit = func(int) error { return engine.ErrEnded }
	st.drag(0.9)
	st.limit.slider.DragEnd()
	st.Until("the order is carried out", st.limit.steer.settled)
	st.shows(t, "Setting the limit is not possible: the run has ended.")
	if got := st.limit.slider.Value(); got != 50 {
		t.Errorf("the slider is at %d, the limit is 50", got)
	}
}

func TestNoLimitAfterTheEnd(t *testing.T) {
	for _, phase := range []engine.Phase{engine.Draining, engine.Ended} {
		s := running()
		s.Phase = phase
		st := perform(t, s)
		if !st.limit.slider.Disabled() || !st.limit.more.Disabled() || !st.limit.less.Disabled() {
			t.Errorf("the limit of a run that is %s can be changed", phase)
		}
		st.desk.job = jobOf(newFakeRun(running()))
		if st.tick(); st.limit.slider.Disabled() || st.limit.more.Disabled() {
			t.Error("the limit of the next run cannot be changed")
		}
	}
}

func TestCeilingIsBounded(t *testing.T) {
	st := perform(t, running())
	job := jobOf(st.run)
	job.Settings.Floor, job.Settings.Ceiling = 5, 500_000
	st.desk.job = job
	st.tick()
	st.shows(t, "5", "10k")
	if low, high := st.drag(0), st.drag(1); low != 5 || high != 10_000 {
		t.Errorf("the slider's range is %d to %d", low, high)
	}
}

// TestSliderMovesARun checks with the real engine that the slider's limit is the number of sessions in flight.
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
	cfg.Settings.Limit, cfg.Settings.Ceiling = 1, 64
	run, err := run.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{Queue: q, desk: &fakeDesk{job: &Job{Run: run, Title: "A crowd", Agents: 1_000_000, Settings: cfg.Settings}}}
	st.open(t)
	st.Show()
	if got := most.Load(); got > 1 {
		t.Errorf("%d in flight under a limit of 1", got)
	}
	high := st.drag(0.5)
	st.limit.slider.DragEnd()
	st.Until("as many sessions are in flight as the slider says", func() bool { return most.Load() == int64(high) })
	if high < 64 || run.Snapshot().Limit != high {
		t.Errorf("the slider is at %d, the limit is %d", high, run.Snapshot().Limit)
	}
	st.tick()
	st.Tap(st.root, "Pause")
	st.Until("the run is paused", func() bool { st.tick(); return run.Snapshot().Phase == engine.Paused && inFlight.Load() == 0 })
	st.shows(t, "paused: by hand", "Resume")
	st.Tap(st.root, "Stop")
	st.Until("the run has ended", func() bool { st.tick(); return run.Snapshot().Phase == engine.Ended })
	st.tick()
	st.shows(t, "stopped: by hand", "Show results")
	if changes := run.Snapshot().Changes; len(changes) != 3 || changes[0].New != fmt.Sprint(high) || changes[0].Who != "user" {
		t.Errorf("changes %+v", changes)
	}
}
