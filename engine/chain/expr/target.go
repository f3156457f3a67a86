package expr

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// maxTarget limits the text of a path in a file, in bytes, and maxPath the evaluated path.
const (
	maxTarget = 8 << 10
	maxPath   = 64 << 10
)

// Target is the path of a request with its query. A path that is exactly one expression is used as it is. Elsewhere
// the value of an expression is part of its surroundings: it is escaped, so that it cannot begin another segment,
// query or parameter, and a whole segment must not be empty. No result can leave the service's address
// (service.ParseTarget).
type Target struct {
	Fixed  *service.Target  // if it is constant
	whole  *script.Template // if it is one expression
	pieces []piece
}

// piece is an expression with the text before it.
type piece struct {
	before  string
	expr    *script.Expr // nil at the end
	field   string
	query   bool // it is after the ?
	segment bool // it is a whole segment
}

// Target reads a path; positions of errors are in n.
func (r *Compiler) Target(n *doc.Node) Target {
	tmpl := r.Text(n)
	if tmpl == nil {
		return Target{}
	}
	if isWhole(n.Text()) {
		n.ErrorfAt(0, "`/items/${secret:NAME}`", "a secret cannot be a path as a whole")
		return Target{}
	}
	text, _ := r.marked(n)
	if len(text) > maxTarget {
		n.Errorf("", "a path of %s, more than %d kB", engine.FormatBytes(int64(len(text))), maxTarget>>10)
		return Target{}
	}
	pieces := r.pieces(n, text)
	if len(pieces) == 2 && pieces[0].before == "" && pieces[1].before == "" && pieces[0].expr != nil {
		if _, always := tmpl.Const(); !always {
			return Target{whole: tmpl}
		}
		pieces = []piece{{before: constText(tmpl)}}
	}
	t := Target{pieces: pieces}
	for _, p := range pieces {
		if p.expr != nil {
			if _, always := p.expr.Const(); !always {
				return r.checkPieces(n, t)
			}
		}
	}
	fixed, err := t.join(nil)
	if err != nil {
		n.Errorf("", "%v", err)
		return Target{}
	}
	return Target{Fixed: &fixed}
}

// constText returns the text of a constant template, or "".
func constText(tmpl *script.Template) string {
	v, _ := tmpl.Const()
	text, err := value.Text(v)
	if err != nil {
		return ""
	}
	return text
}

// checkPieces checks the path with a harmless value for every expression.
func (r *Compiler) checkPieces(n *doc.Node, t Target) Target {
	var sample strings.Builder
	for _, p := range t.pieces {
		sample.WriteString(p.before)
		if p.expr != nil {
			sample.WriteString("x")
		}
	}
	if _, err := service.ParseTarget(sample.String()); err != nil {
		n.Errorf("", "%v", err)
	}
	return t
}

// pieces splits a compiled template.
func (r *Compiler) pieces(n *doc.Node, text string) []piece {
	all := text
	var pieces []piece
	var before strings.Builder
	query := false
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			before.WriteString(text)
			break
		}
		if i > 0 && text[i-1] == '$' {
			before.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		before.WriteString(text[:i])
		end := exprEnd(text, i+2)
		e, err := r.File.Env.Expr(text[i+2:end], r.Names)
		if err != nil {
			return nil // already reported for the whole text
		}
		e.From(origin(n, e.Source(), len(all)-len(text)+i+2))
		text = text[min(end+1, len(text)):]
		p := piece{before: before.String(), expr: e, field: "path"}
		if len(pieces) > 0 {
			p.field += "[" + strconv.Itoa(len(pieces)) + "]"
		}
		query = query || strings.Contains(p.before, "?")
		p.query = query
		p.segment = !query && strings.HasSuffix(p.before, "/") && (text == "" || text[0] == '/' || text[0] == '?')
		pieces = append(pieces, p)
		before.Reset()
	}
	return append(pieces, piece{before: before.String()})
}

// exprEnd returns the end of the expression at a byte of a template: its closing brace. The template has compiled, so
// only strings, comments and braces can hide a brace.
func exprEnd(text string, at int) int {
	for depth := 0; at < len(text); at++ {
		switch text[at] {
		case '"', '\'':
			at = textEnd(text, at)
		case '#':
			for at < len(text) && text[at] != '\n' && text[at] != '\r' {
				at++
			}
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return at
			}
			depth--
		}
	}
	return len(text)
}

// textEnd returns the last byte of the string literal at a byte.
func textEnd(text string, at int) int {
	quote := text[at : at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[at:], triple) {
		quote = triple
	}
	for at += len(quote); at < len(text); at++ {
		if text[at] == '\\' {
			at++
		} else if strings.HasPrefix(text[at:], quote) {
			return at + len(quote) - 1
		}
	}
	return len(text)
}

// Eval returns the target of one request.
func (g *Target) Eval(t Contexts) (service.Target, error) {
	switch {
	case g.Fixed != nil:
		return *g.Fixed, nil
	case g.whole != nil:
		path, err := Text(t, g.whole, "path")
		if err != nil {
			return service.Target{}, err
		}
		if len(path) > maxPath {
			return service.Target{}, longPath()
		}
		return service.ParseTarget(path)
	}
	return g.join(t)
}

func longPath() error { return engine.Fail(engine.Script, "a path of more than %d kB", maxPath>>10) }

// join concatenates the pieces; t is nil for constant ones.
func (g *Target) join(t Contexts) (service.Target, error) {
	var path strings.Builder
	for _, p := range g.pieces {
		path.WriteString(p.before)
		if p.expr == nil {
			continue
		}
		v, always := p.expr.Const()
		if !always {
			var err error
			if v, err = p.expr.Eval(t.Context(p.field)); err != nil {
				return service.Target{}, err
			}
		}
		value, err := value.Text(v)
		switch {
		case err != nil:
			return service.Target{}, err
		case value == "" && p.segment:
			return service.Target{}, engine.Fail(engine.Script, "${%s} in the path is empty", p.expr.Source())
		case p.query:
			path.WriteString(url.QueryEscape(value))
		default:
			path.WriteString(url.PathEscape(value))
		}
		if path.Len() > maxPath {
			return service.Target{}, longPath()
		}
	}
	return service.ParseTarget(path.String())
}

// Template returns the path without its query and with {} in place of its expressions; "" if it is one expression.
func (t *Target) Template() string {
	if t.Fixed != nil {
		return t.Fixed.Path()
	}
	var path strings.Builder
	for _, p := range t.pieces {
		before, _, queried := strings.Cut(p.before, "?")
		path.WriteString(before)
		if queried || p.query {
			break
		}
		if p.expr != nil {
			path.WriteString("{}")
		}
	}
	text := path.String()
	if text != "" && !strings.HasPrefix(text, "/") {
		text = "/" + text
	}
	return text
}
