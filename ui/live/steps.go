package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/steptable"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// steps shows the steps of the chain as a table or as a graph.
type steps struct {
	content fyne.CanvasObject
	chain   *chain
	table   *widgets.Table
	all     *steptable.Steps
	calls   map[string]view.StepCall
	of      *engine.Graph // the chain that calls belongs to
	way     *widgets.Segments
	feed    *feed
}

// The ways to show the steps.
const (
	stepTable = iota
	stepGraph
)

const (
	noSteps   = "First figures in a few seconds"
	pastSteps = "The history has no figures of steps. Return to Live to see those of the run."
)

func newSteps(c *chain) *steps {
	s := &steps{chain: c}
	s.table = widgets.NewTable(steptable.Columns(), noSteps, leastRows)
	s.all = steptable.New(s.table)
	s.table.OnSort, s.table.OnOpened = s.all.Sort, s.open
	s.way = widgets.NewSegments([]string{"Table", "Graph"}, func(int) { s.turn() })
	body := container.NewStack(widgets.NewPanel("", s.table), c.panel)
	s.content = container.NewBorder(container.NewHBox(s.way), nil, nil, nil, body)
	s.turn()
	return s
}

// open shows a step of the table in the graph, which explains it.
func (s *steps) open(path string) {
	s.way.Pick(stepGraph)
	s.chain.graph.Select(path)
}

// turn shows the table or the graph.
func (s *steps) turn() {
	graph := s.way.Chosen() == stepGraph
	see(s.chain.panel, graph)
	see(s.table, !graph)
	if s.feed != nil {
		s.draw(s.feed)
	}
}

func (s *steps) draw(f *feed) {
	s.feed = f
	if s.way.Chosen() == stepGraph {
		s.chain.draw(f)
		return
	}
	if f.past { // nothing may show another moment
		s.table.SetEmpty(pastSteps)
		s.all.Set(nil)
		return
	}
	if s.of != s.chain.of && s.chain.of != nil {
		s.of, s.calls = s.chain.of, view.StepCalls(s.chain.of)
	}
	s.table.SetEmpty(noSteps)
	s.all.Set(view.StepLines(f.snap.Steps, s.calls, f.snap.Elapsed))
}
