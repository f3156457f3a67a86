package script

import (
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// comprehension compiles [body for … if …] and {key: value for …} to a chain of closures, one for each clause. The
// last one adds to the result that the first one created.
func (c *compiler) comprehension(e *syntax.Comprehension) eval {
	var list func(fr *frame, out *starlark.List) error
	var dict func(fr *frame, out *starlark.Dict) error
	if entry, ok := e.Body.(*syntax.DictEntry); ok {
		key, value, pos := c.expr(entry.Key), c.expr(entry.Value), entry.Colon
		dict = func(fr *frame, out *starlark.Dict) error {
			k, err := key(fr)
			if err != nil {
				return err
			}
			v, err := value(fr)
			if err != nil {
				return err
			}
			if err := fr.m.Insert(out, k, v); err != nil {
				return fr.fault(pos, err)
			}
			return nil
		}
	} else {
		body, pos := c.expr(e.Body), syntax.Start(e.Body)
		list = func(fr *frame, out *starlark.List) error {
			v, err := body(fr)
			if err != nil {
				return err
			}
			if err := fr.m.Charge(2 * meter.ElemSize); err != nil {
				return fr.fault(pos, err)
			}
			return out.Append(v)
		}
	}
	cost := 1 + count(e.Body)
	for _, n := range slices.Backward(e.Clauses) {
		if dict != nil {
			dict = clause(c, n, cost, dict)
		} else {
			list = clause(c, n, cost, list)
		}
		switch n := n.(type) {
		case *syntax.IfClause:
			cost += count(n.Cond)
		case *syntax.ForClause:
			cost = 1 + count(n.X)
		}
	}
	pos := e.Lbrack
	if dict != nil {
		return func(fr *frame) (value.Value, error) {
			if err := fr.m.Charge(meter.DictSize); err != nil {
				return nil, fr.fault(pos, err)
			}
			out := new(starlark.Dict)
			return out, dict(fr, out)
		}
	}
	return func(fr *frame) (value.Value, error) {
		if err := fr.m.Charge(meter.ListSize); err != nil {
			return nil, fr.fault(pos, err)
		}
		out := starlark.NewList(nil)
		return out, list(fr, out)
	}
}

// clause wraps the body of a comprehension in a for or if clause; cost is the number of steps of one pass.
func clause[T any](c *compiler, n syntax.Node, cost int, inner func(*frame, T) error) func(*frame, T) error {
	if n, ok := n.(*syntax.IfClause); ok {
		cond := c.expr(n.Cond)
		return func(fr *frame, out T) error {
			v, err := cond(fr)
			if err != nil || !bool(v.Truth()) {
				return err
			}
			return inner(fr, out)
		}
	}
	loop := n.(*syntax.ForClause)
	x, set, pos := c.expr(loop.X), c.assign(loop.For, loop.Vars), loop.For
	return func(fr *frame, out T) error {
		seq, err := x(fr)
		if err != nil {
			return err
		}
		iter := starlark.Iterate(seq)
		if iter == nil {
			return fr.fault(pos, notIterable(seq))
		}
		defer iter.Done()
		var v value.Value
		for iter.Next(&v) {
			if err := fr.m.Step(cost); err != nil {
				return fr.fault(pos, err)
			}
			if err := set(fr, v); err != nil {
				return err
			}
			if err := inner(fr, out); err != nil {
				return err
			}
		}
		return nil
	}
}

// notIterable is the error for iterating over a value without elements.
func notIterable(v value.Value) error {
	if _, ok := v.(starlark.String); ok {
		return value.NewError("string value is not iterable", "write x.elems() for its letters, x.split() for its words")
	}
	return fmt.Errorf("%s value is not iterable", v.Type())
}
