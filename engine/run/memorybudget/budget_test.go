package memorybudget

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
)

// TestMemoryBudget checks which sessions wait for memory, which get it and which fail.
func TestMemoryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := make(chan string, 10)
		b := &Budget{limit: 100, onWait: func(why string) { reports <- why }}
		var first, second, third, fourth holding
		ask := func(h *holding, n int64) <-chan error {
			answer := make(chan error, 1)
			go func() { answer <- b.wait(t.Context(), h, n, false) }()
			synctest.Wait()
			return answer
		}
		answered := func(answer <-chan error) bool { return len(answer) == 1 }
		if !b.tryClaim(&first, 30, false) || !b.tryClaim(&second, 15, false) || b.tryClaim(&third, 20, false) {
			t.Fatal("a claim of free memory was refused, or one of used memory granted")
		}
		waits := ask(&third, 20)
		if answered(waits) {
			t.Fatalf("it did not wait: %v", <-waits)
		}
		if why := <-reports; !strings.Contains(why, "sessions wait for memory") {
			t.Errorf("the report is %q", why)
		}
		b.releaseAll(&second, false)
		if synctest.Wait(); !answered(waits) || <-waits != nil {
			t.Fatal("released memory did not go to the session that waited")
		}
		if err := <-ask(&second, 200); err == nil || !strings.Contains(err.Error(), "--memory-budget") {
			t.Errorf("a claim above the limit: %v", err)
		}
		// All sessions that hold memory want more, and one that holds none waits: one of them gets the reserve.
		other, a, z := ask(&fourth, 10), ask(&first, 40), ask(&third, 40)
		if answered(other) || answered(z) || !answered(a) || <-a != nil {
			t.Fatal("two sessions wait for each other: want the first to get the reserve")
		}
		if !b.tryClaim(&first, 5, false) {
			t.Error("the first does not get the whole reserve")
		}
		b.releaseAll(&first, false)
		if synctest.Wait(); answered(other) || !answered(z) || <-z != nil {
			t.Fatal("a session that holds memory must be served before one that holds none")
		}
		if err := <-ask(&third, 45); err == nil {
			t.Error("a session got more than it could have alone")
		}
		b.releaseAll(&third, true)
		if synctest.Wait(); !answered(other) || <-other != nil {
			t.Error("the last session did not get the released memory")
		}
		// A session that waits for a slot of others releases nothing either.
		b.block(&fourth, 1)
		if err := <-ask(&second, 85); err != nil {
			t.Errorf("the reserve was refused: %v", err)
		}
		b.block(&second, 1)
		if err := <-ask(&first, 20); err == nil {
			t.Error("a session got memory that is not free")
		}
		b.block(&second, -1)
		b.block(&fourth, -1)
		b.releaseAll(&second, false)
		b.releaseAll(&fourth, false)
		if b.held != 0 || b.kept != 0 || b.active != 0 || b.holders.Len()+b.others.Len() != 0 || b.first != nil {
			t.Errorf("at the end %+v", b)
		}
	})
}

// TestMemoryClaimedInPieces lets many sessions claim in several pieces. The budget is enough for each session alone.
// All of them wait for each other, none fails, and the budget is never exceeded.
func TestMemoryClaimedInPieces(t *testing.T) {
	for _, pieces := range [][]int64{{16, 16}, {8, 8, 8, 8, 8, 8}, {2, 46}, {30, 30, 38}} {
		synctest.Test(t, func(t *testing.T) {
			b := &Budget{limit: 100}
			most := int64(0)
			var all sync.WaitGroup
			for n := range 200 {
				all.Go(func() {
					var h holding
					defer func() { b.releaseAll(&h, false) }()
					for i, n := range slices.Concat(pieces[n%len(pieces):], pieces[:n%len(pieces)]) {
						if !b.tryClaim(&h, n, false) {
							if err := b.wait(t.Context(), &h, n, false); err != nil {
								t.Errorf("%d, piece %d: %v", pieces, i, err)
								return
							}
						}
						held, _, _ := b.figures()
						b.mu.Lock()
						most = max(most, held)
						b.mu.Unlock()
						time.Sleep(time.Duration(n%7) * time.Millisecond)
					}
				})
			}
			if all.Wait(); most > 100 || most < 50 {
				t.Errorf("%d: at most %d of 100 bytes were held", pieces, most)
			}
		})
	}
}

