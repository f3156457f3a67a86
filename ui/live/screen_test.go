package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestNoRunYet(t *testing.T) {
	st := &stage{Queue: uitest.Start(t), desk: &fakeDesk{}}
	st.open(t)
	st.Show()
	st.tick()
	st.shows(t, "No run is in progress. Launch one in Setup, or resume one in Checkpoints.")
	st.hides(t, "Limit", "CPU")

	st.run = newFakeRun(running())
	st.desk.job = jobOf(st.run)
	st.Tick()
	st.hides(t, "No run is in progress")
	st.shows(t, "372 shoppers, a day in March", "Limit", "CPU")
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
			"running", "exact", "run 20300301-120000-abcd", "372 agents", "6,912 of 8,928 sessions", "77%, 1m10s left", "cycle 2/24", "72 of 372",
			"Fri 4 Jan 14:00", "1m22s", "as fast as possible", "2, last 2m ago", "2,034", "on this machine",
		}, []string{"inexact", "Show results", "Cut now"}},
		{"paused", func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Paused, "no room on the disk" }, nil, []string{"paused: no room on the disk"}, []string{"running"}},
		{"inexact", func(s *engine.Snapshot) {
			s.Inexact = &engine.Inexact{Cycle: 1, Agent: 17, Path: "pay", Why: "a step gave up: timeout"}
		}, nil, []string{"inexact", "inexact since cycle 1, agent 17, step pay: a step gave up: timeout"}, nil},
		{"draining", func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Draining, "by hand" }, nil, []string{"draining: by hand", "Cut now cancels them"}, nil},
		{"finished", func(s *engine.Snapshot) {
			s.Phase, s.Ending, s.Reason, s.Ended, s.Cycle, s.Remaining = engine.Ended, engine.EndFinished, "all cycles are done", s.Total, 24, 0
			s.CycleTotal, s.LastCheckpoint = 0, time.Date(2030, 3, 1, 12, 5, 6, 0, time.Local)
		}, nil, []string{"finished: all cycles are done", "8,928 of 8,928 sessions", "100%", "cycle 24/24", "all done", "2, last at 12:05:06", "Show results"}, []string{"0s left", "Pause", "Stop"}},
		{"in no time", func(s *engine.Snapshot) {
			s.Phase, s.Ending, s.Elapsed = engine.Ended, engine.EndFinished, 118*time.Millisecond
		}, nil, []string{"118ms"}, nil},
		{"as long as Results says", func(s *engine.Snapshot) {
			s.Phase, s.Ending, s.Elapsed = engine.Ended, engine.EndFinished, 2467*time.Millisecond
		}, nil, []string{"2.5s"}, []string{"2.0s"}},
		{"by the clock", func(s *engine.Snapshot) {
			s.Cycles, s.Total, s.Elapsed, s.Remaining = 0, 0, time.Hour, 3*time.Hour+20*time.Second
		}, nil, []string{"6,912 sessions", "25%, 3h00m left", "cycle 2", "1h0m0s"}, []string{"cycle 2/"}},
		{"behind", func(s *engine.Snapshot) { s.Lag = 75 * time.Second }, func(j *Job) { j.Settings.TimeScale = 24 }, []string{"1m15s behind"}, nil},
		{"on time", exact, func(j *Job) { j.Settings.TimeScale = 24 }, []string{"on time"}, nil},
		{"no checkpoint", func(s *engine.Snapshot) { s.Checkpoints, s.LastCheckpoint = 0, time.Time{} }, nil, []string{"none yet"}, nil},
		{"resumed", func(s *engine.Snapshot) { s.LastCheckpoint = time.Time{} }, nil, []string{"2, none since resumed"}, nil},
		{"just saved", func(s *engine.Snapshot) { s.LastCheckpoint = s.At.Add(-3 * time.Second) }, nil, []string{"2, just now"}, nil},
		{"saved", func(s *engine.Snapshot) { s.LastCheckpoint = s.At.Add(-38 * time.Second) }, nil, []string{"2, last 30s ago"}, nil},
		{"remote", exact, func(j *Job) { j.Remote = "db.example.com:5432/throng" }, []string{"12 rows wait", "Database connections"}, []string{"on this machine", "Store connections"}},
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
			before := st.header.events.Value()
			st.run.change(func(s *engine.Snapshot) { s.Events++ })
			if st.Tick(); st.header.events.Value() != before {
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
	test.Tap(st.limit.more)
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
	for _, limit := range []string{"25", "30", "35"} {
		before := st.limit.limit.Value()
		st.run.change(func(s *engine.Snapshot) { s.Limit += 5 })
		for range 3 {
			if st.Tick(); st.limit.limit.Value() != before {
				t.Fatalf("within a second it shows the limit %s after %s", st.limit.limit.Value(), before)
			}
		}
		st.run.second(func(*engine.MetricsRow) {})
		if st.Tick(); st.limit.limit.Value() != limit {
			t.Errorf("after a second it shows the limit %s, want %s", st.limit.limit.Value(), limit)
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
	st.shows(t, "Another scenario", "20300302-080000-ef01", "no data yet", "No errors")
	st.hides(t, "372 shoppers, a day in March", "66%", "server_error")
	if st.feed.count != 0 || st.limit.slider.Value() != 7 {
		t.Errorf("%d rows, a limit of %d", st.feed.count, st.limit.slider.Value())
	}
}

func TestErrorsAndOutcomes(t *testing.T) {
	st := perform(t, running())
	st.shows(t, "server_error", "fill_cart[2].add_cart", "POST /cart answered 503…", "session timed out after 5m0s", "6,800", "stopped", "canceled")
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
	for _, o := range st.charts.grid.Objects {
		if o.Size().Height < 120 {
			t.Errorf("a chart is %v", o.Size())
		}
	}
}

func TestFitsItsWindow(t *testing.T) {
	st, _, _ := inHistory(t, running())
	st.desk.job.Title = strings.Repeat("a long title ", 40)
	st.begin(st.desk.job)
	for _, c := range []struct {
		size    fyne.Size
		columns int
		scrolls bool
	}{
		{fyne.NewSize(1118, 792), 3, false},
		{fyne.NewSize(838, 632), 2, true},
		{fyne.NewSize(1758, 1192), 3, false},
	} {
		st.win.Resize(c.size)
		st.tick()
		var tops []float32
		for _, o := range st.charts.grid.Objects {
			if !slices.Contains(tops, o.Position().Y) {
				tops = append(tops, o.Position().Y)
			}
			if o.Size().Height < 120 || o.Size().Width < 220 {
				t.Errorf("at %v a chart is %v", c.size, o.Size())
			}
		}
		if len(tops) != 6/c.columns {
			t.Errorf("at %v there are %d rows of charts", c.size, len(tops))
		}
		if got := st.page.body.Size().Height > st.page.scroll.Size().Height; got != c.scrolls {
			t.Errorf("at %v: scrolls %v", c.size, got)
		}
		if got := st.root.MinSize().Width; got > c.size.Width {
			t.Errorf("at %v the minimum width is %v", c.size, got)
		}
		bar, export := st.header.bar, st.orders.export
		if right := st.orders.buttons.Position().X + export.Position().X + export.Size().Width; right > bar.Size().Width+1 || st.header.phase.Position().X < 10 {
			t.Errorf("at %v the buttons reach to %v of %v, the badge is at %v", c.size, right, bar.Size().Width, st.header.phase.Position().X)
		}
	}
}

// TestOutageIsTold checks that the reason why results are not sent is shown in full during an outage.
func TestOutageIsTold(t *testing.T) {
	const why = "db.example.com:5432/throng since 12:00:01: nothing answers. 3,357 rows wait here; nothing is lost."
	st := &stage{Queue: uitest.Start(t), run: newFakeRun(running()), desk: &fakeDesk{remote: why, unwell: true}}
	st.desk.job = jobOf(st.run)
	st.desk.job.Remote = "db.example.com:5432/throng"
	st.open(t)
	st.Show()
	st.shows(t, why, "kept here")
	st.desk.remote, st.desk.unwell = "db.example.com:5432/throng: 12 rows wait here, 500/s, 1s left", false
	st.tick()
	st.hides(t, why, "kept here")
	if got := st.header.results.Value(); got != st.desk.remote {
		t.Errorf("got %q", got)
	}
}

// TestAViewAlone checks that a view without charts takes the room of the lists, except in windows with room for all.
func TestAViewAlone(t *testing.T) {
	st := perform(t, running())
	high := st.views.content.Size().Height
	st.view("Chain")
	st.hides(t, "server_error")
	if got := st.views.content.Size().Height; got < high+100 {
		t.Errorf("it is %v high, as the charts: %v", got, high)
	}
	st.view("Charts")
	st.shows(t, "server_error")
	st.win.Resize(fyne.NewSize(2400, 1400))
	st.shows(t, "server_error", "Throughput")
}
