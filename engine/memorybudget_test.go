package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// TestMemoryBudget is who waits for memory, who gets it and who fails.
func TestMemoryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 10)
		b := &memoryBudget{limit: 100, tell: func(why string) { told <- why }}
		var first, second, third holding
		ask := func(h *holding, n int64) <-chan error {
			answer := make(chan error, 1)
			go func() { answer <- b.wait(t.Context(), h, n, false) }()
			synctest.Wait()
			return answer
		}
		answered := func(answer <-chan error) bool { return len(answer) == 1 }
		if !b.take(&first, 60, false) || !b.take(&second, 30, false) || b.take(&third, 20, false) {
			t.Fatal("what is free is not to be had, or what is not is")
		}
		waits := ask(&third, 20)
		if answered(waits) {
			t.Fatalf("it did not wait: %v", <-waits)
		}
		if why := <-told; !strings.Contains(why, "sessions wait for memory") {
			t.Errorf("told is %q", why)
		}
		b.end(&second, false)
		if synctest.Wait(); !answered(waits) || <-waits != nil {
			t.Fatal("what was given back did not go to the one who waited")
		}
		if err := <-ask(&second, 200); err == nil || !strings.Contains(err.Error(), "--memory-budget") {
			t.Errorf("more than there is at all: %v", err)
		}
		// All who hold something want more: the last one fails, and with what it gives back the other goes on.
		a, z := ask(&first, 30), ask(&third, 30)
		if answered(a) || !answered(z) {
			t.Fatal("two who wait for each other: want the last to fail and nobody else")
		}
		if err, ok := errors.AsType[*StepError](<-z); !ok || err.Class != Script {
			t.Errorf("it fails with %v", err)
		}
		b.end(&third, false)
		if synctest.Wait(); !answered(a) || <-a != nil {
			t.Error("the other did not go on")
		}
		// Who waits for a place of others gives nothing back either.
		b.block(&first, 1)
		if err := <-ask(&second, 50); err == nil {
			t.Error("it got what is not there")
		}
		b.block(&first, -1)
		b.end(&first, true)
		if b.held != 0 || b.kept != 0 || b.active != 0 || b.waiting.Len() != 0 {
			t.Errorf("in the end %+v", b)
		}
	})
}

// TestMemoryThatIsKept counts what agents remember until the barrier says what it is.
func TestMemoryThatIsKept(t *testing.T) {
	b := &memoryBudget{limit: 100}
	var s holding
	if !b.take(&s, 70, true) {
		t.Fatal("not free")
	}
	b.end(&s, true)
	if err := b.wait(t.Context(), &s, 40, true); err == nil {
		t.Error("two memories took more than the budget")
	}
	b.remember(10)
	if !b.take(&s, 90, true) {
		t.Error("the barrier freed nothing")
	}
	b.end(&s, false)
	if held, kept, _ := b.figures(); held != 0 || kept != 10 {
		t.Errorf("a session that failed leaves %d held and %d kept", held, kept)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrCut)
	b.force(&s, 90)
	if err := b.wait(ctx, new(holding), 5, false); !errors.Is(err, ErrCut) {
		t.Errorf("a cut while waiting: %v", err)
	}
	if (&memoryBudget{}).take(&s, 1<<40, false) != true {
		t.Error("no limit is one")
	}
}

// TestMemoryGrows is that barriers know by how much memory grew.
func TestMemoryGrows(t *testing.T) {
	memory := map[int]*Memory{}
	total := func() (n int64) {
		for _, m := range memory {
			n += m.size()
		}
		return n
	}
	sum := int64(0)
	for cycle := range 5 {
		deltas := map[int]Delta{}
		for agent := range 4 {
			d := Delta{Set: []Field{{"a", make([]byte, 100*cycle)}}, Notes: [][]byte{make([]byte, 10)}, Keep: 2, Read: agent == cycle}
			for range 400 {
				d.Said = append(d.Said, Message{To: []int{0, 3}, Body: make([]byte, 5+cycle)})
			}
			deltas[agent] = d
		}
		_, grown := (&Settings{}).commitCycle(memory, deltas, cycle)
		if sum += grown; sum != total() {
			t.Fatalf("after cycle %d it has grown to %d, and is %d", cycle, sum, total())
		}
	}
}

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]MemoryLimit{
		"25%": {Share: 0.25}, "2GB": {Bytes: 2e9}, "1.5 gb": {Bytes: 1.5e9}, "512 MB": {Bytes: 512e6}, "off": {},
	} {
		got, err := ParseMemory(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := ParseMemory(got.String()); err != nil || again != got {
			t.Errorf("%q is shown as %q, which is %+v, %v", text, got.String(), again, err)
		}
	}
	for _, text := range []string{"", "0%", "101%", "-1GB", "2", "GB", "x%", "1e30GB"} {
		if got, err := ParseMemory(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	if got := (MemoryLimit{Share: 0.25}).Of(1000); got != 250 {
		t.Errorf("a quarter of 1000 bytes is %d", got)
	}
}
