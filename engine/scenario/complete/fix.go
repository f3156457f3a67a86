package complete

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine/suggest"
	"github.com/throng-sim/throng/engine/view"
)

// Fix is a correction of a problem: it replaces the text between two positions. Lines and columns count from 1, columns in characters.
type Fix struct {
	Title           string // of a button: Replace with http
	Line, Col       int
	EndLine, EndCol int
	Was, Text       string // the text that is replaced, and its replacement
}

// fixer finds the corrections of a problem.
type fixer struct {
	*outline
	language *Language
	problem  view.Problem
	at       int // the offset of the problem
}

// Fixes returns the corrections of each problem in a file, best first.
func (l *Language) Fixes(text string, problems ...view.Problem) [][]Fix {
	o := read(text)
	all := make([][]Fix, len(problems))
	for i, p := range problems {
		if p.Line < 1 || p.Col < 1 {
			continue
		}
		f := &fixer{outline: o, language: l, problem: p, at: offset(text, p.Line, p.Col)}
		for _, find := range []func() (Fix, bool){f.meant, f.written, f.unquote, f.missing, f.kindOf, f.remove} {
			if fix, ok := find(); ok {
				all[i] = append(all[i], fix)
			}
		}
	}
	return all
}

// edit returns the replacement of a part of the text.
func (o *outline) edit(title string, from, to int, text string) (Fix, bool) {
	f := Fix{Title: title, Was: o.text[from:to], Text: text}
	f.Line, f.Col = position(o.text, from)
	f.EndLine, f.EndCol = position(o.text, to)
	return f, f.Was != text
}

var (
	backquoted = regexp.MustCompile("`([^`]+)`")
	write      = regexp.MustCompile("^write `([^`]+)`$")
	quote      = regexp.MustCompile(`^quote it[^:]*: (.+)$`)
)

// wrong returns the part of the text that the problem is about: a text that the problem quotes or names, or the word there.
func (f *fixer) wrong() (from, to int) {
	from = f.at
	if from < len(f.text) && (f.text[from] == '"' || f.text[from] == '\'') {
		from++
	}
	for _, m := range slices.Backward(backquoted.FindAllStringSubmatch(f.problem.Text, -1)) {
		if strings.HasPrefix(f.text[from:], m[1]) {
			return from, from + len(m[1])
		}
	}
	for _, w := range slices.Backward(strings.Fields(f.problem.Text)) {
		w = strings.Trim(w, `",.:;`)
		if rest, ok := strings.CutPrefix(f.text[from:], w); ok && w != "" && identifierAt(rest) == "" {
			return from, from + len(w)
		}
	}
	return from, from + len(identifierAt(f.text[from:]))
}

