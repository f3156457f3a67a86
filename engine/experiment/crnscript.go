package experiment

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
)

// allParams stands for a use of all parameters.
const allParams = ""

// drawing are the built-in functions that draw.
var drawing = []string{"chance", "uniform", "normal", "lognormal", "pick", "weighted", "sample", "shuffle"}

// dialect is that of the scenario's functions.
var dialect = &syntax.FileOptions{Set: true, TopLevelControl: true}

// place is a place in a file, from 1.
type place struct {
	file      string
	line, col int
}

// expression is a parsed expression of a scalar.
type expression struct {
	tree  syntax.Expr
	where func(p syntax.Position) place
}

// scripts analyzes the expressions and functions of a scenario.
type scripts struct {
	functions map[string]*function
	shifted   func(at place, name string)
}

// function is a function of the scenario.
type function struct {
	def    *syntax.DefStmt
	where  func(p syntax.Position) place
	used   []string // parameters
	known  bool     // used is complete
	active bool     // it is being analyzed
}

// newScripts parses the functions of a scenario.
func newScripts(s *scenario.Scenario, root *doc.Node, shifted func(at place, name string)) *scripts {
	r := &scripts{functions: map[string]*function{}, shifted: shifted}
	n := root.Get("functions")
	name, text := s.Source.Name, n.Text()
	where := r.inText(n, text, 0)
	if file, ok := s.Source.Files[strings.TrimSpace(text)]; ok {
		name, text = strings.TrimSpace(text), string(file)
		where = func(p syntax.Position) place { return place{name, int(p.Line), int(p.Col)} }
	}
	f, err := dialect.Parse(name, text, 0)
	if err != nil { // the scenario was read, so there are none
		return r
	}
	for _, stmt := range f.Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok {
			r.functions[def.Name.Name] = &function{def: def, where: where}
		}
	}
	return r
}

// inText returns the places of a script that begins at a byte of a scalar's text.
func (r *scripts) inText(n *doc.Node, script string, begin int) func(p syntax.Position) place {
	return func(p syntax.Position) place {
		line, col := n.PositionAt(begin + offset(script, p))
		return place{n.File(), line, col}
	}
}

