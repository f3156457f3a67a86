package script

import (
	"slices"

	"go.starlark.net/syntax"
)

// Tree returns the resolved syntax of the expression, at positions relative to the text that it is a part of. It must not be changed.
func (x *Expr) Tree() syntax.Expr { return x.tree }

// Env returns the environment of the expression.
func (x *Expr) Env() *Env { return x.env }

// Exprs returns the expressions of the template, in order.
func (t *Template) Exprs() (all []*Expr) {
	for _, p := range t.parts {
		if p.expr != nil {
			all = append(all, p.expr)
		}
	}
	return all
}

// Whole returns the expression that the template is as a whole; nil if it is a text.
func (t *Template) Whole() *Expr {
	if len(t.parts) == 1 {
		return t.parts[0].expr
	}
	return nil
}

// Builtin reports whether a name is that of a built-in function or constant, and not redefined by the functions file.
func (e *Env) Builtin(name string) bool {
	_, own := predeclared[name]
	_, universal := universe[name]
	return (own || universal) && !slices.Contains(e.globals.names, name)
}

// Def returns the syntax of a function at the top of the functions file; nil if the file has no such function. It must not be changed.
func (e *Env) Def(name string) *syntax.DefStmt { return e.defs[name] }

// definitions returns the functions at the top of a file by name. A name is defined once.
func definitions(list []syntax.Stmt) map[string]*syntax.DefStmt {
	all := map[string]*syntax.DefStmt{}
	for _, s := range list {
		if def, ok := s.(*syntax.DefStmt); ok {
			all[def.Name.Name] = def
		}
	}
	return all
}
