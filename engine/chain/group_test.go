package chain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/script/value"
)

// modes are the two ways to execute a group: in parallel and sequentially.
var modes = []struct {
	name   string
	change func(*engine.Settings)
}{
	{"parallel", nil},
	{"sequential", func(s *engine.Settings) { s.SequentialSteps = true }},
}

// TestGroups checks the results of steps that are ordered by their dependencies. They are the same in both modes,
// except for the time.
func TestGroups(t *testing.T) {
	tests := []struct {
		name    string
		steps   string
		outcome engine.Outcome
		path    string
		records string
		events  string
		took    time.Duration // in parallel
		summed  time.Duration // one after another
	}{
		{
			"the analysis", `
step sentiment: {kind: wait, for: 3, parallel: true}
step entities: {kind: wait, for: 5, parallel: true}
step topics: {kind: wait, for: 4, parallel: true}
step summarize: {kind: emit, event: e, depends_on: [topics, sentiment], data: "${[steps.sentiment, steps.topics, previous]}"}
step end: {kind: emit, event: e, data: "${[previous.entities, [n for n in steps]]}"}
`, engine.OK, "", "sentiment:ok entities:ok topics:ok summarize:ok end:ok",
			`e=[3,4,{"topics":4,"sentiment":3}] e=[5,["sentiment","entities","topics","summarize"]]`, 5 * time.Second, 12 * time.Second,
		},
		{
			"a diamond, named below and above", `
step last: {kind: emit, event: last, depends_on: [left, right], data: "${[n for n in steps]}"}
step left: {kind: wait, for: 2, depends_on: top}
step right: {kind: wait, for: 3, depends_on: top}
step top: {kind: wait, for: 1, parallel: true}
step aside: {kind: wait, for: 1, parallel: true}
step after: {kind: emit, event: after, data: "${[n for n in previous]}"}
`, engine.OK, "", "last:ok left:ok right:ok top:ok aside:ok after:ok",
			`last=["left","right","top"] after=["last","left","right","top","aside"]`, 4 * time.Second, 7 * time.Second,
		},
		{
			"previous", `
step a: {kind: python, call: "'a'"}
step b: {kind: emit, event: b, parallel: true, data: "${previous}"}
step c: {kind: emit, event: c, depends_on: [b], data: "${previous + 'c'}"}
step d: {kind: emit, event: d, depends_on: [c, a], data: "${previous}"}
step e: {kind: emit, event: e, depends_on: a, data: "${previous}"}
step f: {kind: python, call: previous.c}
step g: {kind: emit, event: g, parallel: true, data: "${previous}"}
step h: {kind: if, condition: previous, then: {step i: {kind: emit, event: i, data: "${previous}"}}}
`, engine.OK, "", "a:ok b:ok c:ok d:ok e:ok f:ok g:ok h:ok h.i:ok",
			`b="a" c="ac" d={"c":"ac","a":"a"} e="a" g="ac" i=null`, 0, 0,
		},
		{"what ended well", `
step a: {kind: emit, event: a, parallel: true, when: false}
step b: {kind: python, call: bad(), parallel: true, on_error: continue}
step c: {kind: python, call: bad(), parallel: true, default: 7}
step d: {kind: emit, event: d, depends_on: [a, b, c], data: "${previous}"}
`, engine.OK, "", "a:skipped b:failed:script c:failed:script d:ok", `d={"a":null,"b":null,"c":7}`, 0, 0},
		{"a failure cancels what is below, and what is above continues", `
step a: {kind: wait, for: 5, parallel: true}
step late: {kind: emit, event: late, depends_on: [a]}
step bad: {kind: python, call: bad(), depends_on: [soon]}
step below: {kind: wait, for: 60, parallel: true}
step gone: {kind: emit, event: gone, parallel: true}
step soon: {kind: emit, event: soon, parallel: true}
step next: {kind: emit, event: next}
`, engine.Failed, "bad", "a:ok late:ok bad:failed:script below:canceled gone:canceled soon:canceled next:canceled", "late=", 5 * time.Second, 5 * time.Second},
		{"the first in the file counts, however late", `
step slow: {kind: wait, for: 5, parallel: true}
step bad: {kind: python, call: bad(), depends_on: [slow]}
step mid: {kind: emit, event: mid, parallel: true}
step worse: {kind: python, call: bad(), parallel: true}
`, engine.Failed, "bad", "slow:ok bad:failed:script mid:canceled worse:canceled", "", 5 * time.Second, 5 * time.Second},
		{"what waits for a failure is skipped, and that spreads", `
step all: {kind: emit, event: all, depends_on: [next, ok]}
step next: {kind: emit, event: next, depends_on: [bad]}
step ok: {kind: emit, event: ok, parallel: true}
step bad: {kind: python, call: bad(), parallel: true}
step last: {kind: emit, event: last, depends_on: [ok]}
`, engine.Failed, "bad", "all:skipped next:skipped ok:ok bad:failed:script last:canceled", "ok=", 0, 0},
		{"one below that is waited for by one above continues", `
step first: {kind: emit, event: first, depends_on: [far], data: "${steps.far}"}
step bad: {kind: python, call: bad(), parallel: true}
step far: {kind: wait, for: 2, depends_on: [farther]}
step farther: {kind: wait, for: 2, parallel: true}
step other: {kind: wait, for: 60, parallel: true}
`, engine.Failed, "bad", "first:ok bad:failed:script far:canceled farther:canceled other:canceled", "first=2", 4 * time.Second, 4 * time.Second},
		{"of such, one that fails leaves the error with the first", `
step first: {kind: emit, event: first, depends_on: [far]}
step bad: {kind: python, call: bad(), parallel: true}
step far: {kind: python, call: bad(), depends_on: [wait]}
step wait: {kind: wait, for: 2, parallel: true}
`, engine.Failed, "bad", "first:skipped bad:failed:script far:canceled wait:canceled", "", 2 * time.Second, 2 * time.Second},
		{
			"a group in a loop that continues", `
step loop:
  kind: for
  each: "[1, 2]"
  as: i
  on_error: continue
  do:
    step a: {kind: emit, event: a, parallel: true, data: "${i}"}
    step b: {kind: python, call: "bad() if i == 2 else i", parallel: true}
    step c: {kind: wait, for: "${i}", parallel: true}
    step d: {kind: emit, event: d, data: "${[i, previous]}"}
step end: {kind: emit, event: end}
`, engine.OK, "", "loop:failed:script loop[0].a:ok loop[0].b:ok loop[0].c:ok loop[0].d:ok" +
				" loop[1].a:ok loop[1].b:failed:script loop[1].c:canceled loop[1].d:canceled end:ok",
			`a=1 d=[1,{"a":1,"b":1,"c":1}] a=2 end=`, time.Second, time.Second,
		},
		{"a step's own time", `
step a: {kind: wait, for: 60, timeout: 2, parallel: true, on_error: continue}
step b: {kind: wait, for: 3, parallel: true, timeout: 9}
`, engine.OK, "", "a:timeout:timeout b:ok", "", 3 * time.Second, 5 * time.Second},
		{"a step's own time ends the session", `
step a: {kind: wait, for: 3, parallel: true}
step b: {kind: wait, for: 60, timeout: 2, parallel: true}
step c: {kind: wait, for: 60, parallel: true}
`, engine.Failed, "b", "a:ok b:timeout:timeout c:canceled", "", 3 * time.Second, 5 * time.Second},
		{"the chain's time", `
timeout: 4
step a: {kind: wait, for: 3, parallel: true}
step b: {kind: wait, for: 60, parallel: true}
step c: {kind: emit, event: c, depends_on: [a]}
`, engine.TimedOut, "b", "a:ok b:timeout:timeout c:canceled", "", 4 * time.Second, 4 * time.Second},
	}
	for _, tt := range tests {
		for _, mode := range modes {
			t.Run(tt.name+"/"+mode.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					row := stage{steps: tt.steps, functions: functions, change: mode.change}.one(t)
					if row.Outcome != tt.outcome || row.Path != tt.path {
						t.Errorf("got %v, step %q; want %v, %q: %s", row.Outcome, row.Path, tt.outcome, tt.path, row.Error)
					}
					if got := steps(&row); got != tt.records {
						t.Errorf("steps\n got %s\nwant %s", got, tt.records)
					}
					if got := events(&row); got != tt.events {
						t.Errorf("events\n got %s\nwant %s", got, tt.events)
					}
					want := tt.took
					if mode.change != nil {
						want = tt.summed
					}
					if row.Total != want {
						t.Errorf("took %s, want %s", row.Total, want)
					}
				})
			})
		}
	}
}

