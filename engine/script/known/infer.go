package known

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/throng-sim/throng/engine/script"
)

// Names are what is known of the names that an expression uses.
type Names interface {
	// Name returns the shape of a name, other than steps.
	Name(name string) *Shape
	// Output returns the shape of a step's output.
	Output(step string) *Shape
}

// Mistake is a field that a value certainly does not have.
type Mistake struct {
	Of    string // the expression of the value; "" if it is long
	Name  string
	Names []string // those it has
	List  bool     // it is a list, whose elements have fields
	At    Place
}

// Infer returns what is known of the value of an expression, and the fields that it uses and that do not exist.
func Infer(x *script.Expr, names Names) (*Shape, []Mistake) {
	if x == nil {
		return nil, nil
	}
	in := &inference{env: x.Env(), names: names, returned: map[string]*Shape{}}
	s := in.expr(x.Tree(), nil)
	if v, ok := x.Const(); ok {
		if c := Constant(v); c != nil {
			if s != nil {
				c.At, c.Called = s.At, s.Called
			}
			s = c
		}
	}
	return s, in.mistakes
}

// inference reads one expression.
type inference struct {
	env      *script.Env
	names    Names
	mistakes []Mistake
	inside   int               // functions that are being read
	returned map[string]*Shape // what functions return; nil for those that are being read
}

// locals are the variables of comprehensions and lambdas, innermost first.
type locals struct {
	up   *locals
	name string
	of   *Shape
}

func (l *locals) find(name string) (*Shape, bool) {
	for ; l != nil; l = l.up {
		if l.name == name {
			return l.of, true
		}
	}
	return nil, false
}

// expr returns what is known of an expression.
func (in *inference) expr(e syntax.Expr, l *locals) *Shape {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return in.expr(e.X, l)
	case *syntax.Ident:
		return in.name(e, l)
	case *syntax.Literal:
		return literal(e)
	case *syntax.DotExpr:
		return in.dot(e, l)
	case *syntax.IndexExpr:
		return in.index(e, l)
	case *syntax.SliceExpr:
		in.all(l, e.Lo, e.Hi, e.Step)
		return in.expr(e.X, l)
	case *syntax.CallExpr:
		return in.call(e, l)
	case *syntax.CondExpr:
		in.expr(e.Cond, l)
		if one := One(in.expr(e.True, l), in.expr(e.False, l)); one != nil {
			one.Each = true
			return one
		}
		return nil
	case *syntax.ListExpr:
		return in.list(e, l)
	case *syntax.TupleExpr:
		in.all(l, e.List...)
		return &Shape{Kind: List, At: start(e)}
	case *syntax.DictExpr:
		return in.dict(e, l)
	case *syntax.Comprehension:
		return in.comprehension(e, l)
	case *syntax.LambdaExpr:
		for _, p := range e.Params {
			l = unknown(p, l)
		}
		in.expr(e.Body, l)
		return nil
	case *syntax.UnaryExpr:
		in.all(l, e.X)
		if e.Op == syntax.NOT {
			return &Shape{Kind: Truth, At: start(e)}
		}
		return nil
	case *syntax.BinaryExpr:
		return in.binary(e, l)
	}
	return nil
}

func (in *inference) all(l *locals, list ...syntax.Expr) {
	for _, e := range list {
		if e != nil {
			in.expr(e, l)
		}
	}
}

// name returns what is known of a variable or a dynamic name. Nothing is known of the names of the file.
func (in *inference) name(e *syntax.Ident, l *locals) *Shape {
	if s, ok := l.find(e.Name); ok {
		return s
	}
	switch {
	case in.builtin(e, "True"):
		return at(Constant(starlark.True), e)
	case in.builtin(e, "False"):
		return at(Constant(starlark.False), e)
	case in.builtin(e, "None"):
		return at(Constant(starlark.None), e)
	case !in.dynamic(e) || in.names == nil || e.Name == "steps":
		return nil
	}
	return in.names.Name(e.Name)
}

// dynamic reports whether a name may be one of those that the names of the expression know.
func (in *inference) dynamic(e *syntax.Ident) bool {
	b, ok := e.Binding.(*resolve.Binding)
	return ok && b.Scope == resolve.Predeclared && in.inside == 0
}

// builtin reports whether an expression is a name with its usual meaning.
func (in *inference) builtin(e syntax.Expr, name string) bool {
	id, ok := e.(*syntax.Ident)
	if !ok || id.Name != name {
		return false
	}
	b, ok := id.Binding.(*resolve.Binding)
	return ok && (b.Scope == resolve.Universal || b.Scope == resolve.Predeclared && in.env.Builtin(name))
}

func literal(e *syntax.Literal) *Shape {
	switch v := e.Value.(type) {
	case string:
		if e.Token == syntax.STRING {
			return at(Constant(starlark.String(v)), e)
		}
	case int64:
		return at(Constant(starlark.MakeInt64(v)), e)
	case float64:
		return at(Constant(starlark.Float(v)), e)
	}
	return nil
}

func at(s *Shape, e syntax.Expr) *Shape {
	s.At = start(e)
	return s
}

func start(e syntax.Node) Place {
	pos, _ := e.Span()
	return Place{int(pos.Line), int(pos.Col)}
}

