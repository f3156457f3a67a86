package known

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// results are the kinds of what built-in functions return.
var results = map[string]Kind{
	"str": Text, "repr": Text, "uuid": Text, "type": Text,
	"len": Whole, "ord": Whole, "hash": Whole,
	"uniform": Number, "normal": Number, "lognormal": Number, "float": Number,
	"bool": Truth, "chance": Truth, "all": Truth, "any": Truth, "hasattr": Truth,
}

// call returns what is known of a call.
func (in *inference) call(e *syntax.CallExpr, l *locals) *Shape {
	if in.builtin(e.Fn, "get") && len(e.Args) > 1 {
		return in.get(e, l)
	}
	if _, isName := e.Fn.(*syntax.Ident); !isName {
		in.method(e.Fn, l)
	}
	args := make([]*Shape, len(e.Args))
	for i, a := range e.Args {
		if named, ok := a.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
			in.expr(named.Y, l)
			continue
		}
		args[i] = in.expr(a, l)
	}
	id, ok := e.Fn.(*syntax.Ident)
	if !ok {
		return nil
	}
	if _, local := l.find(id.Name); local {
		return nil
	}
	if kind, ok := results[id.Name]; ok && in.builtin(id, id.Name) {
		return &Shape{Kind: kind, At: start(e)}
	}
	if len(args) > 0 {
		if s, ok := in.ofList(id, args[0]); ok {
			return s
		}
	}
	return in.function(id, start(e))
}

// ofList returns the result of a built-in function that returns its list or an element.
func (in *inference) ofList(id *syntax.Ident, first *Shape) (*Shape, bool) {
	if !in.builtin(id, id.Name) {
		return nil, false
	}
	switch id.Name {
	case "list", "sorted", "reversed", "shuffle", "sample":
		if first == nil || first.Kind != List {
			return nil, true
		}
		return first, true
	case "pick":
		return first.Items(), true
	}
	return nil, false
}

// method reads the value whose method is called.
func (in *inference) method(fn syntax.Expr, l *locals) {
	e, ok := fn.(*syntax.DotExpr)
	if !ok {
		in.expr(fn, l)
		return
	}
	s := in.expr(e.X, l)
	if s == nil || s.Kind != Record { // a record has no methods, and says itself what to use instead
		return
	}
	in.expr(fn, l)
}

// get returns get(x, "name", default).
func (in *inference) get(e *syntax.CallExpr, l *locals) *Shape {
	name, ok := text(e.Args[1])
	if !ok {
		in.all(l, e.Args...)
		return nil
	}
	in.all(l, e.Args[2:]...)
	if id, isName := e.Args[0].(*syntax.Ident); isName && id.Name == "steps" && in.step(id, l) {
		return nil
	}
	in.field(e.Args[0], in.expr(e.Args[0], l), name, syntax.Start(e.Args[1]))
	return nil
}

// function returns what a function of the file returns, if it says so in each of its returns. Each function is read once: those that
// call each other many times would take forever, and those that call themselves are not known.
func (in *inference) function(id *syntax.Ident, called Place) *Shape {
	b, ok := id.Binding.(*resolve.Binding)
	def := in.env.Def(id.Name)
	if !ok || def == nil || b.Scope != resolve.Predeclared && b.Scope != resolve.Global {
		return nil
	}
	s, read := in.returned[id.Name]
	if !read {
		in.returned[id.Name] = nil
		in.inside++
		s = in.body(def)
		in.inside--
		if left := mostParts; !s.within(&left) {
			s = nil
		}
		in.returned[id.Name] = s
	}
	return s.placed(called)
}

// mostParts is the number of shapes in what a function returns, at most. Functions that return lists of what others return could
// otherwise have shapes of any size.
const mostParts = 1000

// within takes the parts of a shape from a number, and reports whether that was large enough.
func (s *Shape) within(left *int) bool {
	if s == nil {
		return true
	}
	if *left--; *left < 0 || !s.Item.within(left) {
		return false
	}
	for _, f := range s.Fields {
		if !f.Of.within(left) {
			return false
		}
	}
	for _, one := range s.Any {
		if !one.within(left) {
			return false
		}
	}
	return true
}

// body returns what the statements of a function return.
func (in *inference) body(def *syntax.DefStmt) *Shape {
	var all []*Shape
	var body func(list []syntax.Stmt)
	body = func(list []syntax.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *syntax.ReturnStmt:
				var of *Shape
				if s.Result != nil {
					of = in.expr(s.Result, nil)
				}
				all = append(all, of)
			case *syntax.IfStmt:
				body(s.True)
				body(s.False)
			case *syntax.ForStmt:
				body(s.Body)
			}
		}
	}
	body(def.Body)
	if len(all) == 0 {
		return nil
	}
	if !returns(def.Body) {
		all = append(all, &Shape{Kind: None})
	}
	return One(all...)
}

// returns reports whether statements end with a return, or fail.
func returns(list []syntax.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *syntax.ReturnStmt:
		return true
	case *syntax.IfStmt:
		return returns(last.True) && returns(last.False)
	case *syntax.ExprStmt:
		call, ok := last.X.(*syntax.CallExpr)
		if !ok {
			return false
		}
		fn, ok := call.Fn.(*syntax.Ident)
		return ok && fn.Name == "fail"
	}
	return false
}

// placed returns a copy of a shape that is written in another place.
func (s *Shape) placed(p Place) *Shape {
	if s == nil {
		return nil
	}
	out := *s
	out.At, out.Called, out.Item = p, true, s.Item.placed(p)
	out.Fields, out.Any = nil, nil
	for _, f := range s.Fields {
		f.Of, f.At = f.Of.placed(p), p
		out.Fields = append(out.Fields, f)
	}
	for _, one := range s.Any {
		out.Any = append(out.Any, one.placed(p))
	}
	return &out
}
