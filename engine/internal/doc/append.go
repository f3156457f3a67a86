package doc

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Append returns the text of a file with values added to the list of scalars at a path of keys. A single value becomes a list. A
// missing list is added if it is a key of the file itself. Every other byte stays, as with [Set].
func Append(file string, text []byte, path []string, values []any) ([]byte, error) {
	root, err := parsed(file, text)
	if err != nil {
		return nil, err
	}
	at := At(root, path...)
	e := newEdit(root)
	switch at.Kind() {
	case List:
		last := at.items[max(len(at.items)-1, 0):]
		if len(last) == 0 || last[0].Kind() != Scalar {
			return nil, errByHand
		}
		e.append(at, last[0], values)
	case Scalar:
		end := e.end(at)
		e.splice(at.start, end, "["+e.src.text[at.start:end]+following(values)+"]")
	case Absent:
		if len(path) > 1 {
			return nil, fmt.Errorf("%s has no %s", file, strings.Join(path, "."))
		}
		e.addLine(written(path[0], 0) + ": [" + strings.TrimPrefix(following(values), ", ") + "]")
	case Map, Null:
		return nil, fmt.Errorf("%s is not a list in %s", strings.Join(path, "."), file)
	}
	changed := withMark(text, e.text)
	want := append(scalars(at), values...)
	if err := unchanged(file, root, changed, path, func(now *Node) bool { return slices.Equal(scalars(now), want) }); err != nil {
		return nil, err
	}
	return changed, nil
}

// At returns the node at a path of keys; nil if there is none.
func At(n *Node, path ...string) *Node {
	for _, key := range path {
		n = n.Get(key)
	}
	return n
}

// scalars returns the values of a list of scalars, or a single one.
func scalars(n *Node) (all []any) {
	switch n.Kind() {
	case Scalar:
		return []any{n.Scalar()}
	case List:
		for _, item := range n.items {
			if item.Kind() == Scalar {
				all = append(all, item.Scalar())
			}
		}
	case Absent, Null, Map:
	}
	return all
}

// following formats values that follow others in brackets.
func following(values []any) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(", " + written(v, 0))
	}
	return b.String()
}

// append adds items after the last one.
func (e *edit) append(list, last *Node, values []any) {
	end := e.end(last)
	if list.style&yaml.FlowStyle != 0 {
		e.splice(end, end, following(values))
		return
	}
	begin := e.src.lineStart(last.start)
	dash := e.src.text[begin:last.start] // its indentation included
	var b strings.Builder
	for _, v := range values {
		b.WriteString(e.breaks + dash + written(v, 0))
	}
	after := e.src.lineEnd(end) // behind a comment
	e.splice(after, after, b.String())
}
