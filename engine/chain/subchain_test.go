package chain

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestWhileAndChain checks steps that repeat a block or run another chain, in both modes.
func TestWhileAndChain(t *testing.T) {
	tests := []struct {
		name    string
		steps   string
		others  string
		outcome engine.Outcome
		class   engine.Class
		path    string
		records string
		events  string
	}{
		{"while", `
step a:
  kind: while
  condition: not last or last.b < 12
  do:
    step b: {kind: python, call: 10 + params.n}
    step c: {kind: emit, event: c, data: "${steps.b}"}
step d: {kind: emit, event: d, data: "${steps.a}"}
`, "", engine.OK, 0, "", "a:ok a[0].b:ok a[0].c:ok d:ok", `c=13 d=[{"b":13,"c":13}]`},
		{"while of nothing", `
step a: {kind: while, condition: last.b, do: {step b: {kind: emit, event: b}}}
step c: {kind: emit, event: c, data: "${[steps.a, previous]}"}
`, "", engine.OK, 0, "", "a:ok c:ok", `c=[[],[]]`},
		{"while that sees what its passes remember", `
step a:
  kind: while
  condition: (agent.memory.n or 0) < 3
  do:
    step b: {kind: remember, set: {n: "${(agent.memory.n or 0) + 1}"}}
step c: {kind: emit, event: c, data: "${[p.b.n for p in steps.a]}"}
`, "", engine.OK, 0, "", "a:ok a[0].b:ok a[1].b:ok a[2].b:ok c:ok", `c=[1,2,3]`},
		{"just as many passes as the limit", `
step a: {kind: while, condition: (agent.memory.n or 0) < 2, limit: 2, do: {step b: {kind: remember, set: {n: "${(agent.memory.n or 0) + 1}"}}}}
`, "", engine.OK, 0, "", "a:ok a[0].b:ok a[1].b:ok", ""},
		{"past the limit", `
step a: {kind: while, condition: "True", limit: 2, do: {step b: {kind: emit, event: b}}}
step c: {kind: emit, event: c}
`, "", engine.Failed, engine.LoopLimit, "a", "a:failed:loop_limit a[0].b:ok a[1].b:ok c:canceled", "b= b="},
		{"a condition that fails", `
step a: {kind: while, condition: "bad() if last else True", do: {step b: {kind: emit, event: b}}, on_error: continue}
`, "", engine.OK, 0, "", "a:failed:script a[0].b:ok", "b="},
		{"a chain", `
step a: {kind: chain, target: sub, input: {x: "${params.n}"}}
step b: {kind: emit, event: b, data: "${[steps.a, [n for n in steps], input]}"}
`, `
chain sub:
  step c: {kind: emit, event: c, data: "${[input.x, [n for n in steps], not previous]}"}
  step d: {kind: python, call: input.x * 2}
  step e: {kind: python, call: 1, when: false}
  step f: {kind: python, call: bad(), default: 9}
`, engine.OK, 0, "", "a:ok a.c:ok a.d:ok a.e:skipped a.f:failed:script b:ok", `c=[3,[],true] b=[6,["a"],null]`},
		{"a chain in a chain, in a loop, whose variables it does not see", `
step a: {kind: for, each: "[1, 2]", as: i, do: {step b: {kind: chain, target: outer, input: "${i}"}}}
`, `
chain inner:
  step e: {kind: emit, event: e, data: "${input}"}
chain outer:
  step c: {kind: if, condition: input > 1, then: {step d: {kind: chain, target: inner, input: "${input * 10}"}}}
`, engine.OK, 0, "", "a:ok a[0].b:ok a[0].b.c:ok a[1].b:ok a[1].b.c:ok a[1].b.c.d:ok a[1].b.c.d.e:ok", "e=20"},
		{"a chain without input, none of whose steps end ok", `
step a: {kind: chain, target: sub}
step b: {kind: emit, event: b, data: "${steps.a}"}
`, `
chain sub:
  step c: {kind: python, call: 1, when: input}
`, engine.OK, 0, "", "a:ok a.c:skipped b:ok", "b=null"},
		{"a chain that fails", `
step a: {kind: chain, target: sub}
step b: {kind: emit, event: b}
`, `
chain sub:
  step c: {kind: python, call: bad()}
  step d: {kind: emit, event: d}
`, engine.Failed, engine.Script, "a.c", "a:failed:script a.c:failed:script a.d:canceled b:canceled", ""},
		{"parallel chains, one of them stops", `
step a: {kind: chain, target: sub, input: 1, parallel: true}
step b: {kind: chain, target: sub, input: 2, depends_on: [a]}
step c: {kind: chain, target: sub, input: 3, parallel: true}
step d: {kind: emit, event: d}
`, `
chain sub:
  step e: {kind: emit, event: e, data: "${input}"}
  step f: {kind: stop, when: input == 2, because: two}
  step g: {kind: emit, event: g, data: "${input}"}
`, engine.Stopped, 0, "b.f", "a:ok a.e:ok a.f:skipped a.g:ok b:ok b.e:ok b.f:ok", "e=1 g=1 e=2"},
		{"the result of a chain that ends in a group", `
step a: {kind: chain, target: sub, parallel: true}
step b: {kind: chain, target: sub, depends_on: [a], input: "${steps.a}"}
step c: {kind: emit, event: c, data: "${previous}"}
`, `
chain sub:
  step x: {kind: python, call: "[input, 1]", parallel: true}
  step y: {kind: python, call: "[input, 2]", parallel: true}
  step z: {kind: python, call: 3, parallel: true, when: false}
`, engine.OK, 0, "", "a:ok a.x:ok a.y:ok a.z:skipped b:ok b.x:ok b.y:ok b.z:skipped c:ok", `c={"a":[null,2],"b":[[null,2],2]}`},
	}
	for _, tt := range tests {
		for _, mode := range modes {
			t.Run(tt.name+"/"+mode.name, func(t *testing.T) {
				row := stage{steps: tt.steps, others: tt.others, functions: functions, change: mode.change}.one(t)
				if row.Outcome != tt.outcome || row.Class != tt.class || row.Path != tt.path {
					t.Errorf("got %v, class %q, step %q; want %v, %q, %q: %s", row.Outcome, row.Class, row.Path, tt.outcome, tt.class, tt.path, row.Error)
				}
				if got := steps(&row); got != tt.records {
					t.Errorf("steps\n got %s\nwant %s", got, tt.records)
				}
				if got := events(&row); got != tt.events {
					t.Errorf("events\n got %s\nwant %s", got, tt.events)
				}
			})
		}
	}
}

