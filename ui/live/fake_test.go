package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

var began = time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)

// fakeRun records the orders that it receives.
type fakeRun struct {
	id   engine.RunID
	snap atomic.Pointer[engine.Snapshot]

	mu    sync.Mutex
	asked []string
	limit func(text string) error // what a change of the limit does; nil sets it
	set   func(name, value string) error
	fail  error // of all other orders

	tunables []engine.Tunable
	wait     chan struct{} // if set, orders wait until it is closed
}

func newFakeRun(s engine.Snapshot) *fakeRun {
	r := &fakeRun{id: s.Run}
	r.snap.Store(&s)
	return r
}

// change publishes the next snapshot.
func (r *fakeRun) change(f func(s *engine.Snapshot)) {
	s := *r.snap.Load()
	f(&s)
	r.snap.Store(&s)
}

// second publishes the next second of metrics.
func (r *fakeRun) second(f func(m *engine.MetricsRow)) {
	r.change(func(s *engine.Snapshot) {
		s.At = s.At.Add(time.Second)
		s.Metrics.At = s.At
		f(&s.Metrics)
	})
}

func (r *fakeRun) order(format string, args ...any) error {
	r.mu.Lock()
	r.asked = append(r.asked, fmt.Sprintf(format, args...))
	wait, fail := r.wait, r.fail
	r.mu.Unlock()
	if wait != nil {
		<-wait
	}
	return fail
}

func (r *fakeRun) orders() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.asked, "; ")
}

func (r *fakeRun) ID() engine.RunID           { return r.id }
func (r *fakeRun) Snapshot() *engine.Snapshot { return r.snap.Load() }
func (r *fakeRun) Done() <-chan struct{}      { return nil }

// setLimit carries out a change of the limit.
func (r *fakeRun) setLimit(text, who, why string) error {
	err := r.order("limit %s %s %s", text, who, why)
	if r.limit != nil {
		return r.limit(text)
	}
	r.change(func(s *engine.Snapshot) {
		old := limitOf(s)
		if n, err := strconv.Atoi(text); err == nil {
			s.Limit, s.Governor = n, engine.Manual
		} else {
			s.Governor = engine.Adaptive
		}
		s.Changes = append(slices.Clip(s.Changes), engine.ChangeRow{At: s.At, What: engine.LimitSetting, Old: old, New: text, Who: who, Why: why})
	})
	return err
}

func (r *fakeRun) Pause(who, why string) error { return r.order("pause %s %s", who, why) }
func (r *fakeRun) Resume(who string) error     { return r.order("resume %s", who) }
func (r *fakeRun) Stop(who, why string) error  { return r.order("stop %s %s", who, why) }
func (r *fakeRun) Checkpoint(_ context.Context, reason string) error {
	return r.order("checkpoint %s", reason)
}

type fakeDesk struct {
	logged   int
	job      *Job
	exported []string
	failing  error
	remote   string
	unwell   bool
	past     map[engine.RunID]*Job
}

func (d *fakeDesk) Job() *Job { return d.job }

func (d *fakeDesk) ExportAs(_ context.Context, run engine.RunID, dir, format string) (string, error) {
	d.exported = append(d.exported, string(run)+" to "+dir+" as "+format)
	return dir + "/throng-" + string(run), d.failing
}

func (d *fakeDesk) Past(_ context.Context, run engine.RunID) (*Job, error) { return d.past[run], nil }

func (d *fakeDesk) Logged() (int, string, time.Time) { return d.logged, "the disk is full", began }

func (d *fakeDesk) RemoteState() (text string, healthy bool) { return d.remote, !d.unwell }

// running is a run in the middle of its work.
func running() engine.Snapshot {
	return engine.Snapshot{
		Run:        "20300301-120000-abcd",
		At:         began.Add(time.Minute),
		Phase:      engine.Running,
		CycleState: engine.CycleState{Cycle: 2, Cycles: 24, SimTime: time.Date(2030, 1, 4, 14, 0, 0, 0, time.UTC), CycleEnded: 72, CycleTotal: 372},
		LimitState: engine.LimitState{Limit: 50, InFlight: 48},
		SessionCounts: engine.SessionCounts{Ended: 6912, Total: 8928, Begun: 6960, Outcomes: map[engine.Outcome]int64{engine.OK: 6800, engine.Stopped: 100, engine.Failed: 10, engine.TimedOut: 2}, Events: 2034, Errors: []engine.ErrorNote{
			{Class: engine.ServerError, Count: 10, Cycle: 1, Agent: 17, Path: "fill_cart[2].add_cart", Message: "POST /cart answered 503\nand a second line"},
			{Class: engine.Timeout, Count: 2, Cycle: 2, Agent: 301, Path: "checkout.pay", Message: "session timed out after 5 min"},
		}},
		SessionTimes:    engine.SessionTimes{Latency: engine.Quantiles{Count: 6912, Mean: 400 * time.Millisecond, P50: 350 * time.Millisecond, P95: 810 * time.Millisecond, P99: time.Second}},
		RequestCounts:   engine.RequestCounts{Requests: 34_560, Retries: 12, Labels: engine.Labels{}},
		Pace:            engine.Pace{PerSecond: 84.2, Elapsed: 82 * time.Second, Remaining: 70 * time.Second},
		CheckpointState: engine.CheckpointState{Checkpoints: 2, LastCheckpoint: began.Add(-80 * time.Second)},
		Metrics:         metrics(began.Add(time.Minute)),
	}
}

