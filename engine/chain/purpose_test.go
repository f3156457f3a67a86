package chain

import (
	"maps"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestPurposes checks that the paths of steps match the paths that sessions record.
func TestPurposes(t *testing.T) {
	st := stage{steps: `
step count: {kind: python, call: 1}
step emit: {kind: emit, event: e}
step each:
  kind: for
  each: "[1, 2]"
  as: item
  do:
    step pause: {kind: wait, for: 0.001}
    step perhaps: {kind: if, condition: "item == 2", then: {step think: {kind: python, call: item}}}
step other: {kind: chain, target: other}
`, others: `
chain other:
  step last: {kind: wait, for: 0.001}
`}
	c, report, _ := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	want := map[string]engine.Purpose{
		"count": engine.ForScripts, "each.pause": engine.ForThinking, "each.perhaps.think": engine.ForScripts, "other.last": engine.ForThinking,
	}
	if got := c.Purposes(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	recorded := map[string]bool{}
	row := st.one(t)
	for i := range row.Steps {
		recorded[engine.StepName(row.Steps[i].Path)] = true
	}
	for path := range want {
		if !recorded[path] {
			t.Errorf("no step is recorded as %s: %v", path, recorded)
		}
	}
}

// TestPurposesAreBounded checks that collecting the steps of chains that run each other many times ends early.
func TestPurposesAreBounded(t *testing.T) {
	b := &Block{Steps: []*Step{{Name: "last", action: &wait{}}}}
	for range 20 {
		outer := &Block{}
		for range 10 {
			outer.Steps = append(outer.Steps, &Step{Name: "s", action: &subchain{chain: &Chain{Body: b}}})
		}
		b = outer
	}
	if n := len((&Chain{Body: b}).Purposes()); n > engine.MostSteps {
		t.Errorf("%d steps", n)
	}
}
