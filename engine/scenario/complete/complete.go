package complete

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Query is a cursor in a file of a scenario. Line and Col count from 1, columns in characters.
type Query struct {
	Text      string
	Line, Col int
	Functions string   // the text of the functions file, if the scenario has one
	Scenario  string   // the text of the scenario's own file, if Text is the functions file
	Fields    []string // further fields of agents, such as the columns of a CSV file
	// Asked is set if the user asked for completion. Otherwise only a text that has begun is completed: two letters of a name, or a dot
	// in an expression.
	Asked bool
}

// Kind is what an item inserts.
type Kind int

// The kinds of items.
const (
	KeyItem Kind = iota
	ValueItem
	NameItem     // a name of the scenario, or a field
	FunctionItem // a built-in function, or one of the scenario
	StepItem     // a whole step, service or parameter
)

// Item is a way to complete the text.
type Item struct {
	Kind   Kind
	Label  string
	Detail string // the signature of a function, the kind of a step, …; may be empty
	Help   string
	Insert string // may have several lines, with their indentation
	// Caret is the position of the cursor in Insert afterwards, in characters. Selected characters before it are selected, so that they
	// are replaced by what is typed next.
	Caret, Selected int
	More            bool // the inserted text can be completed in its turn

	quality, rank int // lower ones are listed first
}

// Result is the ways to complete the text between two columns of the cursor's line, best first.
type Result struct {
	From, To int
	Items    []Item
}

// mostItems is the maximum number of items.
const mostItems = 200

// Complete returns the ways to complete the text at a cursor.
func (l *Language) Complete(q Query) (r Result) {
	at := offset(q.Text, q.Line, q.Col)
	if q.Scenario != "" {
		c := &cursor{Query: &q, place: &place{outline: read(q.Scenario)}}
		c.node = c.root
		return c.result(c.inFunctions(q.Text[:at], q.Text[at:]))
	}
	c := &cursor{Query: &q, place: locate(q.Text, at)}
	c.reader = &reader{l, c.outline}
	if c.node == nil {
		return r
	}
	if c.node.block && c.node.key == "functions" && c.node.parent == c.root {
		return c.result(c.inFunctions(c.before, c.after))
	}
	c.firstKey()
	if text, ok := c.expression(); ok {
		return c.result(c.inExpression(text))
	}
	if c.inKey {
		return c.result(c.inKeys())
	}
	return c.result(c.inValue())
}

// firstKey turns the text after the dash of an item into the item's first key, if items have keys.
func (c *cursor) firstKey() {
	n := c.node
	if c.inKey || !n.item || n.flow || len(c.reader.keys(c.reader.of(n))) == 0 {
		return
	}
	first := &node{parent: n, indent: n.indent + len(c.unit()), from: n.valFrom, to: n.valTo, keyFrom: n.valFrom, keyTo: n.valTo, valFrom: n.valTo, valTo: n.valTo}
	first.key = c.text[n.valFrom:n.valTo]
	n.children, n.valTo = []*node{first}, n.valFrom
	c.node, c.inKey = first, true
}

// cursor completes at a place.
type cursor struct {
	*Query
	*place
	reader *reader
}

// found is items and the text that they replace.
type found struct {
	prefix string // before the cursor
	rest   string // after the cursor
	items  []Item
	dotted bool // the prefix follows a dot
}

// shortest is how many letters of a name are typed before completion opens unasked.
const shortest = 2

// result selects the items that match the prefix.
func (c *cursor) result(f found) (r Result) {
	q := c.Query
	if !q.Asked && !f.dotted && utf8.RuneCountInString(f.prefix) < shortest {
		return r
	}
	for _, item := range f.items {
		if quality := match(item.Label, f.prefix); quality >= 0 {
			item.quality = quality
			if item.Caret == 0 {
				item.Caret = utf8.RuneCountInString(item.Insert)
			}
			r.Items = append(r.Items, item)
		}
	}
	if !q.Asked && len(r.Items) == 1 && strings.TrimRight(r.Items[0].Insert, ": ") == f.prefix {
		return Result{} // it is typed already
	}
	slices.SortStableFunc(r.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.quality, b.quality), cmp.Compare(a.rank, b.rank), cmp.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label)))
	})
	r.Items = r.Items[:min(len(r.Items), mostItems)]
	r.From, r.To = q.Col-utf8.RuneCountInString(f.prefix), q.Col+utf8.RuneCountInString(f.rest)
	return r
}