// offset returns the byte of a position in a text.
func offset(text string, p syntax.Position) int {
	at := 0
	for range p.Line - 1 {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	for range p.Col - 1 {
		if at >= len(text) {
			break
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// expressions parses those of a scalar: the whole text, or each ${…} in it.
func (r *scripts) expressions(n *doc.Node, whole bool) (all []expression) {
	if n.Kind() != doc.Scalar {
		return nil
	}
	text := n.Text()
	if whole {
		if tree, err := dialect.ParseExpr("", text, 0); err == nil {
			all = append(all, expression{tree, r.inText(n, text, 0)})
		}
		return all
	}
	for at := 0; ; {
		i := strings.Index(text[at:], "${")
		if i < 0 {
			return all
		}
		begin := at + i + len("${")
		at = begin
		if i > 0 && text[begin-3] == '$' { // $${ is literal
			continue
		}
		for end := begin; ; end++ {
			i := strings.IndexByte(text[end:], '}')
			if i < 0 {
				return all
			}
			end += i
			if tree, err := dialect.ParseExpr("", text[begin:end], 0); err == nil {
				all = append(all, expression{tree, r.inText(n, text[begin:end], begin)})
				at = end
				break
			}
		}
	}
}

// uses returns the parameters that an expression uses, also in the functions that it names.
func (r *scripts) uses(n syntax.Node) (names []string) {
	fields := map[*syntax.Ident]bool{} // names behind a dot, and params in front of one
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			fields[n.Name] = true
			if x, ok := n.X.(*syntax.Ident); ok && x.Name == "params" {
				fields[x] = true
				names = append(names, n.Name.Name)
			}
		case *syntax.Ident:
			switch f := r.functions[n.Name]; {
			case fields[n]:
			case n.Name == "params":
				names = append(names, allParams)
			case f != nil:
				names = append(names, r.usesOf(f)...)
			}
		}
		return true
	})
	return names
}

func (r *scripts) usesOf(f *function) []string {
	if !f.known {
		f.known = true // before the walk, for functions that name each other
		for _, stmt := range f.def.Body {
			f.used = append(f.used, r.uses(stmt)...)
		}
		slices.Sort(f.used)
		f.used = slices.Compact(f.used)
	}
	return f.used
}

// draws checks the draws of a field: all expressions of a scalar have one stream.
func (r *scripts) draws(n *doc.Node, whole bool) {
	w := &walk{scripts: r}
	s := count{}
	for _, x := range r.expressions(n, whole) {
		w.where = x.where
		s = w.expr(x.tree, s)
	}
}

// function checks the draws of a function that a step calls by its name.
func (r *scripts) function(n *doc.Node) {
	if f := r.functions[n.Text()]; f != nil {
		w := &walk{scripts: r}
		w.call(f, count{})
	}
}

// count is how many draws the stream has made: from least to most. unreachable stands for code that is never reached.
type count struct{ least, most float64 }

var unreachable = count{math.Inf(1), math.Inf(-1)}

// or joins two ways to the same place.
func (c count) or(d count) count { return count{min(c.least, d.least), max(c.most, d.most)} }

// plus adds some draws.
func (c count) plus(least, most float64) count { return count{c.least + least, c.most + most} }

// walk follows the evaluation of a script.
type walk struct {
	*scripts
	where   func(p syntax.Position) place
	returns count // of the function
	next    count // at continue
	after   count // at break
}

// block follows statements.
func (w *walk) block(stmts []syntax.Stmt, s count) count {
	for _, stmt := range stmts {
		s = w.stmt(stmt, s)
	}
	return s
}

func (w *walk) stmt(stmt syntax.Stmt, s count) count {
	switch n := stmt.(type) {
	case *syntax.AssignStmt:
		s = w.expr(n.RHS, s)
		return w.expr(n.LHS, s)
	case *syntax.ExprStmt:
		return w.expr(n.X, s)
	case *syntax.ReturnStmt:
		if n.Result != nil {
			s = w.expr(n.Result, s)
		}
		w.returns = w.returns.or(s)
		return unreachable
	case *syntax.BranchStmt:
		switch n.Token {
		case syntax.CONTINUE:
			w.next = w.next.or(s)
		case syntax.BREAK:
			w.after = w.after.or(s)
		default:
			return s
		}
		return unreachable
	case *syntax.IfStmt:
		s = w.expr(n.Cond, s)
		return w.block(n.True, s).or(w.block(n.False, s))
	case *syntax.ForStmt:
		s = w.expr(n.X, s)
		return w.loop(n.X, s, func(s count) count { return w.block(n.Body, s) })
	}
	return s
}

// loop follows a loop over a list. With the same number of draws in each pass, the passes are paired by position; after
// the loop, the number of draws differs with the length of the list.
func (w *walk) loop(over syntax.Expr, s count, body func(s count) count) count {
	if s == unreachable {
		return s
	}
	next, after := w.next, w.after
	w.next, w.after = unreachable, unreachable
	end := body(s).or(w.next)
	left := w.after
	end = end.or(left)
	switch n, fixed := length(over); {
	case end == s || end == unreachable: // nothing draws
		end = s
	case end.least != end.most || left != unreachable:
		w.next, w.after = unreachable, unreachable
		body(count{s.least, math.Inf(1)}) // the second pass, and all further ones
		end = count{s.least, math.Inf(1)}
	case fixed:
		each := end.least - s.least
		end = s.plus(float64(n)*each, float64(n)*each)
	default:
		end = count{s.least, math.Inf(1)}
	}
	w.next, w.after = next, after
	return end
}

// length returns the length of a list that is written out, or of a range.
func length(x syntax.Expr) (n int, fixed bool) {
	switch x := x.(type) {
	case *syntax.ListExpr:
		return len(x.List), true
	case *syntax.TupleExpr:
		return len(x.List), true
	case *syntax.ParenExpr:
		return length(x.X)
	case *syntax.CallExpr:
		if f, ok := x.Fn.(*syntax.Ident); ok && f.Name == "range" && len(x.Args) == 1 {
			return whole(x.Args[0])
		}
	}
	return 0, false
}

// whole returns a whole number that is written out.
func whole(x syntax.Expr) (int, bool) {
	if l, ok := x.(*syntax.Literal); ok {
		if i, ok := l.Value.(int64); ok && i >= 0 && i < 1<<31 {
			return int(i), true
		}
	}
	return 0, false
}

// expr follows an expression.
func (w *walk) expr(x syntax.Expr, s count) count {
	switch n := x.(type) {
	case *syntax.CallExpr:
		return w.callExpr(n, s)
	case *syntax.CondExpr:
		s = w.expr(n.Cond, s)
		return w.expr(n.True, s).or(w.expr(n.False, s))
	case *syntax.BinaryExpr:
		s = w.expr(n.X, s)
		if n.Op == syntax.AND || n.Op == syntax.OR {
			return w.expr(n.Y, s).or(s)
		}
		return w.expr(n.Y, s)
	case *syntax.Comprehension:
		return w.clauses(n, n.Clauses, s)
	case *syntax.LambdaExpr: // it may be called any number of times
		return w.loop(nil, s, func(s count) count { return w.expr(n.Body, s) })
	case *syntax.Ident:
		if f := w.functions[n.Name]; f != nil { // as a value, which may be called any number of times
			return w.loop(nil, s, func(s count) count { return w.call(f, s) })
		}
		return s
	}
	for _, inner := range operands(x) {
		s = w.expr(inner, s)
	}
	return s
}

// operands returns the parts of an expression that are evaluated in order.
func operands(x syntax.Expr) []syntax.Expr {
	switch n := x.(type) {
	case *syntax.ParenExpr:
		return []syntax.Expr{n.X}
	case *syntax.UnaryExpr:
		if n.X == nil {
			return nil
		}
		return []syntax.Expr{n.X}
	case *syntax.DotExpr:
		return []syntax.Expr{n.X}
	case *syntax.IndexExpr:
		return []syntax.Expr{n.X, n.Y}
	case *syntax.SliceExpr:
		return slices.DeleteFunc([]syntax.Expr{n.X, n.Lo, n.Hi, n.Step}, func(e syntax.Expr) bool { return e == nil })
	case *syntax.ListExpr:
		return n.List
	case *syntax.TupleExpr:
		return n.List
	case *syntax.DictExpr:
		return n.List
	case *syntax.DictEntry:
		return []syntax.Expr{n.Key, n.Value}
	}
	return nil
}

// clauses follows those of a comprehension, then its body.
func (w *walk) clauses(n *syntax.Comprehension, rest []syntax.Node, s count) count {
	if len(rest) == 0 {
		return w.expr(n.Body, s)
	}
	switch clause := rest[0].(type) {
	case *syntax.ForClause:
		s = w.expr(clause.X, s)
		return w.loop(clause.X, s, func(s count) count { return w.clauses(n, rest[1:], s) })
	case *syntax.IfClause:
		s = w.expr(clause.Cond, s)
		return w.clauses(n, rest[1:], s).or(s)
	}
	return s
}

// callExpr follows a call: its arguments, then the function.
func (w *walk) callExpr(n *syntax.CallExpr, s count) count {
	name := ""
	if f, ok := n.Fn.(*syntax.Ident); ok {
		name = f.Name
	} else {
		s = w.expr(n.Fn, s)
	}
	for _, arg := range n.Args {
		if b, ok := arg.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ { // name=value
			arg = b.Y
		}
		s = w.expr(arg, s)
	}
	if f := w.functions[name]; f != nil {
		return w.call(f, s)
	}
	if !slices.Contains(drawing, name) || s == unreachable {
		return s
	}
	if s.least != s.most {
		w.shifted(w.where(n.Fn.(*syntax.Ident).NamePos), name)
	}
	least, most := drawsOf(name, n.Args)
	return s.plus(least, most)
}

// drawsOf returns how many numbers of the stream a built-in function uses.
func drawsOf(name string, args []syntax.Expr) (least, most float64) {
	switch {
	case name == "normal" || name == "lognormal":
		return 2, 2
	case name == "sample" && len(args) == 2:
		if n, fixed := whole(args[1]); fixed {
			return float64(n), float64(n)
		}
	case name == "shuffle" && len(args) == 1:
		if n, fixed := length(args[0]); fixed {
			return float64(max(n-1, 0)), float64(max(n-1, 0))
		}
	default:
		return 1, 1
	}
	return 0, math.Inf(1)
}

// call follows a function of the scenario. Functions do not call themselves in the scenario's dialect.
func (w *walk) call(f *function, s count) count {
	if f.active || s == unreachable {
		return s
	}
	f.active = true
	inner := &walk{scripts: w.scripts, where: f.where, returns: unreachable, next: unreachable, after: unreachable}
	end := inner.block(f.def.Body, s).or(inner.returns)
	f.active = false
	if cmp.Compare(end.least, end.most) > 0 { // it never returns
		return s
	}
	return end
}
