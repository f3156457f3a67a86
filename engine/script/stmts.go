package script

import (
	"fmt"

	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// exec is a compiled statement.
type exec func(fr *frame) (flow, error)

// flow says how control continues after a statement.
type flow uint8

const (
	flowNext flow = iota
	flowBreak
	flowContinue
	flowReturn
)

// pass does nothing.
func pass(*frame) (flow, error) { return flowNext, nil }

// block compiles a list of statements.
func (c *compiler) block(stmts []syntax.Stmt) exec {
	list := make([]exec, len(stmts))
	for i, s := range stmts {
		list[i] = c.stmt(s)
	}
	switch len(list) {
	case 0:
		return pass
	case 1:
		return list[0]
	}
	return func(fr *frame) (flow, error) {
		for _, s := range list {
			if f, err := s(fr); f != flowNext || err != nil {
				return f, err
			}
		}
		return flowNext, nil
	}
}

// stmt compiles a statement. Each statement charges the steps of its expressions together, before it runs.
func (c *compiler) stmt(s syntax.Stmt) exec {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		if _, ok := s.X.(*syntax.Literal); ok {
			return pass // a doc string
		}
		x, cost, pos := c.expr(s.X), count(s.X), syntax.Start(s.X)
		return func(fr *frame) (flow, error) {
			if err := fr.m.Step(cost); err != nil {
				return 0, fr.fault(pos, err)
			}
			_, err := x(fr)
			return flowNext, err
		}
	case *syntax.AssignStmt:
		return c.assignment(s)
	case *syntax.BranchStmt:
		f := map[syntax.Token]flow{syntax.BREAK: flowBreak, syntax.CONTINUE: flowContinue, syntax.PASS: flowNext}[s.Token]
		return func(*frame) (flow, error) { return f, nil }
	case *syntax.IfStmt:
		return c.ifStmt(s)
	case *syntax.ForStmt:
		return c.forStmt(s)
	case *syntax.DefStmt:
		fn, set := c.function(s.Function.(*resolve.Function)), c.assign(s.Def, s.Name)
		return func(fr *frame) (flow, error) {
			v, err := fn(fr)
			if err == nil {
				err = set(fr, v)
			}
			return flowNext, err
		}
	case *syntax.ReturnStmt:
		return c.returnStmt(s)
	default:
		panic(fmt.Sprintf("script: unknown statement %T", s))
	}
}

// returnStmt compiles return, and the body of a lambda.
func (c *compiler) returnStmt(s *syntax.ReturnStmt) exec {
	if s.Result == nil {
		return func(fr *frame) (flow, error) {
			fr.result = starlark.None
			return flowReturn, nil
		}
	}
	x, cost, pos := c.expr(s.Result), 1+count(s.Result), s.Return
	if !pos.IsValid() {
		pos = syntax.Start(s.Result) // the body of a lambda
	}
	return func(fr *frame) (flow, error) {
		if err := fr.m.Step(cost); err != nil {
			return 0, fr.fault(pos, err)
		}
		v, err := x(fr)
		fr.result = v
		return flowReturn, err
	}
}

// ifStmt compiles if; elif is an if in the else.
func (c *compiler) ifStmt(s *syntax.IfStmt) exec {
	cond, yes, no := c.expr(s.Cond), c.block(s.True), c.block(s.False)
	cost, pos := 1+count(s.Cond), s.If
	return func(fr *frame) (flow, error) {
		if err := fr.m.Step(cost); err != nil {
			return 0, fr.fault(pos, err)
		}
		v, err := cond(fr)
		if err != nil {
			return 0, err
		}
		if v.Truth() {
			return yes(fr)
		}
		return no(fr)
	}
}

// forStmt compiles for. A list or dict cannot be changed while the loop iterates over it.
func (c *compiler) forStmt(s *syntax.ForStmt) exec {
	x, set, body, pos := c.expr(s.X), c.assign(s.For, s.Vars), c.block(s.Body), s.For
	cost := 1 + count(s.X)
	return func(fr *frame) (flow, error) {
		if err := fr.m.Step(cost); err != nil {
			return 0, fr.fault(pos, err)
		}
		seq, err := x(fr)
		if err != nil {
			return 0, err
		}
		iter := starlark.Iterate(seq)
		if iter == nil {
			return 0, fr.fault(pos, notIterable(seq))
		}
		defer iter.Done()
		var v value.Value
		for iter.Next(&v) {
			if err := fr.m.Step(1); err != nil {
				return 0, fr.fault(pos, err)
			}
			if err := set(fr, v); err != nil {
				return 0, err
			}
			f, err := body(fr)
			if err != nil || f == flowReturn {
				return f, err
			}
			if f == flowBreak {
				break
			}
		}
		return flowNext, nil
	}
}

// assignment compiles x = y and x += y.
func (c *compiler) assignment(s *syntax.AssignStmt) exec {
	cost, pos := 1+count(s.LHS)+count(s.RHS), s.OpPos
	do := c.augmented
	if s.Op == syntax.EQ {
		do = c.plain
	}
	assign := do(s)
	return func(fr *frame) (flow, error) {
		if err := fr.m.Step(cost); err != nil {
			return 0, fr.fault(pos, err)
		}
		return flowNext, assign(fr)
	}
}

// plain compiles x = y, evaluating the right side first.
func (c *compiler) plain(s *syntax.AssignStmt) func(*frame) error {
	x, set := c.expr(s.RHS), c.assign(s.OpPos, s.LHS)
	return func(fr *frame) error {
		v, err := x(fr)
		if err != nil {
			return err
		}
		return set(fr, v)
	}
}

