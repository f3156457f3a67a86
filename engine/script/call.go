package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// function compiles a def or a lambda to the code that creates its closure.
func (c *compiler) function(fn *resolve.Function) eval {
	code := &funcode{
		name: fn.Name, pos: fn.Pos, nlocals: len(fn.Locals), varargs: fn.HasVarargs, kwargs: fn.HasKwargs,
	}
	var defaults []eval // nil if the parameter has no default
	star := false
	for _, p := range fn.Params {
		switch p := p.(type) {
		case *syntax.Ident:
			code.params = append(code.params, p.Name)
			if len(defaults) > 0 || star {
				defaults = append(defaults, nil)
			}
		case *syntax.BinaryExpr:
			code.params = append(code.params, p.X.(*syntax.Ident).Name)
			defaults = append(defaults, c.expr(p.Y))
		case *syntax.UnaryExpr:
			star = true // *args, * or **kwargs: the parameters after it are passed by name
		}
	}
	code.positional = len(code.params) - fn.NumKwonlyParams
	for i, b := range fn.Locals {
		if b.Scope == resolve.Cell {
			code.cells = append(code.cells, i)
		}
	}
	code.body = c.block(fn.Body)
	pos, free := fn.Pos, fn.FreeVars
	return func(fr *frame) (value.Value, error) {
		if err := fr.m.Charge(closureSize + meter.ElemSize*(len(defaults)+len(free))); err != nil {
			return nil, fr.fault(pos, err)
		}
		f := &closure{code: code}
		if len(defaults) > 0 {
			f.defaults = make([]value.Value, len(defaults))
		}
		for i, x := range defaults {
			if x != nil {
				v, err := x(fr)
				if err != nil {
					return nil, err
				}
				f.defaults[i] = v
			}
		}
		if len(free) > 0 {
			f.free = make([]*cell, len(free))
		}
		for i, b := range free {
			if b.Scope == resolve.Free {
				f.free[i] = fr.fn.free[b.Index]
			} else {
				f.free[i] = fr.locals[b.Index].(*cell)
			}
		}
		return f, nil
	}
}

// call compiles a call. Positional arguments are evaluated into a new frame, which becomes the function's frame.
func (c *compiler) call(e *syntax.CallExpr) eval {
	if dot, ok := unparen(e.Fn).(*syntax.DotExpr); ok && dot.Name.Name == "append" && len(e.Args) == 1 {
		switch e.Args[0].(type) {
		case *syntax.BinaryExpr, *syntax.UnaryExpr: // possibly a named argument or a star
		default:
			return c.appendTo(e, dot)
		}
	}
	if list, ok := lengthOf(c, e); ok {
		return c.length(e, list)
	}
	return c.anyCall(e, c.expr(e.Fn))
}

// lengthOf returns the list of a call len(x.list) of the built-in function.
func lengthOf(c *compiler, e *syntax.CallExpr) (list *syntax.DotExpr, ok bool) {
	fn, ok := unparen(e.Fn).(*syntax.Ident)
	if !ok || fn.Name != "len" || len(e.Args) != 1 {
		return nil, false
	}
	switch fn.Binding.(*resolve.Binding).Scope {
	case resolve.Universal, resolve.Predeclared:
	default:
		return nil, false
	}
	if _, dynamic := c.slot[fn.Name]; dynamic || c.constant(fn.Name) != universe["len"] {
		return nil, false
	}
	list, ok = unparen(e.Args[0]).(*syntax.DotExpr)
	return list, ok
}

// length compiles len(x.list). The list is not made if x knows its length.
func (c *compiler) length(e *syntax.CallExpr, list *syntax.DotExpr) eval {
	x, field, count := c.expr(list.X), list.Name.Name, c.anyCall(e, c.expr(e.Fn))
	if _, again := unparen(list.X).(*syntax.Ident); !again {
		return count // x has to be evaluated once
	}
	return func(fr *frame) (value.Value, error) {
		if v, err := x(fr); err == nil {
			if n, ok := value.Length(v, field); ok {
				return starlark.MakeInt(n), nil
			}
		}
		return count(fr)
	}
}

// appendTo compiles x.append(y), the most common call in loops. If x is a list, it allocates no bound method.
func (c *compiler) appendTo(e *syntax.CallExpr, dot *syntax.DotExpr) eval {
	x, y, pos := c.expr(dot.X), c.expr(e.Args[0]), e.Lparen
	return func(fr *frame) (value.Value, error) {
		recv, err := x(fr)
		if err != nil {
			return nil, err
		}
		list, ok := recv.(*starlark.List)
		var method value.Value
		if !ok {
			if method, err = attr(recv, dot.Name.Name); err != nil {
				return nil, fr.fault(dot.Dot, err)
			}
		}
		v, err := y(fr)
		if err != nil {
			return nil, err
		}
		switch {
		case !ok:
			if v, err = fr.m.call(method, v); err != nil {
				return nil, fr.through(pos, err)
			}
			return v, nil
		default:
			if err = fr.m.Charge(2 * meter.ElemSize); err == nil {
				err = list.Append(v)
			}
			if err != nil {
				return nil, fr.fault(pos, err)
			}
			return starlark.None, nil
		}
	}
}

