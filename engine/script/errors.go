package script

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// What ends an evaluation from outside the script's own logic; test with errors.Is.
var (
	// ErrTooLong says that an evaluation used up its steps.
	ErrTooLong = errors.New("the script runs too long")
	// ErrTooBig says that a value, or all that an evaluation built, is larger than allowed.
	ErrTooBig = errors.New("the script builds too much data")
	// ErrStopped says that the evaluation's Done channel was closed.
	ErrStopped = errors.New("the script was stopped")
)

// Error is a mistake in a source. Line and Col count from 1, Col in characters; for expressions and templates they are
// relative to the text that was compiled. Hint says what would be right, and may be empty.
type Error struct {
	File      string
	Line, Col int
	Problem   string
	Hint      string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Problem)
	if e.File != "" {
		text = e.File + ":" + text
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Errors are all the mistakes of a source, ordered by position.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single errors.
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

// EvalError is what went wrong in an evaluation, and where.
type EvalError struct {
	Problem string
	Hint    string
	Trace   []Frame // innermost first, never empty
	cause   error
	located bool // its places are those of files
}

// Frame is a place in a script. For expressions Func is "expression", and File is empty where they have no origin.
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

// Error is the problem with the place where it happened. The places that led there are in Backtrace.
func (e *EvalError) Error() string {
	text := e.Trace[0].String() + ": " + e.Problem
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Backtrace is the problem, and below it the places that led to it, innermost first, one a line.
func (e *EvalError) Backtrace() string {
	var b strings.Builder
	b.WriteString(e.Error())
	for _, f := range e.Trace {
		fmt.Fprintf(&b, "\n  %s: in %s", f, f.Func)
	}
	return b.String()
}

// Unwrap returns the cause: ErrTooLong, ErrTooBig, ErrStopped, or what a Fields or Names returned.
func (e *EvalError) Unwrap() error { return e.cause }

// problem is an error with a hint, before it is known where it happened.
type problem struct{ text, hint string }

func (p *problem) Error() string {
	if p.hint == "" {
		return p.text
	}
	return p.text + " (" + p.hint + ")"
}

// limitError is one of the limits with the particulars.
type limitError struct {
	kind error
	text string
}

func (e *limitError) Error() string { return e.text }
func (e *limitError) Unwrap() error { return e.kind }

// tooBig is an ErrTooBig with the particulars.
func tooBig(format string, args ...any) error {
	return &limitError{ErrTooBig, fmt.Sprintf(format, args...)}
}

// text is a source, and the position where it starts in what its author wrote.
type text struct {
	file, src string
	line, col int
}

// sourceErrors translates what the parser and the resolver report. known are the names that could have been meant.
func (t text) sourceErrors(err error, known []string, explain func(name string) string) Errors {
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

// one is an error at the start of the text.
func (t text) one(problem, hint string) Errors {
	return Errors{{File: t.file, Line: t.line, Col: t.col, Problem: problem, Hint: hint}}
}

// place is an error at a position of the parser.
func place(pos syntax.Position, problem, hint string) *Error {
	return &Error{File: pos.Filename(), Line: int(pos.Line), Col: int(pos.Col), Problem: problem, Hint: hint}
}

// longNumber reports a number of so many digits that reading it would take the parser seconds.
func (t text) longNumber() Errors {
	digits := 0
	for i := range len(t.src) {
		if c := t.src[i]; c < '0' || c > '9' {
			digits = 0
			continue
		}
		if digits++; digits > maxDigits {
			line, col := advance(t.src[:i-maxDigits], t.line, t.col)
			return Errors{{File: t.file, Line: line, Col: col, Problem: fmt.Sprintf("more than %d digits", maxDigits)}}
		}
	}
	return nil
}

// syntaxHints are for what people bring along from other languages.
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

// syntaxError words an error of the parser, and adds what people of other languages should write.
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

// rewind moves an error from the end of the token that it is about, where the parser reports it, to its start.
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

// resolveError words an error of the resolver.
func resolveError(e resolve.Error, known []string, explain func(string) string) *Error {
	if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok {
		name, _, _ = strings.Cut(name, " ")
		hint := explain(name)
		if near := nearest(name, known); hint == "" && near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return place(e.Pos, "undefined: "+name, hint)
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

// foreign are names that other languages have for what Starlark calls otherwise.
var foreign = map[string]string{
	"true": "write True", "false": "write False", "null": "write None", "nil": "write None", "none": "write None",
	"undefined": "write None", "sum": "add up in a loop", "random": "use chance, uniform, pick, sample or shuffle",
	"datetime": "use now", "time": "use now", "pow": "use math.pow(x, y)", "isinstance": "write type(x) == \"list\"",
}

// nearest returns the candidate with the smallest edit distance to name, ignoring case and underscores, or "" if too
// much would have to change: nothing in a name of two letters, one letter in five, two in nine, three in more.
func nearest(name string, candidates []string) string {
	x := fold(name)
	best, bestDistance := "", 4
	switch {
	case len(x) <= 2:
		bestDistance = 1
	case len(x) <= 5:
		bestDistance = 2
	case len(x) <= 9:
		bestDistance = 3
	}
	for _, c := range candidates {
		if d := distance(x, fold(c), bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// fold is a name without case and underscores.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// distance is the edit distance of Damerau and Levenshtein (adjacent letters swapped count once), or limit if it is
// not below.
func distance(x, y string, limit int) int {
	if d := len(x) - len(y); d >= limit || -d >= limit || len(x) > 64 {
		return limit
	}
	older, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(x) {
		row[0] = i + 1
		for j := range len(y) {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(prev[j]+cost, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, prev, row = prev, row, older
	}
	return prev[len(y)]
}
