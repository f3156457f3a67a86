package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakePast is the history of a run of two processes, an hour apart. It records the requested moments.
type fakePast struct {
	mu    sync.Mutex
	asked []time.Time
	reads int // of the timeline
	fail  error
	wait  chan struct{} // if set, an answer waits for it
}

func at(minutes float64) time.Time { return began.Add(time.Duration(minutes * float64(time.Minute))) }

func (p *fakePast) Timeline(context.Context) (*engine.RunTimeline, error) {
	p.mu.Lock()
	p.reads++
	p.mu.Unlock()
	return &engine.RunTimeline{
		Stretches:   []engine.Stretch{{From: at(-120), To: at(-60)}, {From: at(-5), To: at(0)}},
		Barriers:    []engine.BarrierRow{{Cycle: 0, At: at(-90)}, {Cycle: 1, At: at(-3)}},
		Changes:     []engine.ChangeRow{{At: at(-100), What: engine.LimitSetting, Old: "50", New: "20", Who: user}},
		Checkpoints: []engine.CheckpointRecord{{Number: 1, At: at(-90), Reason: "interval"}},
	}, nil
}

func (p *fakePast) Moment(_ context.Context, when time.Time) (*engine.Moment, error) {
	p.mu.Lock()
	p.asked = append(p.asked, when)
	fail, wait := p.fail, p.wait
	p.mu.Unlock()
	if wait != nil {
		<-wait
	}
	if fail != nil {
		return nil, fail
	}
	row := metrics(when)
	row.Host.CPU = 91
	states := make([]engine.AgentState, 372)
	for i := range states {
		states[i] = []engine.AgentState{engine.AgentWaiting, engine.AgentOK, engine.AgentInFlight, engine.AgentFailed}[i%4]
	}
	return &engine.Moment{
		Snapshot: &engine.Snapshot{
			Run:             "20300301-120000-abcd",
			At:              when,
			Phase:           engine.Running,
			CycleState:      engine.CycleState{Cycle: 1, Cycles: 24, SimTime: time.Date(2030, 1, 4, 9, 0, 0, 0, time.UTC), CycleEnded: 186, CycleTotal: 372},
			LimitState:      engine.LimitState{Limit: 20, InFlight: 93},
			SessionCounts:   engine.SessionCounts{Ended: 558, Total: 8928, Outcomes: map[engine.Outcome]int64{engine.OK: 93, engine.Failed: 93}, Events: 31, Errors: []engine.ErrorNote{{Class: engine.ServerError, Count: 93, Cycle: 1, Agent: 3, Path: "pay", Message: "then it was 502"}, {Class: engine.Timeout, Count: 2}}},
			SessionTimes:    engine.SessionTimes{Latency: row.Total},
			Pace:            engine.Pace{PerSecond: 84, Elapsed: 40 * time.Minute, Remaining: -1},
			CheckpointState: engine.CheckpointState{Checkpoints: 1, LastCheckpoint: at(-90)},
			Metrics:         row,
			Emitted:         []engine.Emitted{{At: when, Cycle: 1, Agent: 7, Name: "mara", Path: "order", Event: "ordered"}},
			Oldest:          []engine.Activity{{Place: engine.Place{Cycle: 1, Agent: 2}, Name: "tom", Began: when.Add(-time.Minute)}},
			RequestCounts:   engine.RequestCounts{Labels: engine.Labels{}},
		},
		Recent: []engine.MetricsRow{row}, Crowd: &engine.Crowd{At: when, Cycle: 1, States: states},
		Idle: when.After(at(-60)) && when.Before(at(-5)),
	}, nil
}

func (p *fakePast) moments() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// inHistory is a running run with a history and a clock controlled by the test.
func inHistory(t *testing.T, s engine.Snapshot) (*stage, *fakePast, *time.Time) {
	t.Helper()
	st := &stage{Queue: uitest.Start(t), run: newFakeRun(s), desk: &fakeDesk{}}
	past, clock := &fakePast{}, began
	st.desk.job = jobOf(st.run)
	st.desk.job.Past = past
	st.open(t)
	st.now = func() time.Time { clock = clock.Add(time.Second); return clock }
	st.Show()
	st.Until("the timeline is read", func() bool { return st.history.timeline != nil })
	return st, past, &clock
}

