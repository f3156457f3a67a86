package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/marks"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/fleet/fleettest"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk records calls.
type fakeDesk struct {
	mu          sync.Mutex
	runs        []engine.RunRecord
	checkpoints map[engine.RunID][]engine.CheckpointRecord
	footprint   view.Footprint
	old         Old
	trashed     []Trashed
	// trashedRuns and trashedPoints are the deleted runs and checkpoints that can be restored.
	trashedRuns   []engine.RunRecord
	trashedPoints []engine.CheckpointRecord
	busy          engine.RunID
	experiments   map[engine.RunID]string // titles of those that execute a run here
	remote        string
	remoteRuns    []RemoteRun
	team          fleettest.Fleet
	changed       error  // of resumptions that are not as it was
	note          string // of those that go well
	err           error  // of everything that changes something
	readErr       error
	asked         []string
	looks         int
	waiting       []Waiting
	hold          chan struct{}                  // holds up all orders, if set
	holdPoints    map[engine.RunID]chan struct{} // hold up the checkpoints of runs
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

// set changes the desk between calls.
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

func (d *fakeDesk) Footprint(_ context.Context, run engine.RunID) (view.Footprint, error) {
	return d.footprint, d.ask("weigh %s", run)
}

func (d *fakeDesk) WeighThere(_ context.Context, run engine.RunID) (int64, error) {
	return 12_345, d.ask("weigh %s there", run)
}

func (d *fakeDesk) DeleteCheckpoint(_ context.Context, run engine.RunID, number int) error {
	if err := d.ask("delete checkpoint %d of %s", number, run); err != nil {
		return err
	}
	d.set(func() {
		i := slices.IndexFunc(d.checkpoints[run], func(c engine.CheckpointRecord) bool { return c.Number == number })
		d.trashedPoints = append(d.trashedPoints, d.checkpoints[run][i])
		d.checkpoints[run] = slices.Delete(slices.Clone(d.checkpoints[run]), i, i+1)
		d.trashed = append([]Trashed{{Thing: Thing{run, number}, Title: "Shoppers", Started: began, At: began, DaysLeft: 30, Bytes: 2000}}, d.trashed...)
	})
	return nil
}

func (d *fakeDesk) Old(_ context.Context, age Age) (Old, error) {
	return d.old, d.ask("what is older than %+v", age)
}

func (d *fakeDesk) Prune(_ context.Context, age Age, now bool) (Old, error) {
	if now {
		return d.old, d.ask("prune %+v permanently", age)
	}
	return d.old, d.ask("prune %+v", age)
}

func (d *fakeDesk) OpenBundle(_ context.Context, path string) (engine.RunID, string, error) {
	if err := d.ask("open %s", path); err != nil {
		return "", "", err
	}
	d.set(func() {
		d.runs = append(slices.Clone(d.runs), engine.RunRecord{ID: "other", Title: "Another computer", Created: began, Ending: engine.EndFinished})
	})
	return "other", "Added run other.", nil
}

func (d *fakeDesk) Trashed(context.Context) ([]Trashed, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.trashed), d.readErr
}

func (d *fakeDesk) Restore(_ context.Context, thing Thing) error {
	if err := d.ask("restore %s %d", thing.Run, thing.Checkpoint); err != nil {
		return err
	}
	d.set(func() {
		d.trashed = slices.DeleteFunc(slices.Clone(d.trashed), func(b Trashed) bool { return b.Thing == thing })
		for _, r := range d.trashedRuns {
			if thing == (Thing{Run: r.ID}) {
				d.runs = append(slices.Clone(d.runs), r)
			}
		}
		for _, c := range d.trashedPoints {
			if thing == (Thing{c.Run, c.Number}) {
				d.checkpoints[c.Run] = append(slices.Clone(d.checkpoints[c.Run]), c)
			}
		}
	})
	return nil
}

func (d *fakeDesk) DeleteTrashed(_ context.Context, thing Thing) error {
	err := d.ask("delete %s %d for good", thing.Run, thing.Checkpoint)
	if err == nil {
		d.set(func() {
			d.trashed = slices.DeleteFunc(slices.Clone(d.trashed), func(b Trashed) bool { return b.Thing == thing })
		})
	}
	return err
}

func (d *fakeDesk) EmptyTrash(_ context.Context, upTo time.Time) (n int, err error) {
	err = d.ask("empty the trash up to %s", upTo.Format(time.TimeOnly))
	d.set(func() { n, d.trashed = len(d.trashed), nil })
	return n, err
}

