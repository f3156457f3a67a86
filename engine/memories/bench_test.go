package memories_test

import (
	"math/rand/v2"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
)

// BenchmarkCommitCycle measures the barrier of a cycle in which each agent sets a field and most of them send a message to a random
// agent.
func BenchmarkCommitCycle(b *testing.B) {
	const agents = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	set, said, to := make([]engine.Field, agents), make([]engine.Message, agents), make([]int, agents)
	body := []byte(`{"text":"1","data":null}`)
	var (
		table   memories.Table
		changes memories.Changes
	)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		changes.Clear()
		for i := range agents {
			set[i], to[i] = engine.Field{Name: "wealth", Value: []byte("1")}, random.IntN(agents)
			said[i] = engine.Message{To: to[i : i+1], Body: body}
			d := engine.Delta{Set: set[i : i+1], Read: true}
			if i%3 > 0 {
				d.Said = said[i : i+1]
			}
			changes.Add(i, d)
		}
		b.StartTimer()
		memories.CommitCycle(&engine.Settings{}, &table, &changes, 1)
	}
}
