package doc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/throng-sim/throng/engine/suggest"
)

// Kind is the kind of a node.
type Kind int

// The kinds of a node.
const (
	Absent Kind = iota // a nil *Node: the key is missing
	Null               // a key without a value, or null
	Scalar             // text, a number, true or false
	List
	Map
)

// Node is a value of a document with its position. A nil *Node is an absent value: every method works on it, the readers
// return zero values and report nothing.
type Node struct {
	src     *source
	report  *Report
	kind    Kind
	value   string // of a scalar, unquoted
	style   yaml.Style
	typed   bool // a plain scalar, which may be a number, true or false
	start   int  // byte offset of the first character
	key     *Node
	of      *Node // the list that this is an item of
	index   int   // in that list, from 0
	broken  bool  // its error has been reported: readers report nothing more
	entries []Entry
	items   []*Node
}

// Entry is one key of a map and its value. Entries never returns nil for either.
type Entry struct{ Key, Value *Node }

// Split splits the key of a block, such as "step browse", into its word and its name; the name of "timeout" is "".
func (e Entry) Split() (word, name string) {
	word, name, _ = strings.Cut(e.Key.raw(), " ")
	return word, strings.TrimSpace(name)
}

// NameErrorf reports a problem at the name in the key of a block: at "browse" in "step browse".
func (e Entry) NameErrorf(hint, format string, args ...any) {
	_, name := e.Split()
	e.Key.ErrorfAt(len(e.Key.raw())-len(name), hint, format, args...)
}

// Kind returns the kind of the node.
func (n *Node) Kind() Kind {
	if n == nil {
		return Absent
	}
	return n.kind
}

// Position returns the line and column of the node, from 1. A map or list written as a block has the position of
// its key. The position of an absent node is 0, 0.
func (n *Node) Position() (line, col int) {
	if n == nil {
		return 0, 0
	}
	return n.src.position(n.place())
}

// File returns the name of the file that the node is in.
func (n *Node) File() string {
	if n == nil {
		return ""
	}
	return n.src.file
}

func (n *Node) place() int {
	if n.key != nil && (n.kind == Map || n.kind == List) && n.style&yaml.FlowStyle == 0 {
		return n.key.start
	}
	return n.start
}

// Errorf reports a problem at the node. The hint tells how to fix it and may be empty.
func (n *Node) Errorf(hint, format string, args ...any) {
	if n != nil {
		n.report.Add(n.problem(n.place(), hint, format, args...))
	}
}

// Warnf reports a warning at the node.
func (n *Node) Warnf(hint, format string, args ...any) {
	if n != nil {
		n.report.Warn(n.problem(n.place(), hint, format, args...))
	}
}

// ErrorfAt reports a problem at a byte offset in the text of a scalar, as Text returns it: inside an expression
// that starts at byte b of the text, it is b plus Offset of where the expression's parser stopped. The place in
// the file is exact for any quotes, escapes, folding and indentation.
func (n *Node) ErrorfAt(offset int, hint, format string, args ...any) {
	if n != nil {
		n.report.Add(n.problem(n.at(offset), hint, format, args...))
	}
}

// WarnfAt reports a warning at a byte offset in the text of a scalar.
func (n *Node) WarnfAt(offset int, hint, format string, args ...any) {
	if n != nil {
		n.report.Warn(n.problem(n.at(offset), hint, format, args...))
	}
}

// PositionAt returns the line and column of a byte offset in the text of a scalar.
func (n *Node) PositionAt(offset int) (line, col int) {
	if n == nil {
		return 0, 0
	}
	return n.src.position(n.at(offset))
}

func (n *Node) problem(at int, hint, format string, args ...any) Problem {
	line, col := n.src.position(at)
	return Problem{File: n.src.file, Line: line, Col: col, Problem: fmt.Sprintf(format, args...), Guess: suggest.Guess{Hint: hint}}
}

// Misspelled is a node with a name that is not known, and what was probably meant.
type Misspelled struct {
	node  *Node
	guess suggest.Guess
}

// Guess returns the node for problems with a name.
func (n *Node) Guess(g suggest.Guess) Misspelled { return Misspelled{n, g} }

// Errorf reports a problem at the node.
func (m Misspelled) Errorf(format string, args ...any) {
	if m.node != nil {
		m.node.report.Add(m.problem(m.node.place(), format, args...))
	}
}

// ErrorfAt reports a problem at a byte offset in the text of a scalar.
func (m Misspelled) ErrorfAt(offset int, format string, args ...any) {
	if m.node != nil {
		m.node.report.Add(m.problem(m.node.at(offset), format, args...))
	}
}