// match returns how well a label matches a prefix: 0 is best, -1 is not at all.
func match(label, prefix string) int {
	label, prefix = strings.ToLower(label), strings.ToLower(prefix)
	switch {
	case strings.HasPrefix(label, prefix):
		return 0
	case strings.Contains(label, "_"+prefix), strings.Contains(label, " "+prefix), strings.Contains(label, "."+prefix):
		return 1
	case len(prefix) > shortest && strings.Contains(label, prefix):
		return 2
	}
	return -1
}

// inKeys completes a key.
func (c *cursor) inKeys() (f found) {
	f.prefix, f.rest = strings.TrimLeft(c.before, "\"'"), c.after
	parent := c.node.parent
	all := c.reader.of(parent)
	taken := present(parent, c.node)
	colon := c.node.keyTo < len(c.text) && c.text[c.node.keyTo] == ':'
	front := f.prefix == "" && f.rest != "" // the cursor is in front of another key
	if front {
		if !c.node.flow {
			return found{}
		}
		taken[f.rest] = true
		f.rest, colon = "", false
	}
	for key, of := range c.reader.keys(all) {
		if taken[key] || slices.ContainsFunc(exclusive(key), func(other string) bool { return taken[other] }) {
			continue
		}
		item := Item{Kind: KeyItem, Label: key, Help: about(of), rank: c.rank(parent, key)}
		c.insertKey(&item, of, colon)
		f.items = append(f.items, item)
	}
	switch {
	case colon:
		for _, word := range blocks(all) {
			called := c.unused(word+" ", map[string]string{"step": "name", "chain": "work"}[word])
			item := Item{Kind: KeyItem, Label: word + " " + called, Help: about(all), Insert: word + " " + called, Selected: len(called), rank: 30}
			f.items = append(f.items, item)
		}
	case !front:
		f.items = append(f.items, c.snippets(all)...)
		if !c.node.flow && aboveOnly(c.node) {
			f.items = append(f.items, c.valueItems(parent)...)
		}
	default:
		for i := range f.items {
			f.items[i].Caret = utf8.RuneCountInString(f.items[i].Insert)
			f.items[i].Insert += ", "
		}
	}
	return f
}

// present returns the keys of a map, without the one that is being written.
func present(n, written *node) map[string]bool {
	keys := map[string]bool{}
	for _, child := range n.children {
		keys[child.key] = keys[child.key] || child != written
	}
	return keys
}

// aboveOnly reports whether the line can also be the value of the key above it.
func aboveOnly(n *node) bool { return len(n.parent.children) == 1 && n.parent.parent != nil }

// exclusive returns the keys that a key excludes.
func exclusive(key string) []string {
	for _, group := range [][]string{{"get", "post", "put", "patch", "delete"}, {"json", "form", "body"}, {"prompt", "messages"}, {"call", "target"}} {
		if slices.Contains(group, key) {
			return group
		}
	}
	return nil
}

// rank orders keys: kind first, then those that the kind needs, then those of the kind only.
func (c *cursor) rank(parent *node, key string) int {
	if key == "kind" || key == "name" && parent.item {
		return 0
	}
	usual := needed(c.kind(parent))
	if parent.parent == nil {
		usual = topLevel
	}
	if i := slices.Index(usual, key); i >= 0 {
		return 1 + i
	}
	if _, step := c.stepName(parent); step && slices.Contains(shared, key) {
		return 20
	}
	if key == "steps" { // after the steps themselves
		return 60
	}
	return 10
}

// topLevel are the keys of a file in their usual order.
var topLevel = []string{
	"title", "about", "parameters", "clock", "population", "services", "functions", "acted", "success", "run", "interventions", "connectors",
	"order",
}

// shared are the keys that steps of every kind can have.
var shared = []string{"when", "parallel", "depends_on", "timeout", "retry", "on_error", "default", "label"}

// insertKey sets the text that a key inserts.
func (c *cursor) insertKey(item *Item, of []*schema, colon bool) {
	switch item.Insert = item.Label; {
	case colon:
	case !c.node.flow && takes(of, "object") && !takes(of, "string") && !takes(of, "integer"):
		item.Insert += ":\n" + c.indentation(1)
	default:
		item.Insert += ": "
		item.More = true
	}
}

