package fleet

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestSettleAfterABudgetIsSet checks that the coordinator gets back exactly what it has granted, although requests that began before the
// run had a budget end later.
func TestSettleAfterABudgetIsSet(t *testing.T) {
	h := &host{outbox: newOutbox(nil, 1, nil, nil), free: map[engine.Outlay]int{}}
	h.settings.Store(&engine.Settings{})
	cheap, dear := engine.Outlay{Requests: 1, Usage: engine.Usage{Cost: 1}}, engine.Outlay{Requests: 1, Usage: engine.Usage{Cost: 5}}
	for range 2 {
		if !h.TryClaim(cheap) {
			t.Fatal("a claim is refused without a budget")
		}
	}
	h.settings.Store(&engine.Settings{Budget: engine.Budget{Requests: 10}})
	h.Settle(dear, cheap) // the coordinator has granted it
	h.Settle(cheap, cheap)
	h.Settle(cheap, cheap)
	_, content, err := readPacket(append(appendUints(nil, 1, 1, 1), h.outbox.frames...), nil)
	if err != nil {
		t.Fatal(err)
	}
	var claimed, spent engine.Outlay
	for _, f := range content.frames {
		s, err := record[settled](f.body)
		if err != nil {
			t.Fatal(err)
		}
		claimed, spent = claimed.Plus(s.Claimed), spent.Plus(s.Spent)
	}
	if claimed != dear || spent != cheap.Plus(cheap).Plus(cheap) {
		t.Errorf("the coordinator gets back %+v for %+v; want %+v", claimed, spent, dear)
	}
}
