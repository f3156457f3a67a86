// Package storetest is the suite that a store of runs must pass: what "works" means is here.
package storetest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
)

// Store is what the suite needs of a store.
type Store interface {
	storage.Reader
	Create(ctx context.Context, r engine.RunRecord) error
	Fork(ctx context.Context, r engine.RunRecord, f storage.Fork) error
	Claim(ctx context.Context, run engine.RunID) (release func(), err error)
	Journal(run engine.RunID) (Journal, error)
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	Newest(ctx context.Context) (engine.RunRecord, error)
	Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error)
	Checkpoint(ctx context.Context, run engine.RunID, number int) (engine.CheckpointRecord, engine.State, map[int]*engine.Memory, error)
	Resume(ctx context.Context, run engine.RunID) (*engine.Resumption, error)
	Changes(ctx context.Context, run engine.RunID) ([]engine.ChangeRow, error)
	Barriers(ctx context.Context, run engine.RunID) ([]engine.BarrierRow, error)
	Requests(ctx context.Context, run engine.RunID, cycle, agent int) ([]storage.Request, error)
	RequestsOf(ctx context.Context, run engine.RunID, p engine.Place, enough func([]storage.Request) bool) ([]storage.Request, error)
	Recent(ctx context.Context, run engine.RunID, agent, before, most int) (all []engine.SessionRow, next int, err error)
	MemoryOf(ctx context.Context, run engine.RunID, agent int) (*engine.Memory, error)
	Doomed(ctx context.Context, run engine.RunID) (view.Footprint, error)
	Delete(ctx context.Context, run engine.RunID) error
	WeighCheckpoints(ctx context.Context, run engine.RunID, numbers []int) (bytes int64, err error)
	DeleteCheckpoints(ctx context.Context, run engine.RunID, numbers []int) error
	Trash(ctx context.Context, run engine.RunID) error
	TrashCheckpoints(ctx context.Context, run engine.RunID, numbers []int) error
	Trashed(ctx context.Context) ([]storage.Trashed, error)
	Restore(ctx context.Context, run engine.RunID, number int) error
	DeleteTrashed(ctx context.Context, run engine.RunID, number int) error
	EmptyTrash(ctx context.Context, upTo time.Time) (gone []storage.Trashed, err error)
	Note(ctx context.Context, run engine.RunID, text string) error
	Close() error
}

// Journal is a run's journal as the store gives it.
type Journal interface {
	engine.Journal
	Close(ctx context.Context) error
}

// Options are how the suite wants a store opened.
type Options struct {
	// OnCommit is called after the n-th commit is durable and before anybody hears of it.
	OnCommit func(n int64)
	// Patient has rows committed only when somebody waits for them.
	Patient bool
}

// Open opens the store in a folder of its own. It fails the test if it cannot.
type Open func(t testing.TB, dir string, o Options) Store

