package chain

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/iteration"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
)

// branch is `if`. Its output is a record with `taken` and the outputs of both branches; those of the branch that did
// not run are missing.
type branch struct {
	condition *script.Expr
	then      *Block
	otherwise *Block // may be empty
	shape     *value.Shape
}

func readIf(r *reader, n *doc.Node) action {
	n.Require("condition", "then")
	b := &branch{condition: r.Expression(n.Get("condition")), then: r.branch(n.Get("then")), otherwise: r.branch(n.Get("else"))}
	if b.then.has("taken") || b.otherwise.has("taken") {
		n.Errorf("choose another name", "a step of an if cannot be called taken: that is which branch it was")
	}
	names := append([]string{"taken"}, b.then.names()...)
	b.shape = value.NewShape(append(names, b.otherwise.names()...)...)
	return b
}

func (b *Block) has(name string) bool {
	_, ok := b.index[name]
	return ok
}

func (b *Block) names() []string {
	names := make([]string, len(b.Steps))
	for i, s := range b.Steps {
		names[i] = s.Name
	}
	return names
}

func (b *branch) blocks() []*Block { return []*Block{b.then, b.otherwise} }

func (b *branch) run(t *turn) (value.Value, error) {
	v, err := b.condition.Eval(t.Context("condition"))
	if err != nil {
		return nil, err
	}
	taken := bool(v.Truth())
	block, at := b.otherwise, 1+len(b.then.Steps)
	if taken {
		block, at = b.then, 1
	}
	p := &pass{block: block, owner: t, prefix: t.path + ".", timed: &t.timed}
	if err := t.x.run(p); err != nil {
		return nil, err
	}
	outputs := make([]value.Value, 1+len(b.then.Steps)+len(b.otherwise.Steps))
	for i := range outputs {
		outputs[i] = value.Missing
	}
	outputs[0] = starlark.Bool(taken)
	copy(outputs[at:], p.outputs)
	return b.shape.Record(outputs...), nil
}

// loop is `for`. Its output is a list of records, step: output, one per pass.
type loop struct {
	each  *script.Expr
	as    string
	do    *Block
	limit int // maximum passes; 0 is as many as the list has
	shape *value.Shape
	names *iteration.Names
}

func readFor(r *reader, n *doc.Node) action {
	n.Require("each", "as", "do")
	l := &loop{each: r.Expression(n.Get("each"))}
	if as := n.Get("as"); as != nil {
		l.as = as.Text()
		r.variable(as, l.as)
	}
	l.limit = n.Get("limit").Int(1, anyInt)
	l.do = r.knowing(l.as, r.elements(l.each)).branch(n.Get("do"), l.as)
	l.shape, l.names = value.NewShape(l.do.names()...), iteration.New(l.do.names())
	return l
}

// variable checks the name of a loop's variable: it must not shadow another name.
func (r *reader) variable(n *doc.Node, name string) {
	if name == "" {
		return // reported
	}
	if !expr.IsName(name) {
		n.Errorf(expr.NameHint, "%q cannot be the name of the loop's variable", name)
		return
	}
	_, err := r.Env.Expr(name, r.Names)
	if err == nil && !r.Blind || slices.Contains(r.Names, name) {
		n.Errorf("a name of its own, such as item", "%q is already defined", name)
	}
}

func (l *loop) blocks() []*Block { return []*Block{l.do} }

func (l *loop) run(t *turn) (value.Value, error) {
	v, err := l.each.Eval(t.Context("each"))
	if err != nil {
		return nil, err
	}
	if list := value.AsList(v); list != nil {
		v = list
	}
	if v, err = value.Data(v); err != nil {
		return nil, err
	}
	items, ok := v.(*starlark.List)
	if !ok && v != starlark.None { // a missing list has no passes
		return nil, fmt.Errorf("each is a %s, not a list", v.Type())
	}
	n := 0
	if items != nil {
		n = items.Len()
	}
	records := make([]value.Value, 0, n)
	p := &pass{block: l.do, owner: t, local: l.as, timed: &t.timed} // of sequential passes
	for i := range n {
		if l.limit > 0 && i == l.limit {
			return nil, engine.Fail(engine.LoopLimit, "more than %d passes", l.limit)
		}
		p.prefix, p.paths = l.names.Of(t.path, t.path == t.step.Name, i)
		p.outputs, p.last, p.value = p.outputs[:0], nil, items.Index(i)
		if err := t.x.run(p); err != nil {
			return nil, err
		}
		records = append(records, l.shape.Of(p.outputs...))
	}
	return value.NewList(records), nil
}

// while repeats its block as long as a condition holds. Its output is a list of records, step: output, one per pass.
// The condition and the steps see the record of the previous pass as last.
type while struct {
	condition *script.Expr
	do        *Block
	limit     int // passes
	shape     *value.Shape
}

// lastName is the name of the previous pass.
const lastName = "last"

// defaultLimit is how many passes a while may take by default.
const defaultLimit = 100

func readWhile(r *reader, n *doc.Node) action {
	n.Require("condition", "do")
	w := &while{limit: defaultLimit}
	if limit := n.Get("limit"); limit != nil {
		w.limit = limit.Int(1, anyInt)
	}
	r = r.knowing(lastName, func() *known.Shape { return knower{r.Reader}.record(known.RecordOf(), w.do) })
	inner := *r
	inner.Names = append(slices.Clone(r.Names), lastName)
	w.condition = inner.Expression(n.Get("condition"))
	w.do = r.branch(n.Get("do"), lastName)
	w.shape = value.NewShape(w.do.names()...)
	return w
}

func (w *while) blocks() []*Block { return []*Block{w.do} }

func (w *while) run(t *turn) (value.Value, error) {
	var passes []value.Value
	last := lastPass{t, value.Missing}
	p := new(pass) // of sequential passes
	for i := 0; ; i++ {
		c := t.Context("condition[" + itoa(i) + "]")
		c.Names = last
		v, err := w.condition.Eval(c)
		if err != nil {
			return nil, err
		}
		if !v.Truth() {
			return value.NewList(passes), nil
		}
		if i == w.limit {
			return nil, engine.Fail(engine.LoopLimit, "the condition still holds after %d passes", w.limit)
		}
		*p = pass{
			block: w.do, owner: t, prefix: t.path + "[" + itoa(i) + "].", local: lastName, value: last.value, timed: &t.timed,
		}
		if err := t.x.run(p); err != nil {
			return nil, err
		}
		last.value = w.shape.Record(p.outputs...)
		passes = append(passes, last.value)
	}
}

// lastPass shows the condition of a while what its steps see, plus the previous pass.
type lastPass struct {
	*turn
	value value.Value
}

// Lookup implements script.Names.
func (l lastPass) Lookup(name string) (value.Value, error) {
	if name == lastName {
		return l.value, nil
	}
	return l.turn.Lookup(name)
}

// stop ends the session early.
type stop struct{ because expr.Value }

func readStop(r *reader, n *doc.Node) action {
	return &stop{r.telling("results hold `session.seed_uuid` in its place").Data(n.Get("because"), "because")}
}

func (s *stop) run(t *turn) (value.Value, error) {
	end := &stoppedError{path: t.path}
	if s.because != nil {
		v, err := s.because.Eval(t)
		if err != nil {
			return nil, err
		}
		if end.because, err = value.Text(v); err != nil {
			return nil, err
		}
		if n := len(end.because); n > maxText {
			return nil, engine.Fail(engine.Script, "a reason of %d bytes; at most %d", n, maxText)
		}
	}
	return nil, end
}