// TestMemoryOfGroups checks that a step sees the memory at the start of the group plus the writes of its dependencies,
// and that all writes are merged in file order.
func TestMemoryOfGroups(t *testing.T) {
	const chain = `
step before: {kind: remember, set: {x: 1, y: 1}, note: before}
step b: {kind: remember, set: {x: "${agent.memory.x + 10}", b: 1}, note: b, depends_on: [c]}
step a: {kind: remember, set: {x: "${agent.memory.x + 100}"}, note: a, parallel: true}
step c: {kind: remember, set: {x: "${agent.memory.x + 1000}", c: "${agent.memory.y}"}, note: c, parallel: true}
step see: {kind: emit, event: see, depends_on: [a, b], data: "${[agent.memory, agent.notes]}"}
step other: {kind: emit, event: other, parallel: true, data: "${[agent.memory, agent.notes]}"}
step after: {kind: emit, event: after, data: "${[agent.memory, agent.notes]}"}
step keep: {kind: remember, note: end, keep: 3, parallel: true}
step fails: {kind: python, call: bad(), parallel: true, when: session.cycle == 1}
step gone: {kind: remember, set: {x: 0}, parallel: true}
`
	// c is below a in the file, so its x stays, whichever ran first.
	want := `see=[{"x":1001,"y":1,"b":1,"c":1},["before","b","a","c"]] other=[{"x":1,"y":1},["before"]]` +
		` after=[{"x":1001,"y":1,"b":1,"c":1},["before","b","a","c"]]`
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			rows := stage{steps: chain, functions: functions, journal: &enginetest.Journal{}, change: func(s *engine.Settings) {
				s.Cycles = 3
				if mode.change != nil {
					mode.change(s)
				}
			}}.run(t)
			if got := events(&rows[0]); got != want {
				t.Errorf("events\n got %s\nwant %s", got, want)
			}
			d := rows[0].Delta
			if got := fmt.Sprintf("%s %q %d", d.Set, d.Notes, d.Keep); got != `[{x 0} {y 1} {b 1} {c 1}] ["\"before\"" "\"b\"" "\"a\"" "\"c\"" "\"end\""] 3` {
				t.Errorf("delta %s", got)
			}
			if rows[1].Outcome != engine.Failed || !rows[1].Delta.Empty() {
				t.Errorf("cycle 1 ended %v with %+v", rows[1].Outcome, rows[1].Delta)
			}
			if got := events(&rows[2]); !strings.Contains(got, `other=[{"x":1,"y":1,"b":1,"c":1},["a","c","end","before"]]`) {
				t.Errorf("cycle 2: %s", got)
			}
		})
	}
}

