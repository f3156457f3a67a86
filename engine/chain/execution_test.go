package chain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/script/value"
)

const functions = `
def fail(why):
    return [][why]

def bad():
    fail(3)
    return 1
`

// TestSessions checks the outcome, the error, the step records and the events of chains.
func TestSessions(t *testing.T) {
	tests := []struct {
		name    string
		steps   string
		outcome engine.Outcome
		class   engine.Class
		path    string
		records string
		events  string
	}{
		{"ok", `
step a: {kind: python, call: 1 + 1}
step b: {kind: emit, event: e, data: "${steps.a}"}
`, engine.OK, 0, "", "a:ok b:ok", "e=2"},
		{"list form, with type", `
- {name: a, type: python, call: 2}
- {name: b, kind: emit, event: e, data: "${previous}"}
`, engine.OK, 0, "", "a:ok b:ok", "e=2"},
		{"under steps", `
timeout: 5
steps:
  step a: {kind: emit, event: e}
`, engine.OK, 0, "", "a:ok", "e="},
		{"skipped", `
step a: {kind: python, when: "False", call: bad()}
step b: {kind: emit, event: e, data: "${[steps.a, steps.a.x.y, not steps.a]}"}
step c: {kind: emit, event: e, when: false}
`, engine.OK, 0, "", "a:skipped b:ok c:skipped", "e=[null,null,true]"},
		{"fails", `
step a: {kind: emit, event: kept}
step b: {kind: python, call: bad()}
step c: {kind: emit, event: e}
step d: {kind: if, condition: "True", then: {step x: {kind: emit, event: e}}}
`, engine.Failed, engine.Script, "b", "a:ok b:failed:script c:canceled d:canceled", "kept="},
		{"when fails", `
step a: {kind: emit, event: e, when: bad()}
`, engine.Failed, engine.Script, "a", "a:failed:script", ""},
		{"continues", `
step a: {kind: python, call: bad(), on_error: continue}
step b: {kind: emit, event: e, data: "${steps.a}"}
`, engine.OK, 0, "", "a:failed:script b:ok", "e=null"},
		{"on_error: fail is the default", `
step a: {kind: python, call: bad(), on_error: fail}
`, engine.Failed, engine.Script, "a", "a:failed:script", ""},
		{"default", `
step a: {kind: python, call: bad(), default: {x: "${params.n}"}}
step b: {kind: emit, event: e, data: "${steps.a.x + 1}"}
`, engine.OK, 0, "", "a:failed:script b:ok", "e=4"},
		{"default fails too", `
step a: {kind: python, call: bad(), default: "${bad()}"}
step b: {kind: emit, event: e}
`, engine.Failed, engine.Script, "a", "a:failed:script b:canceled", ""},
		{"stop", `
step a: {kind: stop, when: "False"}
step b: {kind: stop, because: "${params.n} reasons", default: 1}
step c: {kind: emit, event: e}
`, engine.Stopped, 0, "b", "a:skipped b:ok", ""},
		{"stop inside", `
step a:
  kind: for
  each: "[1, 2]"
  as: i
  on_error: continue
  do:
    step b: {kind: stop, when: i == 2}
    step c: {kind: emit, event: e, data: "${i}"}
`, engine.Stopped, 0, "a[1].b", "a:ok a[0].b:skipped a[0].c:ok a[1].b:ok", "e=1"},
		{"for", `
step a:
  kind: for
  each: "[10, 20]"
  as: i
  do:
    step b: {kind: python, call: i + 1}
    step c: {kind: python, call: steps.b + 1, when: i > 10}
step d: {kind: emit, event: e, data: "${steps.a}"}
`, engine.OK, 0, "", "a:ok a[0].b:ok a[0].c:skipped a[1].b:ok a[1].c:ok d:ok", `e=[{"b":11,"c":null},{"b":21,"c":22}]`},
		{"for of nothing", `
step a: {kind: for, each: "None", as: i, do: {step b: {kind: emit, event: e}}}
step c: {kind: for, each: steps.a, as: i, do: {step d: {kind: emit, event: e}}}
step f: {kind: for, each: "range(2)", as: i, do: {step g: {kind: emit, event: e, data: "${i}"}}}
`, engine.OK, 0, "", "a:ok c:ok f:ok f[0].g:ok f[1].g:ok", "e=0 e=1"},
		{"for of no list", `
step a: {kind: for, each: "'abc'", as: i, do: {step b: {kind: emit, event: e}}}
`, engine.Failed, engine.Script, "a", "a:failed:script", ""},
		{"limit", `
step a: {kind: for, each: "[1, 2, 3]", limit: 2, as: i, do: {step b: {kind: emit, event: e, data: "${i}"}}}
`, engine.Failed, engine.LoopLimit, "a", "a:failed:loop_limit a[0].b:ok a[1].b:ok", "e=1 e=2"},
		{"fails inside", `
step a:
  kind: for
  each: "[1, 2]"
  as: i
  do:
    step b: {kind: python, call: bad(), when: i == 2}
    step c: {kind: emit, event: e}
step d: {kind: emit, event: e}
`, engine.Failed, engine.Script, "a[1].b", "a:failed:script a[0].b:skipped a[0].c:ok a[1].b:failed:script a[1].c:canceled d:canceled", "e="},
		{"fails inside a step that continues", `
step a:
  kind: if
  condition: "True"
  default: 7
  then:
    step b: {kind: python, call: bad()}
    step c: {kind: emit, event: e}
step d: {kind: emit, event: e, data: "${steps.a}"}
`, engine.OK, 0, "", "a:failed:script a.b:failed:script a.c:canceled d:ok", "e=7"},
		{
			"if", `
step a: {kind: if, condition: "1 > 0", then: {step b: {kind: python, call: 1}}, else: {step c: {kind: python, call: 2}}}
step d: {kind: if, condition: "1 < 0", then: {step x: {kind: python, call: 1}}, else: {step y: {kind: python, call: 2}}}
step f: {kind: if, condition: "[]", then: {step z: {kind: python, call: 1}}}
step e: {kind: emit, event: e, data: "${[steps.a, steps.d, steps.f, steps.a.c.what]}"}
`, engine.OK, 0, "", "a:ok a.b:ok d:ok d.y:ok f:ok e:ok",
			`e=[{"taken":true,"b":1,"c":null},{"taken":false,"x":null,"y":2},{"taken":false,"z":null},null]`,
		},
		{"what is seen from inside", `
step a: {kind: python, call: "'a'"}
step b:
  kind: for
  each: "[1]"
  as: i
  do:
    step c: {kind: python, call: "[steps.a, i, not previous]"}
    step d:
      kind: if
      condition: "True"
      then:
        step f: {kind: emit, event: e, data: "${[steps.a, steps.c, i, [n for n in steps]]}"}
`, engine.OK, 0, "", "a:ok b:ok b[0].c:ok b[0].d:ok b[0].d.f:ok", `e=["a",["a",1,true],1,["c","a"]]`},
		{"emit of a value that is not data", `
step a: {kind: emit, event: e, data: "${bad}"}
`, engine.Failed, engine.Script, "a", "a:failed:script", ""},
		{"emit without a name", `
step a: {kind: emit, event: "${steps.b if False else ''}", data: 1, on_error: continue}
step b: {kind: emit, event: "e${params.n}"}
`, engine.OK, 0, "", "a:failed:script b:ok", "e3="},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.name, "without a name") {
				tt.steps = strings.ReplaceAll(tt.steps, "${steps.b if False else ''}", "${agent.id[2:]}")
			}
			row := stage{steps: tt.steps, functions: functions}.one(t)
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

// boom is an action that panics.
type boom struct{}

func (boom) run(*turn) (value.Value, error) { panic("boom") }

// TestPanicIsItsSteps checks that a panic fails its step and its session, with the stack, and that earlier effects
// remain.
func TestPanicIsItsSteps(t *testing.T) {
	row := stage{
		steps: `
step a: {kind: emit, event: e}
step b: {kind: wait, for: 1ms}
step c:
  kind: for
  each: "[1]"
  as: i
  timeout: 5
  on_error: continue
  do:
    step d: {kind: emit, event: e}
    step f: {kind: emit, event: e}
step g: {kind: emit, event: e}
`, acted: "e",
		before: func(c *Chain) { c.Body.Steps[2].action.(*loop).do.Steps[0].action = boom{} },
	}.one(t)
	if got, want := steps(&row), "a:ok b:ok c:failed:panic c[0].d:failed:panic c[0].f:canceled g:canceled"; got != want {
		t.Errorf("steps\n got %s\nwant %s", got, want)
	}
	if row.Outcome != engine.Failed || row.Class != engine.Panic || row.Path != "c[0].d" || !row.Acted || row.Service < time.Millisecond {
		t.Errorf("row %+v", row)
	}
	if !strings.Contains(row.Error, "boom") || !strings.Contains(row.Error, "execution_test.go") {
		t.Errorf("the error has no stack: %s", row.Error)
	}
}

// TestTimeouts checks which timeout ends a session, and when, in virtual time.
func TestTimeouts(t *testing.T) {
	tests := []struct {
		name    string
		steps   string
		change  func(*engine.Settings)
		outcome engine.Outcome
		path    string
		says    string
		records string
		took    time.Duration
	}{
		{"of a step", `
step a: {kind: wait, for: 1h, timeout: 5}
step b: {kind: emit, event: e}
`, nil, engine.Failed, "a", "step timed out after 5 s", "a:timeout:timeout b:canceled", 5 * time.Second},
		{"of a step that continues", `
step a: {kind: wait, for: 1h, timeout: 5, on_error: continue}
step b: {kind: wait, for: 2}
`, nil, engine.OK, "", "", "a:timeout:timeout b:ok", 7 * time.Second},
		{
			"of a loop, while a step that continues waits", `
step a:
  kind: for
  each: range(10)
  as: i
  timeout: 5
  do:
    step b: {kind: wait, for: 2, on_error: continue}
    step c: {kind: emit, event: e, default: 1}
step d: {kind: emit, event: e}
`, nil, engine.Failed, "a", "step timed out after 5 s",
			"a:timeout:timeout a[0].b:ok a[0].c:ok a[1].b:ok a[1].c:ok a[2].b:timeout:timeout a[2].c:canceled d:canceled", 5 * time.Second,
		},
		{"of a loop that continues", `
step a:
  kind: for
  each: range(10)
  as: i
  timeout: 3
  default: late
  do:
    step b: {kind: wait, for: 2}
step d: {kind: wait, for: 1, when: steps.a == "late"}
`, nil, engine.OK, "", "", "a:timeout:timeout a[0].b:ok a[1].b:timeout:timeout d:ok", 4 * time.Second},
		{"of an outer loop, not the inner one that continues", `
step a:
  kind: for
  each: "[1]"
  as: i
  timeout: 3
  do:
    step b:
      kind: for
      each: "[1]"
      as: j
      timeout: 4
      on_error: continue
      do:
        step c: {kind: wait, for: 1h, timeout: 5, on_error: continue}
`, nil, engine.Failed, "a", "step timed out after 3 s", "a:timeout:timeout a[0].b:timeout:timeout a[0].b[0].c:timeout:timeout", 3 * time.Second},
		{"of an inner loop", `
step a:
  kind: for
  each: "[1, 2]"
  as: i
  timeout: 5
  do:
    step b:
      kind: for
      each: "[1]"
      as: j
      timeout: 1
      on_error: continue
      do:
        step c: {kind: wait, for: 1h, on_error: continue}
`, nil, engine.OK, "", "", "a:ok a[0].b:timeout:timeout a[0].b[0].c:timeout:timeout a[1].b:timeout:timeout a[1].b[0].c:timeout:timeout", 2 * time.Second},
		{"of a step in a loop that continues", `
step a: {kind: for, each: "[1]", as: i, on_error: continue, do: {step b: {kind: wait, for: 1h, timeout: 5}}}
step c: {kind: emit, event: e}
`, nil, engine.OK, "", "", "a:failed:timeout a[0].b:timeout:timeout c:ok", 5 * time.Second},
		{"of the chain", `
timeout: 3
step a: {kind: wait, for: 2}
step b: {kind: if, condition: "True", on_error: continue, then: {step c: {kind: wait, for: 2, default: 1, timeout: 9}}}
step d: {kind: emit, event: e}
`, nil, engine.TimedOut, "b.c", "chain timed out after 3 s", "a:ok b:timeout:timeout b.c:timeout:timeout d:canceled", 3 * time.Second},
		{"of the run's chains", `
step a: {kind: wait, for: 9, on_error: continue}
`, func(s *engine.Settings) { s.ChainTimeout = time.Second }, engine.TimedOut, "a", "chain timed out after 1 s", "a:timeout:timeout", time.Second},
		{"of the session", `
timeout: 1h
step a: {kind: wait, for: 9, timeout: 30, on_error: continue}
`, func(s *engine.Settings) { s.SessionTimeout = 2 * time.Second }, engine.TimedOut, "a", "session timed out after 2 s", "a:timeout:timeout", 2 * time.Second},
		{"just in time", `
step a: {kind: for, each: "[1, 2]", as: i, timeout: 5, do: {step b: {kind: wait, for: 2}}}
`, nil, engine.OK, "", "", "a:ok a[0].b:ok a[1].b:ok", 4 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row := stage{steps: tt.steps, change: tt.change}.one(t)
				if row.Outcome != tt.outcome || row.Path != tt.path || row.Error != tt.says {
					t.Errorf("got %v, step %q, %q; want %v, %q, %q", row.Outcome, row.Path, row.Error, tt.outcome, tt.path, tt.says)
				}
				if row.Outcome != engine.OK && row.Class != engine.Timeout {
					t.Errorf("class %q", row.Class)
				}
				if got := steps(&row); got != tt.records {
					t.Errorf("steps\n got %s\nwant %s", got, tt.records)
				}
				if row.Total != tt.took || row.Service != tt.took {
					t.Errorf("took %s, service %s; want %s", row.Total, row.Service, tt.took)
				}
			})
		})
	}
}

