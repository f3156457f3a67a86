package chain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestConsolidation checks that a function can choose every third cycle which notes to keep: they replace all notes,
// later steps of the session see the new ones, and a failed session leaves the notes unchanged.
func TestConsolidation(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			rows := stage{functions: functions, journal: &enginetest.Journal{}, change: func(s *engine.Settings) {
				s.Cycles = 7
				if mode.change != nil {
					mode.change(s)
				}
			}, steps: `
step live: {kind: remember, note: "${session.cycle}"}
step important: {kind: python, when: session.cycle % 3 == 2, call: "[n for n in agent.notes if n != session.cycle - 1]"}
step forget: {kind: remember, keep: "${steps.important}", note: "${'summary' if steps.important else None}"}
step see: {kind: emit, event: e, data: "${agent.notes}"}
step extra: {kind: remember, note: extra, when: session.cycle == 5, parallel: true}
step all: {kind: remember, keep: [], when: session.cycle == 5, parallel: true}
step last: {kind: remember, note: last, when: session.cycle == 5, parallel: true}
step fails: {kind: python, call: bad(), when: session.cycle == 2}
`}.run(t)
			want := []string{
				`e=[0]`, `e=[0,1]`, `e=[0,2,"summary"]`, // failed
				`e=[0,1,3]`, `e=[0,1,3,4]`, `e=[0,1,3,5,"summary"]`, `e=["last",6]`,
			}
			for i, row := range rows {
				if got := events(&row); got != want[i] {
					t.Errorf("cycle %d\n got %s\nwant %s", i, got, want[i])
				}
			}
		})
	}
}

// TestKeep checks the values that keep accepts, and that explicitly listed notes are kept even beyond the default
// number.
func TestKeep(t *testing.T) {
	for _, c := range []struct{ keep, want string }{
		{"2", `e=["b","c"]`},
		{`"${1 + 1}"`, `e=["b","c"]`},
		{`"${['x', {'y': 1}]}"`, `e=["x",{"y":1},"c"]`},
		{"[]", `e=["c"]`},
		{`"${steps.skipped}"`, `e=["a","b","c"]`},
		{`"${'many'}"`, ""},
		{`"${0}"`, ""},
		{`"${len(agent.notes) / 4}"`, ""},
		{`"${list(range(100001))}"`, ""},
	} {
		st := stage{functions: functions, steps: `
step skipped: {kind: python, call: "[1]", when: false}
step a: {kind: remember, note: a}
step b: {kind: remember, note: b}
step c: {kind: remember, keep: ` + c.keep + `, note: c}
step e: {kind: emit, event: e, data: "${agent.notes}"}
`}
		_, report, _ := st.read(t)
		if err := report.Err(); err != nil {
			if c.want != "" || !strings.Contains(fmt.Sprint(report.Problems()[0]), "a number from 1 to 100000, or a list of the notes to keep") {
				t.Errorf("keep: %s: %v", c.keep, report.Problems())
			}
			continue
		}
		row := st.one(t)
		if c.want == "" {
			if row.Outcome != engine.Failed || row.Class != engine.Script || !strings.Contains(row.Error, "keep is ") {
				t.Errorf("keep: %s: %v, %s", c.keep, row.Outcome, row.Error)
			}
		} else if got := events(&row); got != c.want {
			t.Errorf("keep: %s: %s, want %s", c.keep, got, c.want)
		}
	}
	row := stage{functions: functions, steps: `step a: {kind: remember, keep: "${list(range(150))}"}`}.one(t)
	if m := (*engine.Memory)(nil).Apply(&row.Delta); len(m.Notes) != 150 {
		t.Errorf("%d of 150 notes stay", len(m.Notes))
	}
}
