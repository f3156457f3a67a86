package runs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/uitest"
)

// fakeDesk records what is asked of it.
type fakeDesk struct {
	mu          sync.Mutex
	runs        []engine.RunRecord
	checkpoints map[engine.RunID][]engine.CheckpointRecord
	doomed      Doomed
	busy        engine.RunID
	remote      string
	err         error // of everything that changes something
	readErr     error
	asked       []string
	looks       int
	hold        chan struct{}                  // holds up all orders, if set
	holdPoints  map[engine.RunID]chan struct{} // hold up the checkpoints of runs
}

func (d *fakeDesk) ask(format string, args ...any) error {
	d.mu.Lock()
	d.asked = append(d.asked, fmt.Sprintf(format, args...))
	hold, err := d.hold, d.err
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	return err
}

// set changes the desk between what is asked of it.
func (d *fakeDesk) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func (d *fakeDesk) orders() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

func (d *fakeDesk) looked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *fakeDesk) Runs(context.Context) ([]engine.RunRecord, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks++
	return slices.Clone(d.runs), d.readErr
}

func (d *fakeDesk) Checkpoints(_ context.Context, run engine.RunID) ([]engine.CheckpointRecord, error) {
	d.mu.Lock()
	all, hold := slices.Clone(d.checkpoints[run]), d.holdPoints[run]
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	return all, nil
}

func (d *fakeDesk) Doomed(_ context.Context, run engine.RunID) (Doomed, error) {
	return d.doomed, d.ask("weigh %s", run)
}

func (d *fakeDesk) Delete(_ context.Context, run engine.RunID) error {
	if err := d.ask("delete %s", run); err != nil {
		return err
	}
	d.set(func() {
		d.runs = slices.DeleteFunc(slices.Clone(d.runs), func(r engine.RunRecord) bool { return r.ID == run })
	})
	return nil
}

func (d *fakeDesk) Resume(_ context.Context, run engine.RunID, limit int, bound string) error {
	if bound != "" {
		return d.ask("resume %s with %d and %s", run, limit, bound)
	}
	return d.ask("resume %s with %d", run, limit)
}

func (d *fakeDesk) Export(_ context.Context, run engine.RunID, dir string) (string, error) {
	return dir + "/throng-" + string(run), d.ask("export %s to %s", run, dir)
}

func (d *fakeDesk) Send(_ context.Context, run engine.RunID) error { return d.ask("send %s", run) }

func (d *fakeDesk) Busy() engine.RunID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.busy
}

func (d *fakeDesk) Remote() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.remote
}

var began = time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local)

// record is a run that was interrupted after 816 of 8,928 sessions.
func record(id engine.RunID) engine.RunRecord {
	settings := engine.DefaultSettings()
	settings.Cycles, settings.Seed = 24, 7
	return engine.RunRecord{
		ID: id, Title: "Shoppers", Created: began, Cycle: 2, Cycles: 24, Done: 816, Total: 8928, Settings: settings, Limit: settings.Limit,
		Source: engine.Source{Name: "shopping.yaml", Parameters: map[string]string{"agents": "372", "shop": `"corner"`}},
	}
}

func points(run engine.RunID) []engine.CheckpointRecord {
	return []engine.CheckpointRecord{
		{Run: run, Number: 2, At: began.Add(10 * time.Minute), Cycle: 1, Done: 700, Total: 8928, Reason: "interval", SizeBytes: 123_456, Newest: true},
		{Run: run, Number: 1, At: began.Add(5 * time.Minute), Done: 300, Total: 8928, Reason: "pause", SizeBytes: 2000},
	}
}

// start shows the screen with what a desk has.
func start(t *testing.T, desk *fakeDesk) (*uitest.Queue, *Screen, *heard) {
	t.Helper()
	q := uitest.Start(t)
	h := &heard{}
	win := test.NewTempWindow(t, nil)
	s := New(desk, win, func() { h.resumed++ }, func(run engine.RunID) { h.results = append(h.results, run) })
	win.SetContent(s.Content())
	win.Resize(fyne.NewSize(1130, 780))
	s.Show()
	q.Until("the runs are shown", func() bool { return !s.loading })
	return q, s, h
}

// heard is what the screen told the window.
type heard struct {
	resumed int
	results []engine.RunID
}

// two runs: a new one that was interrupted, with two checkpoints, and an old one that has finished.
func two() *fakeDesk {
	old := record("old")
	old.Title, old.Created, old.Ending, old.Cycle, old.Done = "Greeters", began.Add(-time.Hour), engine.EndFinished, 24, 8928
	return &fakeDesk{
		runs:        []engine.RunRecord{record("new"), old},
		checkpoints: map[engine.RunID][]engine.CheckpointRecord{"new": points("new"), "old": points("old")[1:]},
		doomed:      Doomed{8928, 2034, 3, 4_100_000},
	}
}

func wantShown(t *testing.T, s *Screen, wanted ...string) {
	t.Helper()
	for _, text := range wanted {
		if !uitest.Shows(s.Content(), text) {
			t.Errorf("%q is not shown, but %q", text, uitest.Texts(s.Content()))
		}
	}
}

func wantOrders(t *testing.T, desk *fakeDesk, want ...string) {
	t.Helper()
	if got := desk.orders(); !slices.Equal(got, want) {
		t.Errorf("asked was %q, want %q", got, want)
	}
}

// wait does what comes until nothing is being done to the chosen run and the store was looked at.
func wait(q *uitest.Queue, s *Screen) {
	q.Until("done", func() bool { return len(s.working) == 0 && !s.loading })
}