// TestLongLoopsEnd checks that a loop whose steps do not wait still ends at its timeout, and that its number of steps
// is limited.
func TestLongLoopsEnd(t *testing.T) {
	row := stage{steps: `
step a:
  kind: for
  each: range(1000)
  as: i
  do:
    step b: {kind: for, each: "range(1000)", as: j, do: {step c: {kind: python, call: 1}}}
`}.one(t)
	if row.Outcome != engine.Failed || row.Class != engine.LoopLimit || len(row.Steps) > maxSteps+3 {
		t.Errorf("%v, class %q, %d steps", row.Outcome, row.Class, len(row.Steps))
	}
	row = stage{
		steps: `
step a: {kind: for, each: "range(1000)", as: i, on_error: continue, do: {step b: {kind: for, each: "range(80)", as: j, do: {step c: {kind: python, call: 1}}}}}
`, change: func(s *engine.Settings) { s.SessionTimeout = time.Nanosecond },
	}.one(t)
	if row.Outcome != engine.TimedOut || len(row.Steps) < lookEvery {
		t.Errorf("%v after %d steps", row.Outcome, len(row.Steps))
	}
	row = stage{functions: "def slow():\n  for i in range(100):\n    for j in range(10000):\n      pass\n", steps: `
step a: {kind: python, call: "[slow() for i in range(4)]", timeout: 1ms}
`}.one(t)
	if got, want := steps(&row), "a:timeout:timeout"; got != want || row.Class != engine.Timeout {
		t.Errorf("a slow script: %s, class %q, want %s", got, row.Class, want)
	}
}

