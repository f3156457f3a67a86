package chain

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// asks covers the difficult cases of replaying model calls: texts and documents, invalid answers that are requested
// again, failures, fallback models and services, streams, replacements, embeddings, and parallel steps.
const asks = `
step look: {kind: llm, service: model, prompt: "look ${agent.id}"}
step fit:
  kind: llm
  service: model
  prompt: "twice ${agent.id} ${steps.look.text}"
  answer: {n: int}
step loop:
  kind: for
  each: "[1, 2]"
  as: i
  do:
    step read: {kind: llm, service: model, prompt: "flaky ${i} ${agent.id}", stream: true, parallel: true}
    step other: {kind: llm, service: model, fallback: other, prompt: "onlym3 ${agent.id} ${i}", answer: {n: int}, parallel: true}
    step none: {kind: llm, service: other, prompt: "never ${i} ${agent.id}", otherwise: '"no one"', parallel: true}
    step vector: {kind: embed, service: model, input: ["${steps.read.text}", "${i}"], depends_on: [read]}
    step state: {kind: emit, event: state, data: "${previous}"}
step some: {kind: llm, service: model, prompt: "twice last ${agent.id}", answer: {n: int}, share: 0.5, otherwise: '{"n": 0}'}
step pair: {kind: llm, service: model, prompt: "twice pair ${agent.id}", answer: {n: int}, share: 0.4, shadow: 2, otherwise: '{"n": 1}'}
step bad: {kind: llm, service: other, prompt: "never fits ${agent.id}", answer: {n: int}, retry: {attempts: 2, wait: 0}, when: agent.index == 1}
step last: {kind: emit, event: last, data: "${[steps.fit, steps.some]}"}
`

// moody is an oracle whose answers are a function of the request, except for the failures of flaky questions.
type moody struct {
	oracle
	mood  sync.Mutex
	flaky map[string]bool // those that have failed once
}

func newMoody() *moody {
	m := &moody{flaky: map[string]bool{}}
	m.answer = func(q asking) (int, string) {
		if q.Input != nil {
			return embeds().answer(q)
		}
		first, last := q.Messages[0].Content, q.last()
		switch word, _, _ := strings.Cut(first, " "); {
		case word == "flaky" && m.once(first):
			return broken, ""
		case word == "never" && strings.Contains(first, "fits"), word == "twice" && last == first:
			return 200, "I would rather talk about " + first
		case word == "never", word == "onlym3" && q.Model != "m3":
			return 404, `{"error":"no"}`
		}
		return 200, fmt.Sprintf(`{"n": %d} %s`, q.Seed, first)
	}
	return m
}

// once reports whether it is the first time.
func (m *moody) once(question string) bool {
	m.mood.Lock()
	defer m.mood.Unlock()
	was := m.flaky[question]
	m.flaky[question] = true
	return !was
}

// bodies counts the requests by their text.
func (m *moody) bodies() map[string]int {
	all := map[string]int{}
	for _, q := range m.asked() {
		all[q.body]++
	}
	return all
}

// TestEveryCrashOfModels kills a run after each row of its journal and resumes it. It checks that the results equal
// those of a run that was never killed, that no journaled call is sent again, and that only calls in flight at the kill
// are repeated.
func TestEveryCrashOfModels(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			const agents = 3
			st := stage{steps: asks, agents: agents, change: mode.change, journal: &enginetest.Journal{}}
			undisturbed := newMoody()
			st.more = undisturbed.models(t)
			ended := st.run(t)
			want := enginetest.Results(ended) + pairs(ended)
			rows := len(st.journal.Rows())
			if !strings.Contains(want, "failed bad_answer") || !strings.Contains(want, "pair rule") || rows < 60 {
				t.Fatalf("%d rows of\n%s", rows, want)
			}
			calls := undisturbed.bodies()
			labels := map[engine.Label]int{}
			for dies := 1; dies <= rows; dies++ {
				server := newMoody()
				st := stage{steps: asks, agents: agents, change: mode.change, journal: &enginetest.Journal{DieAfter: dies}}
				st.more = server.models(t)
				kill(t, st)
				st.journal = st.journal.Reopen()
				st.resume = st.journal.Resumption()
				before := server.bodies()
				if len(st.resume.Done) < agents && st.resume.Cycle == 0 {
					st.run(t)
				}
				if got := enginetest.Results(st.journal.Sessions()) + pairs(st.journal.Sessions()); got != want {
					t.Fatalf("killed after row %d:\n got %s\nwant %s", dies, got, want)
				}
				checkCalls(t, dies, st.resume, calls, before, server.bodies())
				checkAgain(t, dies, st)
				for _, row := range st.journal.Sessions() {
					for _, s := range row.Steps {
						labels[s.Label]++
					}
				}
			}
			if labels[engine.Replayed] == 0 || labels[engine.Resent] == 0 {
				t.Errorf("labels %v", labels)
			}
		})
	}
}

