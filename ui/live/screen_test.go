package live

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/fleet/fleettest"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestNoRunYet(t *testing.T) {
	st := &stage{Queue: uitest.Start(t), desk: &fakeDesk{}}
	st.open(t)
	st.Show()
	st.tick()
	st.shows(t, "No run is in progress. Launch one in Setup, or resume one in Runs.")
	st.hides(t, "Automatic", "CPU", "Open Experiments")

	title, opened := "Prices", 0
	st.Experiments(func() string { return title }, func() { opened++ })
	st.Tick()
	st.shows(t, "The experiment “Prices” is in progress. Its runs are in Experiments.")
	st.hides(t, "No run is in progress")
	if st.Tap(st.Content(), "Open Experiments"); opened != 1 {
		t.Errorf("opened %d times", opened)
	}
	title = ""
	st.Tick()
	st.shows(t, "No run is in progress.")
	st.hides(t, "Open Experiments")

	st.run = newFakeRun(running())
	st.desk.job = jobOf(st.run)
	st.Tick()
	st.hides(t, "No run is in progress")
	st.shows(t, "372 shoppers, a day in March", "Automatic", "CPU")
}

func TestHeader(t *testing.T) {
	exact := func(*engine.Snapshot) {}
	for _, c := range []struct {
		name   string
		change func(s *engine.Snapshot)
		job    func(j *Job)
		shows  []string
		hides  []string
	}{
		{"running", exact, nil, []string{
			"running", "6,912 of 8,928 sessions", "77%, 1 min left", "sessions, 2 of 24 cycles done", "cycle 2: 72 of 372", "simulated Fri 4 Jan 14:00", "1 min 22 s elapsed", "checkpoints 2, last 2 min ago", "Pause", "Stop", "More",
		}, []string{"exact", "Show results", "Resume", "behind"}},
		{"paused", func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Paused, "no room on the disk" }, nil, []string{"Paused: no room on the disk"}, []string{"running", "min left"}},
		{"inexact", func(s *engine.Snapshot) {
			s.Inexact = &engine.Inexact{Cycle: 1, Agent: 17, Path: "pay", Why: "a step gave up: timeout"}
		}, nil, []string{"inexact", "inexact since cycle 1, agent 17, step pay: a step gave up: timeout"}, nil},
		{"draining", func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Draining, "by hand" }, nil, []string{"stopping", "Waits for 48 sessions to finish. Force stop, in the Stop menu, cancels them."}, nil},
		{"waiting for a stop", func(s *engine.Snapshot) {
			s.Phase, s.Reason, s.InFlight = engine.Draining, "by hand", 3
			s.Services = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerOpen, BreakerWhy: "unavailable since 12:04"}}
			s.Oldest = []engine.Activity{{Path: "pay", Since: s.At.Add(-41 * time.Second)}}
		}, nil, []string{"By hand. Waits for 3 sessions to finish, the oldest at pay for 41 s. Force stop, in the Stop menu, cancels them."}, nil},
		{"finished", func(s *engine.Snapshot) {
			s.Phase, s.Ending, s.Reason, s.Ended, s.Cycle, s.Remaining = engine.Ended, engine.EndFinished, "all cycles are done", s.Total, 24, 0
			s.CycleTotal, s.LastCheckpoint = 0, time.Date(2030, 3, 1, 12, 5, 6, 0, time.Local)
		}, nil, []string{"finished: all cycles are done", "8,928 of 8,928 sessions", "100%", "24 of 24 cycles done", "2, last at 12:05:06", "Show results"}, []string{"min left"}},
		{"in no time", func(s *engine.Snapshot) {
			s.Phase, s.Ending, s.Elapsed = engine.Ended, engine.EndFinished, 118*time.Millisecond
		}, nil, []string{"118 ms"}, nil},
		{"as long as Results says", func(s *engine.Snapshot) {
			s.Phase, s.Ending, s.Elapsed = engine.Ended, engine.EndFinished, 2467*time.Millisecond
		}, nil, []string{"2.5 s"}, []string{"2.0 s"}},
		{"by the clock", func(s *engine.Snapshot) {
			s.Cycles, s.Total, s.Elapsed, s.Remaining = 0, 0, time.Hour, 3*time.Hour+20*time.Second
		}, nil, []string{"6,912 sessions", "24%, 3 h left", "cycle 2", "1 h"}, []string{"cycle 2/"}},
		{"in the first seconds", func(s *engine.Snapshot) { s.Elapsed = 8 * time.Second }, nil, []string{"estimating…"}, []string{"min left"}},
		{"behind", func(s *engine.Snapshot) { s.Lag = 75 * time.Second }, func(j *Job) { j.Settings.TimeScale = 24 }, []string{"1 min 15 s behind"}, nil},
		{"late arrivals", func(s *engine.Snapshot) { s.Arrivals, s.Lag, s.Overdue = "Poisson, 20/s", 12*time.Second, 2500 }, nil, []string{"12 s behind, 2,500 overdue"}, nil},
		{"arrivals on time", func(s *engine.Snapshot) { s.Arrivals, s.Lag = "Poisson, 20/s", time.Millisecond }, nil, nil, []string{"behind"}},
		{"on time", exact, func(j *Job) { j.Settings.TimeScale = 24 }, nil, []string{"behind"}},
		{"no checkpoint", func(s *engine.Snapshot) { s.Checkpoints, s.LastCheckpoint = 0, time.Time{} }, nil, nil, []string{"checkpoints"}},
		{"resumed", func(s *engine.Snapshot) { s.LastCheckpoint = time.Time{} }, nil, []string{"2, none since resumed"}, nil},
		{"just saved", func(s *engine.Snapshot) { s.LastCheckpoint = s.At.Add(-3 * time.Second) }, nil, []string{"2, just now"}, nil},
		{"saved", func(s *engine.Snapshot) { s.LastCheckpoint = s.At.Add(-38 * time.Second) }, nil, []string{"2, last 30 s ago"}, nil},
		{"remote", exact, func(j *Job) { j.Remote = "db.example.com:5432/throng" }, []string{"DB connections"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := running()
			c.change(&s)
			st := &stage{Queue: uitest.Start(t), run: newFakeRun(s), desk: &fakeDesk{remote: "12 rows wait"}}
			st.desk.job = jobOf(st.run)
			if c.job != nil {
				c.job(st.desk.job)
			}
			st.open(t)
			st.Show()
			st.shows(t, c.shows...)
			st.hides(t, c.hides...)
		})
	}
}