// TestPanicInAGroup checks that a panic fails its step like any failure, but cannot be ignored.
func TestPanicInAGroup(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			row := stage{
				steps: `
step loop:
  kind: for
  each: "[1]"
  as: i
  on_error: continue
  do:
    step a: {kind: emit, event: a, parallel: true}
    step b: {kind: emit, event: b, parallel: true, on_error: continue, timeout: 5}
    step c: {kind: emit, event: c, parallel: true}
    step d: {kind: emit, event: d}
step e: {kind: emit, event: e}
`, change: mode.change,
				before: func(c *Chain) { c.Body.Steps[0].action.(*loop).do.Steps[1].action = boom{} },
			}.one(t)
			if got, want := steps(&row), "loop:failed:panic loop[0].a:ok loop[0].b:failed:panic loop[0].c:canceled loop[0].d:canceled e:canceled"; got != want {
				t.Errorf("steps\n got %s\nwant %s", got, want)
			}
			if row.Outcome != engine.Failed || row.Class != engine.Panic || row.Path != "loop[0].b" || events(&row) != "a=" {
				t.Errorf("%v, class %q, step %q, events %s", row.Outcome, row.Class, row.Path, events(&row))
			}
			if !strings.Contains(row.Error, "boom") || !strings.Contains(row.Error, "execution_test.go") {
				t.Errorf("the error has no stack: %s", row.Error)
			}
		})
	}
}