// anyCall compiles a call of any callable value. Without named arguments and stars it allocates nothing.
func (c *compiler) anyCall(e *syntax.CallExpr, fn eval) eval {
	pos := e.Lparen
	var args, values []eval
	var names []starlark.String
	var star, starStar eval
	for _, a := range e.Args {
		switch x := a.(type) {
		case *syntax.BinaryExpr:
			if x.Op == syntax.EQ {
				names = append(names, starlark.String(x.X.(*syntax.Ident).Name))
				values = append(values, c.expr(x.Y))
				continue
			}
		case *syntax.UnaryExpr:
			if x.Op == syntax.STAR {
				star = c.expr(x.X)
				continue
			} else if x.Op == syntax.STARSTAR {
				starStar = c.expr(x.X)
				continue
			}
		}
		args = append(args, c.expr(a))
	}
	if names != nil || star != nil || starStar != nil {
		return c.fullCall(pos, fn, args, names, values, star, starStar)
	}
	return func(fr *frame) (value.Value, error) {
		f, err := fn(fr)
		if err != nil {
			return nil, err
		}
		next := fr.m.push(len(args))
		for i, a := range args {
			if next.locals[i], err = a(fr); err != nil {
				fr.m.pop(next)
				return nil, err
			}
		}
		v, err := fr.m.enter(f, next, nil)
		fr.m.pop(next)
		if err != nil {
			return nil, fr.through(pos, err)
		}
		return v, nil
	}
}

// fullCall compiles a call with named arguments or stars. They are evaluated in Starlark's order: by position, by
// name, then *args, then **kwargs.
func (c *compiler) fullCall(pos syntax.Position, fn eval, args []eval, names []starlark.String, values []eval,
	star, starStar eval,
) eval {
	return func(fr *frame) (value.Value, error) {
		m := fr.m
		f, err := fn(fr)
		if err != nil {
			return nil, err
		}
		next := m.push(len(args))
		defer m.pop(next)
		for i, a := range args {
			if next.locals[i], err = a(fr); err != nil {
				return nil, err
			}
		}
		kwargs := make([]starlark.Tuple, len(values))
		for i, x := range values {
			v, err := x(fr)
			if err != nil {
				return nil, err
			}
			kwargs[i] = starlark.Tuple{names[i], v}
		}
		if star != nil {
			v, err := star(fr)
			if err != nil {
				return nil, err
			}
			if err := spreadArgs(&m.Meter, next, v); err != nil {
				return nil, fr.fault(pos, err)
			}
		}
		if starStar != nil {
			v, err := starStar(fr)
			if err == nil {
				if kwargs, err = spreadNames(&m.Meter, kwargs, v); err != nil {
					err = fr.fault(pos, err)
				}
			}
			if err != nil {
				return nil, err
			}
		}
		v, err := m.enter(f, next, kwargs)
		if err != nil {
			return nil, fr.through(pos, err)
		}
		return v, nil
	}
}

// spreadArgs adds the elements of f(*v) to the arguments.
func spreadArgs(m *meter.Meter, next *frame, v value.Value) error {
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return fmt.Errorf("argument after * must be iterable, not %s", v.Type())
	}
	return m.Each(seq, func(x value.Value) error {
		if err := m.Charge(2 * meter.ElemSize); err != nil {
			return err
		}
		next.locals = append(next.locals, x)
		return nil
	})
}

// spreadNames adds the items of f(**v) to the named arguments.
func spreadNames(m *meter.Meter, kwargs []starlark.Tuple, v value.Value) ([]starlark.Tuple, error) {
	d, ok := v.(starlark.IterableMapping)
	if !ok {
		return nil, fmt.Errorf("argument after ** must be a mapping, not %s", v.Type())
	}
	if err := m.ChargeMany(starlark.Len(d), 4*meter.ElemSize); err != nil {
		return nil, err
	}
	items := d.Items()
	for _, item := range items {
		if _, ok := item[0].(starlark.String); !ok {
			return nil, fmt.Errorf("keywords must be strings, not %s", item[0].Type())
		}
	}
	return append(kwargs, items...), nil
}

// enter calls f. The locals of next are the arguments.
func (m *machine) enter(f value.Value, next *frame, kwargs []starlark.Tuple) (value.Value, error) {
	switch f := f.(type) {
	case *closure:
		return m.invoke(f, next, kwargs)
	case *native:
		return f.fn(m, starlark.Tuple(next.locals), kwargs)
	case *starlark.Builtin:
		args := starlark.Tuple(next.locals)
		if f.Receiver() != nil {
			return m.method(f, args, kwargs)
		}
		return m.builtin(f, args, kwargs)
	}
	hint := ""
	if f == value.Missing {
		hint = "fields are read without ()"
	}
	return nil, value.NewError(fmt.Sprintf("invalid call of non-function (%s)", f.Type()), hint)
}

