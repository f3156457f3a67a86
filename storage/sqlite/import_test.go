package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
)

// sent returns all parts of a run's checkpoint contents.
func sent(t testing.TB, s *Store, run engine.RunID) (parts []storage.Part) {
	t.Helper()
	if err := s.SubscribeContents(t.Context(), run, "db", true); err != nil {
		t.Fatal(err)
	}
	for {
		c, err := s.Contents(t.Context(), run, "db", nil, func(from int64, _ int) ([]byte, error) {
			return []byte("the shop's log")[min(from, 14):], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			return parts
		}
		parts = append(parts, c.Parts...)
		if err := s.ContentsSent(t.Context(), run, "db", c.Cursor); err != nil {
			t.Fatal(err)
		}
	}
}

const canary = "canary-7c1e"

// remembering creates a run with a checkpoint, and an address with a secret.
func remembering(t testing.TB, s *Store) (state storage.Part, rest []storage.Part) {
	t.Helper()
	settings := engine.DefaultSettings()
	settings.Services = map[string]string{"shop": "https://me:" + canary + "@shop.example/api?key=" + canary, "db": canary + "@x:1"}
	record := engine.RunRecord{ID: "r", Title: "r", Settings: settings, Source: engine.Source{Name: "x.yaml", Hash: "ab", Files: map[string][]byte{"x.yaml": []byte("x: 1")}}}
	if err := s.Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	rows := []engine.Row{
		engine.ChangeRow{What: engine.LimitSetting, Old: "50", New: "7", Who: "test"},
		engine.SharedRow{Key: engine.SharedKey{1}, Entry: engine.Entry{Path: "ask", Attempts: 1}, Record: &engine.StepRecord{Path: "ask", Attempts: 1}},
		engine.CheckpointRow{Cycle: 2, Reason: "test", State: engine.State{Limit: 7}, Memory: map[int]*engine.Memory{3: {Notes: [][]byte{[]byte(`"a"`)}}, 5: nil}},
	}
	for _, row := range rows {
		if err := j.Commit(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range sent(t, s, "r") {
		if p.Kind == storage.StatePart {
			state = p
		} else if p.Kind != storage.LogPart {
			rest = append(rest, p)
		}
	}
	return state, order(rest)
}

// order puts memory into the order of an import, from the last agent to the first.
func order(parts []storage.Part) (out []storage.Part) {
	var memory []storage.Part
	for _, p := range parts {
		if p.Kind == storage.MemoryPart {
			memory = append([]storage.Part{p}, memory...)
			continue
		}
		out = append(out, p)
	}
	return append(out, memory...)
}

func take(t testing.TB, s *Store, state storage.Part, parts []storage.Part) (err error) {
	t.Helper()
	in, err := s.Import(t.Context(), engine.RunRecord{ID: "r", Fetched: &engine.Fetched{Database: "db"}}, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := in.Add(parts); err != nil {
		return err
	}
	return in.Finish()
}

// TestImport imports the contents of another store: without a secret, with the current limit, and without remains of
// interrupted imports.
func TestImport(t *testing.T) {
	a, b := openStore(t, t.TempDir(), Options{Logger: quiet()}), openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, a)
	state, parts := remembering(t, a)
	for _, p := range append([]storage.Part{state}, parts...) {
		raw, err := blob.UnpackForeign(p.Data)
		if len(p.Data) > 0 && (err != nil || strings.Contains(string(raw), canary)) {
			t.Errorf("a secret is sent in %q, or it cannot be read: %v", raw, err)
		}
	}

	// Half of it, and then the process ends.
	in, err := b.Import(t.Context(), engine.RunRecord{ID: "r", Fetched: &engine.Fetched{}}, state)
	if err == nil {
		err = in.Add(parts[:2])
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Import(t.Context(), engine.RunRecord{ID: "r"}, state); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("two concurrent imports: %v", err)
	}
	if runs, err := b.Runs(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("the partial import is listed: %+v %v", runs, err)
	}
	if err := in.lock.Close(); err != nil { // as after the end of a process
		t.Fatal(err)
	}
	if in, err = b.Import(t.Context(), engine.RunRecord{ID: "r", Fetched: &engine.Fetched{}}, state); err != nil {
		t.Fatalf("after an interrupted import: %v", err)
	}
	if err := in.lock.Close(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, b)
	b = openStore(t, b.Dir(), Options{Logger: quiet()})
	defer func() { closeStore(t, b) }()
	<-b.tidied
	if n := rowsOf(t, b, "runs") + rowsOf(t, b, "checkpoint_memory") + rowsOf(t, b, "shared"); n != 0 {
		t.Errorf("the interrupted import left %d rows", n)
	}

	if err := take(t, b, state, parts); err != nil {
		t.Fatal(err)
	}
	if err := take(t, b, state, parts); err != nil { // again
		t.Fatal(err)
	}
	record, got, memory, err := b.Checkpoint(t.Context(), "r", 1)
	if err != nil || record.Cycle != 2 || got.Limit != 7 || len(memory) != 1 || string(memory[3].Notes[0]) != `"a"` {
		t.Errorf("%+v %+v %+v %v", record, got, memory, err)
	}
	run, err := b.Run(t.Context(), "r")
	if err != nil || run.Limit != 7 || run.Fetched == nil || string(run.Source.Files["x.yaml"]) != "x: 1" || run.Settings.Services["shop"] != "https://shop.example/api" {
		t.Errorf("%+v %v", run, err)
	}
	if n := rowsOf(t, b, "shared"); n != 1 {
		t.Errorf("%d shared answers", n)
	}
	// A run that was executed here is never replaced.
	if err := take(t, a, state, parts); err == nil || !strings.Contains(err.Error(), "was executed in this store") {
		t.Errorf("imported into its own store: %v", err)
	}
}

func rowsOf(t testing.TB, s *Store, table string) (n int) {
	t.Helper()
	if err := s.file.Row(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestContentsOrder checks that the parts come in the order in which a checkpoint needs them, its state last, and once.
func TestContentsOrder(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	remembering(t, s)
	if runs, err := s.Incomplete(t.Context(), "db"); err != nil || len(runs) > 0 {
		t.Errorf("after everything was sent, %v is incomplete: %v", runs, err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Commit(t.Context(), engine.CheckpointRow{Cycle: 3, Memory: map[int]*engine.Memory{3: nil}}), j.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Incomplete(t.Context(), "db"); err != nil || len(runs) != 1 {
		t.Errorf("%v is incomplete: %v", runs, err)
	}
	var kinds []string
	for _, p := range sent(t, s, "r") {
		kinds = append(kinds, fmt.Sprint(p.Kind, p.Place, " ", p.Number))
	}
	if got := strings.Join(kinds, ", "); got != "memory3 2, state2 1" {
		t.Errorf("the parts of a second checkpoint are %s", got)
	}
	if err := s.SubscribeContents(t.Context(), "r", "other", false); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Incomplete(t.Context(), "other"); err != nil || len(runs) > 0 {
		t.Errorf("parts are sent after they were canceled: %v %v", runs, err)
	}
}

// TestContentsSentAgain checks that a target that lost its rows, or whose rows were removed, receives checkpoint contents
// from the beginning.
func TestContentsSentAgain(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	state, rest := remembering(t, s)
	for what, lose := range map[string]func() error{
		"lost":    func() error { return s.Resend(t.Context(), "db") },
		"removed": func() error { return s.Unsubscribe(t.Context(), "r", "db") },
	} {
		if parts := sent(t, s, "r"); len(parts) > 0 {
			t.Errorf("%s: %d parts were unsent before", what, len(parts))
		}
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		parts := sent(t, s, "r")
		if want := len(rest) + 2; len(parts) != want || string(parts[want-1].Data) != string(state.Data) { // with the log
			t.Errorf("%s: %d parts are sent again, want %d", what, len(parts), want)
		}
	}
}

// TestImportsInAnyOrder checks that each fetched checkpoint has the settings of services at its time, whichever is fetched
// first, and that the entry of the run is the newest known.
func TestImportsInAnyOrder(t *testing.T) {
	a := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, a)
	if err := a.Create(t.Context(), engine.RunRecord{ID: "r", Settings: engine.DefaultSettings(), Source: engine.Source{Name: "x.yaml", Hash: "ab", Files: map[string][]byte{"x.yaml": []byte("x: 1")}}}); err != nil {
		t.Fatal(err)
	}
	j, err := a.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	for cycle, change := range []engine.ChangeRow{{What: "shop.rate", New: "4"}, {What: "shop.rate", New: "9"}, {What: "model.rate", New: "2"}} {
		if err := errors.Join(j.Commit(t.Context(), change), j.Commit(t.Context(), engine.CheckpointRow{Cycle: cycle, Memory: map[int]*engine.Memory{cycle: nil}})); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	states, source := map[int]storage.Part{}, storage.Part{}
	memory := map[int64]storage.Part{}
	for _, p := range sent(t, a, "r") {
		switch p.Kind {
		case storage.StatePart:
			states[int(p.Place)] = p
		case storage.SourcePart:
			source = p
		case storage.MemoryPart:
			memory[p.Place] = p
		}
	}
	want := map[int]string{1: "[{shop.rate  4 }]", 2: "[{shop.rate  9 }]", 3: "[{shop.rate  9 } {model.rate  2 }]"}
	for _, numbers := range [][]int{{1, 2, 3}, {3, 1, 2}, {2, 3, 1}} {
		b := openStore(t, t.TempDir(), Options{Logger: quiet()})
		for i, n := range numbers {
			in, err := b.Import(t.Context(), engine.RunRecord{ID: "r", Done: int64(i + 1), Fetched: &engine.Fetched{Database: "db"}}, states[n])
			if err != nil {
				t.Fatal(err)
			}
			parts := []storage.Part{source}
			for agent := int64(n) - 1; agent >= 0; agent-- {
				parts = append(parts, memory[agent])
			}
			if err := errors.Join(in.Add(parts), in.Finish(), in.Close()); err != nil {
				t.Fatal(err)
			}
		}
		for n, tuned := range want {
			fork := engine.RunRecord{ID: engine.RunID(fmt.Sprint("fork", n)), Ancestry: engine.Ancestry{Parent: "r", ForkCycle: n - 1}, Settings: engine.DefaultSettings(), Source: engine.Source{Files: map[string][]byte{"x": nil}}}
			if err := b.Fork(t.Context(), fork, storage.Fork{Checkpoint: n}); err != nil {
				t.Fatal(err)
			}
			if state, err := b.State(t.Context(), fork.ID, 1); err != nil || fmt.Sprint(state.Tuned) != tuned {
				t.Errorf("fetched in the order %v: a fork from %d is tuned to %v, want %s; %v", numbers, n, state.Tuned, tuned, err)
			}
		}
		if r, err := b.Run(t.Context(), "r"); err != nil || r.Done != 3 {
			t.Errorf("the run is listed with %d sessions, %v", r.Done, err)
		}
		if d, err := b.Deletion(t.Context(), "r"); err != nil || d.Sessions != 0 || d.Checkpoints != 3 {
			t.Errorf("its sessions are not in this store, but deleting it would delete %+v, %v", d, err)
		}
		closeStore(t, b)
	}
}

// FuzzImport imports arbitrary contents: it never panics, and never lists an incomplete run.
func FuzzImport(f *testing.F) {
	a, b := openStore(f, f.TempDir(), Options{Logger: quiet()}), openStore(f, f.TempDir(), Options{Logger: quiet()})
	f.Cleanup(func() {
		closeStore(f, a)
		closeStore(f, b)
	})
	state, parts := remembering(f, a)
	raw, err := blob.UnpackForeign(state.Data)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte{1}, raw...), parts[0].Data, parts[1].Data, parts[2].Data, int64(5))
	f.Add(state.Data, []byte{}, []byte{1}, []byte{2, 0x28, 0xb5, 0x2f, 0xfd}, int64(-1))
	f.Fuzz(func(t *testing.T, own, source, answer, memory []byte, agent int64) {
		err := take(t, b, storage.Part{Kind: storage.StatePart, Place: 1, Number: storage.ContentsFormat, Data: own}, []storage.Part{
			{Kind: storage.SourcePart, Data: source}, {Kind: storage.AnswerPart, Place: 1, Data: answer}, {Kind: storage.MemoryPart, Place: agent, Number: 1, Data: memory},
		})
		if err == nil { // the fuzzer found complete contents
			if _, _, _, err := b.Checkpoint(t.Context(), "r", 1); err != nil {
				t.Errorf("it was imported and cannot be read: %v", err)
			}
			if err := b.Delete(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			return
		}
		if n := rowsOf(t, b, "runs"); n != 0 {
			t.Errorf("%d runs are left", n)
		}
	})
}
