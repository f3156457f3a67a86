package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// killVariable is the environment variable with the commit at which a helper kills itself: N after it is durable, or -N
// before it. With the suffix [deleting], it is the N-th commit of the deletion.
const killVariable = "THRONG_SQLITE_KILL"

// die ends this process like kill -9.
func die() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}

// deleting makes a helper count its commits from the beginning of the deletion.
const deleting = "deleting"

// mortal opens a store that kills its process according to killVariable. Its second result must be called when the deletion
// begins.
func mortal(dir string) (s *Store, deletes func(), err error) {
	var at int64
	var from string
	_, _ = fmt.Sscan(os.Getenv(killVariable), &at, &from)
	var counts atomic.Bool
	counts.Store(from == "")
	var after, before atomic.Int64
	s, err = Open(dir, Options{Logger: quiet(), OnCommit: func(int64) {
		if counts.Load() && after.Add(1) == at {
			die()
		}
	}})
	deletes = func() { counts.Store(true) }
	if err != nil || at >= 0 {
		return s, deletes, err
	}
	conn, err := s.file.Writer.Conn(context.Background())
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = conn.Close() }()
	return s, deletes, conn.Raw(func(c any) error {
		c.(*sqlite3.SQLiteConn).RegisterCommitHook(func() int {
			if counts.Load() && before.Add(-1) == at {
				die()
			}
			return 0
		})
		return nil
	})
}

// The work: enough agents for several pieces of checkpoints, pruning, sweeping and deletion.
const (
	workAgents = maintenanceRows + 1000
	workCycles = 3
)

// remembered returns the memory of an agent at the start of a cycle: most agents learn something in the first, some in each.
func remembered(agent, cycle int) *engine.Memory {
	for last := cycle - 1; last >= 0; last-- {
		if last == 0 || agent%(last+2) == 0 {
			return memoryOf(agent, last)
		}
	}
	return nil
}

// work completes run r from its current state, like the engine, with a checkpoint after each barrier, and then deletes run
// old. It calls deletes before that.
func work(s *Store, deletes func()) error {
	ctx := context.Background()
	res, err := s.Resume(ctx, "r")
	if err != nil {
		return err
	}
	j, err := s.Journal("r")
	if err != nil {
		return err
	}
	done, dirty, changed := map[int]bool{}, map[int]*engine.Memory{}, res.Deltas
	for _, a := range res.Done {
		done[a] = true
	}
	for _, a := range res.Changed {
		dirty[a] = res.Memory[a]
	}
	if changed == nil {
		changed = map[int]engine.Delta{}
	}
	memory := res.Memory
	if memory == nil {
		memory = map[int]*engine.Memory{}
	}
	for cycle := res.Cycle; cycle < workCycles; cycle++ {
		for a := range workAgents {
			if done[a] {
				continue
			}
			row := engine.SessionRow{Place: engine.Place{Cycle: cycle, Agent: a}, Outcome: engine.OK}
			if cycle == 0 || a%(cycle+2) == 0 {
				row.Delta = engine.Delta{Set: memoryOf(a, cycle).Fields}
				changed[a] = row.Delta
			}
			j.Append(engine.IntentRow{Place: row.Place, Path: "buy"}, engine.SessionRows{row})
		}
		clear(done)
		if err := j.Commit(ctx, engine.BarrierRow{Cycle: cycle}); err != nil {
			return err
		}
		for a, d := range changed {
			memory[a] = memory[a].Apply(&d)
			dirty[a] = memory[a]
		}
		clear(changed)
		if err := j.Commit(ctx, engine.CheckpointRow{Cycle: cycle + 1, Reason: "interval", Memory: dirty}); err != nil {
			return err
		}
		clear(dirty)
	}
	if err := j.Close(ctx); err != nil {
		return err
	}
	deletes()
	if err := s.Delete(ctx, "old"); err != nil && !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	return nil
}

