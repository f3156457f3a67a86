package sqlite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
	waiting "github.com/throng-sim/throng/storage/sqlite/queue"
)

// confide journals private answers of a cycle, and returns parts of their encoding in the file.
func confide(t *testing.T, s *Store, j *Journal, cycle int) (traces [][]byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(cycle), 1))
	for a := range 50 {
		p := engine.Place{Cycle: cycle, Agent: a}
		entry := func(path string) engine.Entry {
			return engine.Entry{Path: path, Attempts: 1, Output: fmt.Appendf(nil, `"private %x %x"`, random.Uint64(), random.Uint64()), Private: true}
		}
		j.Append(
			engine.IntentRow{Place: p, Path: "buy", Earlier: []engine.Entry{entry("look")}},
			engine.AnswerRow{Place: p, Entry: entry("buy")},
			engine.SessionRows{{Place: p, Outcome: []engine.Outcome{engine.OK, engine.Failed}[a%2]}})
	}
	if err := j.Commit(t.Context(), engine.StartRow{}); err != nil {
		t.Fatal(err)
	}
	rows, err := s.file.Reader.QueryContext(t.Context(), `SELECT data FROM requests WHERE cycle = ? AND kept = 0`, cycle)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var data []byte
		if err := rows.Scan(&data); err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk(data[min(len(data), 200):], 64) {
			if len(part) == 64 {
				traces = append(traces, part)
			}
		}
	}
	if err := rows.Err(); err != nil || len(traces) < 5 {
		t.Fatalf("%d traces, %v", len(traces), err)
	}
	return traces
}

// tracesIn returns how many of the parts are in the files of a folder, and in which files.
func tracesIn(t *testing.T, dir string, traces [][]byte) (found int, where []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(file) == waiting.Folder {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before := found
		for _, trace := range traces {
			if bytes.Contains(text, trace) {
				found++
			}
		}
		if found > before {
			where = append(where, filepath.Base(file))
		}
	}
	return found, where
}

// endCycle closes a cycle, and then the journal, which removes the requests.
func endCycle(t *testing.T, j *Journal, cycle int) {
	t.Helper()
	j.Append(engine.BarrierRow{Cycle: cycle})
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestPrivateAnswersLeaveTheLog checks that no file has traces of the private answers of a closed cycle, including the
// write-ahead log of an open store, and that a reader delays emptying the log only while it reads.
func TestPrivateAnswersLeaveTheLog(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	settings := engine.DefaultSettings()
	settings.KeepShare = 0.5
	if err := s.Create(t.Context(), engine.RunRecord{ID: "r", Settings: settings}); err != nil {
		t.Fatal(err)
	}
	journal := func() *Journal {
		j, err := s.Journal("r")
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := journal()
	traces := confide(t, s, j, 0)
	if n, _ := tracesIn(t, dir, traces); n < len(traces) {
		t.Fatalf("only %d of %d traces exist while the cycle is open: the search does not work", n, len(traces))
	}
	endCycle(t, j, 0)
	if n, where := tracesIn(t, dir, traces); n > 0 {
		t.Errorf("%d of %d traces are in %v after the cycle", n, len(traces), where)
	}

	j = journal()
	traces = confide(t, s, j, 1)
	other := openStore(t, dir, Options{Logger: quiet()})
	tx, err := other.file.Reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), `SELECT count(*) FROM requests`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	endCycle(t, j, 1)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	endCycle(t, journal(), 2)
	if n, where := tracesIn(t, dir, traces); n > 0 {
		t.Errorf("%d of %d traces are in %v after the reader ended", n, len(traces), where)
	}

	// A run in the trash with an open cycle keeps them for when it is restored. They are deleted with the run.
	if err := s.Create(t.Context(), engine.RunRecord{ID: "open", Settings: settings}); err != nil {
		t.Fatal(err)
	}
	j, err = s.Journal("open")
	if err != nil {
		t.Fatal(err)
	}
	traces = confide(t, s, j, 0)
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "open"); err != nil {
		t.Fatal(err)
	}
	if n, where := tracesIn(t, dir, traces); n > 0 {
		t.Errorf("%d of %d traces are in %v after the run was deleted", n, len(traces), where)
	}
	closeStore(t, other)
	closeStore(t, s)
}

// TestPrivateAnswersOverKills copies the files at every commit, as after a kill: opening the store removes the remaining
// requests of a closed cycle, and a backup has no trace of them.
func TestPrivateAnswersOverKills(t *testing.T) {
	dir := t.TempDir()
	var copies []string
	keep := false
	s := openStore(t, dir, Options{Logger: quiet(), OnCommit: func(int64) {
		if keep {
			to := t.TempDir()
			copyFiles(t, dir, to)
			copies = append(copies, to)
		}
	}})
	if err := s.Create(t.Context(), engine.RunRecord{ID: "r", Settings: engine.DefaultSettings()}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	traces := confide(t, s, j, 0)
	keep = true // the next commit is the writer's, which sees the change because of the queue's lock
	endCycle(t, j, 0)
	if len(copies) < 2 {
		t.Fatalf("only %d copies", len(copies))
	}
	if n, _ := tracesIn(t, copies[0], traces); n == 0 {
		t.Fatal("there is nothing to remove after the barrier: nothing is tested")
	}
	closeStore(t, s)
	for i, to := range copies {
		again := openStore(t, to, Options{Logger: quiet()})
		if n, where := tracesIn(t, to, traces); n > 0 {
			t.Errorf("killed after commit %d: %d of %d traces are in %v when it is open again", i, n, len(traces), where)
		}
		backup, err := again.file.BackUp(1)
		if err != nil {
			t.Fatal(err)
		}
		if n, where := tracesIn(t, to, traces); n > 0 {
			t.Errorf("killed after commit %d: %d of %d traces are in %v with the backup %s", i, n, len(traces), where, filepath.Base(backup))
		}
		closeStore(t, again)
	}
}

// TestPrivateAnswersOfOthers lets another process journal private answers and end without removing them from the log. The next journal of
// this process empties the log, although it is that of a run without such answers; later ones leave the log alone.
func TestPrivateAnswersOfOthers(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	other := openStore(t, dir, Options{Logger: quiet()}) // stands for the other process
	for _, id := range []engine.RunID{"theirs", "ours", "later"} {
		if err := s.Create(t.Context(), engine.RunRecord{ID: id, Settings: engine.DefaultSettings()}); err != nil {
			t.Fatal(err)
		}
	}
	run := func(id engine.RunID) {
		j, err := s.Journal(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Commit(t.Context(), engine.StartRow{}); err != nil {
			t.Fatal(err)
		}
		endCycle(t, j, 0)
	}
	run("ours")
	if s.file.LogSize() == 0 {
		t.Error("a run without private answers empties the log")
	}

	j, err := other.Journal("theirs")
	if err != nil {
		t.Fatal(err)
	}
	traces := confide(t, other, j, 0)
	reader, err := s.file.Reader.BeginTx(t.Context(), nil) // keeps the other from emptying the log
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reader.QueryRowContext(t.Context(), `SELECT count(*) FROM requests`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	endCycle(t, j, 0)
	if n, _ := tracesIn(t, dir, traces); n == 0 {
		t.Fatal("the other process has left nothing: nothing is tested")
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	run("later")
	if n, where := tracesIn(t, dir, traces); n > 0 {
		t.Errorf("%d of %d traces are in %v", n, len(traces), where)
	}
	closeStore(t, other)
	closeStore(t, s)
}
