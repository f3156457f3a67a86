package doc

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/suggest"
)

// Text returns a scalar as text, with numbers as written. It reports anything else.
func (n *Node) Text() string {
	if !(wanted{n, "text"}).scalar() {
		return ""
	}
	return n.value
}

// Texts returns a list of texts; a single text is a list of one.
func (n *Node) Texts() []string {
	if n.Kind() == Scalar {
		return []string{n.value}
	}
	items := n.List()
	texts := make([]string, 0, len(items))
	for _, item := range items {
		if (wanted{item, "text"}).scalar() {
			texts = append(texts, item.value)
		}
	}
	return texts
}

// OneOf returns a scalar that is one of values. For others it returns "" and reports the nearest value.
func (n *Node) OneOf(values ...string) string {
	if !(wanted{n, "one of " + strings.Join(values, ", ")}).scalar() {
		return ""
	}
	for _, v := range values {
		if n.value == v {
			return v
		}
	}
	hint := "one of " + strings.Join(values, ", ")
	n.Guess(suggest.NewGuess(n.value, values, hint).And(hint)).Errorf("%s cannot be %s", n.label(), code(n.value))
	return ""
}

// whole and fraction match numbers. A leading zero makes a text, as in a postal code; so do underscores, bases other than
// ten, infinity and NaN.
var (
	whole    = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	fraction = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)

// Scalar returns the value of a scalar: an int64, a float64, a bool or a string; quoted scalars are strings. It returns nil
// for null and absent nodes, and reports lists, maps and numbers out of range.
func (n *Node) Scalar() any {
	if n.Kind() == Null || !(wanted{n, "a single value"}).scalar() {
		return nil
	}
	switch {
	case !n.typed:
		return n.value
	case n.value == "true" || n.value == "false":
		return n.value == "true"
	case whole.MatchString(n.value):
		i, err := strconv.ParseInt(n.value, 10, 64)
		if err != nil {
			n.Errorf("quote it to keep it as text: "+quote(n.value), "the number %s is too large", code(n.value))
		}
		return i
	case fraction.MatchString(n.value):
		f, err := strconv.ParseFloat(n.value, 64)
		if err != nil {
			n.Errorf("quote it to keep it as text: "+quote(n.value), "the number %s is too large", code(n.value))
		}
		return f
	}
	return n.value
}

// Int returns a whole number between lowest and highest. For other values it returns 0 and reports the error. math.MinInt
// and math.MaxInt are unlimited.
func (n *Node) Int(lowest, highest int) int {
	const want = "a whole number"
	if !(wanted{n, want}).scalar() {
		return 0
	}
	if !n.typed || !whole.MatchString(n.value) {
		wanted{n, want}.mismatch()
		return 0
	}
	i, err := strconv.Atoi(n.value)
	if err != nil || i < lowest || i > highest {
		n.outside(bound(lowest, math.MinInt, strconv.Itoa), bound(highest, math.MaxInt, strconv.Itoa))
		return 0
	}
	return i
}

// Float returns a number between lowest and highest. For other values it returns 0 and reports the error. Infinities are
// unlimited.
func (n *Node) Float(lowest, highest float64) float64 {
	const want = "a number"
	if !(wanted{n, want}).scalar() {
		return 0
	}
	if !n.typed || !fraction.MatchString(n.value) {
		wanted{n, want}.mismatch()
		return 0
	}
	f, err := strconv.ParseFloat(n.value, 64)
	if err != nil || f < lowest || f > highest {
		show := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
		n.outside(bound(lowest, math.Inf(-1), show), bound(highest, math.Inf(1), show))
		return 0
	}
	return f
}

// Bool returns true or false. Other spellings are errors.
func (n *Node) Bool() bool {
	const want = "true or false"
	if !(wanted{n, want}).scalar() {
		return false
	}
	if !n.typed || n.value != "true" && n.value != "false" {
		wanted{n, want}.mismatch()
		return false
	}
	return n.value == "true"
}

