package scenario

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
	"pgregory.net/rapid"
)

// village is a small world. Agents pass on what they heard, greet a random agent, reply to senders and sometimes
// broadcast. All keep notes and clean them up now and then. Some sessions fail, and their messages are not sent.
const village = `
title: Village
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 6}
population:
  count: 7
  id: villager-${agent.index}
chain talk:
  step hear: {kind: emit, event: heard, data: "${agent.inbox}"}
  step note: {kind: remember, note: "${session.cycle * 10 + len(agent.inbox)}", keep: 4}
  step sift: {kind: remember, when: chance(0.3), keep: "${[n for n in agent.notes if n % 2]}"}
  step recall: {kind: emit, event: recalled, data: "${agent.notes}"}
  step greet: {kind: say, to: "villager-${int(uniform(0, 7))}", text: "hello from ${agent.id}"}
  step answer:
    kind: for
    each: agent.inbox
    as: letter
    do:
      step reply: {kind: say, when: len(letter.text or "") < 40, to: "${letter.sender}", text: "re: ${letter.text}", data: {cycle: "${session.cycle}"}}
  step shout: {kind: say, when: chance(0.2), to: all, data: {news: "${session.cycle}"}}
  step fail: {kind: python, when: chance(0.15), call: "fail('tired')"}
`