// TestWhileHasALimit checks that a while step runs at most 100 times by default, and that the draws of its condition
// differ each time.
func TestWhileHasALimit(t *testing.T) {
	row := stage{steps: `step a: {kind: while, condition: "True", do: {step b: {kind: emit, event: b}}}`}.one(t)
	if row.Class != engine.LoopLimit || len(row.Events) != 100 {
		t.Errorf("class %q after %d passes", row.Class, len(row.Events))
	}
	passes := map[int]bool{}
	for _, row := range (stage{steps: `step a: {kind: while, condition: chance(0.7), do: {step b: {kind: emit, event: b}}}`, agents: 50}).run(t) {
		passes[len(row.Events)] = true
	}
	if len(passes) < 4 {
		t.Errorf("numbers of passes: %v", passes)
	}
}

// TestTimeOfAChain checks that a step that runs a chain has that chain's timeout by default.
func TestTimeOfAChain(t *testing.T) {
	const others = `
chain sub:
  timeout: 3
  step w: {kind: wait, for: "${input}"}
`
	synctest.Test(t, func(t *testing.T) {
		row := stage{steps: `
step a: {kind: chain, target: sub, input: 60, on_error: continue, parallel: true}
step b: {kind: chain, target: sub, input: 4, timeout: 5, parallel: true}
step c: {kind: chain, target: sub, input: 2}
`, others: others}.one(t)
		want := "a:timeout:timeout a.w:timeout:timeout b:ok b.w:ok c:ok c.w:ok"
		if got := steps(&row); got != want || row.Total != 6*time.Second {
			t.Errorf("after %v\n got %s\nwant %s", row.Total, got, want)
		}
	})
}

// TestEventsOfChains checks that a chain emits the events of the chains that it runs.
func TestEventsOfChains(t *testing.T) {
	c, report, _ := (&stage{steps: `
step a: {kind: emit, event: one}
step b: {kind: chain, target: sub}
step c: {kind: chain, target: sub}
`, others: `
chain sub:
  step d: {kind: while, condition: "False", do: {step e: {kind: emit, event: two}}}
`}).read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	names, all := c.Events()
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "one two" || !all {
		t.Errorf("events %s, all %v", got, all)
	}
	var walked []string
	c.Walk(func(path string, _ *Step) { walked = append(walked, path) })
	if got := strings.Join(walked, " "); got != "a b c" {
		t.Errorf("walked %s", got)
	}
}

// TestRuns checks which chains a chain runs.
func TestRuns(t *testing.T) {
	c, report, _ := (&stage{steps: `
step a: {kind: chain, target: sub}
step b: {kind: if, condition: "True", then: {step c: {kind: chain, target: last}}}
step d: {kind: chain, target: sub}
`, others: `
chain sub:
  step e: {kind: chain, target: inner}
chain inner:
  step f: {kind: stop}
chain last:
  step g: {kind: chain, target: inner}
chain unused:
  step h: {kind: stop}
`}).read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, sub := range c.Runs() {
		names = append(names, sub.Name)
	}
	if got := strings.Join(names, " "); got != "sub last inner" {
		t.Errorf("it runs %s", got)
	}
}