// Duration returns a duration, as ParseDuration reads it, between lowest and highest. For other values it returns 0 and
// reports the error. A highest of 0 is unlimited.
func (n *Node) Duration(lowest, highest time.Duration) time.Duration {
	const want = "a duration"
	if !(wanted{n, want}).scalar() {
		return 0
	}
	d, err := ParseDuration(n.value)
	if err != nil {
		wanted{n, want}.mismatch()
		return 0
	}
	if d < lowest || highest > 0 && d > highest {
		n.outside(bound(lowest, 0, FormatDuration), bound(highest, 0, FormatDuration))
		return 0
	}
	return d
}

func bound[T comparable](v, none T, show func(T) string) string {
	if v == none {
		return ""
	}
	return show(v)
}

func (n *Node) outside(lowest, highest string) {
	limits := "it is too large"
	switch {
	case lowest != "" && highest != "":
		limits = "it must be between " + lowest + " and " + highest
	case lowest != "":
		limits = "it must be at least " + lowest
	case highest != "":
		limits = "it must be at most " + highest
	}
	n.Errorf(limits, "%s cannot be %s", n.label(), code(n.value))
}

// wanted is the expectation of a kind of value, in words, at a node.
type wanted struct {
	node *Node
	kind string
}

// scalar reports whether the node is a scalar, and adds a problem if it should be one.
func (w wanted) scalar() bool {
	n, want := w.node, w.kind
	switch n.Kind() {
	case Scalar:
		return !n.broken
	case Null:
		if !n.broken {
			n.Errorf("expected "+want, "%s has no value", n.label())
		}
	case List, Map:
		w.mismatch()
	case Absent:
	}
	return false
}

// unspaced matches a key without a space after its colon.
var unspaced = regexp.MustCompile(`^([\w-]+):(\S.*)$`)

// mismatch reports a node of the wrong kind.
func (w wanted) mismatch() {
	n, want := w.node, w.kind
	if n.broken {
		return
	}
	found, hint := "", ""
	maps := want == "a map of keys"
	switch n.kind {
	case Scalar:
		found = code(n.value)
		switch {
		case maps && unspaced.MatchString(n.value):
			hint = "put a space after the colon: " + code(unspaced.ReplaceAllString(n.value, "$1: $2"))
		case want == "a list":
			hint = "write " + code("["+n.value+"]")
		case want == "a duration":
			hint = "a number of seconds, or like 500ms, 2m, 1h30m, 1d"
		case want == "true or false" && strings.Contains(" yes on y ", " "+strings.ToLower(n.value)+" "):
			hint = "write `true`"
		case want == "true or false" && strings.Contains(" no off n ", " "+strings.ToLower(n.value)+" "):
			hint = "write `false`"
		case maps:
			hint = "write " + code("{name: value}") + ", or the names on lines of their own below it"
		case !n.typed && (fraction.MatchString(n.value) || n.value == "true" || n.value == "false"):
			found, hint = "the text "+found, "write it without quotes"
		case n.typed && whole.MatchString(strings.ReplaceAll(n.value, "_", "")):
			hint = "write " + code(strings.ReplaceAll(n.value, "_", ""))
		}
	case List:
		found = "a list"
	case Map:
		found = "a map"
	case Absent, Null:
		found = "nothing"
	}
	if n.style != 0 && (n.kind == List || n.kind == Map) && want != "a list" && !maps {
		hint = "quote a value that starts with { or ["
	}
	n.Errorf(hint, "%s must be %s, found %s", n.label(), want, found)
}

var _ fmt.Stringer = Kind(0)

// String returns the kind as messages name it.
func (k Kind) String() string {
	switch k {
	case Absent:
		return "nothing"
	case Null:
		return "null"
	case Scalar:
		return "text"
	case List:
		return "a list"
	case Map:
		return "a map"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}
