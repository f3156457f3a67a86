package setup

import (
	"reflect"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/graph"
)

// mostChain is the maximum height of the graph, which scrolls if it is higher.
const mostChain = 520

// chain shows the steps of a session.
type chain struct {
	panel *form.Fold
	graph *graph.Graph
	of    *engine.Graph // the shown graph; nil before the first
}

func newChain() *chain {
	c := &chain{graph: graph.New(mostChain)}
	c.panel = form.NewFold("Steps", c.graph)
	return c
}

// fill shows the chain of a scenario and reports whether it has changed.
func (c *chain) fill(sc *Scenario) bool {
	if c.of != nil && reflect.DeepEqual(*c.of, sc.Graph) {
		return false
	}
	c.of = &sc.Graph
	c.graph.Set(sc.Graph)
	if len(sc.Graph.Segments) == 0 {
		c.panel.Hide()
	} else {
		c.panel.Show()
	}
	return true
}
