package memories_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/memories"
)

// TestStores compares a table with a map, in cycles of agents near and far from each other.
func TestStores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agents := rapid.SliceOfNDistinct(rapid.SampledFrom([]int{0, 1, 2, 63, 1023, 1024, 5000, 900_000}), 1, 6, rapid.ID[int]).Draw(t, "agents")
		settings := engine.Settings{Seed: 1}
		settings.Sequential = rapid.Bool().Draw(t, "sequential")
		table, all := &memories.Table{}, map[int]*engine.Memory{}
		for cycle := range 3 {
			var changes memories.Changes
			for i := range rapid.IntRange(0, 8).Draw(t, "sessions") { // an agent's later session replaces its earlier one
				d := engine.Delta{Read: rapid.Bool().Draw(t, "reads")}
				if rapid.Bool().Draw(t, "sets") {
					d.Set = []engine.Field{{Name: "x", Value: fmt.Append(nil, cycle, i)}}
				}
				for range rapid.IntRange(0, 2).Draw(t, "says") {
					d.Said = append(d.Said, engine.Message{To: rapid.SliceOfDistinct(rapid.SampledFrom(agents), rapid.ID[int]).Draw(t, "to"), Body: fmt.Append(nil, i)})
				}
				changes.Add(rapid.SampledFrom(agents).Draw(t, "agent"), d)
			}
			before, was := table.Map(), enginetest.ShowMemory(table.Map())
			changed, grown := memories.CommitCycle(&settings, table, &changes, cycle)
			same, as := memories.CommitCycle(&settings, memories.Map(all), memories.Of(changes.Map()), cycle)
			if !slices.Equal(changed, same) || grown != as {
				t.Fatalf("cycle %d changed %v by %d in the table, %v by %d in the map", cycle, changed, grown, same, as)
			}
			if got, want := enginetest.ShowMemory(table.Map()), enginetest.ShowMemory(all); got != want {
				t.Fatalf("cycle %d: the table has\n%s\nwant\n%s", cycle, got, want)
			}
			if enginetest.ShowMemory(before) != was {
				t.Fatal("the memory before the barrier was changed")
			}
		}
		if got := slices.Collect(maps.Keys(all)); table.Len() != len(got) {
			t.Fatalf("%d agents have memory, want %d", table.Len(), len(got))
		}
		order := []int{}
		for agent, m := range table.All() {
			if order = append(order, agent); table.Of(agent) != m {
				t.Fatalf("agent %d has two memories", agent)
			}
		}
		if !slices.IsSorted(order) {
			t.Fatalf("the order is %v", order)
		}
	})
	if none := (*memories.Table)(nil); none.Of(3) != nil || none.Len() != 0 || len(none.Map()) != 0 {
		t.Error("a table that does not exist has memory")
	}
}