func (d *fakeDesk) Note(_ context.Context, run engine.RunID, text string) error {
	err := d.ask("note %q with %s", text, run)
	d.set(func() {
		for i := range d.runs {
			if d.runs[i].ID == run {
				d.runs = slices.Clone(d.runs)
				d.runs[i].Note = text
			}
		}
	})
	return err
}

func (d *fakeDesk) Delete(_ context.Context, run engine.RunID, how Deletion) error {
	what := ""
	if how.Send {
		what += ", sent first"
	}
	if how.There {
		what += ", there too"
	}
	if how.Now {
		what += ", permanently"
	}
	if err := d.ask("delete %s%s", run, what); err != nil {
		return err
	}
	d.set(func() {
		for _, r := range d.runs {
			if r.ID == run && !how.Now {
				d.trashedRuns = append(d.trashedRuns, r)
				d.trashed = append([]Trashed{{Thing: Thing{Run: run}, Title: r.Title, Started: r.Created, At: began, DaysLeft: 30, Bytes: 4_100_000}}, d.trashed...)
			}
		}
		d.runs = slices.DeleteFunc(slices.Clone(d.runs), func(r engine.RunRecord) bool { return r.ID == run })
	})
	return nil
}

func (d *fakeDesk) Resume(_ context.Context, run engine.RunID, how Resumption) (string, error) {
	switch {
	case how.Fleet != nil:
		return d.note, d.ask("resume %s on %+v", run, *how.Fleet)
	case how.AsItWas:
		return "", d.ask("resume %s with %d as it was", run, how.Limit)
	case d.changed != nil:
		return "", errors.Join(d.ask("resume %s with %d", run, how.Limit), d.changed)
	case how.Bound != "":
		return d.note, d.ask("resume %s with %d and %s", run, how.Limit, how.Bound)
	}
	return d.note, d.ask("resume %s with %d", run, how.Limit)
}

func (d *fakeDesk) ResumeFrom(_ context.Context, run engine.RunID, checkpoint int, how Resumption) (string, error) {
	if had, ok := d.changed.(*HadWorkers); ok { //nolint:errorlint // a test sets it
		if how.Fleet == nil {
			return "", had
		}
		return d.note, d.ask("resume %s from %d on %+v", run, checkpoint, *how.Fleet)
	}
	return d.note, d.ask("resume %s from %d with %d%s", run, checkpoint, how.Limit, how.Bound)
}

func (d *fakeDesk) Fleet() fleet.Host { return &d.team }

func (d *fakeDesk) Sizes(context.Context) (map[engine.RunID]int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sizes := map[engine.RunID]int64{}
	for i := range d.runs {
		sizes[d.runs[i].ID] = 1_000_000 * int64(i+1)
	}
	return sizes, d.readErr
}

// mark changes a run as a store does.
func (d *fakeDesk) mark(run engine.RunID, change func(*engine.RunRecord)) {
	d.set(func() {
		d.runs = slices.Clone(d.runs)
		for i := range d.runs {
			if d.runs[i].ID == run {
				change(&d.runs[i])
			}
		}
	})
}

func (d *fakeDesk) Rename(_ context.Context, run engine.RunID, name string) error {
	err := d.ask("name %s %q", run, name)
	if err == nil {
		d.mark(run, func(r *engine.RunRecord) { r.Name = name })
	}
	return err
}

func (d *fakeDesk) Tag(_ context.Context, run engine.RunID, add, remove []string) error {
	err := d.ask("tag %s +%v -%v", run, add, remove)
	if err == nil {
		d.mark(run, func(r *engine.RunRecord) { r.Tags, _ = marks.ChangeTags(r.Tags, add, remove) })
	}
	return err
}

func (d *fakeDesk) Star(_ context.Context, run engine.RunID, star bool) error {
	err := d.ask("star %s %v", run, star)
	if err == nil {
		d.mark(run, func(r *engine.RunRecord) { r.Star = star })
	}
	return err
}

func (d *fakeDesk) KeepSecret(_ context.Context, name, value string) error {
	d.mu.Lock()
	d.err = nil // the missing secret has arrived
	d.mu.Unlock()
	return d.ask("keep %s %s", name, value)
}

func (d *fakeDesk) ExportAs(_ context.Context, run engine.RunID, dir, format string) (string, error) {
	return dir + "/throng-" + string(run), d.ask("%s %s to %s", format, run, dir)
}

