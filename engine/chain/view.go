package chain

import (
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/layout"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/suggest"
)

// view is what expressions of a step see of the steps around it.
type view struct {
	of     *Reader
	chain  *layout.Names // nil outside of a chain
	scope  *scope
	shared bool // the steps around a connector are unknown
	known  map[string]func() *known.Shape
}

var _ expr.Steps = (*view)(nil)

// Has reports whether a step has ended when the expression is evaluated.
func (v *view) Has(step string) bool { return v.scope.has(step) }

// Kind returns the kind of a visible step, or "".
func (v *view) Kind(step string) string { return v.scope.kind(step) }

// Use records that an expression uses the output of a step.
func (v *view) Use(step string) { v.scope.use(step) }

// Unseen returns why a step cannot be seen, with a hint.
func (v *view) Unseen(name string) (problem string, g suggest.Guess) {
	if v.shared {
		return "a connector does not know which steps stand around it", suggest.Guess{Hint: "a step hands over what it needs: `options: {" + name + ": \"${steps." + name + "}\"}`"}
	}
	problem = "there is no step " + name + " above this one"
	var in string
	var ok bool
	if v.chain != nil {
		in, ok = v.chain.Place[name]
	}
	switch {
	case ok && in != "" && v.scope.has(in):
		return problem, suggest.Guess{Hint: "it is inside " + in + "; only `steps." + in + "` can be seen from here"}
	case ok && v.scope.parallelTo(name):
		return "the step " + name + " need not have ended when this one begins", suggest.Guess{Hint: "it runs in parallel with this one; add `depends_on: [" + name + "]`"}
	case ok:
		return problem, suggest.Guess{Hint: "it comes later, or is in another block"}
	}
	var all []string
	if v.of.Guessing() { // there may be very many
		all = v.scope.all()
	}
	return problem, v.of.Near(name, all, "steps see those above them, and nothing inside a block that they are not in")
}

// parallelTo reports whether a step could become a dependency: it is in the same group, and does not wait for this one.
func (s *scope) parallelTo(name string) bool {
	i, ok := s.block.index[name]
	if !ok {
		return false
	}
	seg := &s.block.segments[s.step.segment]
	at := s.block.index[s.step.Name]
	return i != at && i >= seg.from && i < seg.to && !s.block.Steps[i].node.before.Has(at-seg.from)
}
