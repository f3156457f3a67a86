package run

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestBatchReleasesCapacity checks that a batch that was once full of long sessions shrinks when it carries little several times, and
// that a batch that is full repeatedly keeps its capacity.
func TestBatchReleasesCapacity(t *testing.T) {
	fill := func(b *Batch, rows, steps int) {
		for range rows {
			b.add(&engine.SessionRow{Steps: make([]engine.StepRecord, steps), Events: make([]engine.Event, steps)})
		}
		b.reset()
	}
	var free freeList
	b := free.get()
	for range 2 {
		fill(b, batchRows, 20)
	}
	capacity := cap(b.steps)
	if cap(b.rows) < batchRows || capacity < 20*batchRows || cap(b.events) < 20*batchRows {
		t.Errorf("capacity for %d rows, %d steps and %d events after full batches, want enough for the next", cap(b.rows), capacity, cap(b.events))
	}
	for range patience - 1 {
		fill(b, 1, 1)
	}
	if cap(b.rows) < batchRows || cap(b.steps) < capacity {
		t.Errorf("capacity for %d rows and %d steps after %d batches of one row, want that of a full batch", cap(b.rows), cap(b.steps), patience-1)
	}
	fill(b, 1, 1)
	if most := max(cap(b.rows), cap(b.steps), cap(b.events)); most > keptCapacity {
		t.Errorf("capacity for %d after a batch of one row, want at most %d", most, keptCapacity)
	}
	for range 2 * maxFreeBatches {
		free.put(&Batch{})
	}
	free.put(b)
	n := 0
	for b := free.top; b != nil; b = b.next {
		n++
	}
	if n != maxFreeBatches || n != free.count {
		t.Errorf("the free list has %d batches and counts %d, want %d", n, free.count, maxFreeBatches)
	}
}
