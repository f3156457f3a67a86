package chain

import (
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// branch is `if`: its output is a record with `taken` and the outputs of the branch that was.
type branch struct {
	condition *script.Expr
	then      *Block
	otherwise *Block // may be empty
	shapes    [2]*script.Shape
}

func readIf(r *reader, n *doc.Node) action {
	n.Require("condition", "then")
	b := &branch{condition: r.expr(n.Get("condition")), then: r.branch(n.Get("then")), otherwise: r.branch(n.Get("else"))}
	b.shapes = [2]*script.Shape{takenShape(b.otherwise), takenShape(b.then)}
	return b
}

func takenShape(b *Block) *script.Shape {
	return script.NewShape(append([]string{"taken"}, b.names()...)...)
}

func (b *Block) names() []string {
	var names []string
	for _, s := range b.Steps {
		if s.Name != "taken" {
			names = append(names, s.Name)
		}
	}
	return names
}

func (b *branch) blocks() []*Block { return []*Block{b.then, b.otherwise} }

func (b *branch) run(t *turn) (script.Value, error) {
	v, err := b.condition.Eval(t.Context("condition"))
	if err != nil {
		return nil, err
	}
	block, which := b.otherwise, 0
	if v.Truth() {
		block, which = b.then, 1
	}
	p := &pass{block: block, owner: t, prefix: t.path + ".", timed: &t.timed}
	if err := t.x.run(p); err != nil {
		return nil, err
	}
	return b.shapes[which].Record(slices.Concat([]script.Value{starlark.Bool(which == 1)}, p.outputs)...), nil
}

// loop is `for`: its output is a list of records, step: output, one per pass.
type loop struct {
	each  *script.Expr
	as    string
	do    *Block
	limit int // passes; 0 is as many as the list has
	shape *script.Shape
}

func readFor(r *reader, n *doc.Node) action {
	n.Require("each", "as", "do")
	l := &loop{each: r.expr(n.Get("each")), as: n.Get("as").Text()}
	if as := n.Get("as"); as != nil && (!Identifier.MatchString(l.as) || slices.Contains(r.names, l.as)) {
		as.Errorf("a name of its own, such as item", "%q cannot be the name of the loop's variable", l.as)
	}
	if limit := n.Get("limit"); limit != nil {
		l.limit = limit.Int(1, anyInt)
	}
	l.do = r.branch(n.Get("do"), l.as)
	var names []string
	for _, s := range l.do.Steps {
		names = append(names, s.Name)
	}
	l.shape = script.NewShape(names...)
	return l
}

func (l *loop) blocks() []*Block { return []*Block{l.do} }

func (l *loop) run(t *turn) (script.Value, error) {
	v, err := l.each.Eval(t.Context("each"))
	if err != nil {
		return nil, err
	}
	if v, err = script.Data(v); err != nil {
		return nil, err
	}
	items, ok := v.(*starlark.List)
	if !ok && v != starlark.None { // what is missing is no passes
		return nil, fmt.Errorf("each is a %s, not a list", v.Type())
	}
	var passes []script.Value
	for i := range length(items) {
		if l.limit > 0 && i == l.limit {
			return nil, engine.Fail(engine.LoopLimit, "more than %d passes", l.limit)
		}
		p := &pass{
			block: l.do, owner: t, prefix: t.path + "[" + itoa(i) + "].", local: l.as, value: items.Index(i), timed: &t.timed,
		}
		if err := t.x.run(p); err != nil {
			return nil, err
		}
		passes = append(passes, l.shape.Record(p.outputs...))
	}
	return script.NewList(passes), nil
}

func length(l *starlark.List) int {
	if l == nil {
		return 0
	}
	return l.Len()
}

// stop ends the session early.
type stop struct{ because Value }

func readStop(r *reader, n *doc.Node) action { return &stop{r.value(n.Get("because"), "because")} }

func (s *stop) run(t *turn) (script.Value, error) {
	end := &stoppedError{path: t.path}
	if s.because != nil {
		v, err := s.because.Eval(t)
		if err != nil {
			return nil, err
		}
		if end.because, err = script.Text(v); err != nil {
			return nil, err
		}
	}
	return nil, end
}
