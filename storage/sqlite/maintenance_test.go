package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// memoryOf returns a memory that identifies its agent and checkpoint.
func memoryOf(agent, number int) *engine.Memory {
	return &engine.Memory{Fields: []engine.Field{{Name: "a", Value: fmt.Appendf(nil, "%d/%d", agent, number)}}}
}

// TestNothingIsLeftOver checks which rows the store keeps, and the sizes that it records.
func TestNothingIsLeftOver(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	settings := engine.DefaultSettings()
	settings.KeepCheckpoints, settings.KeepShare = 2, 0
	if err := s.Create(t.Context(), engine.RunRecord{ID: "r", Settings: settings}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	const agents, cycles = 300, 12
	for cycle := range cycles {
		changed := map[int]*engine.Memory{}
		for a := range agents {
			p := engine.Place{Cycle: cycle, Agent: a}
			delta := engine.Delta{Set: []engine.Field{{Name: "a", Value: []byte("1")}}}
			j.Append(engine.IntentRow{Place: p, Path: "buy"}, engine.SessionRows{{Place: p, Outcome: engine.OK, Delta: delta}})
			if cycle == 0 || a%10 == cycle%10 {
				changed[a] = memoryOf(a, cycle)
			}
		}
		j.Append(engine.BarrierRow{Cycle: cycle}, engine.CheckpointRow{Cycle: cycle + 1, Memory: changed})
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM requests`:          0,
		`SELECT count(*) FROM deltas`:            0,
		`SELECT sum(count) FROM sessions`:        agents * cycles,
		`SELECT count(*) FROM checkpoints`:       2,
		`SELECT min(number) FROM checkpoints`:    cycles - 1,
		`SELECT count(*) FROM checkpoint_memory`: agents + agents/10, // one of each as of the older, and what changed
		`SELECT checkpoint_bytes - (SELECT sum(length(data)) FROM checkpoint_memory) - (SELECT sum(length(state)) FROM checkpoints) FROM runs`: 0,
	} {
		if got := ask[int](t, s.file.Reader, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}

	if err := s.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	for _, table := range append([]string{"runs"}, tableNames()...) {
		if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM `+table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
	if n := ask[int](t, s.file.Reader, `PRAGMA freelist_count`); n != 0 {
		t.Errorf("%d free pages were not returned", n)
	}
}

// TestPrivateAnswersGoAtTheBarrier checks that no pack of a closed cycle contains private answers, not even of failed
// sessions and the sample, that their other answers remain, and that the file has no trace of deleted ones.
func TestPrivateAnswersGoAtTheBarrier(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	settings := engine.DefaultSettings()
	settings.KeepShare = 0.5
	if err := s.Create(t.Context(), engine.RunRecord{ID: "r", Settings: settings}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	const agents = 200
	for a := range agents {
		p := engine.Place{Agent: a}
		entry := func(path, text string, private bool) engine.Entry {
			return engine.Entry{Path: path, Attempts: 1, Output: fmt.Appendf(nil, "%s %d", text, a), Private: private}
		}
		j.Append(
			engine.IntentRow{Place: p, Path: "buy", Earlier: []engine.Entry{entry("look", "private", true), entry("read", "open", false)}},
			engine.AnswerRow{Place: p, Entry: entry("buy", "private", true)},
			engine.SessionRows{{Place: p, Outcome: []engine.Outcome{engine.OK, engine.Failed}[a%2]}})
	}
	var traces [][]byte
	count := func() (private, open int) {
		rows, err := s.file.Reader.QueryContext(t.Context(), `SELECT data FROM requests`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var data []byte
			if err := rows.Scan(&data); err != nil {
				t.Fatal(err)
			}
			raw, err := blob.Unpack(data)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(raw), "private ") {
				for part := range slices.Chunk(data, 64) {
					traces = append(traces, part)
				}
			}
			private, open = private+strings.Count(string(raw), "private "), open+strings.Count(string(raw), "open ")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return private, open
	}
	if err := j.Commit(t.Context(), engine.StartRow{}); err != nil {
		t.Fatal(err)
	}
	if private, open := count(); private != 2*agents || open != agents {
		t.Errorf("the current cycle has %d private answers and %d others", private, open)
	}
	j.Append(engine.BarrierRow{Cycle: 0})
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if private, open := count(); private != 0 || open <= agents/2 || open == agents {
		t.Errorf("the closed cycle has %d private answers and %d others", private, open)
	}
	closeStore(t, s)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(traces) < 2 {
		t.Fatalf("%d traces, %v", len(traces), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, trace := range traces {
			if len(trace) == 64 && bytes.Contains(text, trace) {
				t.Fatalf("%s has trace %d of %d", filepath.Base(file), i, len(traces))
			}
		}
	}
}

func tableNames() (all []string) {
	for _, t := range runTables {
		all = append(all, t.name)
	}
	return all
}

// TestRunTablesAreComplete checks that Delete covers all tables, including those of later migrations.
func TestRunTablesAreComplete(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	var missing []string
	for rows, err := range s.file.Query(t.Context(), `SELECT m.name FROM sqlite_master m WHERE m.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'run')`) {
		if err != nil {
			t.Fatal(err)
		}
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(tableNames(), name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		t.Errorf("tables that Delete does not clear: %v", missing)
	}
}

// copyFiles copies a folder, as after a power failure.
func copyFiles(t testing.TB, from, to string) {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Error(err)
	}
}

// TestCrashInCheckpoint simulates a power failure after every commit of a checkpoint of many pieces: the checkpoint exists
// completely or not at all, and the next one is valid.
func TestCrashInCheckpoint(t *testing.T) {
	dir, cuts := t.TempDir(), t.TempDir()
	var cutting atomic.Bool
	var n atomic.Int64
	s := openStore(t, dir, Options{Logger: quiet(), OnCommit: func(int64) {
		if cutting.Load() {
			copyFiles(t, dir, filepath.Join(cuts, fmt.Sprint(n.Add(1))))
		}
	}})
	defer closeStore(t, s)
	settings := engine.DefaultSettings()
	settings.KeepCheckpoints = 1
	if err := s.Create(t.Context(), engine.RunRecord{ID: "r", Settings: settings}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	const agents = 2*pieceRows + 10
	take := func(j *Journal, number int) error {
		memory := map[int]*engine.Memory{}
		for a := range agents {
			if number < 3 || a%2 == 0 {
				memory[a] = memoryOf(a, number)
			}
		}
		return j.Commit(t.Context(), engine.CheckpointRow{Cycle: 0, State: engine.State{Limit: number}, Memory: memory})
	}
	if err := take(j, 1); err != nil {
		t.Fatal(err)
	}
	cutting.Store(true)
	if err := errors.Join(take(j, 2), j.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	cutting.Store(false)

	if n.Load() < 5 {
		t.Errorf("the checkpoint and its maintenance tasks took %d commits, want more", n.Load())
	}
	for i := range n.Load() {
		cut := openStore(t, filepath.Join(cuts, fmt.Sprint(i+1)), Options{Logger: quiet()})
		r, err := cut.Resume(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		at := r.State.Limit
		if r.Checkpoints != at || len(r.Memory) != agents || !reflect.DeepEqual(r.Memory[7], memoryOf(7, at)) {
			t.Errorf("cut %d: got checkpoint %d of limit %d, memory of %d agents", i+1, r.Checkpoints, at, len(r.Memory))
		}
		j, err := cut.Journal("r")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(take(j, 3), j.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		all, err := cut.Checkpoints(t.Context(), "r")
		if err != nil || len(all) != 1 {
			t.Fatalf("cut %d: got %v, %v, want one checkpoint", i+1, all, err)
		}
		_, _, memory, err := cut.Checkpoint(t.Context(), "r", all[0].Number)
		if err != nil || len(memory) != agents || !reflect.DeepEqual(memory[7], memoryOf(7, at)) || !reflect.DeepEqual(memory[8], memoryOf(8, 3)) {
			t.Errorf("cut %d: the next checkpoint is not valid: %v", i+1, err)
		}
		if n := ask[int](t, cut.file.Reader, `SELECT count(*) FROM checkpoint_memory`); n != agents {
			t.Errorf("cut %d: got %d rows of memory, want %d", i+1, n, agents)
		}
		closeStore(t, cut)
	}
}

// TestPiecesEnd checks that a piece of a checkpoint or of maintenance ends early if a caller waits, and is completed
// otherwise.
func TestPiecesEnd(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	if err := j.Commit(t.Context()); err != nil { // the writer is idle after this
		t.Fatal(err)
	}
	const agents = 20_000 // no machine writes them within pieceTime
	c := &checkpointJob{number: 1, piece: &checkpointPiece{agents: make([]int, agents), data: make([][]byte, agents)}}
	for a := range agents {
		c.piece.agents[a], c.piece.data[a] = a, []byte{byte(a)}
	}
	piece := func(waits bool, f func(tx file.Tx) error) {
		t.Helper()
		j.queue.mu.Lock()
		j.queue.urgent = waits
		j.queue.mu.Unlock()
		if err := s.file.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	written := func(tx file.Tx) (err error) {
		n, err := c.write(tx, j)
		if bytes := c.piece.written(n); bytes != int64(n) {
			t.Errorf("%d agents have %d bytes, want as many", n, bytes)
		}
		return err
	}
	piece(true, written)
	if n := len(c.piece.agents); n == 0 || n == agents {
		t.Errorf("of %d agents, %d are left while a caller waits, want some", agents, n)
	}
	piece(false, written)
	if n := len(c.piece.agents); n > 0 {
		t.Errorf("%d agents are left while no caller waits, want none", n)
	}
	if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM checkpoint_memory`); n != agents {
		t.Errorf("got the memory of %d agents, want %d", n, agents)
	}

	if err := s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`INSERT INTO checkpoint_memory (run, number, agent, data) SELECT run, 2, agent, data FROM checkpoint_memory`)
	}); err != nil {
		t.Fatal(err)
	}
	var rest maintenance = prune{journal: j, pruned: true, number: 2, agent: -1, oldest: 2}
	pruned := func(tx file.Tx) (err error) {
		rest, err = rest.piece(tx)
		return err
	}
	left := func() int {
		return ask[int](t, s.file.Reader, `SELECT count(*) FROM checkpoint_memory WHERE number = 1`)
	}
	piece(true, pruned)
	soon := agents - left()
	piece(false, pruned)
	if n := agents - left() - soon; soon == 0 || soon >= n || n != maintenanceRows {
		t.Errorf("pruned %d agents while a caller waited and %d then, want fewer than %d", soon, n, maintenanceRows)
	}
}

// TestRequestsDoNotWaitForCheckpoints commits an intent while a checkpoint cannot be written, and another row that waits for
// the checkpoint.
func TestRequestsDoNotWaitForCheckpoints(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	memory := map[int]*engine.Memory{}
	for a := range 20 * pieceRows {
		memory[a] = memoryOf(a, 1)
	}
	j.Append(engine.CheckpointRow{Memory: memory})
	if err := j.Commit(t.Context(), engine.IntentRow{Path: "buy"}, engine.SharedRow{}); err != nil {
		t.Fatal(err)
	}
	during, err := s.Checkpoints(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if len(during) > 0 {
		t.Log("the checkpoint was faster than the intent: nothing was tested")
	}
	if err := j.Commit(t.Context(), engine.BarrierRow{}); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Checkpoints(t.Context(), "r"); err != nil || len(all) != 1 {
		t.Errorf("a barrier was committed before the preceding checkpoint: %v, %v", all, err)
	}
	j.Append(engine.CheckpointRow{Memory: memory})
	if err := j.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Checkpoints(t.Context(), "r"); err != nil || len(all) != 2 {
		t.Errorf("an empty commit does not wait for the preceding checkpoint: %v, %v", all, err)
	}
}

// TestForgottenMemory takes a checkpoint in which an agent has forgotten everything.
func TestForgottenMemory(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	err := j.Commit(t.Context(), engine.CheckpointRow{Memory: map[int]*engine.Memory{1: memoryOf(1, 1), 2: memoryOf(2, 1)}},
		engine.CheckpointRow{Memory: map[int]*engine.Memory{1: nil}})
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int]map[int]*engine.Memory{1: {1: memoryOf(1, 1), 2: memoryOf(2, 1)}, 2: {2: memoryOf(2, 1)}} {
		if _, _, got, err := s.Checkpoint(t.Context(), "r", number); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("checkpoint %d: got %v, %v, want %v", number, got, err, want)
		}
	}
}

// TestInterruptedDelete interrupts a deletion: the run disappears immediately, and its rows when the store is opened again.
func TestInterruptedDelete(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var doomed atomic.Bool
	s := openStore(t, dir, Options{Logger: quiet(), OnCommit: func(int64) {
		if doomed.Load() {
			cancel()
		}
	}})
	j := newRun(t, s, "r")
	for agent := range 3 * maintenanceRows {
		j.Append(engine.SessionRows{{Place: engine.Place{Agent: agent}, Outcome: engine.OK, Started: time.Now()}})
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	doomed.Store(true)
	if err := s.Delete(ctx, "r"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if _, err := s.Run(t.Context(), "r"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("partly deleted: got %v, want ErrNotFound", err)
	}
	if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM sessions`); n == 0 {
		t.Error("the deletion was already complete")
	}
	closeStore(t, s)
	s = openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	<-s.tidied
	if n := ask[int](t, s.file.Reader, `SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM runs)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestAdjust changes the number of checkpoints that a resumed run keeps.
func TestAdjust(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	settings := engine.DefaultSettings()
	if err := newRun(t, s, "r").Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	settings.KeepCheckpoints, settings.Cycles = 1, 9
	if err := s.Adjust(t.Context(), "r", settings); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(t.Context(), "r"); err != nil || r.Cycles != 9 {
		t.Errorf("the run has %d cycles, %v, want 9", r.Cycles, err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		j.Append(engine.CheckpointRow{})
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Checkpoints(t.Context(), "r"); err != nil || len(all) != 1 || all[0].Number != 3 {
		t.Errorf("got %+v, %v, want the third only", all, err)
	}
	if err := s.Adjust(t.Context(), "unknown", settings); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestStarts(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	began := time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC)
	want := []engine.StartRow{{At: began}, {At: began.Add(time.Hour), Cycle: 3, Resumed: true}}
	if err := newRun(t, s, "r").Commit(t.Context(), want[0], want[1]); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Starts(t.Context(), "r"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
