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

// Set returns the text of a file with one scalar changed, at a path of keys. It inserts a missing scalar if the map around
// it exists or can be added at the end of the file. Every other byte stays: comments, layout, line breaks. value is an int64,
// a float64, a bool or a string. An error explains why the file must be edited by hand.
func Set(file string, text []byte, path []string, value any) ([]byte, error) {
	root, err := parsed(file, text)
	if err != nil {
		return nil, err
	}
	parent, have := root, 0
	for have < len(path)-1 && parent.Get(path[have]).Kind() == Map {
		parent = parent.Get(path[have])
		have++
	}
	e := newEdit(root)
	old := parent.Get(path[have])
	switch {
	case old != nil && have < len(path)-1, old.Kind() == Map || old.Kind() == List || old.Kind() == Null:
		return nil, fmt.Errorf("%s is not a single value in %s", strings.Join(path[:have+1], "."), file)
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
	if err := unchanged(file, root, changed, path, func(now *Node) bool { return now.Kind() == Scalar && now.Scalar() == value }); err != nil {
		return nil, err
	}
	return changed, nil
}

// mark is the byte order mark at the start of some files.
const mark = "\ufeff"

// withMark restores the mark of a file that had one.
func withMark(was []byte, text string) []byte {
	if strings.HasPrefix(string(was), mark) {
		text = mark + text
	}
	return []byte(text)
}

// errByHand is returned if an edit would change other values too.
var errByHand = errors.New("this value cannot be changed without changing others: edit the file by hand")

// unchanged reads the changed text again, and checks that only the value at the path differs, and is the wanted one.
func unchanged(file string, was *Node, changed []byte, path []string, wanted func(*Node) bool) error {
	r := &Report{}
	now := Parse(file, changed, r)
	if now == nil || r.Err() != nil || !wanted(At(now, path...)) {
		return errByHand
	}
	differences := append(Differ(was, now, keepAll), Differ(now, was, keepAll)...) // a new key is missing in the first document
	for _, d := range differences {
		if n := min(len(d.Path), len(path)); !slices.Equal(d.Path[:n], path[:n]) {
			return errByHand
		}
	}
	return nil
}

// edit is a change to a text.
type edit struct {
	src    *source
	breaks string
	text   string // with the change
}

func newEdit(root *Node) *edit {
	e := &edit{src: root.src, breaks: "\n"}
	if end := e.src.lineEnd(0); end < len(e.src.text) {
		e.breaks = e.src.text[end : end+breakLen(e.src.text[end:])]
	}
	return e
}

func (e *edit) splice(from, to int, text string) {
	e.text = e.src.text[:from] + text + e.src.text[to:]
}

// end returns the offset behind a scalar.
func (e *edit) end(n *Node) int {
	end := n.at(len(n.value))
	if n.style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		end++
	}
	return end
}

// replace replaces a scalar, keeping the style of its quotes.
func (e *edit) replace(n *Node, value any) {
	e.splice(n.start, e.end(n), written(value, n.style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle)))
}

// insert inserts a key before the first one of a map.
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

// add appends a map of one key to the file.
func (e *edit) add(path []string, value any) {
	e.addLine(written(path[0], 0) + ": {" + written(path[1], 0) + ": " + written(value, 0) + "}")
}

// addLine appends a line to the file.
func (e *edit) addLine(text string) {
	at := len(e.src.text)
	if e.src.lineStart(at) != at {
		text = e.breaks + text
	} else {
		text += e.breaks
	}
	e.splice(at, at, text)
}

// plain matches texts that never need quotes.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// Format formats an int64, a float64, a bool or a string for a file, quoted where it must be.
func Format(value any) string { return written(value, 0) }

// written formats a value for a file, in the given style of quotes if possible.
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
	if err := enc.Encode(text); err != nil { // texts can be encoded
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
