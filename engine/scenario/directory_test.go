package scenario

import "testing"

// TestDirectory finds agents by ids that end in their number, in another number, or in none.
func TestDirectory(t *testing.T) {
	for _, id := range []string{"", "a${agent.index}", "${agent.index}", "a${11 - agent.index}", "a0${agent.index}", "a${100 + agent.index}", "a-${agent.index - 5}", "${'abcdefghijkl'[agent.index]}"} {
		text := "{count: 12}"
		if id != "" {
			text = `{count: 12, id: "` + id + `"}`
		}
		s, err := read("population: "+text+"\nchain c:\n  step s: {kind: stop}\n", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := s.Program(1)
		if name, ok := p.directory.known(3); ok {
			t.Errorf("%s: the name %s is known before the ids are read", id, name)
		}
		for i := range 12 {
			name, err := p.AgentID(i)
			if err != nil {
				t.Fatal(err)
			}
			if at, ok, err := p.directory.Index(name); at != i || !ok || err != nil {
				t.Errorf("%s: %s is agent %d, %v, error %v; want %d", id, name, at, ok, err, i)
			}
			if known, ok := p.directory.known(i); known != name || !ok {
				t.Errorf("%s: agent %d is called %s, want %s", id, i, known, name)
			}
		}
		for _, unknown := range []string{"", "x", "a12", "b00", "agent-0", "agent-13", "99999999999999999999"} {
			if at, ok, err := p.directory.Index(unknown); ok || err != nil {
				t.Errorf("%s: %q is agent %d, error %v", id, unknown, at, err)
			}
		}
	}
}
