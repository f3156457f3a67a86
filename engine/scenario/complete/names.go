package complete

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// name is something that an expression or a value can name.
type name struct {
	name, detail, help string
	of                 *thing // its fields; nil if unknown
}

// thing is a value with known fields or elements.
type thing struct {
	fields []name
	item   *thing
}

// find returns the field of a name; nil if the field or its fields are unknown.
func (t *thing) find(name string) *thing {
	if t == nil {
		return nil
	}
	if name == "" {
		return t.item
	}
	for _, f := range t.fields {
		if f.name == name {
			return f.of
		}
	}
	return nil
}

func named(of *thing, names ...string) *thing {
	if of == nil {
		of = &thing{}
	}
	for _, n := range names {
		of.fields = append(of.fields, name{name: n})
	}
	return of
}

// parameters returns the parameters of the scenario.
func (o *outline) parameters() (all []name) {
	if of := o.root.get("parameters"); of != nil {
		for _, p := range of.children {
			n := name{name: p.key, help: sentence(o.value(p.get("title")), o.value(p.get("about")))}
			fallback := o.value(p.get("default"))
			if len(p.children) == 0 {
				fallback = o.value(p)
			}
			if fallback != "" {
				n.help = sentence(n.help, "Default: "+shortened(fallback))
			}
			all = append(all, n)
		}
	}
	return all
}

