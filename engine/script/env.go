package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Config configures an Env. The zero value has no functions and no parameters.
type Config struct {
	// Functions is the functions file, if there is one.
	Functions *Source
	// Origin is the position of the functions' text if it is part of another file; nil means a file of its own. Errors
	// of evaluations use these positions; errors of [New] are relative to the text.
	Origin Origin
	// Params is the value of params in functions and expressions.
	Params *value.Record
	// Limits apply to each evaluation, and to the top level of the functions file.
	Limits meter.Limits
	// Print receives the output of print, from any goroutine. nil discards it.
	Print func(text string)
}

// Source is the text of a file with the name used in error positions.
type Source struct{ Name, Text string }

// Env is the environment of a scenario's scripts: the names defined by the functions file, the parameters and the
// built-ins. It is immutable and safe for concurrent use.
type Env struct {
	globals  *globals
	names    map[string]value.Value // everything that is not dynamic
	known    []string               // its names, for hints
	defs     map[string]*syntax.DefStmt
	limits   meter.Limits
	print    func(string)
	origin   Origin // of the functions; nil means a file of its own
	unparsed bool   // the functions file does not parse, so its names are unknown
	broken   bool   // the functions file has errors, so nothing can be evaluated
}

// dialect is that of go.starlark.net with sets and top-level control flow, without while and recursion.
var dialect = &syntax.FileOptions{Set: true, TopLevelControl: true}

// maxSource limits the length of a source, maxNesting the depth of its syntax.
const (
	maxSource  = 1 << 20
	maxNesting = 1500
)

// dynamicNames are available in expressions only, depending on the field.
var dynamicNames = []string{"agent", "session", "steps", "input", "previous", "now", "last"}

// New builds an environment. The error is an Errors or nil. The Env is not nil even with an error: it still compiles
// expressions, so that their errors are reported together with those of the functions file, but evaluates nothing.
func New(c Config) (*Env, error) {
	e := &Env{
		globals: &globals{},
		names:   make(map[string]value.Value, len(universe)+len(predeclared)+16),
		limits:  c.Limits.OrDefaults(),
		print:   c.Print,
		origin:  c.Origin,
	}
	maps.Copy(e.names, universe)
	maps.Copy(e.names, predeclared)
	params := c.Params
	if params == nil {
		params = value.NewRecord()
	}
	e.names["params"] = params
	var errs Errors
	if c.Functions != nil {
		errs = e.define(*c.Functions)
	}
	e.known = slices.Sorted(maps.Keys(e.names))
	if len(errs) > 0 {
		e.broken = true
		return e, errs
	}
	return e, nil
}

// define parses, checks and runs the functions file.
func (e *Env) define(src Source) Errors {
	source := text{src.Name, src.Text, 1, 1}
	if len(src.Text) > maxSource {
		e.unparsed = true
		return source.one(fmt.Sprintf("more than %d MB", maxSource>>20), "")
	}
	if errs := source.longNumber(); errs != nil {
		e.unparsed = true
		return errs
	}
	file, err := dialect.Parse(src.Name, src.Text, 0)
	if err != nil {
		e.unparsed = true
		return source.sourceErrors(err, nil, nil)
	}
	if errs := checkSyntax(file); len(errs) > 0 {
		e.unparsed = true
		return errs
	}
	universal := func(name string) bool { _, ok := universe[name]; return ok }
	predefined := func(name string) bool { _, ok := e.names[name]; return ok && !universal(name) }
	err = resolve.File(file, predefined, universal)
	module := file.Module.(*resolve.Module)
	builtin := maps.Clone(e.names)
	e.globals.values = make([]value.Value, len(module.Globals))
	for _, b := range module.Globals {
		e.globals.names = append(e.globals.names, b.First.Name)
		e.names[b.First.Name] = starlark.None // unknown at this point
	}
	if err != nil {
		keywords := []string{"return", "continue", "break", "pass"}
		known := slices.Concat(e.globals.names, slices.Sorted(maps.Keys(builtin)), keywords)
		return source.sourceErrors(err, known, explainInFile)
	}
	e.defs = definitions(file.Stmts)
	c := &compiler{constant: func(name string) value.Value { return builtin[name] }, globals: e.globals}
	if err := e.run(c.block(file.Stmts), module); err != nil {
		var at *EvalError
		if !errors.As(err, &at) {
			return source.one(err.Error(), "")
		}
		f := at.Trace[len(at.Trace)-1] // the top-level line; the failure itself may be inside a function
		p := at.Problem
		if len(at.Trace) > 1 {
			_ = e.located(at, nil)
			p = fmt.Sprintf("%s, at %s", p, at.Trace[0])
		}
		return Errors{{File: f.File, Line: f.Line, Col: f.Col, Problem: p, Guess: suggest.Guess{Hint: at.Hint}}}
	}
	for i, name := range e.globals.names {
		if v := e.globals.values[i]; v != nil {
			e.names[name] = v
		} else {
			delete(e.names, name) // defined on a branch that did not run
		}
	}
	return nil
}

// explainInFile suggests the intended name for an unknown name in a functions file.
func explainInFile(name string) suggest.Guess {
	if slices.Contains(dynamicNames, name) {
		return suggest.Guess{Hint: "functions get it as a parameter: def f(" + name + ")"}
	}
	if near := suggest.Nearest(name, dynamicNames); near != "" && foreign[name] == "" {
		return suggest.Guess{Meant: near, Hint: "did you mean " + near + "? functions get it as a parameter: def f(" + near + ")"}
	}
	return suggest.Guess{Hint: foreign[name]}
}

