// Package storetest is the test suite for stores of runs. It defines the contract of a store.
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

// Store is the interface of a store for the suite.
type Store interface {
	storage.Reader
	runs
	checkpoints
	details
	trash
	Close() error
}

type runs interface {
	Create(ctx context.Context, r engine.RunRecord) error
	Fork(ctx context.Context, r engine.RunRecord, f storage.Fork) error
	Claim(ctx context.Context, run engine.RunID) (release func(), err error)
	Journal(run engine.RunID) (Journal, error)
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	Identical(ctx context.Context, identities []string) ([]engine.RunRecord, error)
	Newest(ctx context.Context) (engine.RunRecord, error)
	Resume(ctx context.Context, run engine.RunID) (*engine.Resumption, error)
	Deletion(ctx context.Context, run engine.RunID) (view.Footprint, error)
	Delete(ctx context.Context, run engine.RunID) error
	Note(ctx context.Context, run engine.RunID, text string) error
	Rename(ctx context.Context, run engine.RunID, name string) error
	Tag(ctx context.Context, run engine.RunID, add, remove []string) ([]string, error)
	Star(ctx context.Context, run engine.RunID, star bool) error
	Sizes(ctx context.Context) (map[engine.RunID]int64, error)
}

type checkpoints interface {
	Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error)
	Checkpoint(ctx context.Context, run engine.RunID, number int) (engine.CheckpointRecord, engine.State, map[int]*engine.Memory, error)
	WeighCheckpoints(ctx context.Context, run engine.RunID, numbers []int) (bytes int64, err error)
	DeleteCheckpoints(ctx context.Context, run engine.RunID, numbers []int) error
}

// details are what a run recorded of its agents and changes.
type details interface {
	Changes(ctx context.Context, run engine.RunID) ([]engine.ChangeRow, error)
	Barriers(ctx context.Context, run engine.RunID) ([]engine.BarrierRow, error)
	Requests(ctx context.Context, run engine.RunID, cycle, agent int) ([]storage.Request, error)
	RequestsOf(ctx context.Context, run engine.RunID, p engine.Place, enough func([]storage.Request) bool) ([]storage.Request, error)
	Recent(ctx context.Context, run engine.RunID, agent, before, most int) (all []engine.SessionRow, next int, err error)
	MemoryOf(ctx context.Context, run engine.RunID, agent int) (*engine.Memory, error)
}

type trash interface {
	Trash(ctx context.Context, run engine.RunID) error
	TrashedRun(ctx context.Context, id engine.RunID) (engine.RunRecord, error)
	TrashCheckpoints(ctx context.Context, run engine.RunID, numbers []int) error
	Trashed(ctx context.Context) ([]storage.Trashed, error)
	Restore(ctx context.Context, run engine.RunID, number int) error
	DeleteTrashed(ctx context.Context, run engine.RunID, number int) error
	EmptyTrash(ctx context.Context, upTo time.Time) (gone []storage.Trashed, err error)
}

// Journal is the journal of a run.
type Journal interface {
	engine.Journal
	Close(ctx context.Context) error
}

// Options say how the suite opens a store.
type Options struct {
	// OnCommit is called after the n-th commit is durable and before waiting callers continue.
	OnCommit func(n int64)
	// Patient delays commits until a caller waits for them.
	Patient bool
}

// Open opens the store in a folder. It fails the test on an error.
type Open func(t testing.TB, dir string, o Options) Store

// Run tests a store. All of its state must be in files of its folder.
func Run(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open Open)
	}{
		{"runs are listed newest first", testRuns},
		{"an ID may be a prefix", testPrefix},
		{"a commit covers everything before it", testCommitOrder},
		{"appended rows become durable without a Commit", testAppend},
		{"rows survive reopening", testReopen},
		{"messages of a sequential run are restored in order", testTurns},
		{"sessions are ordered and only the last take counts", testSessions},
		{"overlapping batches are merged", testOverlap},
		{"every kept checkpoint can be restored", testCheckpoints},
		{"deleting a checkpoint keeps the others", testDeleteCheckpoints},
		{"unneeded requests are deleted after the barrier", testGrowth},
		{"private answers are for resumptions only", testPrivate},
		{"shared answers are kept", testShared},
		{"totals are recomputed", testTotals},
		{"peaks and elapsed time are recomputed", testPeaks},
		{"a requeued take resumes", testTakes},
		{"a resumed run has no ending", testEnding},
		{"a fork starts with the memory of its parent", testFork},
		{"a fork can be resumed and forked", testForkOfAFork},
		{"memory follows its agent into a fork", testForkMoved},
		{"injected messages are restored", testInjected},
		{"manual changes of agents are restored", testOrders},
		{"changed settings are restored", testTuned},
		{"sleep does not count as elapsed time", testSlept},
		{"metrics are read after a time", testMetrics},
		{"a run is deleted completely, unless it is in progress", testDelete},
		{"a run is restored from the trash", testTrash},
		{"a checkpoint is restored from the trash", testTrashCheckpoint},
		{"the trash can be emptied", testEmptyTrash},
		{"a run has a note", testNote},
		{"a run has a name, tags and a star", testMarks},
		{"runs are found by their identity", testIdentity},
		{"a run is found by its name", testNames},
		{"several runs match a text", testAmbiguous},
		{"a run counts what its sessions did", testTally},
		{"a closed journal rejects rows", testClosed},
		{"any history can be resumed", testHistories},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// epoch is the time of the suite's runs.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at returns a moment of the suite's runs.
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
	f.startProcess()
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

func (f *fixture) startProcess() {
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

// reopen closes the store and the journal and opens them again.
func (f *fixture) reopen() {
	f.t.Helper()
	must(f.t, f.Journal.Close(f.t.Context()))
	must(f.t, f.Close())
	f.Store = f.open(f.t, f.dir, f.options)
	f.startProcess()
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

// sessionsOf reads sessions and copies the memory that their iterator reuses.
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

// fataler is a test of testing or rapid.
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

// copyDir copies the files of a folder, as after a power failure.
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

// place returns the place of a session.
func place(cycle, agent, take int) engine.Place {
	return engine.Place{Cycle: cycle, Agent: agent, Take: take}
}

// session returns a finished session with values in most fields.
func session(cycle, agent int, outcome engine.Outcome) engine.SessionRow {
	r := engine.SessionRow{
		Place: place(cycle, agent, 0), Outcome: outcome, Started: at(cycle*60 + agent), Queue: time.Millisecond,
		Throttled: 2 * time.Millisecond, Service: 30 * time.Millisecond, Total: 33 * time.Millisecond, Acted: outcome == engine.OK,
		Steps: []engine.StepRecord{
			{Path: "open", Attempts: 1, Statuses: []int{200}, Service: 10 * time.Millisecond},
			{Path: "shop[1].buy", Attempts: 2, Statuses: []int{429, 503, 201}, Throttled: time.Millisecond, Service: 20 * time.Millisecond, Parallel: true},
		},
		Events: []engine.Event{{Path: "shop[1].buy", Name: "bought", Data: []byte(`{"items":3}`)}, {Path: "chain", Name: "left"}},
	}
	switch outcome {
	case engine.Failed:
		r.Class, r.Path, r.Error = engine.BadAnswer, "shop[1].buy", "the answer was not JSON"
	case engine.Stopped:
		r.Because, r.Path = "broke", "open"
	default:
	}
	return r
}

// remembers returns the delta that sets a field.
func remembers(name, value string) engine.Delta {
	return engine.Delta{Set: []engine.Field{{Name: name, Value: []byte(value)}}}
}