// TestCut checks that a cut session that is waiting writes no row and journals nothing more, whatever its steps do on
// errors.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cut := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cut)
		st := stage{ctx: ctx, journal: &enginetest.Journal{}, steps: `
step a:
  kind: for
  each: "[1, 2]"
  as: i
  on_error: continue
  do:
    step b: {kind: wait, for: 1h, default: 1, timeout: 2h}
step c: {kind: emit, event: e}
`}
		if rows := st.run(t); len(rows) != 0 {
			t.Errorf("a cut session has a row: %+v", rows)
		}
		if n := len(enginetest.Of[engine.AnswerRow](st.journal)); n != 0 {
			t.Errorf("%d answers", n)
		}
	})
}

// TestActed checks which sessions count as having acted, with and without a named event.
func TestActed(t *testing.T) {
	const chain = `
step a: {kind: emit, event: "${'order' if agent.index == 0 else 'other'}"}
step b: {kind: stop, when: agent.index == 2}
step c: {kind: python, call: "[][agent.index]", when: "agent.index in (0, 3)"}
`
	for _, tt := range []struct {
		acted string
		want  [4]bool // agent 0 fails after its order, 1 is ok, 2 stops, 3 fails
	}{
		{"order", [4]bool{true, false, false, false}},
		{"", [4]bool{false, true, false, false}},
	} {
		for _, row := range (stage{steps: chain, agents: 4, acted: tt.acted}).run(t) {
			if row.Acted != tt.want[row.Agent] {
				t.Errorf("acted %q: agent %d, %v: %v", tt.acted, row.Agent, row.Outcome, row.Acted)
			}
		}
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := stage{steps: `
step a: {kind: wait, for: 500ms}
step b: {kind: wait, for: "${params.n}"}
step c: {kind: wait, for: "${'1m30s'}"}
step d: {kind: wait, for: 0}
step e: {kind: wait, for: "${agent.index - 1}", on_error: continue}
step f: {kind: wait, for: "${steps.d.x.y}", on_error: continue}
step g: {kind: emit, event: e, data: "${[steps.a, steps.b, steps.c, steps.d]}"}
`}.one(t)
		if got, want := events(&row), "e=[0.5,3,90,0]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := row.Total, 93500*time.Millisecond; got != want || row.Service != want {
			t.Errorf("took %s, service %s; want %s", got, row.Service, want)
		}
		if got, want := steps(&row), "a:ok b:ok c:ok d:ok e:failed:script f:failed:script g:ok"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestLostJournal checks that a session whose intent cannot be written is cut even if its step continues on
// errors.
func TestLostJournal(t *testing.T) {
	address := serve(t, nil)
	st := stage{address: address, journal: &enginetest.Journal{}, steps: `
step a: {kind: http, service: shop, post: /x, on_error: continue}
step b: {kind: emit, event: e}
`}
	st.journal.Die()
	if rows := st.run(t); len(rows) != 0 {
		t.Errorf("rows %+v", rows)
	}
	if !errors.Is(st.journal.Commit(t.Context()), enginetest.ErrDead) {
		t.Error("the journal lives")
	}
}
