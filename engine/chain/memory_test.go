package chain

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestMemory checks what a session reads from its agent's memory and what it stores there.
func TestMemory(t *testing.T) {
	st := stage{journal: &enginetest.Journal{}, change: func(s *engine.Settings) { s.Cycles = 3 }, steps: `
step none: {kind: emit, event: e, when: false}
step before: {kind: emit, event: before, data: "${[agent.memory.x, agent.memory.list, agent.notes, [n for n in agent.memory]]}"}
step a: {kind: remember, set: {x: "${(agent.memory.x or 0) + 1.0}", list: [1, "${session.cycle}"]}, note: "cycle ${session.cycle}", keep: 2}
step b: {kind: remember, set: {x: "${agent.memory.x * 10}"}, note: "${steps.none.z}"}
step after: {kind: emit, event: after, data: "${[agent.memory.x, agent.notes, steps.a]}"}
step bad: {kind: remember, set: {x: 0, y: "${bad()}"}, note: never, on_error: continue}
step worse: {kind: remember, set: {x: 1}, note: "${bad}", on_error: continue}
step fails: {kind: python, call: bad(), when: session.cycle == 1}
`, functions: functions}
	rows := st.run(t)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	want := []string{
		`before=[null,null,[],[]] after=[10,["cycle 0"],{"x":1,"list":[1,0]}]`,
		`before=[10,[1,0],["cycle 0"],["x","list"]] after=[110,["cycle 0","cycle 1"],{"x":11,"list":[1,1]}]`,
		// The session of cycle 1 failed: its writes are discarded, and its events stay.
		`before=[10,[1,0],["cycle 0"],["x","list"]] after=[110,["cycle 0","cycle 2"],{"x":11,"list":[1,2]}]`,
	}
	for i, row := range rows {
		if got := events(&row); got != want[i] {
			t.Errorf("cycle %d\n got %s\nwant %s", i, got, want[i])
		}
	}
	if d := rows[1].Delta; !d.Empty() {
		t.Errorf("a failed session keeps %+v", d)
	}
	if n := len(rows[0].Delta.Set); n != 2 {
		t.Errorf("%d fields in the delta, want one for each name", n)
	}
}

// TestDrawsDependOnTheirPlaceOnly checks that a draw is a function of step path and field, and the same again.
func TestDrawsDependOnTheirPlaceOnly(t *testing.T) {
	const chain = `
step a: {kind: emit, event: "x", data: {p: "${uniform(0, 1)}", q: "${uniform(0, 1)}"}}
step b: {kind: emit, event: "x", data: {p: "${uniform(0, 1)}"}}
step c:
  kind: for
  each: range(2)
  as: i
  do:
    step d: {kind: emit, event: "x", data: "${uniform(0, 1)}"}
step e: {kind: python, call: "uniform(0, 1)"}
step f: {kind: emit, event: "x", data: "${[steps.e, uniform(0, 1), uniform(0, 1)]}"}
`
	first := stage{steps: chain, agents: 20, change: func(s *engine.Settings) { s.Limit, s.Ceiling = 1, 1 }}.run(t)
	again := stage{steps: "step z: {kind: python, call: \"uniform(0, 1)\"}\n" + strings.TrimSpace(chain), agents: 20}.run(t)
	byAgent := map[int]string{}
	draws := map[string]bool{}
	for _, row := range first {
		byAgent[row.Agent] = events(&row)
		for _, number := range strings.FieldsFunc(events(&row), func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
			if draws[number] {
				t.Errorf("%s was drawn twice", number)
			}
			draws[number] = true
		}
	}
	if len(draws) != 20*8 {
		t.Errorf("%d draws", len(draws))
	}
	for _, row := range again {
		if got := events(&row); got != byAgent[row.Agent] {
			t.Errorf("agent %d\n got %s\nwant %s", row.Agent, got, byAgent[row.Agent])
		}
	}
}
