package chain

import (
	"maps"

	"github.com/throng-sim/throng/engine/chain/outputs"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/known"
)

// shapes is what a reader knows of values before a run.
type shapes struct {
	views   map[*Step]*view
	outputs map[*Step]*known.Shape
	inputs  map[string][]*known.Shape // of the chains, by those who run them
}

// Feed says that chains get an unknown input from outside of the file.
func (k *shapes) Feed(names ...string) {
	for _, name := range names {
		k.feed(name, nil)
	}
}

func (k *shapes) feed(name string, input *known.Shape) {
	if k.inputs == nil {
		k.inputs = map[string][]*known.Shape{}
	}
	k.inputs[name] = append(k.inputs[name], input)
}

// knowing returns a reader of expressions in which something is known of a name, once all chains are read.
func (r *reader) knowing(name string, f func() *known.Shape) *reader {
	inner := *r
	inner.known = maps.Clone(r.known)
	if inner.known == nil {
		inner.known = map[string]func() *known.Shape{"agent": outputs.Agent}
	}
	inner.known[name] = known.Once(f)
	inner.look()
	return &inner
}

// elements returns what is known of the elements of the list that an expression returns.
func (r *reader) elements(of *script.Expr) func() *known.Shape {
	names := r.Steps
	return func() *known.Shape {
		s, _ := known.Infer(of, names)
		return s.Items().Data()
	}
}

// Name implements known.Names.
func (v *view) Name(name string) *known.Shape {
	if f := v.known[name]; f != nil {
		return f()
	}
	return nil
}

// Output implements known.Names.
func (v *view) Output(step string) *known.Shape {
	for s := v.scope; s != nil; s = s.up {
		if i, ok := s.block.index[step]; ok {
			return knower{v.of}.output(s.block.Steps[i])
		}
	}
	return nil
}

// knower finds out what outputs look like.
type knower struct{ *Reader }

// output returns what is known of the output of a step.
func (r knower) output(s *Step) *known.Shape {
	out, ok := r.outputs[s]
	if !ok && r.outputs != nil && !s.connects {
		r.outputs[s] = nil // while it is found out
		if out = r.ownOutput(s); s.continues && s.fallback != nil {
			out = known.One(out, outputs.Data(r.places[s].Body.Get("default")))
		}
		r.outputs[s] = out
	}
	return out
}

func (r knower) ownOutput(s *Step) *known.Shape {
	n := r.places[s].Body
	switch a := s.action.(type) {
	case *completion:
		switch {
		case a.shape == nil && n.Get("answer") != nil: // which is reported
			return nil
		case a.shape == nil:
			return outputs.Fixed(s.Kind)
		}
		if x := a.Otherwise(); x != nil {
			instead, _ := known.Infer(x, r.views[s])
			return known.One(a.shape.Known, instead.Data())
		}
		return a.shape.Known
	case *python:
		out, _ := known.Infer(a.call, r.views[s])
		return out.Data()
	case *emit:
		return outputs.Data(n.Get("data"))
	case *remember:
		return outputs.Data(n.Get("set"))
	case *branch:
		return r.record(known.RecordOf("taken"), a.blocks()...)
	case *loop:
		return known.ListOf(r.record(known.RecordOf(), a.do))
	case *while:
		return known.ListOf(r.record(known.RecordOf(), a.do))
	case *subchain:
		return r.result(a.chain)
	}
	return outputs.Fixed(s.Kind)
}

// record adds the outputs of the steps of blocks to a record.
func (r knower) record(out *known.Shape, blocks ...*Block) *known.Shape {
	for _, b := range blocks {
		for _, s := range b.Steps {
			out.Fields = append(out.Fields, known.Field{Name: s.Name, Of: r.output(s)})
		}
	}
	return out
}

// result returns what is known of the output of a chain: that of its last step that is executed.
func (r knower) result(c *Chain) *known.Shape {
	if c == nil || c.Body == nil {
		return nil
	}
	var all []*known.Shape
	for i := len(c.Body.Steps) - 1; i >= 0 && !c.Body.segments[c.Body.Steps[i].segment].grouped(); i-- {
		s := c.Body.Steps[i]
		if all = append(all, r.output(s)); s.when == nil && !s.continues {
			return known.One(all...)
		}
	}
	return nil
}
