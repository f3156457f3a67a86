// Package layout reads how the steps of a block stand in a file.
package layout

import (
	"slices"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// Step is a step of a block: the node of its name, and its keys.
type Step struct {
	Entry  doc.Entry
	Body   *doc.Node
	Listed bool // the form `- {name: browse, …}`
}

// NameErrorf reports an error at the name of the step.
func (s Step) NameErrorf(hint, format string, args ...any) {
	if s.Listed {
		s.Entry.Key.Errorf(hint, format, args...)
		return
	}
	s.Entry.NameErrorf(hint, format, args...)
}

// Grouped reports whether a step declares its dependencies, which steps of the kinds of control flow must not.
func (s Step) Grouped(controlFlow []string) bool {
	var says []*doc.Node
	if parallel := s.Body.Only("parallel"); parallel.Value != nil && parallel.Value.Bool() {
		says = append(says, parallel.Key)
	}
	if after := s.Body.Only("depends_on"); after.Value.Kind() != doc.Absent && after.Value.Kind() != doc.Null {
		says = append(says, after.Key)
	}
	kind := s.Body.Only("kind", "type").Value
	if kind.Kind() != doc.Scalar || !slices.Contains(controlFlow, kind.Text()) {
		return len(says) > 0
	}
	for _, key := range says {
		key.Errorf("remove it: control flow waits for all steps above it, and all steps below wait for it",
			"`%s` on a step of kind %s", key.Text(), kind.Text())
	}
	return false
}

// Private reports whether the answer of a step or connector must not be shown.
func Private(n *doc.Node) bool {
	p := n.Get("private")
	return p.Kind() == doc.Scalar && p.Scalar() == true
}

// Steps returns the steps of a block in either form: keys `step NAME`, or a list of maps with a name, optionally
// under `steps:`. It omits everything else.
func Steps(n *doc.Node) func(yield func(string, Step) bool) {
	return func(yield func(string, Step) bool) {
		if s := n.Get("steps"); s != nil {
			n = s
		}
		if n.Kind() == doc.List {
			for _, item := range n.List() {
				if name := item.Get("name"); name != nil && !yield(name.Text(), Step{doc.Entry{Key: name, Value: item}, item, true}) {
					return
				}
			}
			return
		}
		for _, e := range n.Entries() {
			if word, name := e.Split(); word == "step" && name != "" && !yield(name, Step{e, e.Value, false}) {
				return
			}
		}
	}
}

// Check reports nodes that are in neither form of a block.
func Check(n *doc.Node) {
	s := n.Get("steps")
	if s == nil {
		s = n
	} else {
		for _, e := range n.Entries() {
			if word, _ := e.Split(); word == "step" {
				e.Key.Errorf("put it under `steps`, or leave `steps` out", "a step next to `steps`")
			}
		}
		if s.Kind() != doc.List {
			s.Fields("step NAME")
		}
	}
	if s.Kind() == doc.List {
		for _, item := range s.List() {
			if item.Get("name") == nil {
				item.Errorf("`- {name: browse, kind: …}`", "a step without a name")
			}
		}
	}
}

// Names are the names of all steps of a chain.
type Names struct {
	Place map[string]string // the enclosing step; "" is the chain
	Taken map[string]bool   // names of the steps read so far
}

// Collect finds the names of a chain before any step is read.
func Collect(n *doc.Node) *Names {
	c := &Names{Place: map[string]string{}, Taken: map[string]bool{}}
	c.collect(n, "")
	return c
}

func (c *Names) collect(n *doc.Node, in string) {
	if n.Kind() != doc.Map && n.Kind() != doc.List {
		return
	}
	for name, at := range Steps(n) {
		if _, ok := c.Place[name]; !ok {
			c.Place[name] = in
		}
		for _, key := range []string{"then", "else", "do"} {
			c.collect(at.Body.Get(key), name)
		}
	}
}
