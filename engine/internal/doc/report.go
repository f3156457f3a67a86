package doc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine/suggest"
)

// Problem is one error in a file: its place, a description, and a hint how to fix it. Line and Col count from 1, columns in
// characters; Hint may be empty.
type Problem struct {
	File      string
	Line, Col int
	Problem   string
	suggest.Guess
}

// Error returns "file:line:col: problem (hint)", without an empty file or hint.
func (p Problem) Error() string {
	text := fmt.Sprintf("%d:%d: %s", p.Line, p.Col, p.Problem)
	if p.File != "" {
		text = p.File + ":" + text
	}
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// Report collects the problems and warnings of one or more files. The zero value is empty and ready to use. It
// is not safe for concurrent use.
type Report struct {
	problems, warnings []Problem
	seen               map[Problem]bool // without hints: an error that is found twice is shown once
	sources            map[string]*source
	files              []string // in the order they were added
}

// Clone returns a report with the same content, to add further problems to.
func (r *Report) Clone() *Report {
	return &Report{slices.Clone(r.problems), slices.Clone(r.warnings), maps.Clone(r.seen), maps.Clone(r.sources), slices.Clone(r.files)}
}

// AddSource adds the text of a file, so that Print can show its lines. Parse calls it; other readers must call it
// themselves. Print shows problems in other files without an excerpt.
func (r *Report) AddSource(file string, text []byte) { r.source(file, text) }

func (r *Report) source(file string, text []byte) *source {
	s := newSource(file, text)
	if r.sources == nil {
		r.sources = make(map[string]*source)
	}
	if _, known := r.sources[file]; !known {
		r.files = append(r.files, file)
	}
	r.sources[file] = s
	return s
}

// Add adds a problem, unless it is known at this place.
func (r *Report) Add(p Problem) {
	if r.first("problem", p) {
		r.problems = append(r.problems, p)
	}
}

// Warn adds a warning: a likely error that does not make the file invalid.
func (r *Report) Warn(p Problem) {
	if r.first("warning", p) {
		r.warnings = append(r.warnings, p)
	}
}

func (r *Report) first(kind string, p Problem) bool {
	p.Guess = suggest.Guess{Hint: kind}
	if r.seen[p] {
		return false
	}
	if r.seen == nil {
		r.seen = make(map[Problem]bool)
	}
	r.seen[p] = true
	return true
}

// Problems returns the problems by file, in the order the files were added, then by position.
func (r *Report) Problems() []Problem { return r.sorted(r.problems) }

// Warnings returns the warnings in the order of Problems.
func (r *Report) Warnings() []Problem { return r.sorted(r.warnings) }

func (r *Report) sorted(list []Problem) []Problem {
	list = slices.Clone(list)
	order := func(p Problem) int {
		if i := slices.Index(r.files, p.File); i >= 0 {
			return i
		}
		return len(r.files)
	}
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return list
}

// Err joins all problems, in order, or returns nil. errors.As finds each as a Problem. Warnings do not count.
func (r *Report) Err() error {
	list := r.Problems()
	errs := make([]error, len(list))
	for i, p := range list {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Print writes every problem, then every warning, each with the line it is on, a caret under the column and the
// hint. It replaces characters that could control a terminal.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	for _, p := range r.Problems() {
		r.print(&b, "", p)
	}
	for _, p := range r.Warnings() {
		r.print(&b, "warning: ", p)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) print(b *strings.Builder, kind string, p Problem) {
	fmt.Fprintf(b, "%s:%d:%d: %s%s\n", clean(p.File), p.Line, p.Col, kind, clean(p.Problem))
	if s := r.sources[p.File]; s != nil && strings.TrimSpace(s.line(p.Line)) != "" {
		before, after := excerpt(s.line(p.Line), p.Col)
		fmt.Fprintf(b, "%5d  | %s%s\n", p.Line, before, after)
		fmt.Fprintf(b, "       | %s^\n", blanks(before))
	}
	if p.Hint != "" {
		fmt.Fprintf(b, "       = %s\n", clean(p.Hint))
	}
}

// Length of an excerpt, in characters before and after the caret.
const excerptBefore, excerptAfter = 76, 44

// excerpt splits a line at a column and shortens long lines.
func excerpt(line string, col int) (before, after string) {
	at := runeOffset(line, col-1)
	head, tail := []rune(clean(line[:at])), []rune(clean(line[at:]))
	if len(head) > excerptBefore {
		head = append([]rune("…"), head[len(head)-excerptBefore+1:]...)
	}
	if len(tail) > excerptAfter {
		tail = append(tail[:excerptAfter-1:excerptAfter-1], '…')
	}
	return string(head), string(tail)
}

// blanks returns white space with the width of text in a terminal. Tabs stay tabs.
func blanks(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteByte('\t')
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			b.WriteString("  ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// wide reports whether r takes two columns in a terminal: East Asian scripts, full-width forms and pictographs.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) ||
		r >= 0xff01 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff
}

// clean replaces control characters except tabs.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