// call calls f from Go.
func (m *machine) call(f value.Value, args ...value.Value) (value.Value, error) {
	next := m.push(len(args))
	defer m.pop(next)
	copy(next.locals, args)
	return m.enter(f, next, nil)
}

// invoke runs a function of the script.
func (m *machine) invoke(f *closure, fr *frame, kwargs []starlark.Tuple) (value.Value, error) {
	code := f.code
	for c := m.top; c != nil; c = c.caller {
		if c.fn != nil && c.fn.code == code {
			return nil, value.NewError(fmt.Sprintf("function %s called recursively", code.name), "use a loop")
		}
	}
	if m.calls == maxCalls {
		return nil, meter.TooLong("calls are nested deeper than %d", maxCalls)
	}
	if err := m.Step(1); err != nil {
		return nil, err
	}
	fr.fn = f
	n := len(fr.locals)
	var err error
	if kwargs == nil && n == len(code.params) && n == code.positional && !code.varargs && !code.kwargs {
		fr.grow(code.nlocals)
	} else if err = m.bind(f, fr, kwargs); err != nil {
		return nil, err
	}
	for _, i := range code.cells {
		fr.locals[i] = &cell{fr.locals[i]}
	}
	fr.caller, m.top = m.top, fr
	m.calls++
	end, err := code.body(fr)
	m.calls--
	m.top = fr.caller
	if err != nil {
		return nil, err
	}
	if end == flowReturn {
		return fr.result, nil
	}
	return starlark.None, nil
}

// bind assigns arguments to parameters, in the order of the locals: parameters, *args, **kwargs.
func (m *machine) bind(f *closure, fr *frame, kwargs []starlark.Tuple) error {
	code := f.code
	args := slices.Clone(fr.locals)
	clear(fr.locals)
	fr.locals = fr.locals[:0]
	fr.grow(code.nlocals)
	n := min(len(args), code.positional)
	copy(fr.locals, args[:n])
	nparams := len(code.params)
	if len(args) > n && !code.varargs {
		return f.tooMany(len(args))
	}
	next := nparams
	if code.varargs {
		fr.locals[next] = starlark.Tuple(args[n:])
		next++
	}
	var rest *starlark.Dict
	if code.kwargs {
		if err := m.Charge(meter.DictSize + meter.EntrySize*len(kwargs)); err != nil {
			return err
		}
		rest = starlark.NewDict(len(kwargs))
		fr.locals[next] = rest
	}
	if err := f.bindNames(fr, rest, kwargs); err != nil {
		return err
	}
	var absent []string
	for i := range nparams {
		if fr.locals[i] != nil {
			continue
		}
		if d := i - (nparams - len(f.defaults)); d >= 0 && f.defaults[d] != nil {
			fr.locals[i] = f.defaults[d]
		} else {
			absent = append(absent, code.params[i])
		}
	}
	if absent != nil {
		return fmt.Errorf("function %s missing %d argument%s (%s)", code.name, len(absent), plural(len(absent)),
			strings.Join(absent, ", "))
	}
	return nil
}

// bindNames assigns named arguments to their parameters. Unknown names go to rest, or are an error if rest is nil.
func (f *closure) bindNames(fr *frame, rest *starlark.Dict, kwargs []starlark.Tuple) error {
	code := f.code
	for _, pair := range kwargs {
		name := string(pair[0].(starlark.String))
		if i := slices.Index(code.params, name); i >= 0 {
			if fr.locals[i] != nil {
				return fmt.Errorf("function %s got multiple values for parameter %q", code.name, name)
			}
			fr.locals[i] = pair[1]
			continue
		}
		if rest == nil {
			return value.NewError(fmt.Sprintf("function %s got an unexpected keyword argument %q", code.name, name),
				suggest.Hint(name, code.params))
		}
		before := rest.Len()
		if err := rest.SetKey(pair[0], pair[1]); err != nil {
			return err
		}
		if rest.Len() == before {
			return fmt.Errorf("function %s got multiple values for parameter %q", code.name, name)
		}
	}
	return nil
}

// tooMany is the error for n positional arguments, in Starlark's wording.
func (f *closure) tooMany(n int) error {
	code := f.code
	if len(code.params) == 0 && !code.kwargs {
		return fmt.Errorf("function %s accepts no arguments (%d given)", code.name, n)
	}
	most := ""
	if kwonly := len(code.params) - code.positional; len(f.defaults) > kwonly {
		most = "at most "
	}
	return fmt.Errorf("function %s accepts %s%d positional argument%s (%d given)", code.name, most, code.positional,
		plural(code.positional), n)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
