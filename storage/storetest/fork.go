package storetest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// childOf returns the record of a fork.
func childOf(parent engine.RunID, cycle int) engine.RunRecord {
	r := record("child")
	r.Parent, r.ForkCycle, r.Cycle = parent, cycle, cycle
	return r
}

// testFork checks that a fork starts with the state of the given checkpoint, also if a cycle has several, and does not
// depend on its parent.
func testFork(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	first, second := remembers("a", "1"), remembers("a", "2")
	memory := map[int]*engine.Memory{3: (*engine.Memory)(nil).Apply(&first), 5: (*engine.Memory)(nil).Apply(&first)}
	tuned := func(to string) engine.ChangeRow { return engine.ChangeRow{At: at(1), What: "model.rate", New: to} }
	f.commit(engine.StartRow{At: at(0)}, engine.BarrierRow{Cycle: 0, At: at(1)}, tuned("4"), engine.ChangeRow{At: at(1), What: "floor", New: "7"},
		engine.CheckpointRow{At: at(1), Cycle: 1, Memory: memory, State: engine.State{Limit: 6}})
	f.commit(tuned("9"), engine.CheckpointRow{At: at(2), Cycle: 1, State: engine.State{Limit: 8}})
	f.commit(engine.BarrierRow{Cycle: 1, At: at(3)}, engine.CheckpointRow{At: at(3), Cycle: 2, Memory: map[int]*engine.Memory{5: memory[5].Apply(&second)}})

	for number, limit := range map[int]int{1: 6, 2: 8} {
		child := childOf("r", 1)
		child.ForkedAt, child.Kept = at(number), int64(10*number)
		child.ID = engine.RunID([]string{"", "early", "late"}[number])
		must(t, f.Fork(t.Context(), child, storage.Fork{Checkpoint: number}))
		if made, err := f.Run(t.Context(), child.ID); err != nil || !made.ForkedAt.Equal(child.ForkedAt) || made.Kept != child.Kept {
			t.Errorf("checkpoint %d: the fork took over %d sessions at %s, %v", number, made.Kept, made.ForkedAt, err)
		}
		r, err := f.Resume(t.Context(), child.ID)
		must(t, err)
		rate := map[int]string{1: "4", 2: "9"}[number]
		if r.Cycle != 1 || !r.Unbegun || !reflect.DeepEqual(r.Memory, memory) || r.State.Limit != limit || r.State.Totals.Ended() != 0 || r.Checkpoints != 1 ||
			!reflect.DeepEqual(r.Tuned, []engine.Tunable{{Name: "model.rate", Value: rate}}) {
			t.Errorf("checkpoint %d: got cycle %d, memory %v, limit %d, tuned %v", number, r.Cycle, r.Memory, r.State.Limit, r.Tuned)
		}
	}
	child := childOf("r", 1)
	for _, wrong := range []storage.Fork{{Checkpoint: 7}, {Checkpoint: 3}} { // unknown, and of another cycle
		if err := f.Fork(t.Context(), child, wrong); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("fork at checkpoint %d: got %v, want ErrNotFound", wrong.Checkpoint, err)
		}
		if _, err := f.Run(t.Context(), "child"); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("a failed fork exists: %v", err)
		}
	}
	must(t, f.Journal.Close(t.Context()))
	must(t, f.Delete(t.Context(), "r")) // the fork does not need it
	if r, err := f.Resume(t.Context(), "early"); err != nil || len(r.Memory) != 2 {
		t.Errorf("without its parent: got %v, %v", r, err)
	}
}

