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
		mergeQueue, free, large := newMergeQueue(), &freeList{}, &freeList{}
		put, got := &Batch{}, &Batch{}
		deliver := func() {
			for len(mergeQueue) > 0 {
				for b := <-mergeQueue; b != nil; {
					all, rest := mergeQueue.merge(b, free, large)
					if many := len(all.rows) > len(b.rows); many && !all.merged {
						t.Fatalf("%d rows in a batch that is not marked as merged", len(all.rows))
					}
					if len(all.rows) > batchRows {
						t.Fatalf("a batch of %d rows", len(all.rows))
					}
					if rest != nil && len(all.rows)+len(rest.rows) <= batchRows {
						t.Fatalf("%d rows were not merged with %d", len(rest.rows), len(all.rows))
					}
					got.merge(all)
					if all.merged {
						large.put(all)
					} else {
						free.put(all)
					}
					b = rest
				}
			}
		}
		for agent := range rapid.IntRange(1, 200).Draw(t, "puts") {
			batch := free.get()
			if len(batch.rows) != 0 || batch.Cut != 0 || batch.Departed != 0 || batch.Probes != 0 || batch.CutAlone != "" || batch.next != nil || batch.merged {
				t.Fatalf("a batch from the free list is not empty: %+v", *batch)
			}
			for range rapid.IntRange(0, batchRows).Draw(t, "rows") {
				row := engine.SessionRow{Place: engine.Place{Agent: agent}, Steps: make([]engine.StepRecord, agent%3), Events: make([]engine.Event, agent%2)}
				for i := range row.Steps {
					row.Steps[i].Attempts = agent + i
				}
				batch.add(&row)
				put.add(&row)
			}
			batch.Cut, batch.Departed, batch.Probes = agent%3, agent%2, agent%5
			put.Cut, put.Departed, put.Probes = put.Cut+agent%3, put.Departed+agent%2, put.Probes+agent%5
			if agent%7 == 6 {
				batch.CutAlone = fmt.Sprint(agent)
				put.CutAlone = batch.CutAlone
			}
			mergeQueue <- batch
			if rapid.Bool().Draw(t, "deliver") {
				deliver()
			}
		}
		deliver()
		if len(got.rows) != len(put.rows) || got.Cut != put.Cut || got.Departed != put.Departed || got.Probes != put.Probes || got.CutAlone != put.CutAlone {
			t.Fatalf("got %d rows, %d cut, %d departed, %d probes, out of budget %q; want %d, %d, %d, %d, %q",
				len(got.rows), got.Cut, got.Departed, got.Probes, got.CutAlone, len(put.rows), put.Cut, put.Departed, put.Probes, put.CutAlone)
		}
		for i := range got.rows {
			if !reflect.DeepEqual(got.rows[i], put.rows[i]) {
				t.Fatalf("row %d is %+v, want %+v", i, got.rows[i], put.rows[i])
			}
		}
	})
}

// TestDepartureComesLast checks that a worker's departure arrives after all its earlier batches, and that a worker waits
// while the merge queue is full.
func TestDepartureComesLast(t *testing.T) {
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
				t.Errorf("a batch of %d rows and %d departed workers, want a full batch first", len(b.rows), b.Departed)
			}
		}
		if last := <-r.results; len(last.rows) != 1 || last.Departed != 1 {
			t.Errorf("the last batch has %d rows and %d departed workers, want 1 and 1", len(last.rows), last.Departed)
		}
		close(r.done)
		synctest.Wait()
		if !left {
			t.Error("the worker has not left")
		}
	})
}
