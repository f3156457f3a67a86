package script

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// Scope lists the dynamic names that an expression may use. A Context provides their values.
type Scope []string

// Expr is a compiled expression. It is immutable and safe for concurrent use.
type Expr struct {
	compiled
	body    eval
	tree    syntax.Expr
	cost    int
	pos     syntax.Position
	nlocals int
	cells   []int
}

// compiled is what expressions and templates have in common.
type compiled struct {
	env      *Env
	src      string
	unit     unit
	origin   Origin      // nil leaves positions relative to src
	constant value.Value // nil unless the result is constant
}

// unit holds the dynamic names that the expressions of one evaluation share.
type unit struct {
	names []string
	slot  map[string]int
	refs  map[string]*Refs
}

// Expr compiles an expression; positions in its errors are relative to src. The error is an Errors.
func (e *Env) Expr(src string, scope Scope) (*Expr, error) {
	x := &Expr{compiled: compiled{env: e, src: src}}
	if err := x.compile(src, 1, 1, scope, &x.unit); err != nil {
		return nil, err
	}
	x.fold()
	return x, nil
}

// compile compiles src, which starts at line and col of the text that errors refer to.
func (x *Expr) compile(src string, line, col int, scope Scope, u *unit) error {
	source := text{"", src, line, col}
	if len(src) > maxSource {
		return source.one(fmt.Sprintf("more than %d MB", maxSource>>20), "")
	}
	if strings.TrimSpace(src) == "" {
		return source.one("the expression is empty", "")
	}
	if errs := source.longNumber(); errs != nil {
		return errs
	}
	end := scan(src, 0, 0)
	if end.problem != "" {
		l, c := advance(src[:end.at], line, col)
		return Errors{{Line: l, Col: c, Problem: end.problem, Guess: suggest.Guess{Hint: end.hint}}}
	}
	// Parentheses let an expression span several lines; the line end closes a comment.
	tree, err := dialect.ParseExpr("", syntax.FilePortion{
		Content: []byte("(" + src + "\n)"), FirstLine: int32(line), FirstCol: int32(col) - 1,
	}, 0)
	if err != nil {
		errs := source.sourceErrors(err, nil, nil)
		endLine, endCol := advance(src, line, col)
		if e := errs[0]; e.Line > endLine || e.Line == endLine && e.Col > endCol {
			e.Line, e.Col, e.Problem = endLine, endCol, "the expression ends too early"
		} else if problem, ok := strings.CutSuffix(e.Problem, ", want ')'"); ok { // the closing parenthesis was added here
			e.Problem = problem
			e.Hint = cmp.Or(e.Hint, "an operator or a comma may be missing before it")
		}
		return errs
	}
	if pos, deep := tooNested(tree); deep {
		return Errors{place(pos, "nested too deeply", "")}
	}
	universal := func(name string) bool { _, ok := universe[name]; return ok && !slices.Contains(scope, name) }
	known := func(name string) bool {
		_, ok := x.env.names[name]
		return ok || x.env.unparsed || slices.Contains(scope, name)
	}
	locals, err := resolve.ExprOptions(dialect, tree, known, universal)
	if err != nil {
		return source.sourceErrors(err, append(slices.Clone(scope), x.env.known...), x.env.undefined(scope))
	}
	x.nlocals = len(locals)
	for i, b := range locals {
		if b.Scope == resolve.Cell {
			x.cells = append(x.cells, i)
		}
	}
	u.use(tree, scope)
	c := &compiler{constant: x.env.constant, slot: u.slot}
	x.body, x.tree, x.cost, x.pos = c.expr(tree), tree, 1+count(tree), syntax.Start(unparen(tree))
	return nil
}

// constant returns the value of a name in the environment.
func (e *Env) constant(name string) value.Value {
	if v, ok := e.names[name]; ok {
		return v
	}
	return value.Missing // the functions file has errors, so nothing is evaluated
}

var errBroken = value.NewError("the functions file has errors", "fix them first")

// Eval evaluates the expression. The result is frozen. Errors are *EvalError.
func (x *Expr) Eval(c *Context) (value.Value, error) {
	if x.constant != nil {
		return x.constant, nil
	}
	m := start(c, x.env, x.unit.names)
	v, err := x.eval(m)
	m.release()
	if err != nil {
		return nil, x.env.located(err, x.origin)
	}
	return v, nil
}

