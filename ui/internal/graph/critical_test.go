package graph

import (
	"slices"
	"strings"
	"testing"
)

// TestCriticalWires checks which lines are drawn thick for the critical steps. "a>b" is a line between two steps. "·"
// is an end without a step, such as the ends of a block and points where several lines meet.
func TestCriticalWires(t *testing.T) {
	for _, c := range []struct{ name, of, steps, want string }{
		{"none", "a http\nb http", "", ""},
		{"all", "a http\nb http", "a b", "a>b ·>a"},
		{"only the first", "a http\nb http", "a", "·>a"},
		{"one of two in parallel", "a http\nb http\n+ c http\nd http", "a c d", "a>· c>· ·>a ·>c ·>d"},
		{"a way through a group", "+ a http\n+ b http\n+ c http < a b\n+ d http", "b c", "b>c c>· ·>b ·>·"},
		{"a long way", "+ a http\n+ b http\n+ c http < b\n+ d http < c\n+ e http < a d", "a e", "a>· ·>a ·>e ·>·"},
		{"what is inside", "a for\n  x http\n  y http\nb http", "a a.x b", "a>b ·>a ·>a.x"},
		{"the chosen block", "a if\n  then:\n  x http\n  else:\n  y http", "a a.y", "·>a ·>a.y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := sample(c.of)
			l := arrange(&g, testSizes, 2000)
			states := make([]State, len(l.boxes))
			lefts, rights := map[joint]string{}, map[joint]string{}
			for i := range l.boxes {
				b := &l.boxes[i]
				states[i].Critical = slices.Contains(strings.Fields(c.steps), b.step.Path)
				lefts[joint{int(b.x * 4), int((b.y + l.port()) * 4)}] = b.step.Path
				rights[joint{int((b.x + b.w) * 4), int((b.y + l.port()) * 4)}] = b.step.Path
			}
			var got []string
			for i, on := range l.critical(states) {
				if on {
					from, to := l.ends(&l.wires[i])
					got = append(got, orDot(rights[from])+">"+orDot(lefts[to]))
				}
			}
			slices.Sort(got)
			if got = slices.Compact(got); strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", strings.Join(got, " "), c.want)
			}
		})
	}
}

func orDot(name string) string {
	if name == "" {
		return "·"
	}
	return name
}
