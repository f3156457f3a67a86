package scenario

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestActive checks that a selection without agents is refused, with the filter that matches none and the values that it looked at.
func TestActive(t *testing.T) {
	for _, tt := range []struct{ population, run, agents, want string }{
		{"", "", "", ""},
		{"", "get(agent, 'age', 0) > 50", "", ""},
		{"", "get(agent, 'age', 0) > 99", "", `filter: "get(agent, 'age', 0) > 99" matches none of 5 agents (agent.age is from 18 to 55 or absent)`},
		{"", " agent.city == 'Rome'", "", `filter: "agent.city == 'Rome'" matches none of 5 agents (agent.city is "Ulm" or "Bonn")`},
		{"", "agent.city == 'Ulm' and agent.double < 1", "bob,eve", `matches none of the 2 chosen agents (agent.city is "Bonn"; agent.double is from 36 to 82)`},
		{"", "agent.half == 1", "eve,dan", `(agent.half is from 9 to 27.5)`},
		{"", "agent.city == 'Ulm'", "bob", `"agent.city == 'Ulm'" does not match the chosen agent (agent.city is "Bonn")`},
		{"agent.city == 'Ulm'", "agent.city == 'Bonn'", "", `matches none of the 3 agents that the filter of the scenario leaves (agent.city is "Ulm")`},
		{"agent.city == 'Rome'", "agent.age > 20", "", `"agent.city == 'Rome'" matches none of 5 agents (agent.city is "Ulm" or "Bonn")`},
		{"", "False", "", `filter: "False" matches none of 5 agents`},
		{"", "agent.letters == 'z'", "", `(agent.letters is "a", "b", "c", "d" or "e")`},
		{"", "agent.id == 'z' or agent.same == 2", "", `agent.same is 1)`},
	} {
		lines := "  from: people.csv\n  attributes: {double: \"${agent.age * 2 if agent.age else 0}\", half: \"${agent.age / 2 if agent.age else 0}\", letters: \"${'abcde'[agent.index]}\", same: 1}\n"
		if tt.population != "" {
			lines += "  filter: " + tt.population + "\n"
		}
		s, err := read(minimal("population:\n"+lines), map[string]string{"people.csv": neighbours}, nil)
		if err != nil {
			t.Fatal(told(err))
		}
		set := engine.Settings{Selection: engine.Selection{Filter: tt.run}}
		if tt.agents != "" {
			set.Agents = strings.Split(tt.agents, ",")
		}
		_, err = s.Program(7).Active(context.Background(), &set)
		switch wrong, ok := errors.AsType[*engine.FieldError](err); {
		case tt.want == "" && err != nil, tt.want != "" && !ok:
			t.Errorf("%+v: got %v", tt, err)
		case ok && (wrong.Field != "filter" || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// TestManyValues checks that an error lists only some of many values.
func TestManyValues(t *testing.T) {
	s, err := read(minimal("population: {count: 20, attributes: {name: \"${'n%d' % agent.index}\"}}\n"), nil, nil)
	if err != nil {
		t.Fatal(told(err))
	}
	_, err = s.Program(7).Active(context.Background(), &engine.Settings{Selection: engine.Selection{Filter: "agent.name == 'x'"}})
	if err == nil || !strings.HasSuffix(err.Error(), `(agent.name is "n0", "n1", "n2", "n3", "n4" or one of 15 more)`) {
		t.Errorf("got %v", err)
	}
}