// eval evaluates the expression in a machine that the caller releases.
func (x *Expr) eval(m *machine) (value.Value, error) {
	fr := m.push(x.nlocals)
	if x.env.broken {
		return nil, fr.fault(x.pos, errBroken)
	}
	for _, i := range x.cells {
		fr.locals[i] = new(cell)
	}
	err := m.Step(x.cost)
	var v value.Value
	if err == nil {
		v, err = x.body(fr)
	}
	if err == nil {
		v, err = settle(&m.Meter, v)
	}
	m.pop(fr)
	if err != nil {
		return nil, fr.fault(x.pos, err)
	}
	return v, nil
}

// Limits for an expression that is evaluated once, at compile time.
const (
	foldSteps = 20_000
	foldBytes = 64 << 10
)

// fold evaluates a constant expression at compile time, also one that decides before it reads a name, such as
// `params.share > 0 and steps.first.done` with a share of 0. If that fails, or would draw or print, the expression is evaluated
// each time instead.
func (x *Expr) fold() {
	if x.env.broken {
		return
	}
	m := start(nil, x.env, x.unit.names)
	defer m.release()
	limits := x.env.limits
	m.Start(meter.Limits{Steps: min(limits.Steps, foldSteps), Bytes: min(limits.Bytes, foldBytes)}, nil)
	m.print = nil
	if v, err := x.eval(m); err == nil && !m.printed {
		x.constant = v
	}
}

// Const returns the value of a constant expression.
func (x *Expr) Const() (value.Value, bool) { return x.constant, x.constant != nil }

// Source returns the text of the expression.
func (x *Expr) Source() string { return x.src }

// Names returns the dynamic names that the expression uses, in the order of their first use.
func (x *Expr) Names() []string { return slices.Clone(x.unit.names) }

// Refs returns how the expression uses a dynamic name.
func (x *Expr) Refs(name string) Refs { return x.unit.uses(name) }

// Refs describes how a dynamic name is used: by field, or as a whole, in which case the fields it needs are unknown.
type Refs struct {
	Fields []Ref // x.name, x["name"], get(x, "name"): each use, in order
	Bare   []Ref // any other use; Name is the dynamic name itself
}

// Ref is one use, at a position relative to the compiled text.
type Ref struct {
	Name      string
	Line, Col int
}

// uses returns a copy of the known uses of a name.
func (u *unit) uses(name string) Refs {
	if r := u.refs[name]; r != nil {
		return Refs{slices.Clone(r.Fields), slices.Clone(r.Bare)}
	}
	return Refs{}
}

// use records the dynamic names in a resolved expression. Variables of comprehensions and lambdas with the same name
// do not count.
func (u *unit) use(tree syntax.Expr, scope Scope) {
	dynamic := func(e syntax.Expr) *syntax.Ident {
		id, ok := unparen(e).(*syntax.Ident)
		if !ok || !slices.Contains(scope, id.Name) {
			return nil
		}
		if b, ok := id.Binding.(*resolve.Binding); !ok || b.Scope != resolve.Predeclared {
			return nil
		}
		return id
	}
	fields := make(map[*syntax.Ident]Ref) // uses with a known field
	field := func(e, name syntax.Expr, pos syntax.Position) {
		id := dynamic(e)
		lit, ok := unparen(name).(*syntax.Literal)
		if id == nil || !ok {
			return
		}
		if s, ok := lit.Value.(string); ok && lit.Token == syntax.STRING {
			fields[id] = Ref{s, int(pos.Line), int(pos.Col)}
		}
	}
	syntax.Walk(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			if id := dynamic(n.X); id != nil {
				fields[id] = Ref{n.Name.Name, int(n.Name.NamePos.Line), int(n.Name.NamePos.Col)}
			}
		case *syntax.IndexExpr:
			field(n.X, n.Y, syntax.Start(n.Y))
		case *syntax.CallExpr:
			if fn, ok := n.Fn.(*syntax.Ident); ok && fn.Name == "get" && len(n.Args) > 1 && dynamic(n.Fn) == nil {
				field(n.Args[0], n.Args[1], syntax.Start(n.Args[1]))
			}
		case *syntax.Ident:
			if id := dynamic(n); id != nil {
				u.add(id, fields)
			}
		}
		return true
	})
}

// add records one use of a dynamic name, and assigns a slot on the first use.
func (u *unit) add(id *syntax.Ident, fields map[*syntax.Ident]Ref) {
	if u.slot == nil {
		u.slot, u.refs = make(map[string]int), make(map[string]*Refs)
	}
	r := u.refs[id.Name]
	if r == nil {
		r = new(Refs)
		u.refs[id.Name] = r
		u.slot[id.Name] = len(u.names)
		u.names = append(u.names, id.Name)
	}
	if f, ok := fields[id]; ok {
		r.Fields = append(r.Fields, f)
	} else {
		r.Bare = append(r.Bare, Ref{id.Name, int(id.NamePos.Line), int(id.NamePos.Col)})
	}
}
