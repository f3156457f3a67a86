package script

import (
	"fmt"
	"math/big"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// eval is a compiled expression: the syntax tree as a tree of closures. Unlike the bytecode of go.starlark.net, it
// needs no stack and no thread, and each operation is charged before it runs.
type eval func(fr *frame) (value.Value, error)

// compiler turns resolved syntax into closures.
type compiler struct {
	constant func(name string) value.Value // value of a predeclared name, or nil for dynamic names
	slot     map[string]int                // dynamic names
	globals  *globals                      // top-level variables of the file, nil for expressions
}

// globals are the top-level names of a functions file, in the order of their first definition.
type globals struct {
	names  []string
	values []value.Value
}

// unparen removes parentheses, which the syntax tree does not need.
func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

func (c *compiler) exprs(list []syntax.Expr) []eval {
	out := make([]eval, len(list))
	for i, e := range list {
		out[i] = c.expr(e)
	}
	return out
}

// always compiles a constant.
func always(v value.Value) eval { return func(*frame) (value.Value, error) { return v, nil } }

// expr compiles an expression. It has one case for each kind of node; the resolver has already checked the tree.
func (c *compiler) expr(e syntax.Expr) eval {
	switch e := unparen(e).(type) {
	case *syntax.Ident:
		return c.ident(e)
	case *syntax.Literal:
		return always(literal(e))
	case *syntax.ListExpr:
		return c.list(e)
	case *syntax.TupleExpr:
		return c.tuple(e)
	case *syntax.DictExpr:
		return c.dict(e)
	case *syntax.CondExpr:
		return c.cond(e)
	case *syntax.IndexExpr:
		return c.index(e)
	case *syntax.SliceExpr:
		return c.slice(e)
	case *syntax.DotExpr:
		return c.dot(e)
	case *syntax.UnaryExpr:
		return c.unary(e)
	case *syntax.BinaryExpr:
		return c.binary(e)
	case *syntax.Comprehension:
		return c.comprehension(e)
	case *syntax.CallExpr:
		return c.call(e)
	case *syntax.LambdaExpr:
		return c.function(e.Function.(*resolve.Function))
	default:
		panic(fmt.Sprintf("script: unknown expression %T", e))
	}
}

// literal returns the value of a literal.
func literal(e *syntax.Literal) value.Value {
	switch v := e.Value.(type) {
	case string:
		if e.Token == syntax.BYTES {
			return starlark.Bytes(v)
		}
		return starlark.String(v)
	case int64:
		return starlark.MakeInt64(v)
	case *big.Int:
		return starlark.MakeBigInt(v)
	case float64:
		return starlark.Float(v)
	}
	panic(fmt.Sprintf("script: unknown literal %T", e.Value))
}

// unassigned is the error for a variable that has no value yet.
func unassigned(kind, name string) error {
	return fmt.Errorf("%s variable %s referenced before assignment", kind, name)
}

// ident compiles the use of a name according to the resolver's binding. Names of the environment become constants; a
// dynamic name gets a slot that is filled on first use.
func (c *compiler) ident(e *syntax.Ident) eval {
	bind := e.Binding.(*resolve.Binding)
	i, name, pos := bind.Index, e.Name, e.NamePos
	switch bind.Scope {
	case resolve.Local:
		return func(fr *frame) (value.Value, error) {
			if v := fr.locals[i]; v != nil {
				return v, nil
			}
			return nil, fr.fault(pos, unassigned("local", name))
		}
	case resolve.Cell:
		return func(fr *frame) (value.Value, error) {
			if v := fr.locals[i].(*cell).v; v != nil {
				return v, nil
			}
			return nil, fr.fault(pos, unassigned("local", name))
		}
	case resolve.Free:
		return func(fr *frame) (value.Value, error) {
			if v := fr.fn.free[i].v; v != nil {
				return v, nil
			}
			return nil, fr.fault(pos, unassigned("local", name))
		}
	case resolve.Global:
		values := c.globals
		return func(fr *frame) (value.Value, error) {
			if v := values.values[i]; v != nil {
				return v, nil
			}
			return nil, fr.fault(pos, unassigned("global", name))
		}
	default: // predeclared or universal
	}
	if i, ok := c.slot[name]; ok {
		return func(fr *frame) (value.Value, error) {
			if v := fr.m.slots[i]; v != nil {
				return v, nil
			}
			v, err := fr.m.name(i)
			if err != nil {
				return nil, fr.fault(pos, err)
			}
			return v, nil
		}
	}
	return always(c.constant(name))
}

// list compiles [a, b].
func (c *compiler) list(e *syntax.ListExpr) eval {
	elems, pos := c.exprs(e.List), e.Lbrack
	return func(fr *frame) (value.Value, error) {
		values, err := fr.evalAll(elems, pos)
		if err != nil {
			return nil, err
		}
		return starlark.NewList(values), nil
	}
}

// tuple compiles (a, b).
func (c *compiler) tuple(e *syntax.TupleExpr) eval {
	elems, pos := c.exprs(e.List), syntax.Start(e)
	return func(fr *frame) (value.Value, error) {
		values, err := fr.evalAll(elems, pos)
		if err != nil {
			return nil, err
		}
		return starlark.Tuple(values), nil
	}
}

// evalAll charges and evaluates the elements of a list or tuple.
func (fr *frame) evalAll(elems []eval, pos syntax.Position) ([]value.Value, error) {
	if err := fr.m.Charge(meter.ListSize + meter.ElemSize*len(elems)); err != nil {
		return nil, fr.fault(pos, err)
	}
	values := make([]value.Value, len(elems))
	for i, x := range elems {
		v, err := x(fr)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// dict compiles {a: b}. A repeated key is an error.
func (c *compiler) dict(e *syntax.DictExpr) eval {
	type entry struct {
		key, value eval
		colon      syntax.Position
	}
	entries := make([]entry, len(e.List))
	for i, x := range e.List {
		x := x.(*syntax.DictEntry)
		entries[i] = entry{c.expr(x.Key), c.expr(x.Value), x.Colon}
	}
	pos := e.Lbrace
	return func(fr *frame) (value.Value, error) {
		if err := fr.m.Charge(meter.DictSize); err != nil {
			return nil, fr.fault(pos, err)
		}
		d := starlark.NewDict(len(entries))
		for i, x := range entries {
			k, err := x.key(fr)
			if err != nil {
				return nil, err
			}
			v, err := x.value(fr)
			if err != nil {
				return nil, err
			}
			err = fr.m.Insert(d, k, v)
			if err == nil && d.Len() == i {
				err = fmt.Errorf("duplicate key: %v", k)
			}
			if err != nil {
				return nil, fr.fault(x.colon, err)
			}
		}
		return d, nil
	}
}

// cond compiles a if b else c.
func (c *compiler) cond(e *syntax.CondExpr) eval {
	cond, yes, no := c.expr(e.Cond), c.expr(e.True), c.expr(e.False)
	return func(fr *frame) (value.Value, error) {
		v, err := cond(fr)
		if err != nil {
			return nil, err
		}
		if v.Truth() {
			return yes(fr)
		}
		return no(fr)
	}
}

// index compiles x[y].
func (c *compiler) index(e *syntax.IndexExpr) eval {
	x, y, pos := c.expr(e.X), c.expr(e.Y), e.Lbrack
	return func(fr *frame) (value.Value, error) {
		a, err := x(fr)
		if err != nil {
			return nil, err
		}
		b, err := y(fr)
		if err != nil {
			return nil, err
		}
		v, err := fr.m.index(a, b)
		if err != nil {
			return nil, fr.fault(pos, err)
		}
		return v, nil
	}
}

// slice compiles x[lo:hi:step].
func (c *compiler) slice(e *syntax.SliceExpr) eval {
	optional := func(e syntax.Expr) eval {
		if e == nil {
			return always(starlark.None)
		}
		return c.expr(e)
	}
	parts := [4]eval{c.expr(e.X), optional(e.Lo), optional(e.Hi), optional(e.Step)}
	pos := e.Lbrack
	return func(fr *frame) (value.Value, error) {
		var v [4]value.Value
		for i, part := range parts {
			x, err := part(fr)
			if err != nil {
				return nil, err
			}
			v[i] = x
		}
		out, err := slice(&fr.m.Meter, v[0], v[1], v[2], v[3])
		if err != nil {
			return nil, fr.fault(pos, err)
		}
		return out, nil
	}
}

// dot compiles x.name, with a fast path for the fields of records, the most common expression.
func (c *compiler) dot(e *syntax.DotExpr) eval {
	x, name, pos := c.expr(e.X), e.Name.Name, e.Dot
	return func(fr *frame) (value.Value, error) {
		a, err := x(fr)
		if err != nil {
			return nil, err
		}
		if r, ok := a.(*value.Record); ok {
			if v, ok := r.Field(name); ok {
				return v, nil
			}
		}
		v, err := attr(a, name)
		if err != nil {
			return nil, fr.fault(pos, err)
		}
		return v, nil
	}
}

// unary compiles not, -, + and ~. The sign of a number literal becomes part of the constant.
func (c *compiler) unary(e *syntax.UnaryExpr) eval {
	x, op, pos := c.expr(e.X), e.Op, e.OpPos
	if op == syntax.NOT {
		return func(fr *frame) (value.Value, error) {
			v, err := x(fr)
			if err != nil {
				return nil, err
			}
			return !v.Truth(), nil
		}
	}
	if l, ok := unparen(e.X).(*syntax.Literal); ok && (l.Token == syntax.INT || l.Token == syntax.FLOAT) {
		if v, err := starlark.Unary(op, literal(l)); err == nil {
			return always(v)
		}
	}
	return func(fr *frame) (value.Value, error) {
		v, err := x(fr)
		if err == nil {
			if v, err = starlark.Unary(op, v); err == nil {
				err = fr.m.ChargeResult(v)
			}
			if err != nil {
				err = fr.fault(pos, err)
			}
		}
		return v, err
	}
}

// binary compiles operators. and and or evaluate their right side only if needed.
func (c *compiler) binary(e *syntax.BinaryExpr) eval {
	x, y, op, pos := c.expr(e.X), c.expr(e.Y), e.Op, e.OpPos
	switch op {
	case syntax.AND, syntax.OR:
		return func(fr *frame) (value.Value, error) {
			v, err := x(fr)
			if err != nil || bool(v.Truth()) == (op == syntax.OR) {
				return v, err
			}
			return y(fr)
		}
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		return func(fr *frame) (value.Value, error) {
			a, err := x(fr)
			if err != nil {
				return nil, err
			}
			b, err := y(fr)
			if err != nil {
				return nil, err
			}
			ok, err := compare(&fr.m.Meter, op, a, b, 0)
			if err != nil {
				return nil, fr.fault(pos, err)
			}
			return starlark.Bool(ok), nil
		}
	default:
	}
	return func(fr *frame) (value.Value, error) {
		a, err := x(fr)
		if err != nil {
			return nil, err
		}
		b, err := y(fr)
		if err != nil {
			return nil, err
		}
		v, err := fr.m.binary(op, a, b)
		if err != nil {
			return nil, fr.fault(pos, err)
		}
		return v, nil
	}
}

// count returns the number of operations in an expression, and so the steps that one evaluation takes. It does not
// count the bodies of lambdas and comprehensions.
func count(e syntax.Node) int {
	n := 0
	syntax.Walk(e, func(e syntax.Node) bool {
		switch e := e.(type) {
		case nil:
			return false
		case *syntax.Comprehension:
			n += 1 + count(e.Clauses[0].(*syntax.ForClause).X)
			return false
		case *syntax.LambdaExpr:
			n++
			return false
		case *syntax.ParenExpr, *syntax.Literal, *syntax.DictEntry:
			return true
		}
		n++
		return true
	})
	return n
}
