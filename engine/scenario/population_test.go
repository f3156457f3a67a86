package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/script/value"
)

// TestAgents checks that attributes and IDs depend only on the seed, the agent and their names.
func TestAgents(t *testing.T) {
	const text = `
population:
  count: 50
  id: "${agent.kind}-${agent.index + 1}-${len(agent.list)}"
  attributes:
    kind: '${pick(["a", "b"])}'
    x: ${uniform(0, 1)}
    pair: ${[uniform(0, 1), agent.x]}
    list: ${sample(range(100), 3)}
    nested: {deep: ["${agent.x}", {n: 1.0}], who: "${agent.index}"}
chain c: {step a: {kind: emit, event: e, data: "${agent}"}}
`
	show := func(text string, seed uint64, index int, names ...string) string {
		s, err := read(text, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := newAgent(&s.population, seed, index, nil)
		var b strings.Builder
		for _, name := range names {
			v, err := a.Field(name)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := value.Text(v)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(shown + " ")
		}
		return b.String()
	}
	names := []string{"id", "kind", "x", "pair", "list", "nested"}
	backwards := []string{"nested", "list", "pair", "x", "kind", "id"}
	seen := map[string]bool{}
	for i := range 50 {
		one := show(text, 7, i, names...)
		if seen[one] {
			t.Errorf("agent %d is like another", i)
		}
		seen[one] = true
		again := strings.Fields(show(text, 7, i, backwards...))
		if got, want := again[len(again)-1], strings.Fields(one)[0]; got != want {
			t.Errorf("asked backwards the id is %s, not %s", got, want)
		}
		if one == show(text, 8, i, names...) {
			t.Errorf("agent %d does not depend on the seed", i)
		}
	}
	other := strings.Replace(text, "    x: ", "    more: ${uniform(0, 1)}\n    x: ", 1)
	if got, want := show(other, 7, 3, names...), show(text, 7, 3, names...); got != want {
		t.Errorf("another attribute changes the rest:\n got %s\nwant %s", got, want)
	}
}

func TestFind(t *testing.T) {
	s, err := read(minimal(`population: {count: 20, id: "x${agent.index}"}`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Program(1)
	if got, err := p.Find([]string{"x7", "x3", "x7"}); err != nil || fmt.Sprint(got) != "[3 7]" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := p.Find([]string{"x3", "y"}); err == nil || err.Error() != "agents: no such agent: y (the first of 20 is x0)" {
		t.Errorf("got %v", err)
	}
	for count, more := range map[string]string{"${params.n}": "; for 50 agents, set the parameter n to 50", "${params.n + 0}": ""} {
		s, err = read(minimal("parameters: {n: 9}\npopulation: {count: '"+count+"'}"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "agents: no such agent: 50 (the first of 9 is agent-1" + more + ")"
		if _, err := s.Program(1).Find([]string{"50"}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	s, err = read(minimal(""), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := s.Program(1).AgentID(0); id != "agent-1" || err != nil {
		t.Errorf("got %s, %v", id, err)
	}
}