// metrics returns a second of metrics without problems.
func metrics(at time.Time) engine.MetricsRow {
	q := engine.Quantiles{Count: 84, Mean: 400 * time.Millisecond, P50: 350 * time.Millisecond, P95: 810 * time.Millisecond, P99: time.Second}
	return engine.MetricsRow{
		At:          at,
		Cycle:       2,
		Phase:       engine.Running,
		Limit:       50,
		InFlight:    48,
		SecondTimes: engine.SecondTimes{Total: q},
		SecondRates: engine.SecondRates{SessionsPerSec: 84, RequestsPerSec: 412},
		Host:        engine.HostMetrics{CPU: 42, ProcessCPU: 30, Memory: 210e6, Available: 9.4e9, MemoryTotal: 16e9},
		DatabaseUse: engine.DatabaseUse{Connections: 2, ServerConnections: -1, ServerMax: -1, Unsent: -1},
	}
}

// stage is a screen in a window with a run.
type stage struct {
	*uitest.Queue
	*Screen
	run     *fakeRun
	desk    *fakeDesk
	win     fyne.Window
	results []engine.RunID
}

// perform shows a run on a screen.
func perform(t *testing.T, s engine.Snapshot) *stage {
	t.Helper()
	st := &stage{Queue: uitest.Start(t), run: newFakeRun(s), desk: &fakeDesk{}}
	st.desk.job = jobOf(st.run)
	st.open(t)
	st.Show()
	return st
}

func jobOf(r *fakeRun) *Job {
	settings := engine.DefaultSettings()
	settings.Floor, settings.Ceiling = 1, 372
	return &Job{Run: r, Title: "372 shoppers, a day in March", Agents: 372, Settings: settings, Graph: shop}
}

// open puts the screen into a window.
func (st *stage) open(t *testing.T) {
	st.win = test.NewTempWindow(t, nil)
	st.Screen = New(st.desk, st.win, func(id engine.RunID) { st.results = append(st.results, id) })
	st.win.SetContent(st.Content())
	st.win.Resize(fyne.NewSize(1130, 800))
}

// tick advances the screen until it draws, within a second or two of updates.
func (st *stage) tick() {
	st.Tick()
	st.draw()
}

// pick chooses an entry of the menu of a button.
func (st *stage) pick(t *testing.T, button, entry string) {
	t.Helper()
	st.Tap(st.root, button)
	st.choose(t, entry)
}

// choose selects an entry of the open menu.
func (st *stage) choose(t *testing.T, entry string) {
	t.Helper()
	top := st.win.Canvas().Overlays().Top()
	var found fyne.Tappable
	uitest.Walk(top, func(o fyne.CanvasObject) bool {
		if i, ok := o.(fyne.Tappable); ok && slices.Equal(uitest.Texts(o), []string{entry}) {
			found = i
		}
		return true
	})
	if found == nil {
		t.Fatalf("the menu has no %q: %q", entry, uitest.Texts(top))
	}
	found.Tapped(&fyne.PointEvent{})
	st.Drain()
}

// view selects a view.
func (st *stage) view(name string) {
	st.tabs.choice.Pick(slices.Index(st.tabs.choice.Options(), name))
}

// graph shows the steps as a graph.
func (st *stage) graph() {
	st.view("Steps")
	st.steps.way.Pick(stepGraph)
}

// large makes the chart with a title the large one.
func (st *stage) large(title string) { st.charts.picker.SetSelected(title) }

// figure returns a row of the list of figures.
func (st *stage) figure(t *testing.T, name string) string {
	t.Helper()
	for _, r := range st.lists.figures(st.seen()) {
		if r.Key == name {
			return r.Cells[1].Text
		}
	}
	t.Fatalf("there is no figure %s", name)
	return ""
}

// list selects a table.
func (st *stage) list(title string) {
	st.lists.tabs.Pick(slices.IndexFunc(st.lists.all, func(l *list) bool { return l.title == title }))
}

// shows fails the test unless all texts are shown.
func (st *stage) shows(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !uitest.Shows(st.root, text) {
			t.Errorf("the screen does not show %q: %q", text, uitest.Texts(st.root))
		}
	}
}

// hides fails the test if any text is shown.
func (st *stage) hides(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if uitest.Shows(st.root, text) {
			t.Errorf("the screen shows %q", text)
		}
	}
}

var errBroken = errors.New("the disk is broken")

func (r *fakeRun) Apply(wanted []engine.Assignment, who, why string) (changes []engine.Change, err error) {
	if len(wanted) == 1 && wanted[0].Name == engine.LimitSetting {
		return nil, r.setLimit(wanted[0].Value, who, why)
	}
	var text []string
	for _, a := range wanted {
		text = append(text, a.Name+"="+a.Value)
		i := slices.IndexFunc(r.tunables, func(t engine.Tunable) bool { return t.Name == a.Name })
		if i >= 0 {
			changes = append(changes, engine.Change{Name: a.Name, Old: r.tunables[i].Value, New: a.Value})
		}
		if r.set != nil {
			err = errors.Join(err, r.set(a.Name, a.Value))
		}
	}
	return changes, cmp.Or(err, r.order("apply %s %s %s", strings.Join(text, " "), who, why))
}

func (r *fakeRun) Watch(agent int) { _ = r.order("watch %d", agent) }

func (r *fakeRun) Tunables() []engine.Tunable { return r.tunables }

func (r *fakeRun) Retire(_ context.Context, agent int, who string) error {
	return r.order("retire %d %s", agent, who)
}

func (r *fakeRun) Requeue(_ context.Context, agent int, who string) error {
	return r.order("requeue %d %s", agent, who)
}