// Run holds a store to the contract. All of a store's state must be in files of its folder.
func Run(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open Open)
	}{
		{"runs are listed newest first", testRuns},
		{"an id may be cut short", testPrefix},
		{"a commit covers everything before it", testCommitOrder},
		{"appended rows become durable by themselves", testAppend},
		{"rows survive reopening", testReopen},
		{"a sequential run's messages come back in turn", testTurns},
		{"sessions are ordered and only the last take counts", testSessions},
		{"overlapping batches are merged", testOverlap},
		{"every kept checkpoint can be restored", testCheckpoints},
		{"a checkpoint is deleted alone", testDeleteCheckpoints},
		{"what is not kept goes after the barrier", testGrowth},
		{"what is private is for a resumption only", testPrivate},
		{"an answer that belongs to the run stays", testShared},
		{"totals are recomputed", testTotals},
		{"peaks and time are brought up to the end", testPeaks},
		{"a requeued take goes on", testTakes},
		{"a run that goes on is not over", testEnding},
		{"a fork begins with its parent's memory", testFork},
		{"a fork goes on, and is forked", testForkOfAFork},
		{"memory follows its agent into a fork", testForkMoved},
		{"what was injected by hand comes back", testInjected},
		{"what was ordered by hand comes back", testOrders},
		{"settings that were changed come back", testTuned},
		{"sleep is no time that a run took", testSlept},
		{"metrics are read from a time on", testMetrics},
		{"a run is deleted whole, but not in progress", testDelete},
		{"a run comes back from the trash as it was", testTrash},
		{"a checkpoint comes back from the trash", testTrashCheckpoint},
		{"what is deleted from the trash is gone", testEmptyTrash},
		{"a note stays with its run", testNote},
		{"a closed journal refuses", testClosed},
		{"any history can be resumed", testHistories},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// epoch is when the runs of the suite happen.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a moment of the suite's runs.
func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// record returns a run to create.
func record(id engine.RunID) engine.RunRecord {
	s := engine.DefaultSettings()
	s.Cycles, s.KeepCheckpoints, s.KeepShare = 10, 3, 0
	return engine.RunRecord{
		ID: id, Title: "a run", Created: epoch, Settings: s, Cycles: s.Cycles, Total: 100,
		Source: engine.Source{
			Name: "crowd.yaml", Hash: "abc", Files: map[string][]byte{"crowd.yaml": []byte("scenario: crowd\n")},
			Parameters: map[string]string{"shops": "3"}, Path: "/crowds/crowd.yaml",
		},
		Forecast: &engine.Forecast{
			Cycle: engine.Between(8, 12, engine.Measured), Run: "before", At: epoch, Server: -1, ServerMax: 60, Writers: []string{"buy"},
			Services: []engine.ServiceForecast{{Name: "shop", RequestRate: engine.Exactly(100, engine.FromFile)}}, Advice: []string{"Take fewer."},
		},
	}
}

// fixture is a store with a run and its journal.
type fixture struct {
	Store
	Journal Journal
	t       testing.TB
	open    Open
	dir     string
	options Options
	run     engine.RunID
}

func newFixture(t testing.TB, open Open, r engine.RunRecord) *fixture {
	t.Helper()
	f := &fixture{t: t, open: open, dir: t.TempDir(), run: r.ID}
	f.Store = open(t, f.dir, f.options)
	must(t, f.Create(t.Context(), r))
	f.takeUp()
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

func (f *fixture) takeUp() {
	f.t.Helper()
	var err error
	f.Journal, err = f.Store.Journal(f.run)
	must(f.t, err)
}

func (f *fixture) append(rows ...engine.Row) { f.Journal.Append(rows...) }

func (f *fixture) commit(rows ...engine.Row) {
	f.t.Helper()
	must(f.t, f.Journal.Commit(f.t.Context(), rows...))
}

// reopen closes everything and opens it again.
func (f *fixture) reopen() {
	f.t.Helper()
	must(f.t, f.Journal.Close(f.t.Context()))
	must(f.t, f.Close())
	f.Store = f.open(f.t, f.dir, f.options)
	f.takeUp()
}

func (f *fixture) resume() *engine.Resumption {
	f.t.Helper()
	r, err := f.Resume(f.t.Context(), f.run)
	must(f.t, err)
	return r
}

func (f *fixture) sessions(from, to int) []engine.SessionRow {
	f.t.Helper()
	return sessionsOf(f.t, f.Store, f.run, from, to)
}

// sessionsOf reads sessions and copies what their iterator reuses.
func sessionsOf(t fataler, s Store, run engine.RunID, from, to int) []engine.SessionRow {
	t.Helper()
	var all []engine.SessionRow
	for r, err := range s.Sessions(context.Background(), run, from, to) {
		must(t, err)
		c := *r
		c.Steps, c.Events = nil, nil
		for _, s := range r.Steps {
			s.Statuses = append([]int(nil), s.Statuses...)
			c.Steps = append(c.Steps, s)
		}
		for _, e := range r.Events {
			e.Data = append([]byte(nil), e.Data...)
			c.Events = append(c.Events, e)
		}
		all = append(all, c)
	}
	return all
}

// fataler is a test, of testing or of rapid.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// copyDir copies the files of a folder, as a power cut would leave them.
func copyDir(t fataler, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	must(t, err)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(to, e.Name()), data, 0o600))
	}
}

// place is a session's place.
func place(cycle, agent, take int) engine.Place {
	return engine.Place{Cycle: cycle, Agent: agent, Take: take}
}

// session is a finished session with a little of everything.
func session(cycle, agent int, outcome engine.Outcome) engine.SessionRow {
	r := engine.SessionRow{
		Place: place(cycle, agent, 0), Outcome: outcome, Started: at(cycle*60 + agent), Queue: time.Millisecond,
		Held: 2 * time.Millisecond, Service: 30 * time.Millisecond, Total: 33 * time.Millisecond, Acted: outcome == engine.OK,
		Steps: []engine.StepRecord{
			{Path: "open", Attempts: 1, Statuses: []int{200}, Service: 10 * time.Millisecond},
			{Path: "shop[1].buy", Attempts: 2, Statuses: []int{429, 503, 201}, Held: time.Millisecond, Service: 20 * time.Millisecond, Beside: true},
		},
		Events: []engine.Event{{Path: "shop[1].buy", Name: "bought", Data: []byte(`{"items":3}`)}, {Path: "chain", Name: "left"}},
	}
	switch outcome {
	case engine.Failed:
		r.Class, r.Path, r.Error = engine.BadAnswer, "shop[1].buy", "the answer was no JSON"
	case engine.Stopped:
		r.Because, r.Path = "broke", "open"
	default:
	}
	return r
}

// remembers is the delta that sets a field.
func remembers(name, value string) engine.Delta {
	return engine.Delta{Set: []engine.Field{{Name: name, Value: []byte(value)}}}
}
