package script

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"go.starlark.net/starlark"
)

// Template is a text with ${expressions}. It is immutable and safe for concurrent use.
type Template struct {
	compiled
	parts []part
}

// part is a piece of text, or an expression.
type part struct {
	text string
	expr *Expr
}

// Template compiles a text; positions in its errors are relative to src. The error is an Errors with all of them. $${
// stands for a literal ${.
func (e *Env) Template(src string, scope Scope) (*Template, error) {
	t := &Template{compiled: compiled{env: e, src: src}}
	var errs Errors
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			t.parts = append(t.parts, part{text: text.String()})
			text.Reset()
		}
	}
	line, col, seen := 1, 1, 0
	for at := 0; ; {
		i := strings.Index(src[at:], "${")
		if i < 0 {
			text.WriteString(src[at:])
			break
		}
		if i > 0 && src[at+i-1] == '$' {
			text.WriteString(src[at : at+i-1])
			text.WriteString("${")
			at += i + 2
			continue
		}
		text.WriteString(src[at : at+i])
		open := at + i
		line, col = advance(src[seen:open], line, col)
		seen = open
		end := scan(src, open+2, '}')
		if end.problem != "" {
			l, c := advance(src[open:end.at], line, col)
			errs = append(errs, &Error{Line: l, Col: c, Problem: end.problem, Guess: suggest.Guess{Hint: end.hint}})
			break // the end of the expression is unknown
		}
		flush()
		x := &Expr{compiled: compiled{env: e, src: src[open+2 : end.at]}}
		if err := x.compile(x.src, line, col+2, scope, &t.unit); err != nil {
			errs = append(errs, err.(Errors)...) //nolint:errorlint,forcetypeassert // compile returns nothing else
		}
		t.parts = append(t.parts, part{expr: x})
		at = end.at + 1
	}
	flush()
	if len(errs) > 0 {
		return nil, errs
	}
	t.fold()
	return t, nil
}

// fold evaluates a constant template at compile time.
func (t *Template) fold() {
	if len(t.unit.names) > 0 || t.env.broken {
		return
	}
	for _, p := range t.parts {
		if p.expr != nil {
			if p.expr.fold(); p.expr.constant == nil {
				return
			}
		}
	}
	if v, err := t.Eval(nil); err == nil {
		t.constant = v
	}
}

// Eval evaluates the template. A template of exactly one expression returns its value unchanged; otherwise the result
// is a string, formatted as by Text. The result is frozen. All expressions of a template draw from one stream. Errors
// are *EvalError.
func (t *Template) Eval(c *Context) (value.Value, error) {
	if t.constant != nil {
		return t.constant, nil
	}
	m := start(c, t.env, t.unit.names)
	v, err := t.eval(m)
	m.release()
	if err != nil {
		return nil, t.env.located(err, t.origin)
	}
	return v, nil
}

// eval evaluates the template in a machine that the caller releases.
func (t *Template) eval(m *machine) (value.Value, error) {
	if len(t.parts) == 1 && t.parts[0].expr != nil {
		return t.parts[0].expr.value(m)
	}
	out := m.out[:0]
	for _, p := range t.parts {
		if p.expr == nil {
			out = append(out, p.text...)
			continue
		}
		v, err := p.expr.value(m)
		if err == nil {
			before := len(out)
			if out, err = value.AppendText(out, v); err == nil {
				err = m.Charge(len(out) - before)
			}
		}
		if err != nil {
			fr := frame{m: m}
			return nil, fr.fault(p.expr.pos, err)
		}
	}
	m.out = out
	return starlark.String(out), nil
}

// value is eval with a shortcut for constants.
func (x *Expr) value(m *machine) (value.Value, error) {
	if x.constant != nil {
		return x.constant, nil
	}
	return x.eval(m)
}

// Const returns the value of a constant template.
func (t *Template) Const() (value.Value, bool) { return t.constant, t.constant != nil }

// First returns the text in front of the first expression.
func (t *Template) First() string {
	if len(t.parts) > 0 {
		return t.parts[0].text
	}
	return ""
}

// Source returns the text of the template.
func (t *Template) Source() string { return t.src }

// Names returns the dynamic names that the template uses, in the order of their first use.
func (t *Template) Names() []string { return slices.Clone(t.unit.names) }

// Refs returns how the template uses a dynamic name.
func (t *Template) Refs(name string) Refs { return t.unit.uses(name) }

// ended is the position where scan stopped: at the closing bracket, the end or an error.
type ended struct {
	at            int
	problem, hint string
}

var closing = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// scan reads Starlark from position at, tracking strings, comments and brackets, up to the bracket that closes the
// outer one, or to the end of src if outer is 0.
func scan(src string, at int, outer byte) ended {
	type bracket struct {
		at    int
		close byte
	}
	start := at - 2
	var open []bracket
	for at < len(src) {
		switch c := src[at]; c {
		case '"', '\'':
			end, ok := scanString(src, at)
			if !ok {
				return ended{at, "a string is not closed", "a string ends on its line, with the same quote"}
			}
			at = end
			continue
		case '#':
			for at < len(src) && src[at] != '\n' && src[at] != '\r' {
				at++
			}
			continue
		case '(', '[', '{':
			open = append(open, bracket{at, closing[c]})
		case ')', ']', '}':
			if len(open) == 0 {
				if c == outer {
					return ended{at: at}
				}
				return ended{at, "unexpected " + string(c), "no bracket is open here"}
			}
			last := open[len(open)-1]
			if c != last.close {
				return ended{last.at, "this bracket is not closed", "expected " + string(last.close) + " before the " + string(c)}
			}
			open = open[:len(open)-1]
		}
		at++
	}
	switch {
	case len(open) > 0:
		return ended{open[len(open)-1].at, "this bracket is not closed", ""}
	case outer != 0:
		return ended{start, "${ is not closed", "the expression ends with }; write $${ for the characters themselves"}
	}
	return ended{at: at}
}

// scanString returns the end of the string that starts at a quote. In all kinds of strings, including raw ones, a
// quote after a backslash does not end it.
func scanString(src string, at int) (int, bool) {
	quote := src[at : at+1]
	triple := strings.HasPrefix(src[at:], strings.Repeat(quote, 3))
	if triple {
		quote = strings.Repeat(quote, 3)
	}
	for at += len(quote); at < len(src); at++ {
		switch {
		case strings.HasPrefix(src[at:], "\\\r\n"):
			at += 2
		case src[at] == '\\':
			at++
		case strings.HasPrefix(src[at:], quote):
			return at + len(quote), true
		case !triple && (src[at] == '\n' || src[at] == '\r'):
			return 0, false
		}
	}
	return 0, false
}

// advance returns the position after text, which starts at line and col. Columns count characters.
func advance(text string, line, col int) (int, int) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if n := strings.LastIndexAny(text, "\n\r"); n >= 0 {
		line += strings.Count(text, "\n") + strings.Count(text, "\r")
		col, text = 1, text[n+1:]
	}
	return line, col + utf8.RuneCountInString(text)
}