// TestDrawsSeldom checks that the window is repainted only once a second, but immediately after an action of the user.
func TestDrawsSeldom(t *testing.T) {
	st := perform(t, running())
	// ticks counts how often the screen draws something new.
	ticks := func(n int) (drawn int) {
		for range n {
			before := st.header.state.Text()
			st.run.change(func(s *engine.Snapshot) { s.Elapsed += time.Second })
			if st.Tick(); st.header.state.Text() != before {
				drawn++
			}
		}
		return drawn
	}
	ticks(watchFor) // the screen is new
	if got := ticks(20); got != 0 {
		t.Errorf("within a second it drew %d times", got)
	}
	for range 10 {
		st.run.second(func(*engine.MetricsRow) {})
		if got := ticks(3); got != 1 {
			t.Errorf("in a second it drew %d times", got)
		}
	}
	for range 2 { // at an even tick, and at an odd one
		for _, phase := range []engine.Phase{engine.Paused, engine.Running, engine.Paused} {
			st.run.change(func(s *engine.Snapshot) { s.Phase = phase })
			if st.Tick(); st.header.phase.Text() != phase.String() {
				t.Errorf("a run that is %s is shown as %s", phase, st.header.phase.Text())
			}
		}
	}
	if got := ticks(100); got != (watchFor-1)/2 {
		t.Errorf("after a change it drew %d times", got)
	}
	st.limit.step(1)
	st.Until("the limit is set", st.limit.steer.settled)
	if got := ticks(100); got != (watchFor-1)/2 {
		t.Errorf("after an order it drew %d times", got)
	}
	st.run.change(func(s *engine.Snapshot) { s.Phase = engine.Ended })
	st.Tick()
	if got := ticks(100); got < 25 || got > 25+watchFor {
		t.Errorf("after the end it drew %d times", got)
	}
}

// TestGovernorDrawsSeldom checks that a limit moved by a governor is drawn with the next second, and does not count as
// an action of the user.
func TestGovernorDrawsSeldom(t *testing.T) {
	st := perform(t, governedRun())
	for range watchFor { // the screen is new
		st.Tick()
	}
	for _, limit := range []string{"48 active, limit 25", "48 active, limit 30", "48 active, limit 35"} {
		before := st.limit.active.Text()
		st.run.change(func(s *engine.Snapshot) { s.Limit += 5 })
		for range 3 {
			if st.Tick(); st.limit.active.Text() != before {
				t.Fatalf("within a second it shows the limit %s after %s", st.limit.active.Text(), before)
			}
		}
		st.run.second(func(*engine.MetricsRow) {})
		if st.Tick(); st.limit.active.Text() != limit {
			t.Errorf("after a second it shows the limit %s, want %s", st.limit.active.Text(), limit)
		}
	}
}

func TestAnotherRun(t *testing.T) {
	st := perform(t, running())
	st.run.second(func(m *engine.MetricsRow) { m.Host.CPU = 66 })
	st.tick()
	if got := st.feed.count; got != 2 {
		t.Errorf("%d rows of the first run", got)
	}
	s := running()
	s.Run, s.Metrics, s.Errors, s.Limit = "20300302-080000-ef01", engine.MetricsRow{}, nil, 7
	st.desk.job = jobOf(newFakeRun(s))
	st.desk.job.Title = "Another scenario"
	st.tick()
	st.shows(t, "Another scenario", "no data yet", "No errors")
	st.hides(t, "372 shoppers, a day in March", "66%", "server_error")
	if st.feed.count != 0 || st.limit.slider.Value() != 7 {
		t.Errorf("%d rows, a limit of %d", st.feed.count, st.limit.slider.Value())
	}
}

