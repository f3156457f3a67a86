package chain

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/script/value"
)

// handed hides the kind of an action, so that a group must assume that it can wait.
type handed struct{ action }

// TestSequentialGroups checks that steps that only compute have the same effects as plain steps, as group members that
// run sequentially, and in parallel: what they see, what they write, and how the session ends.
func TestSequentialGroups(t *testing.T) {
	ways := []struct {
		name   string
		change func(b *Block)
	}{
		{"plain", func(*Block) {}},
		{"members", func(b *Block) {
			for i := range b.segments {
				b.segments[i].inOrder = false
			}
		}},
		{"parallel", func(b *Block) {
			for _, s := range b.Steps {
				s.action = handed{s.action}
			}
		}},
	}
	rapid.Check(t, func(r *rapid.T) {
		steps := computing(r)
		var rows [3]string
		for k, way := range ways {
			st := stage{steps: steps, functions: functions, agents: 2, before: func(c *Chain) {
				way.change(c.Body.Steps[0].action.(*loop).do)
			}}
			rows[k] = enginetest.Results(st.run(t))
		}
		for k := 1; k < len(rows); k++ {
			if rows[k] != rows[0] {
				r.Errorf("%s\n%s\n%s\n%s\n%s\n%s", steps, ways[0].name, rows[0], ways[k].name, rows[k], "differ")
			}
		}
	})
}

// computing draws a loop over a block of steps that compute, emit, or fail.
func computing(r *rapid.T) string {
	var b strings.Builder
	b.WriteString("step loop:\n  kind: for\n  each: \"[1, 2]\"\n  as: i\n")
	if rapid.Bool().Draw(r, "continues") {
		b.WriteString("  on_error: continue\n")
	}
	b.WriteString("  do:\n    step first: {kind: python, call: i}\n")
	const sees = "[agent.index, i, [(n, steps[n]) for n in steps], previous]"
	for i := range rapid.IntRange(1, 6).Draw(r, "steps") {
		does := fmt.Sprintf("kind: python, call: '%s'", sees)
		switch rapid.IntRange(0, 4).Draw(r, "does") {
		case 0:
			does = "kind: python, call: bad()"
		case 1, 2:
			does = fmt.Sprintf("kind: emit, event: e%d, data: '${%s}'", i, sees)
		}
		fmt.Fprintf(&b, "    step s%d: {%s", i, does)
		if rapid.IntRange(0, 7).Draw(r, "member") > 0 {
			b.WriteString(", parallel: true")
		}
		var deps []string
		for j := range i {
			if rapid.IntRange(0, 2).Draw(r, "edge") == 0 {
				deps = append(deps, fmt.Sprintf("s%d", j))
			}
		}
		if deps != nil {
			fmt.Fprintf(&b, ", depends_on: [%s]", strings.Join(deps, ", "))
		}
		switch rapid.IntRange(0, 5).Draw(r, "when it fails") {
		case 0:
			b.WriteString(", on_error: continue")
		case 1:
			b.WriteString(", default: 7")
		case 2:
			b.WriteString(", when: i == 2")
		}
		b.WriteString("}\n")
	}
	b.WriteString("step end: {kind: emit, event: end, data: \"${previous}\"}\n")
	return b.String()
}

// TestTurnsNeedNoClock checks that steps that only compute need no clock, even if they write to the memory or depend on
// a later step.
func TestTurnsNeedNoClock(t *testing.T) {
	for _, steps := range []string{
		"step a: {kind: python, call: 1, parallel: true}\nstep b: {kind: emit, event: e, parallel: true}",
		"step a: {kind: python, call: 1, depends_on: [b]}\nstep b: {kind: remember, set: {x: 1}, parallel: true}\nstep c: {kind: remember, note: y, parallel: true}",
	} {
		clocked := true
		look := func(c *Chain) {
			c.Body.Steps = append(c.Body.Steps, &Step{Name: "look", segment: len(c.Body.segments), action: looking{&clocked}})
			c.Body.segments = append(c.Body.segments, segment{from: len(c.Body.Steps) - 1, to: len(c.Body.Steps)})
		}
		if row := (stage{steps: steps, before: look}).one(t); row.Outcome != engine.OK || clocked {
			t.Errorf("%s\n%v %s, a clock: %v", steps, row.Outcome, row.Error, clocked)
		}
	}
}

// looking records whether the session has a clock.
type looking struct{ clocked *bool }

func (l looking) run(t *turn) (value.Value, error) {
	*l.clocked = t.x.s.Clocked() != nil
	return value.Missing, nil
}
