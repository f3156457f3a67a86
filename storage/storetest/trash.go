package storetest

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// testTrash checks that a run in the trash is not available, not even as a parent, and that it is restored unchanged.
func testTrash(t *testing.T, open Open) {
	p := &points{fixture: newFixture(t, open, record("r")), memory: map[int]*engine.Memory{}, want: map[int]map[int]*engine.Memory{}}
	must(t, p.Create(t.Context(), record("other")))
	p.append(engine.SessionRows{session(0, 1, engine.Failed)})
	p.add(1, 2)
	p.add(2)
	must(t, p.Note(t.Context(), p.run, "the one with the new prices"))
	before, err := p.Run(t.Context(), p.run)
	must(t, err)
	sessions := p.sessions(0, 0)

	release, err := p.Claim(t.Context(), p.run)
	must(t, err)
	if err := p.Trash(t.Context(), p.run); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("in progress: got %v, want ErrInUse", err)
	}
	release()
	must(t, p.Journal.Close(t.Context()))
	must(t, p.Trash(t.Context(), p.run))
	if runs, err := p.Runs(t.Context()); err != nil || len(runs) != 1 || runs[0].ID != "other" {
		t.Errorf("the list is %+v, %v, want only the other run", runs, err)
	}
	if r, err := p.Newest(t.Context()); err != nil || r.ID != "other" {
		t.Errorf("the newest run is %s, %v", r.ID, err)
	}
	_, claim := p.Claim(t.Context(), p.run)
	_, resume := p.Resume(t.Context(), p.run)
	_, points := p.Checkpoints(t.Context(), p.run)
	fork := record("fork")
	fork.Parent, fork.ForkCycle = p.run, 2
	for what, err := range map[string]error{
		"claim": claim, "resume": resume, "checkpoints": points, "bin": p.Trash(t.Context(), p.run),
		"fork": p.Fork(t.Context(), fork, storage.Fork{Checkpoint: 2}), "delete": p.Delete(t.Context(), p.run), "note": p.Note(t.Context(), p.run, "x"),
	} {
		if !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s of a run in the trash: got %v, want ErrNotFound", what, err)
		} else if what == "claim" && !strings.Contains(err.Error(), "in the trash") {
			t.Errorf("the error does not mention the trash: %v", err)
		}
	}
	all, err := p.Trashed(t.Context())
	must(t, err)
	if len(all) != 1 || all[0].Run.ID != p.run || all[0].Run.Note != before.Note || all[0].Checkpoint != 0 || all[0].Bytes <= 0 || all[0].At.IsZero() {
		t.Errorf("the trash has %+v", all)
	}

	must(t, p.Close())
	p.Store = open(t, p.dir, p.options)
	must(t, p.Restore(t.Context(), p.run, 0))
	p.startProcess()
	after, err := p.Run(t.Context(), p.run)
	must(t, err)
	if !reflect.DeepEqual(after, before) {
		t.Errorf("the restored run is\n%+v\nwant\n%+v", after, before)
	}
	if got := p.sessions(0, 0); !reflect.DeepEqual(got, sessions) {
		t.Errorf("the restored sessions are %+v, want %+v", got, sessions)
	}
	p.check()
	if err := p.Restore(t.Context(), p.run, 0); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("restored twice: got %v, want ErrNotFound", err)
	}
}

