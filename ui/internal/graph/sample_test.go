package graph

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// sample parses a graph from lines: a name and its kind, optionally followed by its dependencies. A line that begins
// with + runs in parallel with the one above; indented lines are nested.
func sample(text string) engine.Graph {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	g, _ := sampleBlock("test", "", lines, 0)
	return g
}

func sampleBlock(name, prefix string, lines []string, indent int) (g engine.Graph, rest []string) {
	g.Name = name
	for len(lines) > 0 {
		line := strings.TrimLeft(lines[0], " ")
		if len(lines[0])-len(line) < indent || strings.HasSuffix(line, ":") {
			break
		}
		lines = lines[1:]
		line, parallel := strings.CutPrefix(line, "+ ")
		if !parallel || len(g.Segments) == 0 {
			g.Segments = append(g.Segments, nil)
		}
		segment := &g.Segments[len(g.Segments)-1]
		words := strings.Fields(line)
		s := engine.GraphStep{Name: words[0], Label: words[0], Path: prefix + words[0], Kind: words[1]}
		for _, after := range words[min(3, len(words)):] {
			for i := range *segment {
				if (*segment)[i].Name == after {
					s.After = append(s.After, i)
				}
			}
		}
		for len(lines) > 0 && len(lines[0])-len(strings.TrimLeft(lines[0], " ")) > indent {
			block := "do"
			if title, ok := strings.CutSuffix(strings.TrimSpace(lines[0]), ":"); ok {
				block, lines = title, lines[1:]
			}
			var inner engine.Graph
			inner, lines = sampleBlock(block, s.Path+".", lines, indent+2)
			s.Inner = append(s.Inner, inner)
		}
		*segment = append(*segment, s)
	}
	return g, lines
}

// shopping is a chain with every kind of step.
const shopping = `
decide llm
stay stop
enter http
browse http
fill_cart for
  look http
  likes if
    then:
    add_cart http
    note remember
    else:
    skip emit
+ reviews connector
+ prices connector
+ a_step_with_a_very_long_name_that_is_cut connector
+ compare python < reviews prices
+ summary llm < compare
coupons http
use_coupons while
  apply http
checkout if
  then:
  order http
  record emit
  spend remember
  else:
  abandon emit
`

// long is a chain of n steps, with a loop around every tenth.
func long(n int) engine.Graph {
	var w strings.Builder
	for i := range n {
		if i%10 == 9 {
			fmt.Fprintf(&w, "loop%d for\n  inner%d http\n  deep%d while\n    core%d http\n", i, i, i, i)
			continue
		}
		fmt.Fprintf(&w, "step%d http\n", i)
	}
	return sample(w.String())
}

// crowd is a group of n steps in columns. Each step depends on several earlier ones.
func crowd(n int) engine.Graph {
	var w strings.Builder
	for i := range n {
		fmt.Fprintf(&w, "+ s%d http", i)
		if i > 4 {
			fmt.Fprintf(&w, " < s%d s%d s%d", i-1-i%5, i*7%(i-i%5), i/2)
		}
		w.WriteString("\n")
	}
	return sample(w.String())
}