func files(name, text string) Opener {
	return func(path string) ([]byte, error) {
		if path != name {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

// talk runs the scenario in a text.
func talk(t testing.TB, text string, limit int, j *enginetest.Journal, resume *engine.Resumption) run.Result {
	t.Helper()
	s, err := Read("world.yaml", files("world.yaml", text), nil)
	if err != nil {
		if mistakes, ok := errors.AsType[*Mistakes](err); ok {
			var b strings.Builder
			_ = mistakes.Print(&b)
			t.Fatal(b.String())
		}
		t.Fatal(err)
	}
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles, settings.Metrics, settings.CheckpointEvery, settings.Limit = 3, s.Cycles, false, 0, limit
	settings.Sequential = s.Sequential
	j.Settings = settings
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	run, err := run.Start(ctx, run.Config{
		ID: "test", Program: s.Program(settings.Seed), Agents: s.Agents, Clock: s.Clock, Settings: settings, Journal: j, Resume: resume,
	})
	if err != nil {
		t.Fatal(err)
	}
	if j.DieAfter > 0 {
		go func() {
			select {
			case <-j.Died():
				cut()
			case <-run.Done():
			}
		}()
	}
	return run.Wait()
}

// TestVillageTalksTheSameWayAtAnyConcurrency checks that messages are the same at any concurrency limit. It also kills
// the run after random rows and resumes it.
func TestVillageTalksTheSameWayAtAnyConcurrency(t *testing.T) {
	for _, order := range []string{"parallel", "sequential"} {
		t.Run(order, func(t *testing.T) { talksTheSameWay(t, village+"order: "+order+"\n") })
	}
}

func talksTheSameWay(t *testing.T, village string) {
	calm := &enginetest.Journal{}
	r := talk(t, village, 1, calm, nil)
	if r.Totals.Outcomes[engine.Failed] < 3 || r.Totals.Outcomes[engine.OK] < 20 {
		t.Fatalf("outcomes %v: too quiet a village", r.Totals.Outcomes)
	}
	want, rows := enginetest.Results(calm.Sessions()), len(calm.Rows())
	if !strings.Contains(want, "re: hello from") || !strings.Contains(want, "news") {
		t.Fatalf("no agent answers, or no agent shouts:\n%s", want)
	}
	rapid.Check(t, func(rt *rapid.T) {
		j := &enginetest.Journal{}
		limit := rapid.IntRange(1, 20).Draw(rt, "limit")
		for _, n := range rapid.SliceOfN(rapid.IntRange(1, rows), 0, 3).Draw(rt, "rows until each death") {
			if res := resumption(j); res != nil && res.Cycle >= 6 {
				break
			}
			j.DieAfter = len(j.Rows()) + n
			talk(t, village, limit, j, resumption(j))
			j = j.Reopen()
		}
		j.DieAfter = 0
		if res := resumption(j); res == nil || res.Cycle < 6 {
			talk(t, village, limit, j, res)
		}
		if got := enginetest.Results(j.Sessions()); got != want {
			rt.Fatalf("limit %d differs from limit 1:\n%s", limit, firstDifference(got, want))
		}
	})
}

// TestWhoIsWrittenTo checks which agents receive a message, and what happens to the messages of a failed session.
func TestWhoIsWrittenTo(t *testing.T) {
	const world = `
title: World
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: %d}
population: {count: 4}
chain talk:
  step hear: {kind: emit, event: heard, data: "${[l.sender + ':' + str(l.cycle) + ':' + (l.text or '') for l in agent.inbox]}"}
%s
`
	for _, c := range []struct{ steps, want string }{
		{`  step s: {kind: say, when: agent.index == 1, to: all, text: a}`, `1 agent-1 ["agent-2:0:a"] | 1 agent-2 [] | 1 agent-3 ["agent-2:0:a"] | 1 agent-4 ["agent-2:0:a"]`},
		{`  step s: {kind: say, when: agent.index == 1, to: agent-2, text: to myself}`, `1 agent-1 [] | 1 agent-2 ["agent-2:0:to myself"] | 1 agent-3 [] | 1 agent-4 []`},
		{`  step s: {kind: say, when: session.cycle == 0, to: [agent-4, agent-1, agent-4], text: "${agent.index}"}`, `1 agent-1 ["agent-1:0:0","agent-2:0:1","agent-3:0:2","agent-4:0:3"] | 1 agent-2 [] | 1 agent-3 [] | 1 agent-4 ["agent-1:0:0","agent-2:0:1","agent-3:0:2","agent-4:0:3"]`},
		{`  step s: {kind: say, to: [], text: none}`, `1 agent-1 [] | 1 agent-2 [] | 1 agent-3 [] | 1 agent-4 []`},
		{`  step s: {kind: say, when: agent.index == 0, to: agent-3, text: lost}
  step f: {kind: python, when: agent.index == 0, call: "fail('late')"}`, `1 agent-1 [] | 1 agent-2 [] | 1 agent-3 [] | 1 agent-4 []`},
	} {
		j := &enginetest.Journal{}
		talk(t, fmt.Sprintf(world, 2, c.steps), 3, j, nil)
		if got := heard(j, 1); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.steps, got, c.want)
		}
	}
	// A session that ends badly leaves its inbox for the next one.
	j := &enginetest.Journal{}
	talk(t, fmt.Sprintf(world, 4, `  step s: {kind: say, when: session.cycle == 0 and agent.index == 0, to: agent-2, text: wait}
  step f: {kind: python, when: session.cycle == 1, call: "fail('not now')"}`), 3, j, nil)
	for cycle, want := range map[int]string{1: "agent-1:0:wait", 2: "agent-1:0:wait"} {
		if got := heard(j, cycle); !strings.Contains(got, want) {
			t.Errorf("cycle %d: %s, want %s", cycle, got, want)
		}
	}
	if got := heard(j, 3); strings.Contains(got, "wait") {
		t.Errorf("a message that was read is there still: %s", got)
	}
	// The id is unknown.
	j = &enginetest.Journal{}
	r := talk(t, fmt.Sprintf(world, 1, `  step s: {kind: say, to: agent-5, text: "?"}`), 3, j, nil)
	if r.Totals.Errors[engine.Script] != 4 || !strings.Contains(j.Sessions()[0].Error, `no such agent`) {
		t.Errorf("errors %v, %s", r.Totals.Errors, j.Sessions()[0].Error)
	}
}

// heard returns what the agents of a cycle heard, by agent.
func heard(j *enginetest.Journal, cycle int) string {
	all := make([]string, 4)
	for _, s := range j.Sessions() {
		if s.Cycle == cycle {
			all[s.Agent] = fmt.Sprintf("%d agent-%d %s", s.Cycle, s.Agent+1, s.Events[0].Data)
		}
	}
	return strings.Join(all, " | ")
}

// TestParallelMessagesInFileOrder checks that messages of parallel steps arrive in file order, and that those
// of a canceled step are not sent.
func TestParallelMessagesInFileOrder(t *testing.T) {
	const world = `
title: Crossfire
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 2}
population: {count: 4}
chain talk:
  step hear: {kind: emit, event: heard, data: "${[l.text for l in agent.inbox]}"}
  step first: {kind: say, when: agent.index == 0, to: agent-2, text: first}
  step slow: {kind: wait, for: 0.02, parallel: true}
  step late: {kind: say, depends_on: slow, when: agent.index < 2, to: agent-2, text: "late ${agent.index}"}
  step quick: {kind: say, parallel: true, when: agent.index < 2, to: agent-2, text: "quick ${agent.index}"}
  step fails: {kind: python, parallel: true, when: agent.index == 1, call: "fail('oh')"}
`
	for _, change := range []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.ReplaceAll(s, "depends_on: slow", "parallel: true") },
	} {
		j := &enginetest.Journal{}
		talk(t, change(world), 4, j, nil)
		if got, want := heard(j, 1), `1 agent-2 ["first","late 0","quick 0"]`; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

// TestOneAfterTheOther checks that in a sequential world messages and memory are available immediately, in a different
// order in each cycle, and that the limit has no effect.
func TestOneAfterTheOther(t *testing.T) {
	const world = `
title: Rumour
order: sequential
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 4}
population: {count: 4}
chain talk:
  step hear: {kind: emit, event: heard, data: "${[l.sender for l in agent.inbox if l.cycle == session.cycle]}"}
  step count: {kind: remember, set: {acted: "${(agent.memory.acted or 0) + 1}"}}
  step s: {kind: say, to: all, text: "${agent.memory.acted}"}
`
	j := &enginetest.Journal{}
	talk(t, world, 50, j, nil)
	orders := map[string]bool{}
	for cycle := range 4 {
		var order []string
		for _, s := range j.Sessions() {
			if s.Cycle != cycle {
				continue
			}
			if want := `["` + strings.Join(order, `","`) + `"]`; len(order) > 0 && string(s.Events[0].Data) != want {
				t.Errorf("cycle %d, agent %d received %s, want %s", cycle, s.Agent, s.Events[0].Data, want)
			}
			order = append(order, fmt.Sprintf("agent-%d", s.Agent+1))
		}
		orders[strings.Join(order, " ")] = true
	}
	if len(orders) < 3 {
		t.Errorf("the orders of four cycles are %v", orders)
	}
	if m := j.MemoryAt(4)[2]; m == nil || string(m.Fields[0].Value) != "4" {
		t.Errorf("the memory of an agent after four cycles: %+v", m)
	}
}

// TestInterventions checks when messages from outside arrive, and that they stay unread after a failed session.
func TestInterventions(t *testing.T) {
	const world = `
title: World
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 5}
parameters: {weather: {default: storm}}
population: {count: 4}
interventions:
  - {cycle: 3, to: [agent-2, agent-4], data: {wind: 9}}
  - {cycle: 1, to: all, text: "a ${params.weather}"}
chain talk:
  step hear: {kind: emit, event: heard, data: "${[(l.sender or 'outside') + ':' + str(l.cycle) + ':' + (l.text or str(l.data.wind)) for l in agent.inbox]}"}
  step s: {kind: say, when: session.cycle == 0 and agent.index == 0, to: agent-4, text: first}
  step f: {kind: python, when: "session.cycle in [1, 3] and agent.index == 3", call: "fail('not now')"}
`
	j := &enginetest.Journal{}
	talk(t, world, 3, j, nil)
	for cycle, want := range []string{
		`0 agent-1 [] | 0 agent-2 [] | 0 agent-3 [] | 0 agent-4 []`,
		`1 agent-1 ["outside:1:a storm"] | 1 agent-2 ["outside:1:a storm"] | 1 agent-3 ["outside:1:a storm"] | 1 agent-4 ["agent-1:0:first","outside:1:a storm"]`,
		`2 agent-1 [] | 2 agent-2 [] | 2 agent-3 [] | 2 agent-4 ["agent-1:0:first","outside:1:a storm"]`,
		`3 agent-1 [] | 3 agent-2 ["outside:3:9"] | 3 agent-3 [] | 3 agent-4 ["outside:3:9"]`,
		`4 agent-1 [] | 4 agent-2 [] | 4 agent-3 [] | 4 agent-4 ["outside:3:9"]`,
	} {
		if got := heard(j, cycle); got != want {
			t.Errorf("cycle %d\n got %s\nwant %s", cycle, got, want)
		}
	}
	// And the same after dying anywhere.
	want, rows := enginetest.Results(j.Sessions()), len(j.Rows())
	for n := 1; n < rows; n += 2 {
		j := &enginetest.Journal{DieAfter: n}
		talk(t, world, 3, j, nil)
		j = j.Reopen()
		j.DieAfter = 0
		if res := resumption(j); res == nil || res.Cycle < 5 {
			talk(t, world, 3, j, res)
		}
		if got := enginetest.Results(j.Sessions()); got != want {
			t.Fatalf("after %d rows: %s", n, firstDifference(got, want))
		}
	}
	s, err := Read("world.yaml", files("world.yaml", world), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Program(1).Check(); err != nil {
		t.Error(err)
	}
	if s, err = Read("world.yaml", files("world.yaml", strings.Replace(world, "agent-4]", "agent-5]", 1)), nil); err != nil {
		t.Fatal(err)
	}
	if mistake, ok := errors.AsType[*engine.FieldError](s.Program(1).Check()); !ok || !strings.Contains(mistake.Problem, "agent-5") {
		t.Errorf("an intervention for no agent: %v", mistake)
	}
}

func TestMessagesNeedUniqueIDs(t *testing.T) {
	j := &enginetest.Journal{}
	r := talk(t, `
title: Twins
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
population: {count: 2, id: twin}
chain talk:
  step s: {kind: say, to: twin, text: which}
`, 1, j, nil)
	if r.Totals.Errors[engine.Script] != 2 || !strings.Contains(j.Sessions()[0].Error, "both called twin") {
		t.Errorf("errors %v, %s", r.Totals.Errors, j.Sessions()[0].Error)
	}
}