// seeks waits until a moment is shown.
func (st *stage) seeks(when time.Time) {
	st.Until("the moment is shown", func() bool { return st.history.feed != nil && st.history.feed.snap.At.Equal(when) })
}

// says fails the test unless the row shows a text.
func (st *stage) says(t *testing.T, want string) {
	t.Helper()
	if got := st.history.says.Text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHistory(t *testing.T) {
	st, _, _ := inHistory(t, running())
	st.says(t, "Drag to open the history")
	st.hides(t, "in the history")
	st.history.scrubber.OnChanged(at(-80))
	st.seeks(at(-80))
	st.shows(t, "in the history", at(-80).Local().Format("2006-01-02 15:04:05"),
		"558 of 8,928 sessions", "1 of 24 cycles done", "Fri 4 Jan 09:00", "then it was 502", "in an earlier cycle", "Completed in cycle 1")
	st.says(t, "93 in flight, 93 failed, 93 ok, 93 waiting")
	st.list("In flight")
	st.shows(t, "tom", "1 min")
	if st.orders.checkpoint.can() || st.orders.broadcastMessage.can() || st.orders.adjustRun.can() {
		t.Error("a moment that is past takes orders")
	}
	for _, b := range []string{"Pause", "Stop"} {
		if button := uitest.Button(st.root, b); button == nil || !button.Disabled() {
			t.Errorf("%s can be ordered of a moment that is past", b)
		}
	}
	if !st.limit.slider.Disabled() || st.orders.open() {
		t.Error("the limit can be moved in the past")
	}
	st.lists.askAbout("2")
	if top := st.win.Canvas().Overlays().Top(); top != nil {
		t.Errorf("an agent of the past can be retired: %q", uitest.Texts(top))
	}
	st.run.second(func(m *engine.MetricsRow) { m.Host.CPU = 12 })
	st.Tick()
	st.list("Figures")
	st.shows(t, "91%, Throng")

	if got := st.talk.pane; got == nil || !st.seen().until().Equal(at(-80)) {
		t.Error("the transcript is of another moment")
	}
	st.view("Steps")
	st.shows(t, "The history has no figures of steps")
	st.view("Overview")
	st.Tap(st.root, "Live")
	st.hides(t, "in the history", "then it was 502")
	st.shows(t, "12%, Throng", "History")
	if st.limit.slider.Disabled() || !st.orders.open() {
		t.Error("back at the run it takes no orders")
	}
}

// TestNewestWishWins checks that while the store answers slowly, only the last of the moments dragged to is read.
func TestNewestWishWins(t *testing.T) {
	st, past, _ := inHistory(t, running())
	past.wait = make(chan struct{})
	for minute := -110; minute <= -70; minute += 5 {
		st.history.scrubber.OnChanged(at(float64(minute)))
	}
	close(past.wait)
	st.seeks(at(-70))
	if got := past.moments(); len(got) != 2 || !got[0].Equal(at(-110)) || !got[1].Equal(at(-70)) {
		t.Errorf("read moments %v", got)
	}
}

// TestAnswerThatComesTooLate checks that the state of a moment is dropped if another one was selected in the meantime.
func TestAnswerThatComesTooLate(t *testing.T) {
	st, past, _ := inHistory(t, running())
	past.wait = make(chan struct{})
	st.history.scrubber.OnChanged(at(-80))
	st.Tap(st.root, "Live")
	close(past.wait)
	st.Until("the answer came", func() bool { return !st.history.busy })
	st.hides(t, "in the history")
}

func TestMomentThatCannotBeRead(t *testing.T) {
	st, past, _ := inHistory(t, running())
	past.fail = errors.New("the disk is gone")
	st.history.scrubber.OnChanged(at(-80))
	st.Until("the trouble is reported", func() bool { return st.history.trouble != "" })
	if got := st.history.says.Text(); !strings.Contains(got, "Cannot read that moment: the disk is gone. Shown: the current state") {
		t.Errorf("got %q", got)
	}
}

// TestKeysAndCycles moves through the run by keyboard, across the hour between its two processes.
func TestKeysAndCycles(t *testing.T) {
	st, _, _ := inHistory(t, running())
	end := st.history.end()
	if !end.Equal(st.run.snap.Load().At) {
		t.Fatalf("it ends at %v", end)
	}
	key := func(name fyne.KeyName) { st.history.scrubber.TypedKey(&fyne.KeyEvent{Name: name}) }
	for _, c := range []struct {
		key  fyne.KeyName
		want time.Time
	}{
		{fyne.KeyLeft, end.Add(-time.Second)},
		{fyne.KeyPageDown, at(-3)},
		{fyne.KeyPageDown, at(-90)},
		{fyne.KeyPageDown, at(-120)},
		{fyne.KeyPageUp, at(-90)},
		{fyne.KeyRight, at(-90).Add(time.Second)},
		{fyne.KeyHome, at(-120)},
	} {
		if key(c.key); !st.history.at.Equal(c.want) {
			t.Fatalf("after %s it is %v, want %v", c.key, st.history.at, c.want)
		}
	}
	st.history.seek(at(-60))
	if key(fyne.KeyRight); !st.history.at.Equal(at(-5).Add(time.Second)) {
		t.Errorf("across the gap it moves to %v", st.history.at)
	}
	if key(fyne.KeyEnd); st.history.active() {
		t.Error("at the end it is not the current state")
	}
}

// TestPlay checks that history plays at ten times the original speed. The fake clock advances by a second with each
// call.
func TestPlay(t *testing.T) {
	st, _, clock := inHistory(t, running())
	test.Tap(st.history.play)
	if !st.history.at.Equal(at(-120)) || !st.history.playing {
		t.Fatalf("it plays from %v", st.history.at)
	}
	before, from := st.history.played, st.history.at
	*clock = clock.Add(2 * time.Second)
	st.Tick()
	if got, want := st.history.at.Sub(from), 10*st.history.played.Sub(before); got != want || got < 30*time.Second {
		t.Errorf("it continued by %v, want %v", got, want)
	}
	test.Tap(st.history.play)
	at := st.history.at
	*clock = clock.Add(time.Minute)
	if st.Tick(); !st.history.at.Equal(at) {
		t.Error("stopped, it continues")
	}
	st.history.speed.Pick(2)
	test.Tap(st.history.play)
	*clock = clock.Add(5 * time.Hour)
	if st.Tick(); st.history.active() || st.history.playing {
		t.Error("at the end it plays on")
	}
}

// TestAPastRun opens the history of an ended run next to the one in progress, and returns to that run.
func TestAPastRun(t *testing.T) {
	st, _, _ := inHistory(t, running())
	over := running()
	over.Run, over.Phase, over.Ending, over.At = "20300201-080000-past", engine.Ended, engine.EndFinished, at(0)
	job := jobOf(newFakeRun(over))
	job.Title, job.Past = "Last month", &fakePast{}
	st.History(job)
	st.Until("its timeline is read", func() bool { return st.history.timeline != nil })
	st.shows(t, "Last month", "finished", "To the newest run")
	st.says(t, "Drag to open the history")
	st.history.scrubber.OnChanged(at(-80))
	st.seeks(at(-80))
	st.shows(t, "in the history", "To the end")
	st.Tap(st.root, "To the end")
	st.Tap(st.root, "To the newest run")
	st.shows(t, "372 shoppers, a day in March", "running")
	st.hides(t, "Last month")

	st.History(job)
	st.desk.job = jobOf(newFakeRun(running()))
	st.desk.job.Title = "Just launched"
	st.Tick()
	st.shows(t, "Just launched")
}

// TestNoHistory checks that a run without stored history has no history row.
func TestNoHistory(t *testing.T) {
	st := perform(t, running())
	if uitest.Button(st.root, "History") != nil {
		t.Error("a run without a past can be opened in the history")
	}
}

// TestActions performs the actions of the buttons by menu.
func TestActions(t *testing.T) {
	st, _, _ := inHistory(t, running())
	do := func(name string) {
		t.Helper()
		for _, a := range st.Actions() {
			if a.Name == name {
				if !a.Enabled() {
					t.Fatalf("%s cannot be done", name)
				}
				a.Do()
				return
			}
		}
		t.Fatalf("there is no %s", name)
	}
	do("Next tab")
	if got := st.tabs.shown(); got != "Steps" {
		t.Errorf("the next tab is %s", got)
	}
	for range len(st.tabs.names()) - 1 {
		do("Next tab")
	}
	if got := st.tabs.shown(); got != "Overview" {
		t.Errorf("after the last tab comes %s", got)
	}
	do("Open or leave history")
	if want := st.history.end().Add(-time.Minute); !st.history.at.Equal(want) {
		t.Errorf("it shows %v, want %v", st.history.at, want)
	}
	do("Previous cycle")
	do("Previous cycle")
	do("Next cycle")
	do("Play or stop")
	if !st.history.at.Equal(at(-3)) || !st.history.playing {
		t.Errorf("it is %v, playing %v", st.history.at, st.history.playing)
	}
	do("Open or leave history")
	if st.history.active() {
		t.Error("the screen is still in the history")
	}
	none := &stage{Queue: st.Queue, desk: &fakeDesk{}}
	none.open(t)
	for _, a := range none.Actions() {
		if a.Enabled() {
			t.Errorf("%s can be done without a run", a.Name)
		}
	}
}

// TestTimelineIsReadSeldom checks that the timeline of a run is read again only after something happened.
func TestTimelineIsReadSeldom(t *testing.T) {
	st, past, _ := inHistory(t, running())
	ticks := func(n int) int {
		for range n {
			st.Tick()
			st.Until("it is read", func() bool { return !st.history.reading })
		}
		past.mu.Lock()
		defer past.mu.Unlock()
		return past.reads
	}
	if got := ticks(5 * timelineBeats); got != 2 {
		t.Errorf("while nothing happens it is read %d times", got)
	}
	st.run.change(func(s *engine.Snapshot) { s.Checkpoints++ })
	if got := ticks(5 * timelineBeats); got != 4 {
		t.Errorf("after a checkpoint it was read %d times", got)
	}
	st.run.change(func(s *engine.Snapshot) { s.Phase, s.Ending = engine.Ended, engine.EndFinished })
	if got := ticks(5 * timelineBeats); got != 6 || st.history.end() != at(0) {
		t.Errorf("after the end it was read %d times, and ends at %v", got, st.history.end())
	}
}

// TestChartsEndAtTheMoment checks that charts show nothing after the selected moment, even if the axis continues.
func TestChartsEndAtTheMoment(t *testing.T) {
	st, _, _ := inHistory(t, running())
	for i := range 30 {
		st.run.second(func(m *engine.MetricsRow) { m.Host.CPU = float64(50 + i) })
		if i == 20 {
			st.run.change(func(s *engine.Snapshot) {
				s.Changes = append(s.Changes, engine.ChangeRow{At: s.At, What: engine.LimitSetting, Old: "50", New: "60", Who: user})
			})
		}
		st.Tick()
	}
	when := at(1).Add(10 * time.Second)
	st.history.seek(when)
	st.seeks(when)
	if shown := st.chartTexts(t, "CPU"); !shown["59%"] || shown["79%"] {
		t.Errorf("it shows %v", shown)
	}
	times, values := st.charts.feed.rows()
	if n := len(times); n != 11 || len(values[seriesCPU]) != n || len(st.charts.marked) != 0 {
		t.Errorf("%d rows, %d marks", n, len(st.charts.marked))
	}
	st.history.seek(at(-4))
	st.seeks(at(-4))
	if shown := st.chartTexts(t, "CPU"); shown["59%"] || !shown["–"] {
		t.Errorf("before the first second it shows %v", shown)
	}
	st.Tap(st.root, "Live")
	if times, _ = st.charts.feed.rows(); len(times) != 31 || len(st.charts.marked) != 1 {
		t.Errorf("back at the run there are %d rows, %d marks", len(times), len(st.charts.marked))
	}
}
