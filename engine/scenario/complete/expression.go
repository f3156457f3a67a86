package complete

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain/outputs"
	"github.com/throng-sim/throng/engine/script/reference"
)

// inExpression completes the name at the end of an expression.
func (c *cursor) inExpression(text string) (f found) {
	r, ok := refer(text)
	if !ok {
		return f
	}
	f.prefix, f.dotted, f.rest = r.prefix, r.dotted, identifierAt(c.after)
	if r.dotted {
		f.items = c.members(r.names)
		return f
	}
	for i, n := range c.names() {
		item := itemOf(n, NameItem)
		item.rank = min(i, 1)
		f.items = append(f.items, item)
	}
	f.items = append(f.items, c.callable()...)
	return f
}

// itemOf returns the item that inserts a name.
func itemOf(n name, kind Kind) Item {
	return Item{Kind: kind, Label: n.name, Detail: n.detail, Help: n.help, Insert: n.name}
}

// callable returns the functions and constants of the scenario, and the built-in functions.
func (c *cursor) callable() (items []Item) {
	for _, n := range c.ownFunctions() {
		items = append(items, functionItem(n.name, n.detail, n.help, 2))
	}
	return append(items, builtins("")...)
}

// builtins returns the built-in functions of a module; "" are those outside of modules.
func builtins(module string) (items []Item) {
	for _, n := range reference.Functions() {
		of, member, inModule := strings.Cut(n.Name, ".")
		switch {
		case module == "" && !inModule:
			items = append(items, functionItem(n.Name, n.Signature, n.Help, 3))
		case inModule && of == module:
			items = append(items, functionItem(member, n.Signature, n.Help, 0))
		}
	}
	return items
}

// functionItem returns an item that inserts a call, with the cursor between the parentheses.
func functionItem(called, signature, help string, rank int) Item {
	item := Item{Kind: FunctionItem, Label: called, Detail: signature, Help: help, Insert: called, rank: rank}
	if strings.Contains(signature, "(") {
		item.Insert += "()"
		item.Caret = len([]rune(called)) + 1
	}
	return item
}

// names returns the names that an expression can use, apart from functions.
func (c *cursor) names() (all []name) {
	all = append(all, name{"params", "", "The parameters of the scenario.", &thing{fields: c.parameters()}})
	at := path(c.node)
	if len(at) == 0 {
		return all
	}
	switch word, _, _ := strings.Cut(at[0], " "); word {
	case "population":
		if slices.Contains(at, "write") {
			return append(all, name{"index", "", "The number of the persona, from 0.", nil}, name{"count", "", "How many personas are written.", nil})
		}
		if slices.Contains(at, "where") {
			return append(all, name{"row", "", "A row of the file, by attributes and columns.", &thing{fields: c.columns()}})
		}
		return append(all, c.agent(2))
	case "services", "connectors", "chain":
	default:
		return all
	}
	all = append(all, c.agent(-1), standard("session", "The session."), standard("now", "The simulated time."))
	if slices.Contains(at, "verify") {
		for _, n := range []string{"status", "headers", "body"} {
			all = append(all, name{n, "", "Of the answer.", nil})
		}
		all = append(all, name{"request", "", "The request in doubt.", named(nil, "key", "step", "method", "path")})
	}
	if at[0] == "services" {
		return all
	}
	return append(all, c.stepNames(at)...)
}

// standard returns a name with the same fields in every scenario.
func standard(called, help string) name {
	t := &thing{}
	for _, f := range reference.Fields(called) {
		t.fields = append(t.fields, name{name: f.Name, help: f.Help})
	}
	return name{called, "", help, t}
}

// agent returns the agent with its first own fields, or all of them, and its attributes.
func (c *cursor) agent(own int) name {
	n := standard("agent", "The agent.")
	if own >= 0 {
		n.of.fields = n.of.fields[:own]
	}
	for i := range n.of.fields {
		switch f := &n.of.fields[i]; f.name {
		case "memory":
			f.of = &thing{fields: c.memory()}
		case "inbox":
			f.of = thingOf(outputs.Inbox())
		}
	}
	attributes := c.attributes()
	for _, f := range c.Fields {
		if !slices.ContainsFunc(slices.Concat(attributes, standard("agent", "").of.fields), func(n name) bool { return n.name == f }) {
			attributes = append(attributes, name{name: f, detail: "column", help: "A column of the population."})
		}
	}
	n.of.fields = append(attributes, n.of.fields...)
	return n
}

// stepNames returns the names that the expressions of steps and connectors can use.
func (c *cursor) stepNames(at []string) (all []name) {
	all = append(all, name{"steps", "", "The outputs of earlier steps.", c.outputs(c.visible(c.node))})
	all = append(all, name{"previous", "", "The output of the previous step.", c.previous()})
	all = append(all, name{"input", "", "The payload, or the input of the step that runs this chain.", c.input()})
	if at[0] == "connectors" {
		all = append(all, name{"options", "", "The options of the step that calls this connector.", c.options(at)})
	}
	for s := c.step(c.node); s != nil; s = c.step(s.parent) {
		switch c.kind(s) {
		case "for":
			if as := c.value(s.get("as")); as != "" && !strings.Contains(as, mark) && c.inside(s, "do") {
				all = append(all, name{as, "", "The element of this pass.", nil})
			}
		case "while":
			if c.inside(s, "do") || c.inside(s, "condition") {
				all = append(all, name{"last", "", "The outputs of the previous pass; missing in the first.", c.outputs(c.steps(s.get("do")))})
			}
		}
	}
	return all
}

