package doc

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Put returns the text of a file with the value at a path of keys replaced, whatever its kind. value is YAML on one line. A missing key is
// added behind the last one of its map, or at the end of the file. Every other byte stays, as with [Set].
func Put(file string, text []byte, path []string, value string) ([]byte, error) {
	root, err := parsed(file, text)
	if err != nil {
		return nil, err
	}
	want := At(Parse(file, []byte("x: "+value), &Report{}), "x")
	parent, have := root, 0
	for have < len(path)-1 && parent.Get(path[have]).Kind() == Map {
		parent = parent.Get(path[have])
		have++
	}
	e := newEdit(root)
	old := parent.entry(path[have])
	switch {
	case old.Key != nil && have < len(path)-1 && old.Value.Kind() != Null:
		return nil, fmt.Errorf("%s is not a map in %s", strings.Join(path[:have+1], "."), file)
	case old.Key != nil:
		e.exchange(old, path[have+1:], value)
	case have == 0:
		e.addLine(written(path[0], 0) + ":" + e.below(path[1:], value))
	default:
		e.follow(parent, braces(path[have:], value))
	}
	changed := withMark(text, e.text)
	if err := unchanged(file, root, changed, path, func(now *Node) bool { return len(Differ(want, now, keepAll)) == 0 }); err != nil {
		return nil, err
	}
	return changed, nil
}

// Remove returns the text of a file without the key at a path of keys. A map that would be empty is removed, too. Every other byte stays.
func Remove(file string, text []byte, path []string) ([]byte, error) {
	root, err := parsed(file, text)
	if err != nil {
		return nil, err
	}
	parent := At(root, path[:len(path)-1]...)
	for len(path) > 1 && len(parent.Entries()) == 1 {
		path = path[:len(path)-1]
		parent = At(root, path[:len(path)-1]...)
	}
	name := path[len(path)-1]
	if parent.Get(name) == nil {
		return text, nil
	}
	e := newEdit(root)
	if !e.remove(parent, name) {
		return nil, errByHand
	}
	changed := withMark(text, e.text)
	if err := unchanged(file, root, changed, path, func(now *Node) bool { return now == nil }); err != nil {
		return nil, err
	}
	return changed, nil
}

// keepAll is a filter of [Differ] that skips nothing.
func keepAll([]string) bool { return false }

// parsed reads a file without mistakes.
func parsed(file string, text []byte) (*Node, error) {
	r := &Report{}
	root := Parse(file, text, r)
	if err := r.Err(); root == nil || err != nil {
		return nil, fmt.Errorf("%s is invalid: %w", file, err)
	}
	return root, nil
}

// braces formats a value below keys: a: {b: value}.
func braces(keys []string, value string) string {
	for i := len(keys) - 1; i > 0; i-- {
		value = "{" + written(keys[i], 0) + ": " + value + "}"
	}
	return written(keys[0], 0) + ": " + value
}

// below formats the value of a key of the file: on the same line, or on a line of its own for a key below it.
func (e *edit) below(keys []string, value string) string {
	if len(keys) == 0 {
		return " " + value
	}
	return e.breaks + "  " + braces(keys, value)
}

// exchange replaces a value. keys are those below a value that is empty.
func (e *edit) exchange(old Entry, keys []string, value string) {
	if len(keys) > 0 {
		value = "{" + braces(keys, value) + "}"
	}
	from, to := e.end(old.Key), e.nodeEnd(old.Value)
	colon := from + strings.IndexByte(e.src.text[from:], ':') + 1
	to = max(to, colon)
	if start := old.Value.start; start >= colon && strings.TrimSpace(e.src.text[colon:start]) != "" || oneLine(old.Value) {
		e.splice(start, to, value) // keeps the spaces or the comment before it
		return
	}
	e.splice(colon, to, " "+value)
}

// oneLine reports whether a value is on the line of its key and is not empty.
func oneLine(n *Node) bool {
	switch n.kind {
	case Scalar:
		return n.style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0
	case List, Map:
		return n.style&yaml.FlowStyle != 0
	case Absent, Null:
	}
	return n.kind == Null && n.value != ""
}

// follow adds a pair behind the last one of a map.
func (e *edit) follow(n *Node, pair string) {
	if n.style&yaml.FlowStyle == 0 {
		first, last := n.entries[0].Key.start, n.entries[len(n.entries)-1]
		indent := strings.Repeat(" ", first-e.src.lineStart(first))
		after := e.src.lineEnd(e.entryEnd(last))
		e.splice(after, after, e.breaks+indent+pair)
		return
	}
	at := n.start + 1
	if len(n.entries) > 0 {
		at, pair = e.entryEnd(n.entries[len(n.entries)-1]), ", "+pair
	}
	e.splice(at, at, pair)
}

// remove removes a key of a map with its lines. It returns false if something else is on the line.
func (e *edit) remove(n *Node, name string) bool {
	i := 0
	for n.entries[i].Key.value != name {
		i++
	}
	from, to := n.entries[i].Key.start, e.entryEnd(n.entries[i])
	switch {
	case n.style&yaml.FlowStyle == 0:
		begin := e.src.lineStart(from)
		if strings.TrimSpace(e.src.text[begin:from]) != "" {
			return false
		}
		from, to = begin, e.src.lineEnd(to)
		to += breakLen(e.src.text[to:])
	case i+1 < len(n.entries):
		to = n.entries[i+1].Key.start
	case i > 0:
		from = e.entryEnd(n.entries[i-1])
	}
	e.splice(from, to, "")
	return true
}

// entryEnd returns the offset behind a key and its value.
func (e *edit) entryEnd(of Entry) int {
	colon := e.end(of.Key)
	colon += strings.IndexByte(e.src.text[colon:], ':') + 1
	return max(e.nodeEnd(of.Value), colon)
}

// nodeEnd returns the offset behind a value.
func (e *edit) nodeEnd(n *Node) int {
	end := n.start
	switch n.kind {
	case Scalar:
		return e.end(n)
	case Null:
		return n.start + len(n.value)
	case List:
		if len(n.items) > 0 {
			end = e.nodeEnd(n.items[len(n.items)-1])
		}
	case Map:
		if len(n.entries) > 0 {
			end = e.entryEnd(n.entries[len(n.entries)-1])
		}
	case Absent:
	}
	if n.style&yaml.FlowStyle != 0 {
		return e.closing(max(end, n.start+1))
	}
	return end
}

// closing returns the offset behind the bracket that closes a list or map, from behind its last value.
func (e *edit) closing(at int) int {
	for ; at < len(e.src.text); at++ {
		switch e.src.text[at] {
		case ']', '}':
			return at + 1
		case '#':
			at = e.src.lineEnd(at)
		}
	}
	return at
}