// augmented compiles x += y and similar statements: x and its parts are evaluated once.
func (c *compiler) augmented(s *syntax.AssignStmt) func(*frame) error {
	y, op, pos := c.expr(s.RHS), s.Op-syntax.PLUS_EQ+syntax.PLUS, s.OpPos
	combine := func(fr *frame, old value.Value) (value.Value, error) {
		b, err := y(fr)
		if err != nil {
			return nil, err
		}
		v, err := fr.m.update(op, old, b)
		if err != nil {
			return nil, fr.fault(pos, err)
		}
		return v, nil
	}
	switch lhs := unparen(s.LHS).(type) {
	case *syntax.Ident:
		get, set := c.ident(lhs), c.assign(s.OpPos, lhs)
		return func(fr *frame) error {
			old, err := get(fr)
			if err != nil {
				return err
			}
			v, err := combine(fr, old)
			if err != nil {
				return err
			}
			return set(fr, v)
		}
	case *syntax.IndexExpr:
		x, i, at := c.expr(lhs.X), c.expr(lhs.Y), lhs.Lbrack
		return func(fr *frame) error {
			a, err := x(fr)
			if err != nil {
				return err
			}
			b, err := i(fr)
			if err != nil {
				return err
			}
			old, err := fr.m.index(a, b)
			if err != nil {
				return fr.fault(at, err)
			}
			v, err := combine(fr, old)
			if err != nil {
				return err
			}
			if err := setIndex(&fr.m.Meter, a, b, v); err != nil {
				return fr.fault(at, err)
			}
			return nil
		}
	}
	dot := unparen(s.LHS).(*syntax.DotExpr)
	get := c.dot(dot)
	return func(fr *frame) error {
		if _, err := get(fr); err != nil {
			return err
		}
		return fr.fault(dot.Dot, noAssignment(dot.Name.Name))
	}
}

// noAssignment is the error for x.name = y: no value in a script has assignable fields.
func noAssignment(name string) error {
	return value.NewError(fmt.Sprintf("cannot assign to .%s: data is immutable", name), "build a new dict: dict(x)")
}

// assign compiles the left side of an assignment.
func (c *compiler) assign(pos syntax.Position, lhs syntax.Expr) func(fr *frame, v value.Value) error {
	switch lhs := unparen(lhs).(type) {
	case *syntax.Ident:
		return c.assignName(lhs)
	case *syntax.TupleExpr:
		return c.unpack(pos, lhs.List)
	case *syntax.ListExpr:
		return c.unpack(pos, lhs.List)
	case *syntax.IndexExpr:
		x, i, at := c.expr(lhs.X), c.expr(lhs.Y), lhs.Lbrack
		return func(fr *frame, v value.Value) error {
			a, err := x(fr)
			if err != nil {
				return err
			}
			b, err := i(fr)
			if err != nil {
				return err
			}
			if err := setIndex(&fr.m.Meter, a, b, v); err != nil {
				return fr.fault(at, err)
			}
			return nil
		}
	case *syntax.DotExpr:
		x := c.expr(lhs.X)
		return func(fr *frame, _ value.Value) error {
			if _, err := x(fr); err != nil {
				return err
			}
			return fr.fault(lhs.Dot, noAssignment(lhs.Name.Name))
		}
	default:
		panic(fmt.Sprintf("script: unknown target %T", lhs))
	}
}

// assignName compiles the assignment to a variable.
func (c *compiler) assignName(id *syntax.Ident) func(fr *frame, v value.Value) error {
	bind := id.Binding.(*resolve.Binding)
	i := bind.Index
	switch bind.Scope {
	case resolve.Local:
		return func(fr *frame, v value.Value) error { fr.locals[i] = v; return nil }
	case resolve.Cell:
		return func(fr *frame, v value.Value) error { fr.locals[i].(*cell).v = v; return nil }
	case resolve.Global:
		values := c.globals
		return func(_ *frame, v value.Value) error { values.values[i] = v; return nil }
	default:
		panic(fmt.Sprintf("script: assignment to %s %s", bind.Scope, id.Name))
	}
}

// unpack compiles a, b = x.
func (c *compiler) unpack(pos syntax.Position, list []syntax.Expr) func(fr *frame, v value.Value) error {
	targets := make([]func(*frame, value.Value) error, len(list))
	for i, x := range list {
		targets[i] = c.assign(pos, x)
	}
	return func(fr *frame, v value.Value) error {
		values, err := spread(v, len(targets))
		if err != nil {
			return fr.fault(pos, err)
		}
		for i, set := range targets {
			if err := set(fr, values[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// spread returns the n elements of a sequence, or an error with the actual count.
func spread(v value.Value, n int) ([]value.Value, error) {
	if t, ok := v.(starlark.Tuple); ok && len(t) == n {
		return t, nil
	}
	iter := starlark.Iterate(v)
	if iter == nil {
		return nil, fmt.Errorf("got %s in sequence assignment", v.Type())
	}
	defer iter.Done()
	values := make([]value.Value, n)
	got := 0
	for got < n && iter.Next(&values[got]) {
		got++
	}
	var extra value.Value
	if got < n {
		return nil, fmt.Errorf("too few values to unpack (got %d, want %d)", got, n)
	}
	if iter.Next(&extra) {
		return nil, fmt.Errorf("too many values to unpack (got %d, want %d)", starlark.Len(v), n)
	}
	return values, nil
}