// checkCalls checks that the requests equal those of an undisturbed run, plus at most the calls that were in flight.
func checkCalls(t *testing.T, dies int, resume *engine.Resumption, want, before, got map[string]int) {
	t.Helper()
	open, again := 0, 0
	for _, prefix := range resume.Prefixes {
		for _, e := range prefix {
			if e.Attempts == 0 {
				open++
			}
		}
	}
	for body, n := range got {
		if _, known := want[body]; !known {
			t.Errorf("killed after row %d: unexpected request: %s", dies, body)
		}
		if before[body] > 0 && n > want[body] {
			again += n - want[body]
		}
	}
	if again > open {
		t.Errorf("killed after row %d: %d calls were made again, %d were under way", dies, again, open)
	}
	for body := range maps.Keys(want) {
		if got[body] == 0 {
			t.Errorf("killed after row %d: never asked %s", dies, body)
		}
	}
}

// checkAgain checks that exactly those calls are counted as repeated that were in flight at the kill and sent again,
// and that reading the journal a second time returns the same count.
func checkAgain(t *testing.T, dies int, st stage) {
	t.Helper()
	open := map[string]bool{}
	for agent, prefix := range st.resume.Prefixes {
		for _, e := range prefix {
			open[fmt.Sprint(agent, " ", e.Path)] = e.Attempts == 0
		}
	}
	resent := int64(0)
	for _, row := range enginetest.Of[engine.AnswerRow](st.journal) {
		if row.Again {
			resent++
		}
		if row.Again != open[fmt.Sprint(row.Agent, " ", row.Path)] {
			t.Errorf("killed after row %d: agent %d, %s was under way: %v, counted: %v", dies, row.Agent, row.Path, !row.Again, row.Again)
		}
	}
	var counted engine.Usage
	for _, row := range st.journal.Sessions() {
		for i := range row.Steps {
			counted.Add(row.Steps[i].Usage)
		}
	}
	if counted.Again != resent {
		t.Errorf("killed after row %d: %d calls were sent again, the steps say %d", dies, resent, counted.Again)
	}
}

// TestPathsOfCalls checks the paths of a step's calls in the journal.
func TestPathsOfCalls(t *testing.T) {
	o := says("yes", "no", `{"a":1}`, "404", `{"a":2}`)
	journal := &enginetest.Journal{}
	row := stage{
		steps: `
step x: {kind: for, each: "[1, 2]", as: i, do: {step a: {kind: llm, service: model, prompt: hi, answer: {a: int}}}}
`, more: o.models(t), journal: journal,
	}.one(t)
	var paths []string
	for _, i := range enginetest.Of[engine.IntentRow](journal) {
		paths = append(paths, i.Path)
	}
	if got, want := strings.Join(paths, " "), "x[0].a x[0].a~2 x[0].a~3 x[1].a x[1].a~2"; got != want || row.Outcome != engine.OK {
		t.Errorf("%s, want %s: %s", got, want, row.Error)
	}
	if got, want := steps(&row), "x:ok x[0].a:ok x[1].a:ok:client_error"; got != want {
		t.Errorf("records %s, want %s", got, want)
	}
}