// Warnf reports a warning at the node.
func (m Misspelled) Warnf(format string, args ...any) {
	if m.node != nil {
		m.node.report.Warn(m.problem(m.node.place(), format, args...))
	}
}

func (m Misspelled) problem(at int, format string, args ...any) Problem {
	p := m.node.problem(at, "", format, args...)
	p.Guess = m.guess
	return p
}

// Entries returns the keys of a map in the order of the file, each key once. Absent and null are an empty map;
// anything else is reported.
func (n *Node) Entries() []Entry {
	switch n.Kind() {
	case Map:
		return n.entries
	case Absent, Null:
	case Scalar, List:
		wanted{n, "a map of keys"}.mismatch()
	}
	return nil
}

// Get returns the value of a key, nil if the node is not a map or lacks the key.
func (n *Node) Get(name string) *Node { return n.entry(name).Value }

func (n *Node) entry(name string) Entry {
	if n != nil {
		for _, e := range n.entries {
			if e.Key.value == name {
				return e
			}
		}
	}
	return Entry{}
}

// Only returns the entry whose key is among names, which exclude each other. It reports a second one. The entry is zero if
// there is none.
func (n *Node) Only(names ...string) Entry {
	if n == nil {
		return Entry{}
	}
	var first Entry
	for _, e := range n.entries {
		switch {
		case !slices.Contains(names, e.Key.value):
		case first.Key == nil:
			first = e
		default:
			e.Key.Errorf("only one of "+codes(names)+" can be given", "%s cannot be combined with %s", code(e.Key.value), code(first.Key.value))
		}
	}
	return first
}

// Fields reports every key that is not among allowed, with the nearest one that is. An allowed key with a space,
// such as "step NAME", stands for the blocks of its word. It reports a node that is not a map, as Entries does.
func (n *Node) Fields(allowed ...string) {
	for _, e := range n.Entries() {
		if !e.Key.broken && !slices.Contains(allowed, e.Key.value) {
			e.unknown(allowed)
		}
	}
}

func (e Entry) unknown(allowed []string) {
	word, name := e.Split()
	words := make([]string, len(allowed)) // the first word of each, which identifies a block
	for i, a := range allowed {
		var block bool
		words[i], _, block = strings.Cut(a, " ")
		switch {
		case !block || words[i] != word:
		case name == "":
			e.Key.Errorf("write "+code(a), "%s has no name", code(word))
			return
		default:
			return
		}
	}
	hint := "allowed here: " + strings.Join(allowed, ", ")
	if len(allowed) == 0 {
		hint = "no key is allowed here"
	}
	g := suggest.NewGuess(e.Key.value, allowed, hint).And(hint)
	if near := suggest.Nearest(word, words); near != "" && name != "" && slices.Contains(allowed, near+" NAME") {
		g = suggest.Guess{Meant: near + " " + name, Hint: "did you mean " + code(near+" "+name) + "? " + hint}
	}
	e.Key.Guess(g).Errorf("unknown key %s", code(e.Key.value))
}

// Require reports the missing keys of a map, at the map.
func (n *Node) Require(names ...string) {
	if n == nil || n.broken || n.kind != Map && n.kind != Null {
		return
	}
	var missing []string
	for _, name := range names {
		if n.Get(name) == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		n.Errorf("", "%s needs %s", n.label(), codes(missing))
	}
}

// List returns the items of a list. Absent and null are an empty list; anything else is reported.
func (n *Node) List() []*Node {
	switch n.Kind() {
	case List:
		return n.items
	case Absent, Null:
	case Scalar, Map:
		wanted{n, "a list"}.mismatch()
	}
	return nil
}

// label names the node in a sentence: its key in backticks, or its number in a list.
func (n *Node) label() string {
	switch {
	case n.key != nil:
		return code(n.key.value)
	case n.of != nil && n.of.key != nil:
		return "item " + strconv.Itoa(n.index+1) + " of " + code(n.of.key.value)
	case n.of != nil:
		return "item " + strconv.Itoa(n.index+1)
	}
	return "the file"
}

func (n *Node) raw() string {
	if n == nil {
		return ""
	}
	return n.value
}

// code formats a text for a message: in backticks, shortened, on one line.
func code(text string) string {
	const longest = 60
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest-1]) + "…"
	}
	if strings.Contains(text, "`") {
		return "'" + text + "'"
	}
	return "`" + text + "`"
}

// codes lists texts in backticks: `a`, `b` and `c`.
func codes(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		switch {
		case i == 0:
		case i == len(texts)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(code(text))
	}
	return b.String()
}

// quote formats a text as a quoted YAML value, for hints.
func quote(text string) string {
	switch {
	case !strings.Contains(text, "'"):
		return "'" + text + "'"
	case !strings.ContainsAny(text, `"\`):
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
