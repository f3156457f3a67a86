package engine

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestTrayKeepsAll is that whatever is put into a tray comes out of it once, in the order in which it was put, and that
// no batch gets too large.
func TestTrayKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tray, filling := newTray(), &batch{}
		put, got := &batch{}, &batch{}
		take := func(b *batch) *batch {
			if b.next > batchRows {
				t.Fatalf("a batch of %d rows", b.next)
			}
			got.take(b)
			return b
		}
		for agent := range rapid.IntRange(1, 200).Draw(t, "puts") {
			for range rapid.IntRange(0, batchRows).Draw(t, "rows") {
				filling.free().Agent = agent
				filling.next++
				put.free().Agent = agent
				put.next++
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
			if filling.next != 0 || filling.cut != 0 || filling.gone != 0 || filling.probes != 0 || filling.unpaid != "" {
				t.Fatalf("it is not empty for the next: %+v", *filling)
			}
			if rapid.Bool().Draw(t, "carried") {
				take(tray.empty(&batch{}))
			}
		}
		take(tray.empty(&batch{}))
		if got.next != put.next || got.cut != put.cut || got.gone != put.gone || got.probes != put.probes || got.unpaid != put.unpaid {
			t.Fatalf("%d rows, %d cut, %d gone, %d probes, unpaid %q came out of %d, %d, %d, %d, %q",
				got.next, got.cut, got.gone, got.probes, got.unpaid, put.next, put.cut, put.gone, put.probes, put.unpaid)
		}
		for i := range got.next {
			if got.rows[i].Agent != put.rows[i].Agent {
				t.Fatalf("row %d is of agent %d, want %d", i, got.rows[i].Agent, put.rows[i].Agent)
			}
		}
	})
}
