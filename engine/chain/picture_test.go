package chain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// sketch formats a graph as lines.
func sketch(w *strings.Builder, g engine.Graph, indent string) {
	fmt.Fprintf(w, "%s%s\n", indent, g.Name)
	for i, segment := range g.Segments {
		for _, s := range segment {
			fmt.Fprintf(w, "%s  %d %s: %s %s after %v", indent, i, s.Path, s.Kind, s.Service, s.After)
			if s.Label != s.Name {
				fmt.Fprintf(w, ", called %s", s.Label)
			}
			if s.Controls != "" {
				fmt.Fprintf(w, ", says %s", s.Controls)
			}
			for _, f := range s.Facts {
				fmt.Fprintf(w, ", %s %s", f.Word, f.Text)
			}
			w.WriteString("\n")
			for _, inner := range s.Inner {
				sketch(w, inner, indent+"    ")
			}
		}
	}
}

func TestGraph(t *testing.T) {
	c, report, _ := (&stage{steps: `
step enter: {kind: http, service: shop, post: /session, timeout: 2m, retry: {attempts: 3}, label: Enter the shop}
step a: {kind: python, call: 1, parallel: true}
step b: {kind: chain, target: other, parallel: true, when: agent.index > 3}
step c: {kind: python, call: 1, depends_on: [a, b, enter], on_error: continue}
step fill:
  kind: for
  each: "[1, 2]"
  as: item
  limit: 9
  do:
    step add: {kind: http, service: shop, post: /items}
step turns: {kind: while, condition: not last, do: {step turn: {kind: emit, event: e}}}
step pay:
  kind: if
  condition: agent.index == 1
  then: {step order: {kind: emit, event: order}}
  else: {step leave: {kind: emit, event: leave}}
step perhaps: {kind: if, condition: "True", then: {step done: {kind: stop}}}
`, others: `
chain other:
  step one: {kind: wait, for: 1}
`}).read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var w strings.Builder
	sketch(&w, c.Graph(), "")
	golden(t, "graph.txt", w.String())
	if got := c.Graph().Parallel(); got != 3 { // a, b and c
		t.Errorf("%d steps may run at the same time", got)
	}
}

// TestAGraphIsBounded checks that the graph of chains that run each other many times is cut early.
func TestAGraphIsBounded(t *testing.T) {
	var others strings.Builder
	for i := range 20 {
		fmt.Fprintf(&others, "chain c%d:\n", i)
		for k := range 10 {
			if i == 19 {
				fmt.Fprintf(&others, "  step s%d: {kind: emit, event: e}\n", k)
			} else {
				fmt.Fprintf(&others, "  step s%d: {kind: chain, target: c%d}\n", k, i+1)
			}
		}
	}
	for _, steps := range []string{
		"step all: {kind: chain, target: c0}",
		groupOf(1500),
	} {
		c, report, _ := (&stage{steps: steps, others: others.String()}).read(t)
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		g := c.Graph()
		n := 0
		g.Walk(func(s *engine.GraphStep) {
			n++
			for _, i := range s.After {
				if i < 0 || i >= engine.MostDrawn {
					t.Fatalf("%s waits for %d, which is left out", s.Path, i)
				}
			}
		})
		if n != engine.MostDrawn || !g.Cut || g.Parallel() != 0 {
			t.Errorf("%d steps, cut %v", n, g.Cut)
		}
	}
}

// groupOf returns steps that run in parallel. Each fifth one waits for the last one.
func groupOf(n int) string {
	var w strings.Builder
	for i := range n {
		after := ""
		if i%5 == 0 && i < n-1 {
			after = fmt.Sprintf(", depends_on: [g%d]", n-1)
		}
		fmt.Fprintf(&w, "step g%d: {kind: emit, event: e, parallel: true%s}\n", i, after)
	}
	return w.String()
}