// workplace returns a folder with a run to complete and a run to delete.
func workplace(t *testing.T) string {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	settings := engine.DefaultSettings()
	settings.KeepCheckpoints, settings.KeepShare = 1, 0
	for _, id := range []engine.RunID{"r", "old"} {
		if err := s.Create(t.Context(), engine.RunRecord{ID: id, Settings: settings}); err != nil {
			t.Fatal(err)
		}
	}
	j, err := s.Journal("old")
	if err != nil {
		t.Fatal(err)
	}
	for a := range 2*maintenanceRows + 10 {
		j.Append(engine.SessionRows{{Place: engine.Place{Agent: a}, Outcome: engine.OK}})
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	return dir
}

// checkWork checks a folder in which the work was completed, however often its worker was killed.
func checkWork(t *testing.T, dir string) {
	t.Helper()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	<-s.tidied
	next := 0
	for r, err := range s.Sessions(t.Context(), "r", 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if want := (engine.Place{Cycle: next / workAgents, Agent: next % workAgents}); r.Place != want {
			t.Fatalf("session %d is %v, want %v", next, r.Place, want)
		}
		next++
	}
	if next != workCycles*workAgents {
		t.Errorf("%d sessions, want %d", next, workCycles*workAgents)
	}
	all, err := s.Checkpoints(t.Context(), "r")
	if err != nil || len(all) != 1 {
		t.Fatalf("checkpoints %+v, %v, want one", all, err)
	}
	_, _, memory, err := s.Checkpoint(t.Context(), "r", all[0].Number)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for a := range workAgents {
		if !reflect.DeepEqual(memory[a], remembered(a, all[0].Cycle)) {
			wrong++
		}
	}
	res, err := s.Resume(t.Context(), "r")
	if err != nil || res.Cycle != workCycles {
		t.Fatalf("the run resumes at cycle %d, %v", res.Cycle, err)
	}
	for a := range workAgents {
		if !reflect.DeepEqual(res.Memory[a], remembered(a, workCycles)) {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d agents have the wrong memory", wrong)
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM runs`:     1,
		`SELECT count(*) FROM requests`: 0,
		`SELECT count(*) FROM deltas WHERE cycle < (SELECT max(cycle) FROM checkpoints)`: 0,
		`SELECT count(*) FROM sessions WHERE run NOT IN (SELECT key FROM runs)`:          0,
		`SELECT sum(count) FROM sessions`:                                                workCycles * workAgents,
		`SELECT count(*) FROM checkpoint_memory`:                                         workAgents,
		`SELECT checkpoint_bytes - (SELECT sum(length(data)) FROM checkpoint_memory) - (SELECT sum(length(state)) FROM checkpoints) FROM runs`: 0,
	} {
		if got := ask[int](t, s.file.Reader, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
	if got := ask[string](t, s.file.Reader, `PRAGMA integrity_check`); got != "ok" {
		t.Errorf("integrity: %s", got)
	}
}

// TestKilledAnywhere kills a worker with SIGKILL before and after random commits: of rows, of pieces of checkpoints, of
// chunks of pruning and sweeping, and of a deletion. Its successor is killed too, if it has as much left to do.
func TestKilledAnywhere(t *testing.T) {
	place := workplace(t)
	undisturbed := t.TempDir()
	copyFiles(t, place, undisturbed)
	var commits atomic.Int64
	s := openStore(t, undisturbed, Options{Logger: quiet(), OnCommit: func(n int64) { commits.Store(n) }})
	if err := work(s, func() {}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	checkWork(t, undisturbed)

	const seed, kills = 20261122, 6
	n := commits.Load()
	draw := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d, %d commits", seed, n)
	for i := range kills {
		at, from := 1+draw.Int64N(n), ""
		if i < 3 {
			at, from = int64(1+4*i), deleting
		}
		if i%2 == 1 {
			at = -at
		}
		t.Run(fmt.Sprint(at, from), func(t *testing.T) {
			dir, at := killedAt(t, place, at, from)
			t.Setenv(killVariable, fmt.Sprint(at/2+int64(cmp.Compare(at, 0))))
			killed(t, "work", dir)
			t.Setenv(killVariable, "")
			killed(t, "work", dir)
			checkWork(t, dir)
		})
	}
}

// killedAt kills a worker at a commit, in a copy of a folder. The number of commits depends on the load of the machine: a
// worker that ends earlier is killed at half of them, in another copy.
func killedAt(t *testing.T, place string, first int64, from string) (dir string, at int64) {
	t.Helper()
	for at = first; at != 0; at /= 2 {
		dir = t.TempDir()
		copyFiles(t, place, dir)
		t.Setenv(killVariable, fmt.Sprint(at, " ", from))
		if killed(t, "work", dir) {
			return dir, at
		}
	}
	t.Fatalf("the process was not killed at any commit up to %d %s", first, from)
	return "", 0
}

// killed runs a helper, and reports whether it was killed.
func killed(t *testing.T, what, dir string) bool {
	t.Helper()
	p := startHelper(t, what, dir)
	var said []string
	for p.out.Scan() {
		said = append(said, p.out.Text())
	}
	err := p.Wait()
	if len(said) > 0 {
		t.Fatalf("the helper printed %s", strings.Join(said, "\n"))
	}
	return err != nil
}

// TestKilledInMigration kills a process between any two statements of the migrations from any older schema, and before their
// commits: the next process finds a valid store with all runs.
func TestKilledInMigration(t *testing.T) {
	laterVersions(t)
	newest := t.TempDir()
	closeStore(t, openStore(t, newest, Options{Logger: quiet()}))
	want := schema(t, newest)
	for _, version := range []int64{0, 1, 2} {
		old := t.TempDir()
		older(t, old, version)
		kills := 0
		for at := 1; ; at++ {
			dir := t.TempDir()
			copyFiles(t, old, dir)
			t.Setenv(killVariable, fmt.Sprint(at))
			if !killed(t, "migrate", dir) {
				break
			}
			kills++
			if at > 3 { // after that, only sometimes
				at += 9
			}
			if got := schema(t, dir); got != want {
				t.Errorf("from version %d, killed at %d: the schema is\n%s\nwant\n%s", version, at, got, want)
			}
			if n := count(t, dir); version > 0 && n != 1 {
				t.Errorf("from version %d, killed at %d: %d runs, want the one that was there", version, at, n)
			}
		}
		if kills < 4 {
			t.Errorf("from version %d: only %d kills", version, kills)
		}
	}
}

// older creates a store of an older version with a run.
func older(t *testing.T, dir string, version int64) {
	t.Helper()
	db := file.Connect(filepath.Join(dir, file.Name), false, 1)
	if version > 0 {
		if err := file.Migrate(db, version); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), `INSERT INTO runs (id, title, created, cycle, cycles, total, parent, fork_cycle, source, hash, parameters, settings)
			VALUES ('r', 'old', 1, 0, 1, 1, '', 0, '', '', '{}', '{}')`); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// schema returns the schema of a store after it was opened.
func schema(t *testing.T, dir string) string {
	t.Helper()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	return ask[string](t, s.file.Reader, `SELECT group_concat(sql, x'0a') || (SELECT group_concat(version_id) FROM goose_db_version)
		FROM (SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name)`)
}

func count(t *testing.T, dir string) int {
	t.Helper()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	return ask[int](t, s.file.Reader, `SELECT count(*) FROM runs`)
}

// workHelper does the work until it is killed.
func workHelper(dir string) error {
	s, deletes, err := mortal(dir)
	if err == nil {
		err = errors.Join(work(s, deletes), s.Close())
	}
	return err
}

// migrateHelper migrates a store and kills itself at a statement: SQLite calls the authorizer for each.
func migrateHelper(dir string) error {
	file.Migrations = laterSchema()
	var at, n int
	_, _ = fmt.Sscan(os.Getenv(killVariable), &at)
	db := file.Connect(filepath.Join(dir, file.Name), false, 1)
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	tick := func() {
		if n++; n == at {
			die()
		}
	}
	err = conn.Raw(func(c any) error {
		sqlite := c.(*sqlite3.SQLiteConn)
		last := -1
		sqlite.RegisterAuthorizer(func(op int, _, _, _ string) int {
			if op != last { // a statement has several
				tick()
			}
			last = op
			return sqlite3.SQLITE_OK
		})
		sqlite.RegisterCommitHook(func() int { tick(); return 0 })
		return nil
	})
	return errors.Join(err, conn.Close(), file.Migrate(db, file.NewestVersion()), db.Close())
}

// Positions in the header of the log's index: the number of valid frames, and the log that they belong to.
// https://www.sqlite.org/walformat.html#the_wal_index_file_format
const (
	indexMaxFrame = 16
	indexSalt     = 32
)

// framesHelper commits sessions of run r one by one, with some memory, and prints for each how much of the write-ahead log
// was synced.
func framesHelper(dir string) error {
	s, err := Open(dir, Options{Logger: quiet()})
	if err != nil {
		return err
	}
	j, err := s.Journal("r")
	if err != nil {
		return err
	}
	for agent := 0; ; agent++ {
		row := engine.SessionRow{Place: engine.Place{Agent: agent}, Outcome: engine.OK, Delta: engine.Delta{Set: memoryOf(agent, 0).Fields}}
		if err := j.Commit(context.Background(), engine.IntentRow{Place: row.Place, Path: "buy"}, engine.SessionRows{row}); err != nil {
			return err
		}
		if agent%300 == 299 {
			j.Append(engine.CheckpointRow{Memory: map[int]*engine.Memory{agent: memoryOf(agent, 0)}})
		}
		index, err := os.ReadFile(s.file.Path() + "-shm")
		if err != nil {
			return err
		}
		// The salt has the byte order of the log, the number the byte order of the machine.
		fmt.Println(agent, binary.NativeEndian.Uint32(index[indexMaxFrame:]), binary.BigEndian.Uint64(index[indexSalt:]))
	}
}