// sentence joins texts, each with a period.
func sentence(texts ...string) string {
	var b strings.Builder
	for _, t := range texts {
		if t = strings.TrimSpace(t); t == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t)
		if !strings.HasSuffix(t, ".") {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// shortened shortens a text to one line of a menu.
func shortened(text string) string {
	const longest = 60
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return string(runes)
}

// attributes returns the attributes of the agents: computed, of the rows in the file, and written by a model.
func (o *outline) attributes() (all []name) {
	p := o.root.get("population")
	all = o.described(all, p.get("attributes"), "An attribute of the agents")
	if rows := p.get("rows"); rows != nil && len(rows.children) > 0 {
		all = o.described(all, rows.children[0], fromColumn)
	}
	for _, n := range o.columns() {
		if !isListed(all, n.name) {
			all = append(all, n)
		}
	}
	return o.described(all, p.get("write").get("answer"), "Written by the model")
}

const fromColumn = "A column of the population"

// columns returns the columns of the population's file, as far as the scenario names them.
func (o *outline) columns() []name {
	p := o.root.get("population")
	return o.described(o.described(nil, p.get("columns"), fromColumn), p.get("types"), fromColumn)
}

// described adds the keys, or for a list the items, of a node.
func (o *outline) described(all []name, n *node, help string) []name {
	if n == nil {
		return all
	}
	for _, c := range n.children {
		key := strings.TrimSuffix(cmp.Or(c.key, o.value(c)), "?")
		if !isListed(all, key) && key != "id" && key != "" && !strings.Contains(key, mark) {
			all = append(all, name{name: key, detail: "attribute", help: sentence(help, shortened(o.value(c)))})
		}
	}
	return all
}

func isListed(all []name, wanted string) bool {
	return slices.ContainsFunc(all, func(n name) bool { return n.name == wanted })
}

// services returns the services of a kind; "" is any.
func (o *outline) services(kind string) (all []name) {
	if of := o.root.get("services"); of != nil {
		for _, s := range of.children {
			if of := o.value(s.get("kind")); kind == "" || of == kind {
				all = append(all, name{name: s.key, detail: of, help: "A service of this scenario."})
			}
		}
	}
	return all
}

// chains returns the chains of the scenario.
func (o *outline) chains() (all []name) {
	for _, c := range o.root.children {
		if word, of := c.word(); word == "chain" && of != "" {
			all = append(all, name{name: of, detail: "chain", help: sentence("A chain of this scenario", o.value(c.get("label")))})
		}
	}
	return all
}

// connectors returns the connectors of the scenario.
func (o *outline) connectors() (all []name) {
	if of := o.root.get("connectors"); of != nil {
		for _, c := range of.children {
			all = append(all, name{name: c.key, detail: o.kind(c), help: "A connector of this scenario.", of: o.output(c)})
		}
	}
	return all
}

// walk calls f for every node.
func (n *node) walk(f func(*node)) {
	for _, c := range n.children {
		f(c)
		c.walk(f)
	}
}

// values returns the different values of the keys that match, in the order of the file.
func (o *outline) values(match func(n *node) bool) (all []string) {
	o.root.walk(func(n *node) {
		if v := o.value(n); v != "" && match(n) && !strings.Contains(v, mark) && !strings.Contains(v, "${") && !slices.Contains(all, v) {
			all = append(all, v)
		}
	})
	return all
}

var literal = regexp.MustCompile(`"([\w -]+)"|'([\w -]+)'`)

// events returns the events that steps emit, also those that an expression chooses from.
func (o *outline) events() (all []name) {
	add := func(event string) {
		if !slices.ContainsFunc(all, func(n name) bool { return n.name == event }) {
			all = append(all, name{name: event, detail: "event", help: "An event that a step of this scenario emits."})
		}
	}
	o.root.walk(func(n *node) {
		switch v := o.value(n); {
		case n.key != "event" || free(n) || v == "" || strings.Contains(v, mark):
		case strings.Contains(v, "${"):
			for _, m := range literal.FindAllStringSubmatch(v, -1) {
				if !strings.Contains(v, "== "+m[0]) {
					add(m[1] + m[2])
				}
			}
		default:
			add(v)
		}
	})
	return all
}

// memory returns the names that remember steps set.
func (o *outline) memory() (all []name) {
	o.root.walk(func(n *node) {
		if n.parent != nil && n.parent.key == "set" && o.kind(n.parent.parent) == "remember" && !strings.Contains(n.key, mark) &&
			!slices.ContainsFunc(all, func(m name) bool { return m.name == n.key }) {
			all = append(all, name{name: n.key, detail: "memory", help: sentence("Set by a step", shortened(o.value(n)))})
		}
	})
	return all
}

var (
	definition = regexp.MustCompile(`(?m)^([ \t]*)def[ \t]+([A-Za-z_]\w*)[ \t]*\(([^\n]*?)\)[ \t]*:`)
	constant   = regexp.MustCompile(`(?m)^([ \t]*)([A-Za-z_]\w*)[ \t]*=[^=]`)
	comments   = regexp.MustCompile(`(?m)((?:^[ \t]*#[^\n]*\n)+)\z`)
	docstring  = regexp.MustCompile(`\A\s*"""([^"]+)"""`)
)

// functions returns the functions and constants that a Starlark text defines at its top level.
func functions(text string) (all []name) {
	base := -1 // the indentation of the top level: that of a block in a scenario
	for _, m := range definition.FindAllStringSubmatchIndex(text, -1) {
		if base < 0 {
			base = m[3] - m[2]
		}
		if m[3]-m[2] != base {
			continue
		}
		called := text[m[4]:m[5]]
		help := ""
		if c := comments.FindString(text[:m[0]]); c != "" {
			help = strings.Join(strings.Fields(strings.ReplaceAll(c, "#", " ")), " ")
		}
		if d := docstring.FindStringSubmatch(text[m[1]:]); d != nil {
			help = strings.Join(strings.Fields(d[1]), " ")
		}
		all = append(all, name{name: called, detail: called + "(" + strings.TrimSpace(text[m[6]:m[7]]) + ")", help: sentence(help, "A function of this scenario")})
	}
	for _, m := range constant.FindAllStringSubmatch(text, -1) {
		if base < 0 {
			base = len(m[1])
		}
		if len(m[1]) == base && !slices.ContainsFunc(all, func(n name) bool { return n.name == m[2] }) {
			all = append(all, name{name: m[2], detail: "constant", help: "A constant of this scenario."})
		}
	}
	return all
}
