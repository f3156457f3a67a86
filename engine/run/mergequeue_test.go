package run

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/throng-sim/throng/engine"
	"pgregory.net/rapid"
)

// TestMergeQueueKeepsAll checks that each batch leaves the merge queue exactly once and in order, and that no merged batch
// gets too large.
func TestMergeQueueKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mergeQueue, free, wide := newMergeQueue(), &freeList{}, &freeList{}
		put, got := &Batch{}, &Batch{}
		carry := func() {
			for len(mergeQueue) > 0 {
				for b := <-mergeQueue; b != nil; {
					all, over := mergeQueue.merge(b, free, wide)
					if many := len(all.rows) > len(b.rows); many && !all.merged {
						t.Fatalf("a narrow batch was made to carry %d rows", len(all.rows))
					}
					if len(all.rows) > batchRows {
						t.Fatalf("a batch of %d rows", len(all.rows))
					}
					if over != nil && len(all.rows)+len(over.rows) <= batchRows {
						t.Fatalf("%d rows had no room beside %d", len(over.rows), len(all.rows))
					}
					got.merge(all)
					if all.merged {
						wide.put(all)
					} else {
						free.put(all)
					}
					b = over
				}
			}
		}
		for agent := range rapid.IntRange(1, 200).Draw(t, "puts") {
			filling := free.get()
			if len(filling.rows) != 0 || filling.Cut != 0 || filling.Departed != 0 || filling.Probes != 0 || filling.OutOfBudget != "" || filling.next != nil || filling.merged {
				t.Fatalf("it is not empty for the next: %+v", *filling)
			}
			for range rapid.IntRange(0, batchRows).Draw(t, "rows") {
				row := engine.SessionRow{Place: engine.Place{Agent: agent}, Steps: make([]engine.StepRecord, agent%3), Events: make([]engine.Event, agent%2)}
				for i := range row.Steps {
					row.Steps[i].Attempts = agent + i
				}
				filling.add(&row)
				put.add(&row)
			}
			filling.Cut, filling.Departed, filling.Probes = agent%3, agent%2, agent%5
			put.Cut, put.Departed, put.Probes = put.Cut+agent%3, put.Departed+agent%2, put.Probes+agent%5
			if agent%7 == 6 {
				filling.OutOfBudget = fmt.Sprint(agent)
				put.OutOfBudget = filling.OutOfBudget
			}
			mergeQueue <- filling
			if rapid.Bool().Draw(t, "carried") {
				carry()
			}
		}
		carry()
		if len(got.rows) != len(put.rows) || got.Cut != put.Cut || got.Departed != put.Departed || got.Probes != put.Probes || got.OutOfBudget != put.OutOfBudget {
			t.Fatalf("%d rows, %d cut, %d gone, %d probes, unpaid %q came out of %d, %d, %d, %d, %q",
				len(got.rows), got.Cut, got.Departed, got.Probes, got.OutOfBudget, len(put.rows), put.Cut, put.Departed, put.Probes, put.OutOfBudget)
		}
		for i := range got.rows {
			if !reflect.DeepEqual(got.rows[i], put.rows[i]) {
				t.Fatalf("row %d is %+v, want %+v", i, got.rows[i], put.rows[i])
			}
		}
	})
}

// TestLeaveComesLast checks that a worker's departure arrives after all its earlier batches, and that a worker waits while
// the merge queue is full.
func TestLeaveComesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLocalPool(PoolConfig{Host: localHost{&Run{}}})
		r.results = make(chan *Batch)
		for range mergeQueueSize {
			earlier := &Batch{}
			for range batchRows {
				earlier.add(&engine.SessionRow{})
			}
			r.enqueue(earlier)
		}
		left := false
		go func() {
			w := &worker{pool: r}
			w.currentBatch().add(&engine.SessionRow{})
			w.depart()
			left = true
		}()
		synctest.Wait()
		if left {
			t.Error("the worker left although the merge queue is full")
		}
		go r.deliverMerged()
		for range mergeQueueSize {
			if b := <-r.results; len(b.rows) != batchRows || b.Departed != 0 {
				t.Errorf("%d rows and %d workers that ended came before the last", len(b.rows), b.Departed)
			}
		}
		if last := <-r.results; len(last.rows) != 1 || last.Departed != 1 {
			t.Errorf("at last there are %d rows and %d workers that ended", len(last.rows), last.Departed)
		}
		close(r.done)
		synctest.Wait()
		if !left {
			t.Error("the worker has not left")
		}
	})
}