// TestEndedStepReleasesMemory checks that an ended step releases the memory that it does not keep.
func TestEndedStepReleasesMemory(t *testing.T) {
	b := &Budget{limit: 100}
	var h holding
	for _, c := range []struct{ claimed, keeps, more, held int64 }{{40, 10, 0, 10}, {40, 0, 0, 10}, {5, 15, 10, 15}, {0, 3, 3, 15}} {
		if c.claimed > 0 && !b.tryClaim(&h, c.claimed, false) {
			t.Fatalf("%+v: not free", c)
		}
		b.record(&h, "a", c.claimed)
		if more := b.settle(&h, "a", c.keeps); more != c.more || h.answers != c.held || b.held != c.held {
			t.Errorf("%+v: %d more, %d and %d held", c, more, h.answers, b.held)
		}
	}
}

// TestKeptMemory checks that agents' memory counts until the barrier sets the exact size.
func TestKeptMemory(t *testing.T) {
	b := &Budget{limit: 100}
	var s holding
	if err := b.wait(t.Context(), &s, 70, true); err != nil {
		t.Fatal("not free")
	}
	b.releaseAll(&s, true)
	if err := b.wait(t.Context(), &s, 40, true); err == nil {
		t.Error("two memories took more than the budget")
	}
	b.SetKept(10)
	if err := b.wait(t.Context(), &s, 90, true); err != nil {
		t.Error("the barrier freed nothing")
	}
	b.releaseAll(&s, false)
	if held, kept, _ := b.figures(); held != 0 || kept != 10 {
		t.Errorf("a session that failed leaves %d held and %d kept", held, kept)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(engine.ErrCut)
	b.force(&s, 90)
	if err := b.wait(ctx, new(holding), 5, false); !errors.Is(err, engine.ErrCut) {
		t.Errorf("a cut while waiting: %v", err)
	}
	if (&Budget{}).tryClaim(&s, 1<<40, false) != true {
		t.Error("a claim without a limit was refused")
	}
}

// TestMemoryGrowth checks that barriers report by how much memory grew.
func TestMemoryGrowth(t *testing.T) {
	memory := map[int]*engine.Memory{}
	total := func() (n int64) {
		for _, m := range memory {
			n += m.Size()
		}
		return n
	}
	sum := int64(0)
	for cycle := range 5 {
		deltas := map[int]engine.Delta{}
		for agent := range 4 {
			d := engine.Delta{Set: []engine.Field{{Name: "a", Value: make([]byte, 100*cycle)}}, Notes: [][]byte{make([]byte, 10)}, Keep: 2, Read: agent == cycle}
			for range 400 {
				d.Said = append(d.Said, engine.Message{To: []int{0, 3}, Body: make([]byte, 5+cycle)})
			}
			deltas[agent] = d
		}
		_, grown := memories.CommitCycle(&engine.Settings{}, memories.Map(memory), memories.Of(deltas), cycle)
		if sum += grown; sum != total() {
			t.Fatalf("after cycle %d it has grown to %d, and is %d", cycle, sum, total())
		}
	}
}

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]engine.MemoryLimit{
		"25%": {Share: 0.25}, "2GB": {Bytes: 2e9}, "1.5 gb": {Bytes: 1.5e9}, "512 MB": {Bytes: 512e6}, "off": {},
	} {
		got, err := engine.ParseMemory(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := engine.ParseMemory(got.String()); err != nil || again != got {
			t.Errorf("%q is shown as %q, which is %+v, %v", text, got.String(), again, err)
		}
	}
	for _, text := range []string{"", "0%", "101%", "-1GB", "2", "GB", "x%", "1e30GB"} {
		if got, err := engine.ParseMemory(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	if got := (engine.MemoryLimit{Share: 0.25}).Of(1000); got != 250 {
		t.Errorf("a quarter of 1000 bytes is %d", got)
	}
}

// figures returns the claimed memory, the stored memory and the limit.
func (b *Budget) figures() (held, kept, limit int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, b.kept, b.limit
}