// field returns a field of a value; e is where its name is written.
func (in *inference) field(x syntax.Expr, s *Shape, name string, pos syntax.Position) *Shape {
	of, ok := s.Field(name)
	if !ok && in.inside == 0 {
		in.mistakes = append(in.mistakes, Mistake{Of: written(x), Name: name, Names: s.Names(), At: Place{int(pos.Line), int(pos.Col)}})
	}
	return of
}

func (in *inference) dot(e *syntax.DotExpr, l *locals) *Shape {
	if id, ok := e.X.(*syntax.Ident); ok && id.Name == "steps" && in.step(id, l) {
		return in.names.Output(e.Name.Name)
	}
	s := in.expr(e.X, l)
	if s != nil && s.Kind == List {
		in.elements(e, s)
		return nil
	}
	return in.field(e.X, s, e.Name.Name, e.Name.NamePos)
}

// elements reports a field of a list that is a field of its elements.
func (in *inference) elements(e *syntax.DotExpr, s *Shape) {
	if s.Item == nil || s.Item.Kind != Record || in.inside > 0 || slices.Contains(new(starlark.List).AttrNames(), e.Name.Name) {
		return
	}
	pos := e.Name.NamePos
	in.mistakes = append(in.mistakes, Mistake{Of: written(e.X), Name: e.Name.Name, List: true, At: Place{int(pos.Line), int(pos.Col)}})
}

// step reports whether an identifier stands for the steps.
func (in *inference) step(id *syntax.Ident, l *locals) bool {
	_, local := l.find(id.Name)
	return !local && in.names != nil && in.dynamic(id)
}

func (in *inference) index(e *syntax.IndexExpr, l *locals) *Shape {
	name, ok := text(e.Y)
	if !ok {
		in.expr(e.Y, l)
		return in.expr(e.X, l).Items()
	}
	if id, isName := e.X.(*syntax.Ident); isName && id.Name == "steps" && in.step(id, l) {
		return in.names.Output(name)
	}
	return in.field(e.X, in.expr(e.X, l), name, syntax.Start(e.Y))
}

// text returns the text of a literal.
func text(e syntax.Expr) (string, bool) {
	lit, ok := e.(*syntax.Literal)
	if !ok || lit.Token != syntax.STRING {
		return "", false
	}
	s, ok := lit.Value.(string)
	return s, ok
}

func (in *inference) list(e *syntax.ListExpr, l *locals) *Shape {
	items := make([]*Shape, len(e.List))
	for i, x := range e.List {
		items[i] = in.expr(x, l)
	}
	out := &Shape{Kind: List, Item: One(items...), At: start(e)}
	if out.Item != nil && len(items) > 1 {
		out.Item.Each = true
	}
	return out
}

func (in *inference) dict(e *syntax.DictExpr, l *locals) *Shape {
	out := &Shape{Kind: Dict, At: start(e)}
	for _, one := range e.List {
		entry := one.(*syntax.DictEntry) //nolint:forcetypeassert // dicts have nothing else
		name, ok := text(entry.Key)
		if !ok {
			in.expr(entry.Key, l)
			out.Open = true
		}
		of := in.expr(entry.Value, l)
		if ok {
			out.Fields = append(out.Fields, Field{Name: name, Of: of, At: start(entry.Key)})
		}
	}
	return out
}

func (in *inference) comprehension(e *syntax.Comprehension, l *locals) *Shape {
	for _, c := range e.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			item := in.expr(c.X, l).Items()
			if id, ok := c.Vars.(*syntax.Ident); ok {
				l = &locals{l, id.Name, item}
			} else {
				l = unknown(c.Vars, l)
			}
		case *syntax.IfClause:
			in.expr(c.Cond, l)
		}
	}
	if entry, ok := e.Body.(*syntax.DictEntry); ok {
		in.all(l, entry.Key, entry.Value)
		return &Shape{Kind: Dict, Open: true, At: start(e)}
	}
	return &Shape{Kind: List, Item: in.expr(e.Body, l), At: start(e)}
}

// unknown adds variables without a shape.
func unknown(vars syntax.Node, l *locals) *locals {
	syntax.Walk(vars, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			l = &locals{l, id.Name, nil}
		}
		return true
	})
	return l
}

func (in *inference) binary(e *syntax.BinaryExpr, l *locals) *Shape {
	left, right := in.expr(e.X, l), in.expr(e.Y, l)
	switch e.Op {
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.IN, syntax.NOT_IN:
		return &Shape{Kind: Truth, At: start(e)}
	case syntax.PERCENT:
		if left != nil && left.Kind == Text {
			return &Shape{Kind: Text, At: start(e)}
		}
	case syntax.PLUS:
		if left != nil && right != nil && left.Kind == Text && right.Kind == Text {
			return &Shape{Kind: Text, At: start(e)}
		}
	default:
	}
	return nil
}

// written returns how a short expression is written; "" for others.
func written(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Ident:
		return e.Name
	case *syntax.DotExpr:
		if x := written(e.X); x != "" {
			return x + "." + e.Name.Name
		}
	case *syntax.IndexExpr:
		lit, ok := e.Y.(*syntax.Literal)
		if x := written(e.X); x != "" && ok {
			return x + "[" + lit.Raw + "]"
		}
	}
	return ""
}
