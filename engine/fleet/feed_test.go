package fleet

import (
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/run/shards"
)

type leased struct{ Delivery }

func (leased) Done() {}

// TestLeaseThatComesBack checks that a worker that gets sessions again, before it has learned that it had lost them, has each of them
// once.
func TestLeaseThatComesBack(t *testing.T) {
	for _, again := range []shards.Lease{{Shard: 1, Epoch: 3}, {Shard: 2, Epoch: 1}} { // another worker had it meanwhile, or has given some back
		f := newFeed()
		f.begin(0)
		f.setLimit(10)
		var tasks []run.Task
		for agent := range 3 {
			tasks = append(tasks, run.Task{Place: engine.Place{Agent: agent}})
		}
		f.add(&lease{Lease: shards.Lease{Shard: 1, Epoch: 1}, delivery: leased{}}, tasks)
		if got, _ := f.next(0); got.Agent != 0 {
			t.Fatalf("agent %d starts first", got.Agent)
		}
		if inFlight := f.add(&lease{Lease: again, delivery: leased{}}, tasks); !slices.Equal(inFlight, []int{0}) {
			t.Errorf("the sessions in flight of the lost lease are those of %v, want agent 0", inFlight)
		}
		if got, _ := f.next(0); got.Agent != 1 {
			t.Errorf("agent %d starts, want 1", got.Agent)
		}
		if l, _ := f.end(engine.Place{Agent: 0}); l != nil {
			t.Error("the session of the lost lease counts")
		}
		if got, _ := f.next(0); got.Agent != 0 {
			t.Errorf("agent %d starts, want 0 again", got.Agent)
		}
		if inFlight, queued := f.counts(); inFlight != 2 || queued != 1 {
			t.Errorf("%d in flight, %d queued; want 2, 1", inFlight, queued)
		}
		f.lose([]shards.Lease{{Shard: 1, Epoch: 1}}) // now it learns of it
		if back, _ := f.takeBack(9); len(back) != 1 || back[0].Lease != again || len(back[0].Agents) != 1 {
			t.Errorf("it returns %+v", back)
		}
		for agent := range 2 {
			if l, complete := f.end(engine.Place{Agent: agent}); l == nil || l.Lease != again || complete != (agent == 1) {
				t.Errorf("agent %d: lease %+v, complete %v", agent, l, complete)
			}
		}
	}
}
