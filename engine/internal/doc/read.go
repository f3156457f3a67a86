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

// Text returns a scalar as text, numbers as they are written. Anything else is reported.
func (n *Node) Text() string {
	if !n.scalar("text") {
		return ""
	}
	return n.value
}

// Texts returns a list of texts; one text stands for a list of one.
func (n *Node) Texts() []string {
	if n.Kind() == Scalar {
		return []string{n.value}
	}
	items := n.List()
	texts := make([]string, 0, len(items))
	for _, item := range items {
		if item.scalar("text") {
			texts = append(texts, item.value)
		}
	}
	return texts
}

// OneOf returns a scalar that is one of values, "" when it is not, which is reported with the nearest of them.
func (n *Node) OneOf(values ...string) string {
	if !n.scalar("one of " + strings.Join(values, ", ")) {
		return ""
	}
	for _, v := range values {
		if n.value == v {
			return v
		}
	}
	hint := "one of " + strings.Join(values, ", ")
	if near := suggest.Nearest(n.value, values); near != "" {
		hint = "did you mean " + code(near) + "? " + hint
	}
	n.Errorf(hint, "%s cannot be %s", n.label(), code(n.value))
	return ""
}

// whole and fraction are the numbers of a document. A leading zero makes a text, as in a postal code; so do
// underscores, bases other than ten, infinity and NaN.
var (
	whole    = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	fraction = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)

// Scalar returns a scalar as the value it is written as: an int64, a float64, a bool or a string; what is quoted
// is a string. It returns nil for null and absent, and reports lists, maps and numbers that do not fit.
func (n *Node) Scalar() any {
	if n.Kind() == Null || !n.scalar("a single value") {
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

// Int returns a whole number between lowest and highest, 0 when it is not one, which is reported. math.MinInt and
// math.MaxInt stand for no bound.
func (n *Node) Int(lowest, highest int) int {
	const want = "a whole number"
	if !n.scalar(want) {
		return 0
	}
	if !n.typed || !whole.MatchString(n.value) {
		n.mismatch(want)
		return 0
	}
	i, err := strconv.Atoi(n.value)
	if err != nil || i < lowest || i > highest {
		n.outside(bound(lowest, math.MinInt, strconv.Itoa), bound(highest, math.MaxInt, strconv.Itoa))
		return 0
	}
	return i
}

// Float returns a number between lowest and highest, 0 when it is not one, which is reported. Infinities stand for
// no bound.
func (n *Node) Float(lowest, highest float64) float64 {
	const want = "a number"
	if !n.scalar(want) {
		return 0
	}
	if !n.typed || !fraction.MatchString(n.value) {
		n.mismatch(want)
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

// Bool returns true or false, written as these words.
func (n *Node) Bool() bool {
	const want = "true or false"
	if !n.scalar(want) {
		return false
	}
	if !n.typed || n.value != "true" && n.value != "false" {
		n.mismatch(want)
		return false
	}
	return n.value == "true"
}

// Duration returns a duration as ParseDuration reads it, between lowest and highest; 0 when it is not one, which is
// reported. A highest of 0 stands for no bound.
func (n *Node) Duration(lowest, highest time.Duration) time.Duration {
	const want = "a duration"
	if !n.scalar(want) {
		return 0
	}
	d, err := ParseDuration(n.value)
	if err != nil {
		n.mismatch(want)
		return 0
	}
	if d < lowest || highest > 0 && d > highest {
		n.outside(bound(lowest, 0, time.Duration.String), bound(highest, 0, time.Duration.String))
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

// scalar reports whether the node is a scalar, and everything that should be one and is not.
func (n *Node) scalar(want string) bool {
	switch n.Kind() {
	case Scalar:
		return !n.broken
	case Null:
		if !n.broken {
			n.Errorf("expected "+want, "%s has no value", n.label())
		}
	case List, Map:
		n.mismatch(want)
	case Absent:
	}
	return false
}

// unspaced is a key whose colon lacks its space.
var unspaced = regexp.MustCompile(`^([\w-]+):(\S.*)$`)

// mismatch reports that the node is not what is wanted.
func (n *Node) mismatch(want string) {
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

// String names the kind as messages do.
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