// inside reports whether the cursor is in the value of a key of a node.
func (c *cursor) inside(n *node, key string) bool {
	of := n.get(key)
	for at := c.node; at != nil; at = at.parent {
		if at == of {
			return of != nil
		}
	}
	return false
}

// previous returns the fields of the previous step's output.
func (c *cursor) previous() *thing {
	all := c.visible(c.node)
	if len(all) == 0 {
		return nil
	}
	last := 1
	for last < len(all) && c.parallel(all[last-1]) && c.parallel(all[last]) {
		last++
	}
	if last > 1 {
		return c.outputs(all[:last])
	}
	return c.output(all[0])
}

// input returns the fields of the chain's input: that of the steps that run the chain, or of a cleanup.
func (c *cursor) input() (t *thing) {
	of := enclosing(c.node, "chain")
	if of == nil {
		return nil
	}
	_, called := of.word()
	if cleanup := c.root.get("cleanup"); cleanup != nil && (c.value(cleanup) == called || c.value(cleanup.get("chain")) == called) {
		event := named(nil, "name", "cycle", "session", "data")
		return &thing{fields: []name{
			{name: "sessions", of: &thing{item: named(nil, "uuid", "cycle", "outcome")}}, {name: "events", of: &thing{item: event}}, {name: "run"},
		}}
	}
	c.root.walk(func(n *node) {
		if t == nil && n.key == "input" && c.kind(n.parent) == "chain" && c.value(n.parent.get("target")) == called {
			t = c.shape(n)
		}
	})
	return t
}

// options returns the options that steps pass to a connector.
func (c *cursor) options(at []string) (t *thing) {
	c.root.walk(func(n *node) {
		if t == nil && n.key == "options" && c.kind(n.parent) == "connector" && len(at) > 1 && c.value(n.parent.get("target")) == at[1] {
			t = c.shape(n)
		}
	})
	return t
}

// members returns the fields of a name.
func (c *cursor) members(names []string) (items []Item) {
	if len(names) == 1 {
		if items = builtins(names[0]); len(items) > 0 {
			return items
		}
	}
	t := &thing{fields: c.names()}
	for _, n := range names {
		if t = t.find(n); t == nil {
			return nil
		}
	}
	for i, f := range t.fields {
		item := itemOf(f, NameItem)
		if names[0] == "steps" { // nearest first
			item.rank = min(i, mostItems)
		}
		items = append(items, item)
	}
	return items
}

// keywords are those of Starlark that begin a statement or continue an expression.
var keywords = []string{"def", "return", "for", "in", "if", "elif", "else", "not", "and", "or", "lambda", "pass", "break", "continue"}

// inFunctions completes in functions. Their parameters are usually named like the names of expressions.
func (c *cursor) inFunctions(before, after string) (f found) {
	r, ok := refer(before[strings.LastIndexByte(before, '\n')+1:])
	if !ok {
		return f
	}
	f = found{prefix: r.prefix, dotted: r.dotted, rest: identifierAt(after)}
	if !r.dotted {
		for _, n := range scope(before) {
			f.items = append(f.items, itemOf(n, NameItem))
		}
		for _, n := range functions(before + after) {
			f.items = append(f.items, functionItem(n.name, n.detail, n.help, 2))
		}
		for _, k := range keywords {
			f.items = append(f.items, Item{Kind: ValueItem, Label: k, Insert: k, Help: "A keyword of Starlark.", rank: 4})
		}
		f.items = append(f.items, builtins("")...)
		return f
	}
	if len(r.names) == 1 {
		f.items = builtins(r.names[0])
	}
	known := &thing{fields: []name{
		{"params", "", "The parameters of the scenario.", &thing{fields: c.parameters()}},
		c.agent(-1), standard("now", "The simulated time."),
		standard("session", "The session."),
		{"steps", "", "The outputs of steps.", c.outputs(c.all())},
	}}
	for _, n := range r.names {
		known = known.find(n)
	}
	if known != nil {
		for _, n := range known.fields {
			f.items = append(f.items, itemOf(n, NameItem))
		}
	}
	return f
}

// scope returns the parameters of the function at the end of a text, and params.
func scope(text string) (all []name) {
	all = append(all, name{name: "params", help: "The parameters of the scenario."})
	defs := definition.FindAllStringSubmatch(text, -1)
	if len(defs) == 0 {
		return all
	}
	for p := range strings.SplitSeq(defs[len(defs)-1][3], ",") {
		if p, _, _ = strings.Cut(strings.TrimSpace(p), "="); p != "" {
			all = append(all, name{name: p, help: "A parameter of this function."})
		}
	}
	return all
}

// all returns the steps of all chains, with those inside of others.
func (c *cursor) all() (steps []*node) {
	c.root.walk(func(n *node) {
		if _, ok := c.stepName(n); ok {
			steps = append(steps, n)
		}
	})
	return steps
}