// indentation returns the indentation of the cursor's key, some levels deeper.
func (c *cursor) indentation(levels int) string {
	from := strings.LastIndexByte(c.text[:c.node.keyFrom], '\n') + 1
	return strings.Repeat(" ", c.node.keyFrom-from) + strings.Repeat(c.unit(), levels)
}

// unit returns one level of the file's indentation.
func (o *outline) unit() string {
	const most = 8
	for _, n := range o.root.children {
		if len(n.children) > 0 && !n.children[0].flow && !n.children[0].item {
			if by := n.children[0].indent; by > 0 && by <= most {
				return strings.Repeat(" ", by)
			}
		}
	}
	return "  "
}

// inValue completes the value of a key, or an item of a list.
func (c *cursor) inValue() (f found) {
	f.prefix, f.rest = c.before, c.after
	if f.prefix != "" && (f.prefix[0] == '"' || f.prefix[0] == '\'') {
		f.prefix, f.rest = f.prefix[1:], strings.TrimRight(f.rest, `"'`)
	}
	if f.prefix == "" && f.rest != "" || c.node.block || strings.ContainsAny(f.prefix, "\n") {
		return found{}
	}
	f.items = c.valueItems(c.node)
	if f.prefix == "" && c.at > 0 && c.text[c.at-1] == ':' { // a space belongs after the colon
		for i := range f.items {
			f.items[i].Insert = " " + f.items[i].Insert
		}
	}
	return f
}

// valueItems returns the values of a key: those of the schema, and names of the scenario.
func (c *cursor) valueItems(n *node) (items []Item) {
	if free(n) {
		return shapeTypes(n)
	}
	seen := map[string]bool{}
	add := func(label, detail, help string) {
		if label != "" && !seen[label] {
			seen[label] = true
			items = append(items, Item{Kind: ValueItem, Label: label, Detail: detail, Help: help, Insert: plain(label)})
		}
	}
	all := c.reader.of(n)
	for _, s := range all {
		for i, v := range slices.Concat(s.Enum, s.Examples) {
			if text, ok := v.(string); ok {
				add(text, "", valueHelp(n.key, text, about(all)))
				items[len(items)-1].rank = i
			}
		}
	}
	if len(all) > 0 && takes(all, "boolean") && !takes(all, "string") {
		add("true", "", about(all))
		add("false", "", about(all))
		items[len(items)-1].rank = 1
	}
	for _, of := range c.reference(n) {
		add(of.name, of.detail, of.help)
		if len(items) > 0 {
			items[len(items)-1].Kind = NameItem
		}
	}
	return items
}

// valueHelp explains a value: kinds of steps have their own help.
func valueHelp(key, value, about string) string {
	if s := stepSnippet(value); s != nil && key == "kind" {
		return s.help
	}
	return about
}

// plain quotes a value that YAML would not read as it is.
func plain(text string) string {
	if strings.ContainsAny(text, ":#{}[],&*!|>'\"%@`") {
		if strings.Contains(text, ": ") || strings.ContainsAny(text, "#{}[],&*!|>'\"%@`") {
			return `"` + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"`, `\"`) + `"`
		}
	}
	return text
}

// isShape reports whether the value of a node is a shape: of an answer, or of the arguments of a tool.
func isShape(n *node) bool {
	ofTool := n.key == "input" && n.parent != nil && n.parent.parent != nil && n.parent.parent.key == "tools"
	return (n.key == "answer" || ofTool) && !free(n)
}

// shapeTypes returns the types of a shape's fields.
func shapeTypes(n *node) (items []Item) {
	for at := n.parent; at != nil; at = at.parent {
		if !isShape(at) {
			continue
		}
		for _, of := range []name{
			{"string", "", "A text.", nil},
			{"bool", "", "True or false.", nil},
			{"int", "", "A whole number.", nil},
			{"float", "", "A number.", nil},
			{"list", "", "A list of texts or data. Write [a, b] for one of several texts.", nil},
		} {
			items = append(items, Item{Kind: ValueItem, Label: of.name, Help: of.help, Insert: of.name})
		}
		return items
	}
	return nil
}
