package setup

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestTheChainIsDrawn(t *testing.T) {
	drawn := func(sc *Scenario) {
		sc.Graph = engine.Graph{Name: "shop", Segments: [][]engine.GraphStep{
			{{Path: "enter", Name: "enter", Label: "Enter the shop", Kind: "http", Service: "shop"}},
			{{Path: "leave", Name: "leave", Label: "Leave", Kind: "stop"}},
		}}
	}
	desk := &fakeDesk{change: drawn}
	s := shown(t, desk)
	for _, text := range []string{"Steps", "Enter the shop", "http · shop", "2 steps"} {
		if !s.shows(text) {
			t.Errorf("%q is not among %q", text, uitest.Texts(s.screen.chain.panel))
		}
	}
	of := s.screen.chain.of
	s.typed("Shoppers", "20")
	s.until("20 shoppers, 24 cycles")
	if s.screen.chain.of != of {
		t.Error("the same chain was laid out again")
	}
	desk.mu.Lock()
	desk.change = nil // a chain without steps
	desk.mu.Unlock()
	s.typed("Shoppers", "30")
	s.until("30 shoppers, 24 cycles")
	if s.screen.chain.panel.Visible() {
		t.Error("an empty chain is shown")
	}
}
