package expr

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/suggest"
)

// nameForm has no length, nor have the other forms: a pattern that counts to a hundred delays each start of the program.
var nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// NameHint describes the names that [IsName] accepts.
const NameHint = "letters, digits and _, not beginning with a digit, and no word of Python"

// IsName reports whether a step, parameter or attribute may have this name: a valid identifier in expressions.
func IsName(name string) bool {
	if len(name) > 100 || !nameForm.MatchString(name) {
		return false
	}
	e, err := new(syntax.FileOptions).ParseExpr("", name, 0)
	_, ok := e.(*syntax.Ident)
	return err == nil && ok
}

// CheckName reports an invalid name; what says whose name it is.
func CheckName(n *doc.Node, name, what string) {
	if name != "" && !IsName(name) {
		n.Errorf(NameHint, "%q cannot be the name of %s", name, what)
	}
}

// Expression compiles a scalar that is one whole expression. It returns nil for an absent node or an error.
func (r *Compiler) Expression(n *doc.Node) *script.Expr {
	if n == nil {
		return nil
	}
	text := n.Text()
	if isWhole(text) {
		reportSecret(n, 0)
		return nil
	}
	switch b, _ := n.Scalar().(bool); {
	case text == "true" && b:
		text = "True" // as YAML writes it
	case text == "false" && n.Scalar() == false:
		text = "False"
	}
	switch trimmed := strings.TrimSpace(text); {
	case text == "" && n.Kind() != doc.Scalar:
		return nil // reported
	case strings.HasPrefix(trimmed, "${") && strings.HasSuffix(trimmed, "}"):
		n.Errorf("write it without ${ }", "the whole value is an expression here")
		return nil
	}
	e, err := r.File.Env.Expr(text, r.Names)
	if at := cookieCall.FindStringIndex(text); at != nil && err != nil && !r.definesCookie() {
		n.ErrorfAt(at[0], "a value that an http step sends, such as `X-CSRF-Token: ${cookie(\"csrftoken\")}`", "expressions cannot use cookies: they are secrets, and known only when a request is sent")
		return nil
	}
	ReportScript(n, text, err)
	if err != nil {
		return nil
	}
	e.From(origin(n, text, 0))
	ok := r.check(n, text, e.Refs, e)
	if strings.Contains(text, "params") {
		if probe, err := r.File.Env.Expr(text, append([]string{"params"}, r.Names...)); err == nil {
			ok = r.checkFields(n, text, "params", probe.Refs) && ok
		}
	}
	if !ok {
		return nil
	}
	return e
}

// Text compiles a scalar that is text with expressions. It returns nil for an absent node or an error.
func (r *Compiler) Text(n *doc.Node) *script.Template {
	if n == nil || n.Kind() != doc.Scalar {
		n.Text() // reports the error
		return nil
	}
	sent, text := r.marked(n)
	t, err := r.File.Env.Template(text, r.Names)
	ReportScript(n, text, err)
	if err != nil {
		return nil
	}
	t.From(origin(n, text, 0))
	ok := r.check(n, text, t.Refs, t.Exprs()...)
	if strings.Contains(text, "params") {
		if probe, err := r.File.Env.Template(text, append([]string{"params"}, r.Names...)); err == nil {
			ok = r.checkFields(n, text, "params", probe.Refs) && ok
		}
	}
	if !ok {
		return nil
	}
	if sent != text {
		if t, err = r.File.Env.Template(sent, r.Names); err != nil {
			n.Errorf("", "%v", err)
			return nil
		}
		t.From(origin(n, sent, 0))
	}
	return t
}

// origin returns the file position of a text that begins at a byte offset of a scalar's text.
func origin(n *doc.Node, text string, begin int) script.Origin {
	return func(line, col int) (file string, fileLine, fileCol int) {
		fileLine, fileCol = n.PositionAt(begin + doc.Offset(text, line, col))
		return n.File(), fileLine, fileCol
	}
}

// Origin returns the file position of a scalar's text.
func Origin(n *doc.Node) script.Origin { return origin(n, n.Text(), 0) }

// check reports steps that an expression uses but cannot see, and fields that do not exist.
func (r *Compiler) check(n *doc.Node, text string, refs func(string) script.Refs, all ...*script.Expr) (ok bool) {
	ok = true
	for _, f := range refs("steps").Fields {
		if !r.Steps.Has(f.Name) {
			problem, g := r.Steps.Unseen(f.Name)
			n.Guess(g).ErrorfAt(doc.Offset(text, f.Line, f.Col), "%s", problem)
			ok = false
		}
		r.Steps.Use(f.Name)
	}
	r.checkLater(n, text, all)
	r.warnIdentity(n, refs)
	warnUnresolved(n, text)
	r.warnShadowed(n, text)
	for name := range r.File.Fields {
		if name != "params" {
			ok = r.checkFields(n, text, name, refs) && ok
		}
	}
	return ok
}

func (r *Compiler) checkFields(n *doc.Node, text, name string, refs func(string) script.Refs) (ok bool) {
	known, isKnown := r.File.Fields[name]
	if !isKnown {
		return true
	}
	ok = true
	for _, f := range refs(name).Fields {
		if slices.Contains(known, f.Name) {
			continue
		}
		ok = false
		g := suggest.Guess{Hint: "values that change between cycles cannot be used here"}
		if name != "agent" || !slices.Contains([]string{"memory", "notes", "inbox"}, f.Name) {
			g = r.File.Near(f.Name, slices.Clone(known), "")
		}
		n.Guess(g).ErrorfAt(doc.Offset(text, f.Line, f.Col), "%s has no %s here", name, f.Name)
	}
	return ok
}

// ReportScript reports the compiler's errors in the text of a scalar, at their file positions.
func ReportScript(n *doc.Node, text string, err error) {
	var mistakes script.Errors
	switch {
	case err == nil:
	case errors.As(err, &mistakes):
		for _, m := range mistakes {
			n.Guess(m.Guess).ErrorfAt(doc.Offset(text, m.Line, m.Col), "%s", m.Problem)
		}
	default:
		n.Errorf("", "%v", err)
	}
}
