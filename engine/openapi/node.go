package openapi

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is the kind of a node.
type kind uint8

const (
	scalar kind = iota // a text, number, boolean or null
	object
	array
)

// node is a value of a document with its position. Nodes do not change once a document is read. A nil node is absent.
type node struct {
	kind      kind
	line, col int32
	file      *file
	value     any // of a scalar: string, bool, int64, float64 or nil
	members   []member
	items     []*node
}

// member is a member of an object, in the order of the document.
type member struct {
	key   string
	value *node
}

// file is a document that was read, or one that it refers to.
type file struct {
	location string // a URL, or a name in the folder of the document
	root     *node
}

// get returns a member of an object, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].key == key {
			return n.members[i].value
		}
	}
	return nil
}

// has reports whether an object has a member.
func (n *node) has(key string) bool { return n.get(key) != nil }

// is reports whether the node is there and of a kind.
func (n *node) is(k kind) bool { return n != nil && n.kind == k }

// all iterates over the members of an object.
func (n *node) all() iter.Seq2[string, *node] {
	return func(yield func(string, *node) bool) {
		if n == nil {
			return
		}
		for i := range n.members {
			if !yield(n.members[i].key, n.members[i].value) {
				return
			}
		}
	}
}

// list returns the items of an array.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// text returns a text; "" if the node is something else.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	s, _ := n.value.(string)
	return s
}

// word returns a scalar as text, since YAML reads `version: 1.0` as a number.
func (n *node) word() string {
	if !n.is(scalar) || n.value == nil {
		return ""
	}
	return fmt.Sprint(n.value)
}

// truth returns a boolean; false if the node is something else.
func (n *node) truth() bool {
	if n == nil {
		return false
	}
	b, _ := n.value.(bool)
	return b
}

// number returns a number, or nil.
func (n *node) number() *float64 {
	if n == nil {
		return nil
	}
	switch v := n.value.(type) {
	case int64:
		f := float64(v)
		return &f
	case float64:
		return &v
	}
	return nil
}

// count returns a whole number that is not negative, or -1.
func (n *node) count() int {
	f := n.number()
	if f == nil || *f < 0 || *f > math.MaxInt32 || *f != math.Trunc(*f) {
		return -1
	}
	return int(*f)
}

// texts returns the texts of an array, or of a single text.
func (n *node) texts() []string {
	if t := n.text(); t != "" {
		return []string{t}
	}
	var all []string
	for _, item := range n.list() {
		if t := item.text(); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// plain returns the value as maps, lists and scalars. The depth of a tree is bounded when it is read.
func (n *node) plain() any {
	switch {
	case n == nil:
		return nil
	case n.kind == object:
		m := make(map[string]any, len(n.members))
		for key, v := range n.all() {
			m[key] = v.plain()
		}
		return m
	case n.kind == array:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.plain()
		}
		return list
	}
	return n.value
}

// what names the kind of a node for messages.
func (n *node) what() string {
	switch {
	case n == nil:
		return "nothing"
	case n.kind == object:
		return "an object"
	case n.kind == array:
		return "a list"
	}
	switch n.value.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case nil:
		return "null"
	}
	return "a number"
}

// at returns the node that a JSON pointer leads to (RFC 6901), or nil.
func (n *node) at(pointer string) *node {
	if pointer == "" {
		return n
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch {
		case n.is(object):
			n = n.get(token)
		case n.is(array):
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(n.items) {
				return nil
			}
			n = n.items[i]
		default:
			return nil
		}
	}
	return n
}

// keep returns an object with only the members that a function wants.
func (n *node) keep(want func(key string) bool) *node {
	c := *n
	c.members = slices.DeleteFunc(slices.Clone(n.members), func(m member) bool { return !want(m.key) })
	return &c
}

// number reads a JSON number.
func number(text json.Number) any {
	if i, err := strconv.ParseInt(text.String(), 10, 64); err == nil {
		return i
	}
	f, err := text.Float64()
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return f
}
