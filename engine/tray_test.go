package engine

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// TestTrayKeepsAll is that whatever is put into a tray comes out of it once, in the order in which it was put, and that
// no batch gets too large.
func TestTrayKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tray, filling := newTray(), &batch{}
		put, got := &batch{}, &batch{}
		take := func(b *batch) *batch {
			if len(b.rows) > batchRows {
				t.Fatalf("a batch of %d rows", len(b.rows))
			}
			got.take(b)
			return b
		}
		for agent := range rapid.IntRange(1, 200).Draw(t, "puts") {
			for range rapid.IntRange(0, batchRows).Draw(t, "rows") {
				row := SessionRow{Place: Place{Agent: agent}, Steps: make([]StepRecord, agent%3), Events: make([]Event, agent%2)}
				for i := range row.Steps {
					row.Steps[i].Attempts = agent + i
				}
				filling.add(&row)
				put.add(&row)
			}
			filling.cut, filling.gone, filling.probes = agent%3, agent%2, agent%5
			put.cut, put.gone, put.probes = put.cut+agent%3, put.gone+agent%2, put.probes+agent%5
			if agent%7 == 6 {
				filling.unpaid = fmt.Sprint(agent)
				put.unpaid = filling.unpaid
			}
			if over := tray.put(filling); over != nil {
				filling = take(over)
			}
			if len(tray.bell) != 1 {
				t.Fatal("the bell was not rung")
			}
			if len(filling.rows) != 0 || filling.cut != 0 || filling.gone != 0 || filling.probes != 0 || filling.unpaid != "" {
				t.Fatalf("it is not empty for the next: %+v", *filling)
			}
			if rapid.Bool().Draw(t, "carried") {
				take(tray.empty(&batch{}))
			}
		}
		take(tray.empty(&batch{}))
		if len(got.rows) != len(put.rows) || got.cut != put.cut || got.gone != put.gone || got.probes != put.probes || got.unpaid != put.unpaid {
			t.Fatalf("%d rows, %d cut, %d gone, %d probes, unpaid %q came out of %d, %d, %d, %d, %q",
				len(got.rows), got.cut, got.gone, got.probes, got.unpaid, len(put.rows), put.cut, put.gone, put.probes, put.unpaid)
		}
		for i := range got.rows {
			if !reflect.DeepEqual(got.rows[i], put.rows[i]) {
				t.Fatalf("row %d is %+v, want %+v", i, got.rows[i], put.rows[i])
			}
		}
	})
}

// TestLeaveComesLast is that the loop does not hear that a worker has ended before it has what that worker hands on: the
// rows that had to make room on the tray, and its own.
func TestLeaveComesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Run{journal: Discard, tray: newTray(), results: make(chan *batch), done: make(chan struct{}), abandoned: make(chan struct{})}
		earlier := &batch{}
		for range batchRows {
			earlier.add(&SessionRow{})
		}
		r.tray.put(earlier)
		w := &worker{run: r, batch: r.free.take()}
		w.batch.add(&SessionRow{})
		go w.leave()
		synctest.Wait()
		if own := r.tray.empty(r.free.take()); len(own.rows) != 1 || own.gone != 0 {
			t.Errorf("while the loop takes what made room, the tray has %d rows and %d workers that ended", len(own.rows), own.gone)
		}
		if over := <-r.results; len(over.rows) != batchRows || over.gone != 0 {
			t.Errorf("%d rows and %d workers that ended made room", len(over.rows), over.gone)
		}
		synctest.Wait()
		if last := r.tray.empty(r.free.take()); len(last.rows) != 0 || last.gone != 1 {
			t.Errorf("at last the tray has %d rows and %d workers that ended", len(last.rows), last.gone)
		}
	})
}
