package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// segment returns a segment of steps: "a", or "b:0,1" for one that depends on the first and the second.
func segment(specs ...string) (all []engine.GraphStep) {
	for _, spec := range specs {
		name, after, _ := strings.Cut(spec, ":")
		s := engine.GraphStep{Path: name, Name: name, Label: strings.ToUpper(name)}
		for c := range strings.SplitSeq(after, ",") {
			if c != "" {
				s.After = append(s.After, int(c[0]-'0'))
			}
		}
		all = append(all, s)
	}
	return all
}

// within returns a step that contains blocks.
func within(s engine.GraphStep, blocks ...[]engine.GraphStep) engine.GraphStep {
	for _, b := range blocks {
		s.Inner = append(s.Inner, engine.Graph{Segments: [][]engine.GraphStep{b}})
	}
	return s
}

func TestCriticalPath(t *testing.T) {
	for _, c := range []struct {
		name     string
		segments [][]engine.GraphStep
		took     map[string]time.Duration // seconds
		path     string
		on, all  time.Duration
		names    string
	}{
		{"nothing is known", [][]engine.GraphStep{segment("a"), segment("b")}, nil, "", 0, 0, ""},
		{"one after another", [][]engine.GraphStep{segment("a"), segment("b")}, map[string]time.Duration{"a": 1, "b": 2}, "a b", 3, 3, "A B"},
		{"side by side", [][]engine.GraphStep{segment("a", "b")}, map[string]time.Duration{"a": 1, "b": 2}, "b", 2, 3, "B"},
		{"a short one after a long one", [][]engine.GraphStep{segment("a", "b", "c:0,1")}, map[string]time.Duration{"a": 1, "b": 5, "c": 2}, "b c", 7, 8, "B C"},
		{"two short ones against a long one", [][]engine.GraphStep{segment("a", "b:0", "c")}, map[string]time.Duration{"a": 3, "b": 3, "c": 5}, "a b", 6, 11, "A B"},
		{"named in the file the other way round", [][]engine.GraphStep{segment("b:1", "a")}, map[string]time.Duration{"a": 3, "b": 4}, "a b", 7, 7, "A B"},
		{
			"a loop",
			[][]engine.GraphStep{{within(segment("l")[0], segment("x", "y"))}, segment("z")},
			map[string]time.Duration{"l": 1, "x": 4, "y": 2, "z": 3},
			"l x z", 8, 10, "L Z",
		},
		{
			"a condition",
			[][]engine.GraphStep{{within(segment("i")[0], segment("then"), segment("else"))}},
			map[string]time.Duration{"then": 1, "else": 2},
			"else i", 2, 3, "I",
		},
		{
			"what takes next to nothing is not named",
			[][]engine.GraphStep{segment("a"), segment("b"), segment("c")},
			map[string]time.Duration{"a": 1, "b": 100, "c": 50},
			"a b c", 151, 151, "B C",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := engine.Graph{Segments: c.segments}
			got := FindCriticalPath(&g, func(path string) time.Duration { return c.took[path] * time.Second })
			var on []string
			for path := range got.Paths {
				on = append(on, path)
			}
			slices.Sort(on)
			if path := strings.Join(on, " "); path != c.path || got.Took != c.on*time.Second || got.All != c.all*time.Second || strings.Join(got.Names, " ") != c.names {
				t.Errorf("got %q, %v of %v, %v; want %q, %ds of %ds, %s", path, got.Took, got.All, got.Names, c.path, c.on, c.all, c.names)
			}
		})
	}
}