// TestCutGroup checks that a session cut while its steps wait in parallel writes no row and leaves no goroutine.
func TestCutGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cut := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cut)
		rows := stage{ctx: ctx, steps: `
step a: {kind: wait, for: 1h, parallel: true, on_error: continue}
step b: {kind: wait, for: 2h, parallel: true, default: 1}
step c: {kind: emit, event: e, depends_on: [a]}
`}.run(t)
		if len(rows) != 0 {
			t.Errorf("a cut session has a row: %+v", rows)
		}
	})
}

// TestDrawsInGroups checks that draws depend on paths, not on the mode or the order of steps.
func TestDrawsInGroups(t *testing.T) {
	const chain = `
step a: {kind: emit, event: a, parallel: true, data: "${uniform(0, 1)}"}
step b: {kind: emit, event: b, parallel: true, data: "${[uniform(0, 1), agent.id]}"}
step c: {kind: emit, event: c, depends_on: [b], data: "${uniform(0, 1)}"}
`
	var want string
	for _, text := range []string{chain, strings.NewReplacer(", parallel: true", "", ", depends_on: [b]", "").Replace(chain)} {
		for _, mode := range modes {
			got := enginetest.Results(stage{steps: text, agents: 30, change: mode.change}.run(t))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s\n got %s\nwant %s", mode.name, got, want)
			}
		}
	}
}

// held is an action that is throttled and then uses time.
type held struct{ hold, work time.Duration }

func (h held) run(t *turn) (value.Value, error) {
	c := t.clock()
	c.Hold()
	err := pause(c.Context(), h.hold)
	c.Release()
	if err == nil {
		err = pause(c.Context(), h.work)
	}
	return value.Missing, err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestHeldInAGroup checks that the chain's clock is paused only while all steps in flight are throttled.
func TestHeldInAGroup(t *testing.T) {
	tests := []struct {
		name    string
		actions [3]action
		outcome engine.Outcome
		took    time.Duration
	}{
		{"all are held", [3]action{held{time.Hour, 3 * time.Second}, held{time.Hour, 0}, held{2 * time.Hour, time.Second}}, engine.OK, 2*time.Hour + time.Second},
		{"one works meanwhile", [3]action{held{time.Hour, time.Second}, held{0, 6 * time.Second}, held{time.Hour, 0}}, engine.TimedOut, 5 * time.Second},
		{"one works for a while", [3]action{held{time.Hour, time.Second}, held{0, 3 * time.Second}, held{time.Hour, 0}}, engine.OK, time.Hour + time.Second},
		{"the time is used up later", [3]action{held{time.Hour, 3 * time.Second}, held{0, 3 * time.Second}, held{0, 0}}, engine.TimedOut, time.Hour + 2*time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row := stage{steps: `
timeout: 5
step a: {kind: emit, event: e, parallel: true}
step b: {kind: emit, event: e, parallel: true}
step c: {kind: emit, event: e, parallel: true}
`, change: func(s *engine.Settings) { s.SessionTimeout = 100 * time.Second }, before: func(c *Chain) {
					for i, a := range tt.actions {
						c.Body.Steps[i].action = a
					}
				}}.one(t)
				if row.Outcome != tt.outcome || row.Total != tt.took {
					t.Errorf("%v after %v, want %v after %v: %s", row.Outcome, row.Total, tt.outcome, tt.took, row.Error)
				}
			})
		})
	}
}

// TestLimitsOfGroups checks that the number of steps in a session is limited equally in both modes.
func TestLimitsOfGroups(t *testing.T) {
	var want string
	for _, mode := range modes {
		row := stage{change: mode.change, steps: `
step a:
  kind: for
  each: range(1000)
  as: i
  do:
    step b: {kind: chain, target: many, parallel: true}
    step c: {kind: chain, target: many, depends_on: [b]}
    step d: {kind: python, call: 1}
`, others: `
chain many:
  step e: {kind: for, each: "range(100)", as: j, do: {step f: {kind: python, call: 1}}}
`}.one(t)
		got := fmt.Sprintf("%v %v %s, %d steps", row.Outcome, row.Class, row.Path, len(row.Steps))
		if want == "" {
			want = got
		}
		if row.Class != engine.LoopLimit || got != want {
			t.Errorf("%s: %s, want %s", mode.name, got, want)
		}
	}
}
