package complete

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/throng-sim/throng/assets"
)

// shown writes the tree of an outline: keys with values in parentheses.
func shown(o *outline, n *node) string {
	var parts []string
	for _, c := range n.children {
		name := c.key
		if c.item {
			name = "-"
		}
		if inner := shown(o, c); inner != "" {
			name += "[" + inner + "]"
		} else if v := o.text[c.valFrom:c.valTo]; v != "" {
			name += "(" + v + ")"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, " ")
}

func TestOutline(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1\nb:\n  c: x # y\n  d:\ne: z\n", "a(1) b[c(x) d] e(z)"},
		{"a: {b: 1, c: [x, {d: 2}], 'e?': \"}\"}\nf: 1", "a[b(1) c[-(x) -[d(2)]] e?(\"}\")] f(1)"},
		{"a: {b: 1, c: \nf: 1\n", "a[b(1) c] f(1)"},
		{"a:\n  step b: {kind: http, ser\n  step c: {kind: llm}\n", "a[step b[kind(http) ser] step c[kind(llm)]]"},
		{"a:\n- b: 1\n  c: 2\n- d\n-\n  e: 3\nf: 1\n", "a[-[b(1) c(2)] -(d) -[e(3)]] f(1)"},
		{"a: |\n  b: 1\n\n  c: 2\nd: >-\n  e\nf: 1\n", "a(|\n  b: 1\n\n  c: 2) d(>-\n  e) f(1)"},
		{"a: some\n  more text\nb: 1\n", "a(some\n  more text) b(1)"},
		{"a:\n  ki\n  b: 1\n", "a[ki b(1)]"},
		{"a: {q: ${pick(x)}, n: ${\"}\"}, r: 1}\n", "a[q(${pick(x)}) n(${\"}\"}) r(1)]"},
		{"a: {\n  b: 1,\n  c: 2\n}\nd: 1", "a[b(1) c(2)] d(1)"},
		{"a: \"${x}\nb: 1\n", "a(\"${x}) b(1)"},
	} {
		o := read(c.text)
		if got := shown(o, o.root); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestOutlineAgreesWithTheParser compares the keys of all built-in scenarios and of the examples in the guide of the language with
// those that the YAML parser finds, with their positions.
func TestOutlineAgreesWithTheParser(t *testing.T) {
	for name, text := range scenarios(t) {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var want, got []string
		var walk func(n *yaml.Node)
		walk = func(n *yaml.Node) {
			for i, c := range n.Content {
				if n.Kind == yaml.MappingNode && i%2 == 0 {
					want = append(want, fmt.Sprintf("%d:%d %s", c.Line, c.Column, c.Value))
					continue
				}
				walk(c)
			}
		}
		walk(&doc)
		o := read(text)
		var mine func(n *node)
		mine = func(n *node) {
			for _, c := range n.children {
				if !c.item {
					line := strings.Count(text[:c.keyFrom], "\n")
					col := len([]rune(text[strings.LastIndexByte(text[:c.keyFrom], '\n')+1 : c.keyFrom]))
					got = append(got, fmt.Sprintf("%d:%d %s", line+1, col+1, c.key))
				}
				mine(c)
			}
		}
		mine(o.root)
		if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
			t.Errorf("%s:\n%s", name, difference(got, want))
		}
	}
}

func difference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("key %d: got %s, want %s", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d keys, want %d", len(got), len(want))
}

// scenarios returns the texts of the built-in scenarios and of the examples in the guide of the language.
func scenarios(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range assets.Gallery {
		text, err := fs.ReadFile(assets.Scenarios(), name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	guide, err := fs.ReadFile(assets.Scenarios(), "README.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(guide), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		all[fmt.Sprintf("example %d", i+1)] = text
	}
	if len(all) < 20 {
		t.Fatalf("found only %d scenarios", len(all))
	}
	return all
}
