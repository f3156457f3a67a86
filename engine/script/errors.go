package script

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// Error is one error in a source. Line and Col count from 1, Col in characters; for expressions and templates they are
// relative to the compiled text. Hint suggests a correction, and may be empty.
type Error = doc.Problem

// Errors are all errors of a source, ordered by position.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the individual errors.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, x := range e {
		list[i] = x
	}
	return list
}

// sorted orders the errors by position.
func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return e
}

// EvalError is an error during an evaluation, with its position.
type EvalError struct {
	Problem string
	Hint    string
	Trace   []Frame // innermost first, never empty
	cause   error
	located bool
}

// Frame is a position in a script. For expressions Func is "expression", and File is empty without an origin.
type Frame struct {
	Func, File string
	Line, Col  int
}

func (f Frame) String() string {
	if f.File == "" {
		return fmt.Sprintf("%d:%d", f.Line, f.Col)
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Col)
}

// Error returns the problem and its position. Trace has the callers too.
func (e *EvalError) Error() string {
	text := e.Trace[0].String() + ": " + e.Problem
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Located reports whether the error has left its evaluation, so that its positions are those of the author's files. An
// outer evaluation wraps it and adds no position; see [value.LookupError].
func (e *EvalError) Located() bool { return e.located }

// Unwrap returns the cause: [meter.ErrTooLong], [meter.ErrTooBig], [meter.ErrStopped], or an error from a
// [value.Fields] or [Names].
func (e *EvalError) Unwrap() error { return e.cause }

// text is a source with its start position in the author's file.
type text struct {
	file, src string
	line, col int
}

// sourceErrors translates the errors of the parser and the resolver. known are candidates for suggestions.
func (t text) sourceErrors(err error, known []string, explain func(name string) suggest.Guess) Errors {
	var syn syntax.Error
	var list resolve.ErrorList
	switch {
	case errors.As(err, &syn):
		return Errors{t.syntaxError(syn)}
	case errors.As(err, &list):
		var out Errors
		for _, e := range list {
			out = append(out, resolveError(e, known, explain))
		}
		return out.sorted()
	}
	return t.one(err.Error(), "")
}

// one returns an error at the start of the text.
func (t text) one(problem, hint string) Errors {
	return Errors{{File: t.file, Line: t.line, Col: t.col, Problem: problem, Guess: suggest.Guess{Hint: hint}}}
}

// place returns an error at a position of the parser.
func place(pos syntax.Position, problem, hint string) *Error {
	return &Error{File: pos.Filename(), Line: int(pos.Line), Col: int(pos.Col), Problem: problem, Guess: suggest.Guess{Hint: hint}}
}

// longNumber reports a number with so many digits that the parser would take seconds to read it.
func (t text) longNumber() Errors {
	digits := 0
	for i := range len(t.src) {
		if c := t.src[i]; c < '0' || c > '9' {
			digits = 0
			continue
		}
		if digits++; digits > value.MaxDigits {
			line, col := advance(t.src[:i-value.MaxDigits], t.line, t.col)
			return Errors{{File: t.file, Line: line, Col: col, Problem: fmt.Sprintf("more than %d digits", value.MaxDigits)}}
		}
	}
	return nil
}

// syntaxHints are for habits from other languages.
var syntaxHints = []struct{ fragment, hint string }{
	{"got '&', want primary expression", "write: and"},
	{"got '|', want primary expression", "write: or"},
	{"unexpected input character '!'", "write: not x, or x != y"},
	{"unexpected input character '?'", "write: x if condition else y"},
	{"unexpected input character '$'", "inside ${ } names stand without $"},
	{"unexpected input character '`'", "quote texts with \" or '"},
	{"got '=', want ')'", "== compares"},
	{"got '=', want '}'", "== compares; a dict is {\"name\": value}"},
	{"unexpected newline in string", "the closing quote is missing"},
	{"unexpected EOF in string", "the closing quote is missing"},
	{"got '**'", "powers are math.pow(x, y)"},
	{"got is,", "== compares"},
	{"got import", "there are no imports; json and math are there already"},
	{"got class", "there are no classes; use a dict"},
	{"got try", "there are no exceptions; use get(x, \"name\", default)"},
	{"got del", "use x.pop(key)"},
}

// syntaxError rewords an error of the parser and adds a hint for users of other languages.
func (t text) syntaxError(e syntax.Error) *Error {
	out := place(e.Pos, e.Msg, "")
	for _, h := range syntaxHints {
		if strings.Contains(e.Msg, h.fragment) {
			out.Hint = h.hint
			break
		}
	}
	if got, ok := strings.CutPrefix(e.Msg, "got "); ok {
		token, want, _ := strings.Cut(got, ", want ")
		t.rewind(out, token)
		out.Problem = "unexpected " + token
		if want != "" {
			out.Problem += ", want " + want
		}
	}
	return out
}

// rewind moves an error from the end of its token, where the parser reports it, to the start.
func (t text) rewind(e *Error, token string) {
	lines := strings.Split(strings.ReplaceAll(t.src, "\r\n", "\n"), "\n")
	first := func(line int) int {
		if line == t.line {
			return t.col
		}
		return 1
	}
	if token == "newline" && e.Col == 1 && e.Line-1 >= t.line && e.Line-1-t.line < len(lines) {
		e.Line--
		e.Col = first(e.Line) + utf8.RuneCountInString(lines[e.Line-t.line])
		return
	}
	if e.Line < t.line || e.Line-t.line >= len(lines) {
		return
	}
	runes := []rune(lines[e.Line-t.line])
	end := e.Col - first(e.Line)
	if end < 1 || end > len(runes) {
		return
	}
	start := end
	switch {
	case strings.HasPrefix(token, "'"):
		start -= utf8.RuneCountInString(token) - len("''")
	case token == "string literal":
		for start--; start > 0 && runes[start-1] != runes[end-1]; start-- {
		}
		start--
	case token != "newline" && token != "indent" && token != "outdent" && token != "end of file":
		for start > 0 && (runes[start-1] == '_' || runes[start-1] == '.' || unicode.IsLetter(runes[start-1]) ||
			unicode.IsDigit(runes[start-1])) {
			start--
		}
	}
	e.Col -= end - max(start, 0)
}

// resolveError rewords an error of the resolver.
func resolveError(e resolve.Error, known []string, explain func(string) suggest.Guess) *Error {
	if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok {
		name, _, _ = strings.Cut(name, " ")
		g := explain(name)
		if g.Hint == "" {
			g = suggest.Guess{Meant: suggest.Nearest(name, known), Hint: suggest.Hint(name, known)}
		}
		at := place(e.Pos, "undefined: "+name, "")
		at.Guess = g
		return at
	}
	switch {
	case strings.HasSuffix(e.Msg, "support while loops"):
		return place(e.Pos, "there are no while loops", "write: for _ in range(n), and leave it with break")
	case strings.HasPrefix(e.Msg, "cannot reassign global"):
		before, _, _ := strings.Cut(e.Msg, " declared at ")
		return place(e.Pos, before, "a name at the top of the file is defined once")
	}
	return place(e.Pos, e.Msg, "")
}

// foreign maps names from other languages to their Starlark equivalents.
var foreign = map[string]string{
	"true": "write True", "false": "write False", "null": "write None", "nil": "write None", "none": "write None",
	"undefined": "write None", "sum": "add up in a loop", "random": "use chance, uniform, pick, sample or shuffle",
	"datetime": "use now", "time": "use now", "pow": "use math.pow(x, y)", "isinstance": "write type(x) == \"list\"",
}
