package chain

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what it was; got\n%s", path, got)
	}
}

// disordered are chains with errors in the order of their steps.
var disordered = []struct{ name, steps, others string }{
	{name: "an unknown step, and one that is near", steps: `
step entities: {kind: python, call: 1, parallel: true}
step summarize: {kind: python, call: 1, depends_on: [entitys, sentiment]}
`},
	{name: "control flow", steps: `
step a: {kind: if, condition: "True", parallel: true, then: {step x: {kind: emit, event: e}}}
step b: {kind: for, each: "[1]", as: i, depends_on: a, do: {step y: {kind: emit, event: e}}}
step c: {kind: while, condition: "False", depends_on: [a], parallel: true, do: {step z: {kind: emit, event: e}}}
step d: {type: stop, parallel: true}
`},
	{name: "itself", steps: `
step a: {kind: python, call: 1, depends_on: a}
step b: {kind: python, call: 1, depends_on: [a, b, a]}
`},
	{name: "a circle of two", steps: `
step summarize: {kind: python, call: 1, depends_on: [entities]}
step entities: {kind: python, call: 1, depends_on: [summarize]}
`},
	{name: "two circles, one of three, and a step that only leads there", steps: `
step lead: {kind: python, call: 1, depends_on: [c]}
step a: {kind: python, call: 1, depends_on: [b]}
step b: {kind: python, call: 1, depends_on: [c]}
step c: {kind: python, call: 1, depends_on: [lone, a]}
step d: {kind: python, call: 1, depends_on: [e]}
step e: {kind: python, call: 1, depends_on: [d]}
step lone: {kind: python, call: 1, parallel: true}
`},
	{name: "circles through implied edges", steps: `
step a: {kind: python, call: 1, depends_on: [plain]}
step plain: {kind: python, call: 1}
step b: {kind: python, call: 1, depends_on: [plain, a]}
step c: {kind: python, call: 1, depends_on: [behind]}
step also: {kind: emit, event: e}
step behind: {kind: python, call: 1, parallel: true}
`},
	{name: "steps of other blocks", steps: `
step a: {kind: if, condition: "True", then: {step inner: {kind: python, call: 1, depends_on: [outer]}}}
step outer: {kind: python, call: 1, depends_on: [inner]}
step b: {kind: if, condition: "True", then: {step x: {kind: python, call: 1, parallel: true}, step y: {kind: python, call: 1, depends_on: deep}}}
step c: {kind: if, condition: "True", then: {step d: {kind: if, condition: "True", then: {step deep: {kind: emit, event: e}}}}}
`},
	{name: "naming parallel steps", steps: `
step a: {kind: python, call: 1, parallel: true}
step b: {kind: emit, event: e, parallel: true, data: "${steps.a}"}
step c: {kind: emit, event: e, depends_on: [b], data: "${[steps.b, steps.a, steps.d, steps.c]}"}
step d: {kind: emit, event: e, depends_on: [c], data: "${[steps.b, steps.c, steps.a]}"}
step f: {kind: emit, event: e, data: "${[steps.a, steps.b, steps.c, steps.d]}"}
`},
	{name: "no names", steps: `
step a: {kind: python, call: 1, depends_on: {b: 1}}
step b: {kind: python, call: 1, depends_on: [[a], 1.5]}
`},
	{name: "chains that run each other", steps: `
step a: {kind: chain, target: second}
step b: {kind: chain, target: third, parallel: true}
`, others: `
chain second:
  step c: {kind: if, condition: "True", then: {step d: {kind: chain, target: third}}}
chain third:
  step e: {kind: chain, target: test}
  step f: {kind: chain, target: thrid}
  step g: {kind: emit, event: e, data: "${[steps.a, input.x]}"}
`},
}

// TestOrderMistakes checks the errors and their positions.
func TestOrderMistakes(t *testing.T) {
	var b strings.Builder
	for _, tt := range disordered {
		b.WriteString("# " + tt.name + "\n")
		_, report, _ := (&stage{steps: tt.steps, others: tt.others}).read(t)
		if err := report.Print(&b); err != nil {
			t.Fatal(err)
		}
		if report.Err() == nil {
			t.Errorf("%s: no mistakes", tt.name)
		}
		b.WriteByte('\n')
	}
	golden(t, "order.txt", b.String())
}

