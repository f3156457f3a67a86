package doc

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Set returns the text of a file with one scalar at a path of keys changed, or put in where it is missing and the map
// around it is there, or is to stand at the end of the file. Every other byte stays: comments, layout, line breaks. value is
// an int64, a float64, a bool or a string. The error says why the file must be edited by hand; nothing is changed then.
func Set(file string, text []byte, path []string, value any) ([]byte, error) {
	r := &Report{}
	root := Parse(file, text, r)
	if err := r.Err(); root == nil || err != nil {
		return nil, fmt.Errorf("%s cannot be read as it is: %w", file, err)
	}
	parent, have := root, 0
	for have < len(path)-1 && parent.Get(path[have]).Kind() == Map {
		parent = parent.Get(path[have])
		have++
	}
	e := &edit{src: root.src, breaks: "\n"}
	if end := e.src.lineEnd(0); end < len(e.src.text) {
		e.breaks = e.src.text[end : end+breakLen(e.src.text[end:])]
	}
	old := parent.Get(path[have])
	switch {
	case old != nil && have < len(path)-1, old.Kind() == Map || old.Kind() == List || old.Kind() == Null:
		return nil, fmt.Errorf("%s is no single value in %s", strings.Join(path[:have+1], "."), file)
	case old != nil:
		e.replace(old, value)
	case have == len(path)-1:
		e.insert(parent, path[have], value)
	case have == 0 && len(path) == 2:
		e.add(path, value)
	default:
		return nil, fmt.Errorf("%s has no %s", file, strings.Join(path[:have+1], "."))
	}
	changed := withMark(text, e.text)
	if err := confirm(file, root, changed, path, value); err != nil {
		return nil, err
	}
	return changed, nil
}

// mark is the byte order mark that a file may begin with.
const mark = "\ufeff"

// withMark puts the mark back if the file had one.
func withMark(was []byte, text string) []byte {
	if strings.HasPrefix(string(was), mark) {
		text = mark + text
	}
	return []byte(text)
}

// errByHand is that an edit would have changed more than it should.
var errByHand = errors.New("the place cannot be changed without changing others: edit it by hand")

// confirm reads the changed text again: it says the same everywhere but at the path, and there what was wanted.
func confirm(file string, was *Node, changed []byte, path []string, value any) error {
	r := &Report{}
	now := Parse(file, changed, r)
	if now == nil || r.Err() != nil {
		return errByHand
	}
	at := now
	for _, key := range path {
		at = at.Get(key)
	}
	if at.Kind() != Scalar || at.Scalar() != value {
		return errByHand
	}
	for _, d := range Differ(was, now, func([]string) bool { return false }) {
		if n := len(d.Path); n > len(path) || !slices.Equal(d.Path, path[:n]) {
			return errByHand
		}
	}
	for _, d := range Differ(now, was, func([]string) bool { return false }) { // what is new is no difference of the first
		if n := len(d.Path); n > len(path) || !slices.Equal(d.Path, path[:n]) {
			return errByHand
		}
	}
	return nil
}

// edit is a change of a text.
type edit struct {
	src    *source
	breaks string
	text   string // with the change
}

func (e *edit) splice(from, to int, text string) {
	e.text = e.src.text[:from] + text + e.src.text[to:]
}

// replace puts a value in the place of a scalar, in its quotes if it has some.
func (e *edit) replace(n *Node, value any) {
	end := n.at(len(n.value))
	switch {
	case n.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		e.splice(n.start, end, written(value, 0))
	case n.style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		e.splice(n.start, end+1, written(value, n.style))
	default:
		e.splice(n.start, end, written(value, 0))
	}
}

// insert puts a key before the first one of a map.
func (e *edit) insert(n *Node, key string, value any) {
	pair := written(key, 0) + ": " + written(value, 0)
	if n.style&yaml.FlowStyle != 0 {
		if len(n.entries) > 0 {
			pair += ", "
		}
		e.splice(n.start+1, n.start+1, pair)
		return
	}
	first := n.entries[0].Key.start
	indent := strings.Repeat(" ", first-e.src.lineStart(first))
	e.splice(first, first, pair+e.breaks+indent)
}

// add puts a map of one key at the end of the file.
func (e *edit) add(path []string, value any) {
	text := written(path[0], 0) + ": {" + written(path[1], 0) + ": " + written(value, 0) + "}" + e.breaks
	at := len(e.src.text)
	if e.src.lineStart(at) != at {
		text = e.breaks + strings.TrimSuffix(text, e.breaks)
	}
	e.splice(at, at, text)
}

// plain are the texts that need no quotes anywhere.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// written is a value as a file says it, in the quotes of a style if it can be.
func written(value any, style yaml.Style) string {
	switch v := value.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if whole.MatchString(text) {
			text += ".0"
		}
		return text
	case bool:
		return strconv.FormatBool(v)
	case string:
		return quoted(v, style)
	}
	return fmt.Sprint(value)
}

func quoted(text string, style yaml.Style) string {
	word := slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text))
	switch {
	case style&yaml.SingleQuotedStyle != 0 && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case style == 0 && plain.MatchString(text) && !word:
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil { // a text can be
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