// identifierAt returns the letters, digits and underscores at the start of a text.
func identifierAt(text string) string {
	return text[:len(text)-len(strings.TrimLeftFunc(text, inName))]
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// meant replaces a word by the one that was meant.
func (f *fixer) meant() (Fix, bool) {
	near := f.problem.Meant
	from, to := f.wrong()
	if near == "" || from == to || strings.HasSuffix(near, " NAME") {
		return Fix{}, false
	}
	return f.edit("Replace with "+near, from, to, near)
}

// written replaces a value by the one of the hint.
func (f *fixer) written() (Fix, bool) {
	for _, of := range []*regexp.Regexp{write, quote} {
		m := of.FindStringSubmatch(f.problem.Hint)
		if m == nil || strings.Contains(m[1], "NAME") || strings.Contains(m[1], "…") {
			continue
		}
		from, to := f.wrong()
		if n := f.valueAt(); n != nil {
			from, to = n.valFrom, n.valTo
		}
		if from < to {
			return f.edit("Write "+m[1], from, to, m[1])
		}
	}
	return Fix{}, false
}

// unquote removes the quotes of a value.
func (f *fixer) unquote() (Fix, bool) {
	n := f.valueAt()
	if n == nil || f.problem.Hint != "write it without quotes" {
		return Fix{}, false
	}
	value := unquoted(f.text[n.valFrom:n.valTo])
	return f.edit("Write "+value, n.valFrom, n.valTo, value)
}

// valueAt returns the node whose value begins at the problem; nil if there is none.
func (f *fixer) valueAt() (at *node) {
	f.root.walk(func(n *node) {
		if n.valFrom == f.at && n.valTo > n.valFrom && len(n.children) == 0 {
			at = n
		}
	})
	return at
}

// entryAt returns the innermost entry whose key or value begins at the problem; nil if there is none.
func (f *fixer) entryAt() (at *node) {
	f.root.walk(func(n *node) {
		if n.keyFrom == f.at && n.keyTo > n.keyFrom || n.valFrom == f.at && n.valTo > n.valFrom {
			at = n
		}
	})
	return at
}

// remove removes a key that is unknown, stands there twice or has no effect.
func (f *fixer) remove() (Fix, bool) {
	if !strings.HasPrefix(f.problem.Text, "unknown key ") && !strings.HasPrefix(f.problem.Text, "duplicate key ") && f.problem.Hint != "remove it" {
		return Fix{}, false
	}
	n := f.entryAt()
	if n == nil || n.item || n.key == "" {
		return Fix{}, false
	}
	from, to := n.from, n.to
	if n.flow {
		from, to = f.flowEntry(n)
	} else if start := strings.LastIndexByte(f.text[:from], '\n') + 1; strings.TrimSpace(f.text[start:from]) == "" {
		from, to = start, min(to+1, len(f.text)) // the whole line
	}
	return f.edit("Remove "+shortened(n.key), from, to, "")
}

// flowEntry returns the ends of an entry in braces, with the comma after it, or before it if it is the last.
func (f *fixer) flowEntry(n *node) (from, to int) {
	from, to = n.from, n.to
	if rest := strings.TrimLeft(f.text[to:], " "); strings.HasPrefix(rest, ",") {
		to = len(f.text) - len(strings.TrimLeft(rest[1:], " "))
	} else if before := strings.TrimRight(f.text[:from], " "); strings.HasSuffix(before, ",") {
		from = len(before) - 1
	}
	return from, to
}

// missing adds the keys that a map needs, if their values are obvious.
func (f *fixer) missing() (Fix, bool) {
	_, list, ok := strings.Cut(f.problem.Text, " needs ")
	n := f.entryAt()
	if !ok || n == nil {
		return Fix{}, false
	}
	if n.parent.item && strings.HasPrefix(f.problem.Text, "item ") {
		n = n.parent
	}
	var keys, lines []string
	for _, m := range backquoted.FindAllStringSubmatch(list, -1) {
		value, ok := f.obvious(n, m[1])
		if !ok || f.misspelled(n, m[1]) {
			return Fix{}, false
		}
		keys, lines = append(keys, m[1]), append(lines, value...)
	}
	if len(keys) == 0 {
		return Fix{}, false
	}
	return f.add(n, "Add "+strings.Join(keys, ", "), lines)
}

// misspelled reports whether a map has an unknown key that is probably meant to be another one.
func (f *fixer) misspelled(n *node, key string) bool {
	r := &reader{f.language, f.outline}
	known := r.keys(r.of(n))
	return slices.ContainsFunc(n.children, func(c *node) bool {
		return known[c.key] == nil && suggest.Nearest(c.key, []string{key}) != ""
	})
}

// kindOf adds the kind of a step, if its keys belong to one kind only.
func (f *fixer) kindOf() (Fix, bool) {
	n := f.entryAt()
	if n == nil || !strings.HasSuffix(f.problem.Text, " has no kind") {
		return Fix{}, false
	}
	var fits []string
	for _, s := range stepSnippets {
		own := false
		keys := f.language.stepKeys(s.kind)
		other := slices.ContainsFunc(n.children, func(c *node) bool {
			own = own || slices.Contains(s.keys(), c.key)
			return !slices.Contains(keys, c.key)
		})
		if own && !other {
			fits = append(fits, s.kind)
		}
	}
	if len(fits) != 1 {
		return Fix{}, false
	}
	return f.add(n, "Add kind: "+fits[0], []string{"kind: " + fits[0]})
}

// stepKeys returns the keys of a kind of step.
func (l *Language) stepKeys(kind string) (keys []string) {
	o := read("chain c:\n  step s: {kind: " + kind + "}\n")
	r := &reader{l, o}
	for key := range r.keys(r.of(o.root.children[0].children[0])) {
		keys = append(keys, key)
	}
	return keys
}

// add adds lines to a map.
func (f *fixer) add(n *node, title string, lines []string) (Fix, bool) {
	c := &cursor{place: &place{outline: f.outline, node: n}}
	for i := range lines {
		lines[i] = c.filled(lines[i], f.kind(n))
	}
	if n.braces || n.flow {
		at := n.valTo - 1
		if at < n.valFrom || f.text[at] != '}' {
			return Fix{}, false
		}
		at = len(strings.TrimRight(f.text[:at], " \n"))
		text := strings.Join(inline(lines), ", ")
		if len(n.children) > 0 {
			text = ", " + text
		}
		return f.edit(title, at, at, text)
	}
	first, at, indent := true, f.lineEnd(n.keyFrom), n.indent+len(f.unit())
	if len(n.children) > 0 {
		indent = n.children[0].indent
		first = !n.item
	}
	if k := n.get("kind"); k != nil {
		at, first = k.to, true
	}
	if !first { // the first key of an item is on the line of its dash
		at = n.children[0].to
	}
	var text strings.Builder
	for _, line := range lines {
		deep := len(line) - len(strings.TrimLeft(line, "\t"))
		text.WriteString("\n" + strings.Repeat(" ", indent) + strings.Repeat(f.unit(), deep) + line[deep:])
	}
	return f.edit(title, at, at, text.String())
}

// obvious returns the lines of a key with a value that works; ok is false if there is no obvious one.
func (f *fixer) obvious(n *node, key string) (lines []string, ok bool) {
	if s := stepSnippet(f.kind(n)); s != nil && f.step(n) == n {
		for i, line := range s.lines {
			if strings.HasPrefix(line, key+":") {
				lines = append(lines, line)
				for _, below := range s.lines[i+1:] {
					if !strings.HasPrefix(below, "\t") {
						break
					}
					lines = append(lines, below)
				}
				return lines, true
			}
		}
	}
	value := ""
	switch key {
	case "count":
		value = "10"
	case "kind":
		value = "http"
		if n.get("provider") != nil || n.get("model") != nil {
			value = "llm"
		}
	case "url":
		value = map[string]string{"http": "mock:shop", "llm": "mock:model", "mcp": "https://crm.example.com/mcp", "postgres": "secret:DATABASE_URL"}[f.kind(n)]
	case "default":
		value = "1"
		if m := f.value(n.get("min")); m != "" {
			value = m
		}
	case "service":
		value = "SERVICE"
	case "answer":
		value = "{name: string}"
	case "chain":
		value = "CHAIN"
	case "shares":
		value = "[0.1, 0.5, 1]"
	case "cycle":
		value = "1"
	case "to":
		value = "all"
	case "role":
		value = "user"
	case "content":
		value = "hello"
	case "done":
		value = "status == 200"
	case "get":
		value = "/"
	case "token":
		value = "body.access_token"
	}
	return []string{key + ": " + value}, value != ""
}