func (d *fakeDesk) Send(_ context.Context, run engine.RunID) error { return d.ask("send %s", run) }

func (d *fakeDesk) Experiment(run engine.RunID) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.experiments[run]
}

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

func (d *fakeDesk) RemoteRuns(ctx context.Context) ([]RemoteRun, error) {
	err := d.ask("look into %s", d.Remote())
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.remoteRuns), errors.Join(err, ctx.Err())
}

func (d *fakeDesk) RemoteCheckpoints(_ context.Context, run engine.RunID) ([]engine.CheckpointRecord, error) {
	err := d.ask("remote checkpoints of %s", run)
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.checkpoints[run]), err
}

func (d *fakeDesk) Fetch(ctx context.Context, run engine.RunID, number int, told func(done, total int)) error {
	told(25, 100)
	if err := d.ask("fetch %s %d", run, number); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.set(func() {
		d.runs = append(slices.Clone(d.runs), engine.RunRecord{
			ID: run, Title: "Of elsewhere", Created: began.Add(-time.Hour), Settings: engine.DefaultSettings(),
			Fetched: &engine.Fetched{Database: d.remote, Machine: "attic"},
		})
	})
	return nil
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

// start shows the screen with a desk.
func start(t *testing.T, desk *fakeDesk) (*uitest.Queue, *Screen, *heard) {
	t.Helper()
	q := uitest.Start(t)
	h := &heard{}
	win := test.NewTempWindow(t, nil)
	s := New(desk, win, Ways{
		Live: func() { h.resumed++ }, Results: func(run engine.RunID) { h.results = append(h.results, run) },
		Replay:  func(run engine.RunID) { h.replayed = append(h.replayed, run) },
		Setup:   func() { h.setUp++ },
		Renamed: func(run engine.RunID, name string) { h.renamed = append(h.renamed, string(run)+" is "+name) },
		Compare: func(runs ...engine.RunID) { h.compared = append(h.compared, runs...) },
		Fork: func(run engine.RunID, checkpoint int, renewed bool) {
			h.forks = append(h.forks, fmt.Sprintf("%s at %d, renewed %v", run, checkpoint, renewed))
		},
	})
	win.SetContent(s.Content())
	win.Resize(fyne.NewSize(1130, 780))
	s.Show()
	q.Until("the runs are shown", func() bool { return !s.loading })
	return q, s, h
}

// heard records what the screen reported to the window.
type heard struct {
	resumed  int
	setUp    int
	results  []engine.RunID
	compared []engine.RunID
	replayed []engine.RunID
	forks    []string
	renamed  []string
}

// two returns two runs: a new one that was interrupted, with two checkpoints, and an old one that has finished.
func two() *fakeDesk {
	old := record("old")
	old.Title, old.Created, old.Ending, old.Cycle, old.Done = "Greeters", began.Add(-time.Hour), engine.EndFinished, 24, 8928
	return &fakeDesk{
		runs:        []engine.RunRecord{record("new"), old},
		checkpoints: map[engine.RunID][]engine.CheckpointRecord{"new": points("new"), "old": points("old")[1:]},
		footprint:   view.Footprint{Sessions: 8928, Events: 2034, Checkpoints: 3, Bytes: 4_100_000},
	}
}

func wantShown(t *testing.T, s *Screen, wanted ...string) {
	t.Helper()
	for _, text := range wanted {
		if !uitest.Shows(s.Content(), text) {
			t.Errorf("%q is not shown in %q", text, uitest.Texts(s.Content()))
		}
	}
}

func wantOrders(t *testing.T, desk *fakeDesk, want ...string) {
	t.Helper()
	if got := desk.orders(); !slices.Equal(got, want) {
		t.Errorf("got calls %q, want %q", got, want)
	}
}

// wait processes events until the order to the chosen run is complete and the store has been read again.
func wait(q *uitest.Queue, s *Screen) {
	q.Until("done", func() bool { return len(s.working) == 0 && !s.loading })
}

func (d *fakeDesk) Waiting(context.Context) ([]Waiting, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.waiting), nil
}

func (d *fakeDesk) CancelWaiting(_ context.Context, id string) error {
	return d.ask("cancel waiting %s", id)
}

func (d *fakeDesk) StartNext(_ context.Context, id string) error { return d.ask("start next %s", id) }