// testTrashCheckpoint checks that a checkpoint is restored from the trash, although others were taken and pruned in the
// meantime.
func testTrashCheckpoint(t *testing.T, open Open) {
	p := &points{fixture: newFixture(t, open, record("r")), memory: map[int]*engine.Memory{}, want: map[int]map[int]*engine.Memory{}} // keeps 3
	for range 3 {
		p.add(1, 2, 3)
	}
	was := maps.Clone(p.want)
	must(t, p.TrashCheckpoints(t.Context(), p.run, []int{1, 2}))
	delete(p.want, 1)
	delete(p.want, 2)
	p.check()
	fork := record("fork")
	fork.Parent, fork.ForkCycle = p.run, 1
	if err := p.Fork(t.Context(), fork, storage.Fork{Checkpoint: 1}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a fork of one in the trash: got %v, want ErrNotFound", err)
	}
	if _, _, _, err := p.Checkpoint(t.Context(), p.run, 1); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("one in the trash: got %v, want ErrNotFound", err)
	}
	var mistake *engine.FieldError
	if err := p.TrashCheckpoints(t.Context(), p.run, []int{3}); !errors.As(err, &mistake) {
		t.Errorf("the newest: got %v, want a *engine.FieldError", err)
	}
	p.add(2, 3)
	p.add(3)
	p.reopen()
	p.check() // 3, 4 and 5: the one in the trash is not counted
	p.add(1)
	must(t, p.Journal.Close(t.Context())) // prunes 3; an open journal would also prune the restored one
	must(t, p.Close())
	p.Store = open(t, p.dir, p.options)
	delete(p.want, 3)
	p.check()
	if all, err := p.Trashed(t.Context()); err != nil || len(all) != 2 || all[0].Checkpoint != 2 || all[1].Checkpoint != 1 || all[1].Bytes <= 0 {
		t.Errorf("the trash has %+v, %v", all, err)
	}
	must(t, p.Restore(t.Context(), p.run, 1))
	p.want[1] = was[1]
	p.check()
	before := p.bytes()
	must(t, p.DeleteTrashed(t.Context(), p.run, 2))
	p.check()
	if after := p.bytes(); after >= before {
		t.Errorf("without checkpoint 2 the others have %d bytes, before %d", after, before)
	}
	for what, err := range map[string]error{
		"restore": p.Restore(t.Context(), p.run, 2), "delete": p.DeleteTrashed(t.Context(), p.run, 2), "delete one that is not in the trash": p.DeleteTrashed(t.Context(), p.run, 1),
	} {
		if !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", what, err)
		}
	}
}

// testEmptyTrash checks that emptying the trash deletes what was in it up to a moment, and nothing else.
func testEmptyTrash(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	for _, id := range []engine.RunID{"gone", "later", "restored"} {
		must(t, f.Create(t.Context(), record(id)))
	}
	must(t, f.Trash(t.Context(), "restored"))
	must(t, f.Trash(t.Context(), "gone"))
	shown, err := f.Trashed(t.Context())
	must(t, err)
	must(t, f.Restore(t.Context(), "restored", 0))
	for !time.Now().Truncate(time.Microsecond).After(shown[0].At) { // clocks may be coarse
		continue
	}
	must(t, f.Trash(t.Context(), "later"))
	gone, err := f.EmptyTrash(t.Context(), shown[0].At)
	must(t, err)
	if len(gone) != 1 || gone[0].Run.ID != "gone" {
		t.Errorf("deleted %+v", gone)
	}
	if err := f.Restore(t.Context(), "gone", 0); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("restore a deleted run: got %v, want ErrNotFound", err)
	}
	if err := f.DeleteTrashed(t.Context(), "r", 0); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("delete a run that is not in the trash: got %v, want ErrNotFound", err)
	}
	must(t, f.DeleteTrashed(t.Context(), "later", 0))
	if left, err := f.Trashed(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("the trash still has %+v, %v", left, err)
	}
	if runs, err := f.Runs(t.Context()); err != nil || len(runs) != 2 {
		t.Errorf("%d runs are left, %v, want r and the restored one", len(runs), err)
	}
}

func testNote(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	const text = "slow since the new prices\n\"ask\" Ana; ≤ 3 shops"
	must(t, f.Note(t.Context(), f.run, text))
	f.commit(engine.SessionRows{session(0, 1, engine.OK)})
	f.reopen()
	if r, err := f.Run(t.Context(), f.run); err != nil || r.Note != text {
		t.Errorf("the note is %q, %v, want %q", r.Note, err, text)
	}
	if all, err := f.Runs(t.Context()); err != nil || all[0].Note != text {
		t.Errorf("the listed note is %q, %v", all[0].Note, err)
	}
	must(t, f.Note(t.Context(), f.run, ""))
	if r, err := f.Run(t.Context(), f.run); err != nil || r.Note != "" {
		t.Errorf("the note is %q, %v, want none", r.Note, err)
	}
	var mistake *engine.FieldError
	if err := f.Note(t.Context(), f.run, strings.Repeat("long ", 100_000)); !errors.As(err, &mistake) {
		t.Errorf("a long note: got %v, want a *engine.FieldError", err)
	}
	if err := f.Note(t.Context(), "unknown", "x"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("of an unknown run: got %v, want ErrNotFound", err)
	}
}