// TestWarnsOfUnorderedChanges checks the warning about two unordered requests that change the same service, directly or
// through other chains.
func TestWarnsOfUnorderedChanges(t *testing.T) {
	const change = "kind: http, service: shop, post: /x"
	tests := []struct{ name, steps, want string }{
		{"two", "step a: {" + change + ", parallel: true}\nstep b: {" + change + ", parallel: true}", "3:3: a and b change the service shop in no order (make sure that they are independent, or add `depends_on: [a]`)"},
		{"ordered", "step a: {" + change + ", parallel: true}\nstep b: {" + change + ", depends_on: [a]}", ""},
		{"ordered by way of another", "step b: {" + change + ", depends_on: [c]}\nstep c: {kind: python, call: 1, depends_on: [a]}\nstep a: {" + change + ", parallel: true}", ""},
		{"plain", "step a: {" + change + "}\nstep b: {" + change + "}", ""},
		{"reading", "step a: {" + change + ", parallel: true}\nstep b: {kind: http, service: shop, get: /x, parallel: true}", ""},
		{"of another chain", "step a: {kind: chain, target: sub, parallel: true}\nstep b: {kind: chain, target: sub, parallel: true}", "a and b change"},
		{"the first two of a fan", "step a: {" + change + ", parallel: true}\nstep b: {" + change + ", depends_on: [a]}\nstep c: {" + change + ", depends_on: [a]}", "4:3: b and c change"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, report, _ := (&stage{steps: tt.steps, others: "chain sub:\n  step s: {kind: if, condition: 'True', then: {step t: {" + change + "}}}\n"}).read(t)
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range report.Warnings() {
				got = append(got, w.Error())
			}
			if len(got) > 1 || len(got) == 1 != (tt.want != "") || !strings.Contains(strings.Join(got, ""), tt.want) {
				t.Errorf("warnings %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPlan checks the order of steps that is shown to users.
func TestPlan(t *testing.T) {
	st := stage{steps: `
step first: {kind: python, call: 1}
step sentiment: {kind: python, call: 1, parallel: true}
step summarize: {kind: python, call: 1, depends_on: [check, sentiment, first]}
step entities: {kind: python, call: 1, parallel: true}
step check: {kind: python, call: 1, depends_on: entities}
step branch:
  kind: if
  condition: "True"
  then:
    step x: {kind: python, call: 1, depends_on: []}
    step y: {kind: python, call: 1, depends_on: [x]}
step alone: {kind: python, call: 1, depends_on: [first]}
`}
	c, report, _ := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	p := c.Plan()
	var got []string
	for _, seg := range p.Segments {
		var names []string
		for _, s := range seg {
			name := s.Name
			if len(s.After) > 0 {
				name += "(" + strings.Join(s.After, " ") + ")"
			}
			names = append(names, name)
			for _, inner := range s.Inner {
				for _, seg := range inner.Segments {
					names = append(names, "inner of "+seg[0].Name)
				}
			}
		}
		got = append(got, strings.Join(names, ", "))
	}
	want := []string{
		"first", "sentiment, summarize(check sentiment), entities, check(entities)", "branch, inner of x", "alone",
	}
	if !slices.Equal(got, want) {
		t.Errorf("segments\n got %q\nwant %q", got, want)
	}
	if got, want := strings.Join(p.Longest, " "), "first entities check summarize branch alone"; got != want {
		t.Errorf("the longest row is %s, want %s", got, want)
	}
}

// TestTheLongestRowIsOfWhatTakesTime checks that a step that sends requests, waits or runs a chain counts more toward
// the longest path than any number of steps that only compute.
func TestTheLongestRowIsOfWhatTakesTime(t *testing.T) {
	for slow, want := range map[string]string{
		"{kind: python, call: 1":                   "a b c",
		"{kind: wait, for: 1":                      "a slow",
		"{kind: chain, target: other":              "a slow",
		"{kind: http, service: shop, get: /":       "a slow",
		"{kind: connector, target: nobody_defined": "a slow",
	} {
		st := &stage{steps: `
step a: {kind: python, call: 1, parallel: true}
step b: {kind: python, call: 1, depends_on: a}
step c: {kind: emit, event: e, depends_on: b}
step slow: ` + slow + `, depends_on: a}
`, others: "chain other: {step x: {kind: python, call: 1}}"}
		c, report, _ := st.read(t)
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Plan().Longest, " "); got != want {
			t.Errorf("%s}: got %s, want %s", slow, got, want)
		}
	}
}

// TestLargeGroups checks that a file with the largest group, and one with the longest path, are read quickly.
func TestLargeGroups(t *testing.T) {
	var row strings.Builder
	for i := range maxChainSteps {
		row.WriteString("- {name: s" + itoa(i) + ", kind: python, call: 1, depends_on: [")
		if i > 0 {
			row.WriteString("s" + itoa(i-1))
		}
		row.WriteString("]}\n")
	}
	c, report, _ := (&stage{steps: row.String()}).read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Plan().Longest); n != maxChainSteps {
		t.Errorf("the longest row has %d steps", n)
	}
}
