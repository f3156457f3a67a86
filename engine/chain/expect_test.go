package chain

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/chain/odds"
)

// words formats the expected requests to one service.
func counted(r Requests) string {
	text := fmt.Sprintf("%s %d to %d", r.Service.Name, r.Least, r.Most)
	if !math.IsNaN(r.Mean) {
		text += fmt.Sprintf(" mean %g", r.Mean)
	}
	for _, l := range r.Loops {
		text += fmt.Sprintf(", %d to %d for each %s of %s", l.Least, l.Most, l.As, l.Path)
	}
	if r.More {
		text += ", more"
	}
	return text
}

func TestExpect(t *testing.T) {
	const get = "{kind: http, service: shop, get: /}"
	for name, c := range map[string]struct{ steps, others, want string }{
		"nothing":              {steps: "step a: {kind: emit, event: e}", want: ""},
		"two requests":         {steps: "step a: " + get + "\nstep b: " + get, want: "shop 2 to 2 mean 2"},
		"a condition":          {steps: "step a: " + get + "\nstep b: {kind: http, service: shop, get: /, when: agent.index > 0}", want: "shop 1 to 2"},
		"a condition that is":  {steps: "step a: {kind: http, service: shop, get: /, when: 1 < 2}", want: "shop 1 to 1 mean 1"},
		"one that is not":      {steps: "step a: {kind: http, service: shop, get: /, when: params.n > 3}", want: "shop 0 to 0 mean 0"},
		"in parallel":          {steps: "step a: {kind: http, service: shop, get: /, parallel: true}\nstep b: {kind: http, service: shop, get: /, parallel: true}", want: "shop 2 to 2 mean 2"},
		"behind a stop":        {steps: "step a: " + get + "\nstep s: {kind: stop, when: agent.index > 0}\nstep b: " + get, want: "shop 1 to 2"},
		"behind the end":       {steps: "step a: " + get + "\nstep s: {kind: stop}\nstep b: " + get, want: "shop 1 to 1 mean 1"},
		"behind a stop inside": {steps: "step i: {kind: if, condition: agent.index, then: {step s: {kind: stop}}}\nstep b: " + get, want: "shop 0 to 1"},
		"either way": {
			steps: "step i: {kind: if, condition: agent.index, then: {step a: " + get + "}, else: {step b: " + get + ", step c: " + get + "}}", want: "shop 1 to 2",
		},
		"the same either way": {steps: "step i: {kind: if, condition: agent.index, then: {step a: " + get + "}, else: {step b: " + get + "}}", want: "shop 1 to 1 mean 1"},
		"one way":             {steps: "step i: {kind: if, condition: agent.index, then: {step a: " + get + "}}", want: "shop 0 to 1"},
		"the way that is":     {steps: "step i: {kind: if, condition: 'False', then: {step a: " + get + "}}", want: ""},
		"an unknown list": {
			steps: "step f: {kind: for, each: agent.memory.list, as: item, do: {step a: " + get + ", step b: {kind: http, service: shop, get: /, when: item}}}",
			want:  "shop 0 to 0, 1 to 2 for each item of f",
		},
		"a known list":     {steps: "step f: {kind: for, each: range(params.n), as: item, do: {step a: " + get + "}}", want: "shop 3 to 3 mean 3"},
		"an empty list":    {steps: "step f: {kind: for, each: '[]', as: item, do: {step s: {kind: stop}}}\nstep a: " + get, want: "shop 1 to 1 mean 1"},
		"a limit":          {steps: "step f: {kind: for, each: agent.memory.list, as: item, limit: 5, do: {step a: " + get + "}}", want: "shop 0 to 5"},
		"a while":          {steps: "step w: {kind: while, condition: last, limit: 7, do: {step a: " + get + ", step b: " + get + "}}", want: "shop 0 to 14"},
		"a while that not": {steps: "step w: {kind: while, condition: 'False', do: {step a: " + get + "}}", want: ""},
		"a stop in a loop": {steps: "step f: {kind: for, each: range(3), as: item, do: {step a: " + get + ", step s: {kind: stop, when: agent.index}}}\nstep b: " + get, want: "shop 1 to 4"},
		"the end in a loop": {
			steps: "step f: {kind: for, each: range(3), as: item, do: {step a: " + get + ", step s: {kind: stop}}}\nstep b: " + get, want: "shop 1 to 1 mean 1",
		},
		"loops in loops": {
			steps: "step f: {kind: for, each: agent.memory.list, as: x, do: {step a: " + get + ", step g: {kind: for, each: x, as: y, do: {step b: " + get + "}}}}",
			want:  "shop 0 to 0, 1 to 1 for each x of f, 1 to 1 for each y of f.g",
		},
		"a chain": {
			steps:  "step a: {kind: chain, target: other}\nstep b: {kind: chain, target: other, when: agent.index}",
			others: "chain other:\n  step a: " + get + "\n  step f: {kind: for, each: input, as: x, do: {step b: " + get + "}}\n",
			want:   "shop 1 to 2, 1 to 1 for each x of a.f, 0 to 1 for each x of b.f",
		},
		"a chain that stops": {
			steps:  "step a: {kind: chain, target: other}\nstep b: " + get,
			others: "chain other:\n  step a: {kind: stop}\n",
			want:   "shop 0 to 0 mean 0",
		},
		"very many": {
			steps: "step f: {kind: while, condition: last, limit: 2000000000, do: {step g: {kind: while, condition: last, limit: 2000000000, do: {step a: " + get + "}}}}",
			want:  fmt.Sprint("shop 0 to ", odds.Endless),
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := stage{steps: c.steps, others: c.others}
			of, report, _ := st.read(t)
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range of.Expect() {
				got = append(got, counted(r))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// Chains that run each other many times are counted once each, and the list of loops is limited.
func TestExpectOfManyChains(t *testing.T) {
	const depth = 60
	var others strings.Builder
	for i := range depth {
		fmt.Fprintf(&others, "chain c%d:\n  step a: {kind: chain, target: c%d}\n  step b: {kind: chain, target: c%d}\n", i, i+1, i+1)
	}
	fmt.Fprintf(&others, "chain c%d:\n  step a: {kind: http, service: shop, get: /}\n  step f: {kind: for, each: input, as: x, do: {step b: {kind: http, service: shop, get: /}}}\n", depth)
	st := stage{steps: "step a: {kind: chain, target: c0}", others: others.String()}
	c, report, _ := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	r := c.Expect()[0]
	if r.Least != odds.Endless || r.Most != odds.Endless || len(r.Loops) != odds.MaxLoops || !r.More {
		t.Errorf("got %d to %d, %d loops, more %v", r.Least, r.Most, len(r.Loops), r.More)
	}
}
