package chain

import (
	"slices"
	"testing"
)

// warned returns the warnings of a valid chain, with their positions.
func warned(t *testing.T, st *stage) []string {
	t.Helper()
	_, report, _ := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range report.Warnings() {
		got = append(got, w.Error())
	}
	return got
}

func TestWarnsOfLoneParallelSteps(t *testing.T) {
	const hint = " (remove `parallel` here, or `depends_on`)"
	for name, c := range map[string]struct {
		steps string
		want  []string
	}{
		"a fan-in without parallel": {steps: `
step a: {kind: python, call: 1, parallel: true}
step b: {kind: python, call: 1, parallel: true}
step c: {kind: python, call: 1, depends_on: [a, b]}`},
		"a fan-in with parallel": {steps: `
step a: {kind: python, call: 1, parallel: true}
step b: {kind: python, call: 1, parallel: true}
step c: {kind: python, call: 1, parallel: true, depends_on: [a, b]}`, want: []string{
			"test.yaml:4:35: c says parallel and waits for a, b: they never run together" + hint,
		}},
		"one in parallel with another": {steps: `
step a: {kind: python, call: 1, parallel: true}
step b: {kind: python, call: 1, parallel: true}
step c: {kind: python, call: 1, parallel: true, depends_on: a}`},
		"a row": {steps: `
step a: {kind: python, call: 1, parallel: true}
step b: {kind: python, call: 1, parallel: true, depends_on: a}
step c: {kind: python, call: 1, parallel: true, depends_on: b}`, want: []string{
			"test.yaml:3:35: b says parallel and waits for a: they never run together" + hint,
			"test.yaml:4:35: c says parallel and waits for b: they never run together" + hint,
		}},
		"one that waits for what does not say so": {steps: `
step a: {kind: python, call: 1, depends_on: []}
step b: {kind: python, call: 1, parallel: true, depends_on: a}`},
		"inside of a loop": {steps: `
step f:
  kind: for
  each: range(3)
  as: i
  do:
    step a: {kind: python, call: 1, parallel: true}
    step b: {kind: python, call: 1, parallel: true, depends_on: a}`, want: []string{
			"test.yaml:8:39: b says parallel and waits for a: they never run together" + hint,
		}},
		"parallel: false": {steps: `
step a: {kind: python, call: 1, parallel: true}
step b: {kind: python, call: 1, parallel: false, depends_on: a}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := warned(t, &stage{steps: c.steps}); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestStatusThatIsTakenForAFieldOfTheBody(t *testing.T) {
	const about = ": `steps.a.status` is the status of the answer, a number; a field of its body is under `body` (write `steps.a.body.status`)"
	for condition, want := range map[string][]string{
		`steps.a.status == "paid"`:          {"test.yaml:3:33" + about},
		`"paid" != steps.a.status`:          {"test.yaml:3:43" + about},
		`steps.a.status in ["paid", "new"]`: {"test.yaml:3:33" + about},
		`steps.a.status == 200`:             nil,
		`steps.a.body.status == "paid"`:     nil,
	} {
		steps := "\nstep a: {kind: http, service: shop, get: /x}\nstep b: {kind: python, when: '" + condition + "', call: 1}"
		if got := warned(t, &stage{steps: steps}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", condition, got, want)
		}
	}
	steps := "\nstep m: {kind: python, call: 1}\nstep b: {kind: python, when: 'steps.m.status == \"paid\"', call: 1}"
	if got := warned(t, &stage{steps: steps}); len(got) > 0 {
		t.Errorf("a step that is not http: got %q", got)
	}
}
