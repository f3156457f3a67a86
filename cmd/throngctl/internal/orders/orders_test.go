package orders

import (
	"strings"
	"testing"
)

// TestRunsAmongAgents checks that a run ID may come before agents.
func TestRunsAmongAgents(t *testing.T) {
	for _, c := range []struct{ args, run, agents string }{
		{"ann bob", "", "ann bob"},
		{"20300301-120000-abcd ann", "20300301-120000-abcd", "ann"},
		{"20300301- 3", "20300301-", "3"},
		{"20300301 3", "", "20300301 3"},
		{"20300301-120000-abcd", "", "20300301-120000-abcd"},
		{"shopper-3 4", "", "shopper-3 4"},
	} {
		a := someAgents{strings.Fields(c.args)}
		if run, agents := a.split(); run != c.run || strings.Join(agents, " ") != c.agents {
			t.Errorf("%s: run %q, agents %v", c.args, run, agents)
		}
	}
}
