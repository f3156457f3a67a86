package complete

import (
	"slices"

	"github.com/throng-sim/throng/engine/chain/outputs"
	"github.com/throng-sim/throng/engine/script/known"
)

// kind returns the kind of a step or connector.
func (o *outline) kind(n *node) string {
	if k := n.get("kind"); k != nil {
		return o.value(k)
	}
	return o.value(n.get("type"))
}

// stepName returns the name of a step; ok is false if the node is not one.
func (o *outline) stepName(n *node) (called string, ok bool) {
	if word, of := n.word(); word == "step" && of != "" {
		return of, true
	}
	if n.item && n.parent != nil && isBlock(n.parent) {
		return o.value(n.get("name")), true
	}
	return "", false
}

// isBlock reports whether the value of a node is steps.
func isBlock(n *node) bool {
	switch word, _ := n.word(); word {
	case "chain":
		return n.parent != nil && n.parent.parent == nil
	case "steps", "do", "then", "else":
		return !free(n)
	}
	return false
}

// steps returns the steps of a block, in the order of the file.
func (o *outline) steps(block *node) (all []*node) {
	if block == nil {
		return nil
	}
	for _, c := range block.children {
		if _, ok := o.stepName(c); ok {
			all = append(all, c)
		}
	}
	return append(all, o.steps(block.get("steps"))...)
}

// step returns the innermost step around a node, n included; nil if there is none.
func (o *outline) step(n *node) *node {
	for ; n != nil; n = n.parent {
		if _, ok := o.stepName(n); ok {
			return n
		}
	}
	return nil
}

// visible returns the steps that a step sees, nearest first: those above it in its block and in the blocks around it, and those that it
// depends on. A step that runs in parallel with its neighbors does not see them.
func (o *outline) visible(n *node) (all []*node) {
	for at := o.step(n); at != nil; at = o.step(at.parent) {
		siblings := o.steps(at.parent)
		i := slices.Index(siblings, at)
		above := slices.Clone(siblings[:max(i, 0)])
		waits := o.texts(at.get("depends_on"))
		if o.parallel(at) {
			last := len(above)
			for last > 0 && o.parallel(above[last-1]) {
				last--
			}
			above = above[:last]
		}
		for _, s := range siblings {
			if called, _ := o.stepName(s); slices.Contains(waits, called) && !slices.Contains(above, s) {
				above = append(above, s)
			}
		}
		slices.Reverse(above)
		all = append(all, above...)
	}
	return all
}

// parallel reports whether a step can run at the same time as its neighbors.
func (o *outline) parallel(step *node) bool {
	return o.value(step.get("parallel")) == "true" || step.get("depends_on") != nil
}

// outputs returns steps as names with the fields of their outputs.
func (o *outline) outputs(steps []*node) *thing {
	t := &thing{}
	for _, s := range steps {
		called, _ := o.stepName(s)
		if called == "" || slices.ContainsFunc(t.fields, func(n name) bool { return n.name == called }) {
			continue
		}
		t.fields = append(t.fields, name{called, o.kind(s) + " step", sentence(o.value(s.get("label")), "The output of the step"), o.output(s)})
	}
	return t
}

// output returns the fields of a step's output; nil if they are unknown.
func (o *outline) output(s *node) *thing {
	switch o.kind(s) {
	case "llm":
		if a := s.get("answer"); a != nil {
			return o.shape(a)
		}
	case "emit":
		return o.shape(s.get("data"))
	case "remember":
		return o.shape(s.get("set"))
	case "connector":
		return (&thing{fields: o.connectors()}).find(o.value(s.get("target")))
	case "for", "while":
		return &thing{item: o.outputs(o.steps(s.get("do")))}
	case "if":
		return named(o.outputs(append(o.steps(s.get("then")), o.steps(s.get("else"))...)), "taken")
	case "chain":
		if c := o.root.get("chain " + o.value(s.get("target"))); c != nil {
			if steps := o.steps(c); len(steps) > 0 && o.kind(steps[len(steps)-1]) != "chain" {
				return o.output(steps[len(steps)-1])
			}
		}
	}
	return thingOf(outputs.Fixed(o.kind(s)))
}

// thingOf returns what is known of a value as a thing.
func thingOf(s *known.Shape) *thing {
	if s == nil {
		return nil
	}
	t := &thing{item: thingOf(s.Item)}
	for _, f := range s.Fields {
		t.fields = append(t.fields, name{name: f.Name, of: thingOf(f.Of)})
	}
	return t
}

// shape returns the keys of a map as fields.
func (o *outline) shape(n *node) *thing {
	if n == nil {
		return nil
	}
	if s := n.get("schema"); s != nil { // a JSON Schema
		n = s.get("properties")
	}
	if n == nil || len(n.children) == 0 {
		return nil
	}
	t := &thing{}
	for _, c := range n.children {
		if c.item {
			return &thing{item: o.shape(c)}
		}
		key := c.key
		if last := len(key) - 1; last > 0 && key[last] == '?' {
			key = key[:last]
		}
		t.fields = append(t.fields, name{name: key, help: shortened(o.value(c)), of: o.shape(c)})
	}
	return t
}

// StepPlace returns where a new step goes: after a line, with an indentation. It is the end of the step around a position; without one, of
// the last step of the first chain. ok is false if the file has no chain with steps on lines of their own.
func StepPlace(text string, line, col int) (after, indent int, ok bool) {
	o := read(text)
	at := offset(text, line, col)
	var best *node
	o.root.walk(func(n *node) {
		if _, step := o.stepName(n); step && !n.flow && !n.item && n.from <= at && at <= n.to {
			best = n // the innermost
		}
	})
	for _, c := range o.root.children {
		if word, _ := c.word(); best == nil && word == "chain" {
			if steps := o.steps(c); len(steps) > 0 && !steps[0].flow && !steps[0].item {
				best = steps[len(steps)-1]
			}
		}
	}
	if best == nil {
		return 0, 0, false
	}
	after, _ = position(text, best.to)
	return after, best.indent, true
}