// run executes the top level of the file and freezes the names it defines.
func (e *Env) run(top exec, module *resolve.Module) error {
	m := start(nil, e, nil)
	defer m.release()
	fr := m.push(len(module.Locals))
	fr.fn = &closure{code: &funcode{name: "the top of the file"}}
	for i, b := range module.Locals {
		if b.Scope == resolve.Cell {
			fr.locals[i] = new(cell)
		}
	}
	m.top = fr
	if _, err := top(fr); err != nil {
		return err
	}
	seen := make(map[value.Value]bool)
	for i, v := range e.globals.values {
		if v == nil {
			continue
		}
		if err := freezable(v, seen, 0); err != nil {
			return fmt.Errorf("%s: %w", e.globals.names[i], err)
		}
		v.Freeze()
	}
	return nil
}

// freezable returns an error for values nested too deeply to freeze without exhausting the stack.
func freezable(v value.Value, seen map[value.Value]bool, depth int) error {
	if depth > 2*meter.MaxDepth {
		return meter.ErrTooDeep
	}
	var parts []value.Value
	switch v := v.(type) {
	case *starlark.List, *starlark.Dict, *starlark.Set, *closure:
		if seen[v] {
			return nil
		}
		seen[v] = true
	case starlark.Tuple:
		parts = v
	}
	switch v := v.(type) {
	case *starlark.List:
		parts = slices.Collect(v.Elements())
	case *starlark.Set:
		parts = slices.Collect(v.Elements())
	case *starlark.Dict:
		for k, x := range v.Entries() {
			parts = append(parts, k, x)
		}
	case *closure:
		parts = slices.Clone(v.defaults)
		for _, c := range v.free {
			parts = append(parts, c.v)
		}
	}
	for _, x := range parts {
		if x == nil {
			continue
		}
		if err := freezable(x, seen, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkSyntax reports syntax that parses but is not allowed in a functions file.
func checkSyntax(file *syntax.File) Errors {
	var errs Errors
	for _, s := range file.Stmts {
		if s, ok := s.(*syntax.LoadStmt); ok {
			errs = append(errs, place(s.Load, "load is not available", "a scenario has one functions file"))
		}
	}
	if pos, deep := tooNested(file); deep {
		errs = append(errs, place(pos, "nested too deeply", ""))
	}
	return errs
}

// tooNested reports syntax nested too deeply to compile safely.
func tooNested(n syntax.Node) (syntax.Position, bool) {
	var at syntax.Position
	depth, deep := 0, false
	syntax.Walk(n, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return false
		}
		if depth == maxNesting || deep {
			if !deep {
				at, deep = syntax.Start(n), true
			}
			return false
		}
		depth++
		return true
	})
	return at, deep
}

// Names returns the names that the functions file defines, in file order.
func (e *Env) Names() []string { return slices.Clone(e.globals.names) }

// Value returns the frozen value that the functions file defines under a name.
func (e *Env) Value(name string) (value.Value, bool) {
	if e.broken {
		return nil, false
	}
	i := slices.Index(e.globals.names, name)
	if i < 0 || e.globals.values[i] == nil {
		return nil, false
	}
	return e.globals.values[i], true
}

// Func is a function of the functions file, called with named parameters.
type Func struct {
	env *Env
	fn  *closure
}

// Param is a parameter of a function.
type Param struct {
	Name     string
	Optional bool
}

// Func returns a function of the functions file by name.
func (e *Env) Func(name string) (*Func, bool) {
	v, _ := e.Value(name)
	fn, ok := v.(*closure)
	if !ok {
		return nil, false
	}
	return &Func{e, fn}, true
}

// Name returns the function's name.
func (f *Func) Name() string { return f.fn.code.name }

// Pos returns where the function is defined.
func (f *Func) Pos() (file string, line, col int) {
	p := f.fn.code.pos
	return p.Filename(), int(p.Line), int(p.Col)
}

// Params returns the parameters in order, without *args and **kwargs.
func (f *Func) Params() []Param {
	code := f.fn.code
	list := make([]Param, len(code.params))
	for i, name := range code.params {
		d := i - (len(code.params) - len(f.fn.defaults))
		list[i] = Param{Name: name, Optional: d >= 0 && f.fn.defaults[d] != nil}
	}
	return list
}

// Call calls the function. arg returns the frozen value of each parameter, or nil to omit it. The result is frozen.
// Errors are *EvalError.
func (f *Func) Call(c *Context, arg func(name string) (value.Value, error)) (value.Value, error) {
	m := start(c, f.env, nil)
	v, err := f.call(m, arg)
	m.release()
	if err != nil {
		return nil, f.env.located(err, nil)
	}
	return v, nil
}

// call calls the function in a machine that the caller releases.
func (f *Func) call(m *machine, arg func(name string) (value.Value, error)) (value.Value, error) {
	outer := frame{m: m, fn: f.fn}
	pos := f.fn.code.pos
	next := m.push(0)
	var named []starlark.Tuple
	for _, name := range f.fn.code.params {
		v, err := arg(name)
		if err != nil {
			return nil, outer.fault(pos, fmt.Errorf("argument %s: %w", name, err))
		}
		if v != nil {
			named = append(named, starlark.Tuple{starlark.String(name), v})
		}
	}
	v, err := m.invoke(f.fn, next, named)
	if err == nil {
		v, err = settle(&m.Meter, v)
	}
	if err != nil {
		return nil, outer.fault(pos, err)
	}
	return v, nil
}

// undefined explains an unknown name in an expression.
func (e *Env) undefined(scope Scope) func(name string) suggest.Guess {
	return func(name string) (g suggest.Guess) {
		switch {
		case !slices.Contains(dynamicNames, name):
			g.Hint = foreign[name]
		case len(scope) == 0:
			g.Hint = name + " is not available here"
		default:
			g.Hint = fmt.Sprintf("%s is not available here; there is %s", name, strings.Join(scope, ", "))
		}
		return g
	}
}