// testForkOfAFork checks that a fork resumes like any run, and can be forked.
func testForkOfAFork(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	f.commit(engine.ChangeRow{At: at(1), What: "model.rate", New: "4"}, engine.BarrierRow{Cycle: 0, At: at(1)},
		engine.SharedRow{Key: sharedKeys[0], Entry: answered(1), Record: asking(1)}, engine.SharedRow{Key: sharedKeys[1], Cycle: 1, Entry: answered(2), Record: asking(2)},
		engine.CheckpointRow{At: at(1), Cycle: 1})
	must(t, f.Journal.Close(t.Context()))
	must(t, f.Fork(t.Context(), childOf("r", 1), storage.Fork{Checkpoint: 1}))

	j, err := f.Store.Journal("child")
	must(t, err)
	tuned := []engine.Tunable{{Name: "model.rate", Value: "4"}}
	told := remembers("a", "1")
	row := session(1, 2, engine.OK)
	row.Delta = told
	must(t, j.Commit(t.Context(), engine.StartRow{At: at(4), Cycle: 1}, engine.SessionRows{row}, engine.ChangeRow{At: at(5), What: "shop.rate", New: "2"},
		engine.BarrierRow{Cycle: 1, At: at(6)}, engine.CheckpointRow{At: at(6), Cycle: 2, State: engine.State{Tuned: tuned}, Memory: map[int]*engine.Memory{2: (*engine.Memory)(nil).Apply(&told)}}))
	must(t, j.Close(t.Context()))
	r, err := f.Resume(t.Context(), "child")
	must(t, err)
	want := []engine.Tunable{{Name: "model.rate", Value: "4"}, {Name: "shop.rate", Value: "2"}}
	if r.Unbegun || r.Cycle != 2 || len(r.Memory) != 1 || !reflect.DeepEqual(r.Tuned, want) {
		t.Errorf("resumed: cycle %d, memory %v, tuned %v", r.Cycle, r.Memory, r.Tuned)
	}
	grand := childOf("child", 2)
	grand.ID = "grand"
	must(t, f.Fork(t.Context(), grand, storage.Fork{Checkpoint: 2, Untuned: []string{"shop", "other.rate"}}))
	must(t, f.Delete(t.Context(), "child"))
	r, err = f.Resume(t.Context(), "grand")
	must(t, err)
	if r.Cycle != 2 || len(r.Memory) != 1 || !reflect.DeepEqual(r.Tuned, tuned) || len(r.Shared.Answers) != 1 {
		t.Errorf("forked again: cycle %d, memory %v, tuned %v, answers %v", r.Cycle, r.Memory, r.Tuned, r.Shared.Answers)
	}
	grand.ID = "unanswered"
	grand.Parent, grand.ForkCycle = "r", 1
	must(t, f.Fork(t.Context(), grand, storage.Fork{Checkpoint: 1, Unanswered: true}))
	if r, err := f.Resume(t.Context(), "unanswered"); err != nil || len(r.Shared.Answers) != 0 {
		t.Errorf("answers were copied: %v, %v", r.Shared.Answers, err)
	}
}

// testForkMoved checks that memory follows its agent to another index, and that memory of removed agents is dropped.
func testForkMoved(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	one, two, gone := remembers("a", "1"), remembers("a", "2"), remembers("a", "3")
	letters := []engine.Letter{{From: 3, Cycle: 0, Body: []byte(`"from three"`)}, {From: 8, Cycle: 0, Body: []byte(`"from eight"`)}, {From: engine.Outside, Body: []byte(`"out"`)}}
	written := (*engine.Memory)(nil).Apply(&two)
	written.Inbox = letters
	f.commit(engine.BarrierRow{Cycle: 0, At: at(1)}, engine.CheckpointRow{
		At: at(1), Cycle: 1,
		Memory: map[int]*engine.Memory{3: (*engine.Memory)(nil).Apply(&one), 5: written, 8: (*engine.Memory)(nil).Apply(&gone)},
		State: engine.State{Retired: map[int]int{3: 1, 8: 1}, Injected: []engine.Injection{
			{Cycle: 1, Body: []byte("1")}, {Cycle: 1, To: []int{8}, Body: []byte("2")}, {Cycle: 1, To: []int{3, 5, 8}, Body: []byte("3")},
		}},
	})
	must(t, f.Fork(t.Context(), childOf("r", 1), storage.Fork{Checkpoint: 1, Moved: map[int]int{3: 6, 5: 2}}))
	r, err := f.Resume(t.Context(), "child")
	must(t, err)
	moved := (*engine.Memory)(nil).Apply(&two)
	moved.Inbox = []engine.Letter{{From: 6, Body: letters[0].Body}, {From: engine.Outside, Body: letters[1].Body}, {From: engine.Outside, Body: letters[2].Body}}
	if want := map[int]*engine.Memory{6: (*engine.Memory)(nil).Apply(&one), 2: moved}; !reflect.DeepEqual(r.Memory, want) {
		t.Errorf("got memory %+v, want %+v", r.Memory, want)
	}
	if want := []engine.Injection{{Cycle: 1, Body: []byte("1")}, {Cycle: 1, To: []int{2, 6}, Body: []byte("3")}}; !reflect.DeepEqual(r.Retired, map[int]int{6: 1}) || !reflect.DeepEqual(r.Injected, want) {
		t.Errorf("got retired %v, injected %v", r.Retired, r.Injected)
	}
}
