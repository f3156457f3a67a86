package scenario

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/criteria"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/suggest"
)

// success reads the success list: metric: comparison and bound. Metrics of requests may have one for each service or step.
func (r *reader) success(n *doc.Node) {
	var names []string
	for _, m := range criteria.Metrics() {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	var graph *engine.Graph
	if r.s.Chain != nil && r.extras.Chain == "" && r.report.Err() == nil { // the chain may be incomplete otherwise
		graph = new(r.s.Chain.Graph())
	}
	n.Fields(names...)
	for _, e := range n.Entries() {
		m := criteria.Find(e.Key.Text())
		switch {
		case m == nil: // reported as an unknown key
		case m.PerService && e.Value.Kind() == doc.Map:
			for _, of := range e.Value.Entries() {
				if c, ok := r.criterion(m, of.Value); ok {
					c.Of = of.Key.Text()
					c.Steps = r.requestSteps(graph, of.Key)
					r.s.Success = append(r.s.Success, c)
				}
			}
		default:
			if c, ok := r.criterion(m, e.Value); ok {
				r.s.Success = append(r.s.Success, c)
			}
		}
	}
}

func (r *reader) criterion(m *criteria.Metric, n *doc.Node) (engine.Criterion, bool) {
	c, bound, ok := m.Parse(n.Text())
	switch {
	case ok:
	case bound == "":
		n.Errorf("such as `< 5%`", "%q is not a bound", c.Text)
	default:
		n.Errorf(criteria.Hint(m.Unit), "%q is not a bound for %s", bound, c.Metric)
	}
	return c, ok
}

// requestSteps returns the paths of the steps that call a service, or of a step with a name or path.
func (r *reader) requestSteps(graph *engine.Graph, n *doc.Node) []string {
	name, steps := n.Text(), []string{}
	if graph == nil {
		return steps
	}
	var known []string
	for _, byService := range []bool{true, false} {
		graph.Walk(func(s *engine.GraphStep) {
			switch {
			case s.Service == "":
			case byService:
				known = append(known, s.Service)
				if s.Service == name {
					steps = append(steps, s.Path)
				}
			default:
				known = append(known, s.Path)
				if s.Path == name || s.Name == name {
					steps = append(steps, s.Path)
				}
			}
		})
		if len(steps) > 0 {
			return steps
		}
	}
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	hint := "no step sends requests"
	if len(known) > 0 {
		hint = "services and steps with requests: " + strings.Join(known, ", ")
	}
	n.Guess(suggest.NewGuess(name, known, hint).And(hint)).Errorf("the chain %s has no service or step `%s` with requests", r.s.Chain.Name, name)
	return steps
}