func TestErrorsAndOutcomes(t *testing.T) {
	st := perform(t, running())
	st.shows(t, "server_error", "fill_cart[2].add_cart", "POST /cart answered 503…", "session timed out after 5 min", "6,800", "stopped by a step", "canceled")
	st.hides(t, "and a second line", "No errors")
	for i, want := range []string{"6,800", "100", "10", "2", "0"} {
		if got := st.lists.counts[i].Text(); got != want {
			t.Errorf("%s: %s, want %s", outcomes[i], got, want)
		}
	}
	st.lists.explain("server_error")
	top := st.win.Canvas().Overlays().Top()
	if top == nil || !uitest.Shows(top, "and a second line") || !uitest.Shows(top, "The last of 10: cycle 1, agent 17, step fill_cart[2].add_cart") {
		t.Fatalf("the whole error is not shown: %q", uitest.Texts(top))
	}
	st.Tap(top, "Close")
	st.run.change(func(s *engine.Snapshot) { s.Errors, s.Outcomes = nil, nil })
	st.tick()
	st.shows(t, "No errors")
}

// TestScrollsFromTheBeginning checks that a run that begins in a small window scrolls instead of being squeezed.
func TestScrollsFromTheBeginning(t *testing.T) {
	st := &stage{Queue: uitest.Start(t), desk: &fakeDesk{}}
	st.open(t)
	st.win.Resize(fyne.NewSize(838, 632))
	st.desk.job = jobOf(newFakeRun(running()))
	st.Show()
	if high := st.charts.all[0].Size().Height; high < 184 {
		t.Errorf("the chart is %v high", high)
	}
}

func TestFitsItsWindow(t *testing.T) {
	st, _, _ := inHistory(t, running())
	st.desk.job.Title = strings.Repeat("a long title ", 40)
	st.begin(st.desk.job)
	for _, c := range []struct {
		size    fyne.Size
		scrolls bool
	}{
		{fyne.NewSize(1118, 792), false},
		{fyne.NewSize(838, 632), true},
		{fyne.NewSize(1758, 1192), false},
	} {
		st.win.Resize(c.size)
		st.tick()
		if o := st.charts.all[0]; o.Size().Height < 184 || o.Size().Width < 220 {
			t.Errorf("at %v a chart is %v", c.size, o.Size())
		}
		if got := st.page.body.Size().Height > st.page.scroll.Size().Height; got != c.scrolls {
			t.Errorf("at %v: scrolls %v", c.size, got)
		}
		if got := st.root.MinSize().Width; got > c.size.Width {
			t.Errorf("at %v the minimum width is %v", c.size, got)
		}
		bar, last := st.header.bar, st.orders.more
		if right := st.orders.buttons.Position().X + last.Position().X + last.Size().Width; right > bar.Size().Width+1 || st.header.phase.Position().X < 10 {
			t.Errorf("at %v the buttons reach to %v of %v, the badge is at %v", c.size, right, bar.Size().Width, st.header.phase.Position().X)
		}
	}
}

// TestOutageIsTold checks that the reason why results are not sent is shown during an outage, in full on request.
func TestOutageIsTold(t *testing.T) {
	const why = "db.example.com:5432/throng since 12:00:01: nothing answers. 3,357 rows wait here; nothing is lost."
	st := &stage{Queue: uitest.Start(t), run: newFakeRun(running()), desk: &fakeDesk{remote: why, unwell: true}}
	st.desk.job = jobOf(st.run)
	st.desk.job.Remote = "db.example.com:5432/throng"
	st.open(t)
	st.Show()
	if got := st.header.banner.Text(); got != why {
		t.Errorf("got %q", got)
	}
	st.Tap(st.root, "Why?")
	top := st.win.Canvas().Overlays().Top()
	if !uitest.Shows(top, "nothing answers") || !uitest.Shows(top, "kept on this machine") {
		t.Errorf("got %q", uitest.Texts(top))
	}
	st.Tap(top, "OK")
	st.desk.remote, st.desk.unwell = "db.example.com:5432/throng: 12 rows wait here, 500/s, 1 s left", false
	st.tick()
	if got := st.header.banner.Text(); got != "" {
		t.Errorf("got %q", got)
	}
	st.pick(t, "More", "Run details…")
	if top := st.win.Canvas().Overlays().Top(); !uitest.Shows(top, st.desk.remote) || !uitest.Shows(top, "20300301-120000-abcd") || !uitest.Shows(top, "as fast as possible") {
		t.Errorf("got %q", uitest.Texts(top))
	}
}

// TestTabs checks that each tab has all the room below the tiles.
func TestTabs(t *testing.T) {
	st := perform(t, running())
	st.desk.job.Fleet = &fleettest.Fleet{}
	st.begin(st.desk.job)
	st.draw()
	for _, one := range st.tabs.all {
		st.view(one.name)
		if size := one.object.Size(); !one.object.Visible() || size.Height < 150 || size.Width < 800 {
			t.Errorf("%s is %v", one.name, size)
		}
	}
}
