package chain

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service"
)

const cachedSteps = `
step mood:
  kind: llm
  service: model
  cache: {kind: agent.index % 3}
  prompt: "kind ${kind} of ${params.n}"
  answer: {n: int, x: float}
step state: {kind: emit, event: e, data: "${[steps.mood, type(steps.mood.x)]}"}
`

// atOnce is the number of sessions in flight.
func atOnce(n int) func(*engine.Settings) {
	return func(s *engine.Settings) { s.Limit = n }
}

// TestCachedOnce checks that all sessions with the same request share one call, with the same results at any
// concurrency and consistent totals: sessions that did not ask took the answer from the cache.
func TestCachedOnce(t *testing.T) {
	const agents, kinds = 60, 3
	want := ""
	for _, limit := range []int{1, 7, 60} {
		o := says(`{"n": 1, "x": 2.0}`)
		journal := &enginetest.Journal{}
		rows := stage{steps: cachedSteps, more: o.models(t), agents: agents, change: atOnce(limit), journal: journal}.run(t)
		got := enginetest.Results(rows)
		if want == "" {
			want = got
		}
		if got != want || !strings.Contains(got, `[{"n":1,"x":2},"int"]`) {
			t.Errorf("limit %d:\n got %s\nwant %s", limit, got, want)
		}
		if n := len(o.asked()); n != kinds {
			t.Errorf("limit %d: asked %d times, want %d", limit, n, kinds)
		}
		totals := enginetest.Of[engine.EndRow](journal)[0].Totals
		totals.Shared.Waits = engine.Waits{} // of the journal
		shared := engine.RequestCounts{Usage: engine.Usage{Calls: kinds, Input: 5 * kinds, Output: 2 * kinds, Cost: 7000 * kinds, Hits: -kinds}, Requests: kinds, Labels: engine.Labels{kinds}}
		if totals.Shared != shared || totals.Usage != (engine.Usage{Hits: agents}) || totals.Requests != 0 || totals.Inexact != nil {
			t.Errorf("limit %d: the run asked %+v, want %+v; its sessions %+v, %d requests", limit, totals.Shared, shared, totals.Usage, totals.Requests)
		}
	}
}

// crowded is an oracle that answers only after the given number of sessions have reached the previous step.
type crowded struct {
	oracle
	mu      sync.Mutex
	arrived int
	all     chan struct{}
}

// newCrowded returns the oracle and the address of a shop where sessions arrive.
func newCrowded(t *testing.T, agents int, answer func(q asking) (int, string)) (h *crowded, shop string) {
	h = &crowded{all: make(chan struct{})}
	h.answer = func(q asking) (int, string) {
		<-h.all
		return answer(q)
	}
	return h, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.arrived++; h.arrived == agents {
			close(h.all)
		}
		js(w, 200, "{}")
	})
}

// TestCachedFailuresAreShared checks that all waiting sessions get the failure, and that it ends their requests.
func TestCachedFailuresAreShared(t *testing.T) {
	const agents = 50
	o, shop := newCrowded(t, agents, func(asking) (int, string) { return 404, "no" })
	rows := stage{
		steps: `
step arrive: {kind: http, service: shop, get: /arrive}
step a: {kind: llm, service: other, cache: {}, prompt: hi, answer: {n: int}}
`, address: shop, more: o.models(t), agents: agents, change: atOnce(agents),
	}.run(t)
	for _, row := range rows {
		if got := steps(&row); got != "arrive:ok a:failed:client_error" || row.Error != `status 404: "no"` || row.Path != "a" {
			t.Fatalf("agent %d: %s, %s", row.Agent, got, row.Error)
		}
	}
	if n := len(o.asked()); n > agents/2 { // who comes after it has failed asks again
		t.Errorf("%d of %d asked", n, agents)
	}
}

// TestCachedFailuresAreNotKept checks that after a failure the next session sends the request again.
func TestCachedFailuresAreNotKept(t *testing.T) {
	o := says("404", "yes", "yes", `{"n": 7}`)
	rows := stage{
		steps: `
step a: {kind: llm, service: other, cache: {}, prompt: hi, answer: {n: int}, otherwise: '{"n": agent.index}', retry: {attempts: 2, wait: 0}}
step b: {kind: emit, event: e, data: "${steps.a.n}"}
`, more: o.models(t), agents: 4, change: atOnce(1),
	}.run(t)
	var got []string
	for _, row := range rows {
		got = append(got, fmt.Sprintf("%s %v %+v", events(&row), row.Steps[0].Class, row.Steps[0].Usage))
	}
	hit := fmt.Sprintf("%+v", &engine.Usage{Hits: 1})
	want := []string{"e=0 client_error <nil>", "e=1 bad_answer <nil>", "e=7  " + hit, "e=7  " + hit}
	if !slices.Equal(got, want) || len(o.asked()) != 4 {
		t.Errorf("%q, want %q; asked %d times", got, want, len(o.asked()))
	}
}

// TestCachedTimeouts checks that a step's timeout applies to each waiting session separately, that these sessions can
// continue, and that waiting for another session does not use up a session's time.
func TestCachedTimeouts(t *testing.T) {
	const agents = 8
	for _, limit := range []int{1, agents} {
		address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = http.MaxBytesReader(nil, r.Body, 1<<20).Read(make([]byte, 1<<20))
			<-r.Context().Done()
		})
		rows := stage{
			steps: `
step loop:
  kind: for
  each: "[1, 2] if agent.index % 2 else [2, 1]"
  as: i
  do:
    step a: {kind: llm, service: model, cache: {i: i}, prompt: "${i}", answer: {n: int}, timeout: 50ms, default: {n: -1}}
step b: {kind: emit, event: e, data: "${[x.a.n for x in steps.loop]}"}
`, more: []*Service{served(t, "model", address, "m1")}, agents: agents, change: atOnce(limit),
		}.run(t)
		for _, row := range rows {
			const want = "loop:ok loop[0].a:timeout:timeout loop[1].a:timeout:timeout b:ok"
			if got := steps(&row); got != want || events(&row) != "e=[-1,-1]" {
				t.Fatalf("limit %d, agent %d: %s, %s, %s", limit, row.Agent, got, events(&row), row.Error)
			}
		}
	}
}

// TestCachedWaitsAreHeld checks that the clock of a session is paused while it waits for a shared answer.
func TestCachedWaitsAreHeld(t *testing.T) {
	const agents = 20
	o := &oracle{answer: func(asking) (int, string) {
		<-time.After(150 * time.Millisecond)
		return 200, `{"n": 1, "x": 2}`
	}}
	rows := stage{steps: cachedSteps, more: o.models(t), agents: agents, change: func(s *engine.Settings) {
		s.Limit, s.SessionTimeout = agents, 100*time.Millisecond
	}}.run(t)
	for _, row := range rows {
		if row.Outcome != engine.OK {
			t.Errorf("agent %d: %v, %s", row.Agent, row.Outcome, row.Error)
		}
	}
}

// ofAgent is a text about an agent.
func ofAgent(t *testing.T, text string) *script.Template {
	t.Helper()
	env, err := script.New(script.Config{})
	if err != nil {
		t.Fatal(err)
	}
	template, err := env.Template(text, []string{"agent"})
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// TestOrderOfSharedRequests checks that the order of sessions changes neither the requests nor the headers for the mock.
func TestOrderOfSharedRequests(t *testing.T) {
	told := func(first string) []string {
		o := &oracle{answer: func(q asking) (int, string) {
			if len(q.Messages) == 1 {
				return 200, "what?"
			}
			return 200, fmt.Sprintf(`{"n": %d}`, q.Seed)
		}}
		var mu sync.Mutex
		var all []string
		address := serve(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			all = append(all, r.Header.Get("Authorization")+" "+r.Header.Get("X-Throng-Request"))
			mu.Unlock()
			o.ServeHTTP(w, r)
		})
		client, err := service.NewLLM(service.LLMConfig{Name: "model", Base: address + "/v1", Mocks: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		s := &Service{Name: "model", Kind: "llm", ModelOptions: ModelOptions{Models: []string{"m1"}}, User: ofAgent(t, "${agent.id}")}
		s.ConnectLLM(client, "token")
		rows := stage{
			steps: `
step loop:
  kind: for
  each: "` + first + `"
  as: i
  do:
    step a: {kind: llm, service: model, cache: {i: i}, prompt: "${i}", answer: {n: int}}
step last: {kind: llm, service: model, cache: {j: "2"}, prompt: "${j}", answer: {n: int}}
`, more: []*Service{s}, agents: 2, change: atOnce(1),
		}.run(t)
		for _, row := range rows {
			if row.Outcome != engine.OK {
				t.Fatal(row.Error)
			}
		}
		for i, q := range o.asked() {
			all[i] += " " + q.body
		}
		slices.Sort(all)
		return all
	}
	one, other := told("[1, 2]"), told("[2, 1] if agent.index == 0 else [1, 2]")
	if !slices.Equal(one, other) || len(one) != 4 {
		t.Errorf("asked\n%s\nwhere another is first\n%s", strings.Join(one, "\n"), strings.Join(other, "\n"))
	}
	for _, r := range one {
		if !strings.HasPrefix(r, "Bearer token 0/cached.") {
			t.Errorf("the mock receives %s", r)
		}
	}
}

// TestCachedApart checks that calls share a cached answer only if the request and its options are the same.
func TestCachedApart(t *testing.T) {
	o := says(`{"n": 1}`)
	var text strings.Builder
	for i, more := range []string{
		"", ", system: You", ", temperature: 1", ", max_tokens: 5", ", stream: true", ", retry: {attempts: 2}", ", timeout: 20s", ", fallback: other",
		", answer: {n: int}", ", answer: {n: int, m?: int}",
	} {
		fmt.Fprintf(&text, "step s%d: {kind: llm, service: model, cache: {}, prompt: hi%s}\n", i, more)
	}
	text.WriteString("step again: {kind: llm, service: model, cache: {}, prompt: hi, label: Again, default: 3, otherwise: '\"no\"'}\n")
	row := stage{steps: text.String(), more: o.models(t)}.one(t)
	if n := len(o.asked()); row.Outcome != engine.OK || n != 10 || row.Steps[10].Usage == nil {
		t.Errorf("asked %d times, want 10: %s", n, row.Error)
	}
}

// TestCachedHeadersFailTheirOwn checks that an agent whose headers cannot be evaluated gets no answer, even if another
// agent already has it.
func TestCachedHeadersFailTheirOwn(t *testing.T) {
	odd := ofAgent(t, "${1 // (1 - agent.index % 2)}")
	for _, limit := range []int{1, 9} {
		o := says(`{"n": 1, "x": 2}`)
		more := o.models(t)
		more[0].Headers = []credential.Header{{Name: "X-A", Field: "service.model.headers.X-A", Value: odd}}
		for _, row := range (stage{steps: cachedSteps, more: more, agents: 9, change: atOnce(limit)}).run(t) {
			if fails := row.Class == engine.Script; fails != (row.Agent%2 == 1) {
				t.Errorf("limit %d, agent %d: %v %s", limit, row.Agent, row.Outcome, row.Error)
			}
		}
	}
}

// TestNothingIsDrawnInCaches checks that a prompt with a shared answer cannot use random draws, which would belong to
// one agent.
func TestNothingIsDrawnInCaches(t *testing.T) {
	o := says("hi")
	row := stage{steps: `step a: {kind: llm, service: model, cache: {a: chance(0.5)}, prompt: "${a} ${chance(0.5)}"}`, more: o.models(t)}.one(t)
	if row.Class != engine.Script || len(o.asked()) > 0 {
		t.Errorf("%v %q, asked %d times", row.Outcome, row.Error, len(o.asked()))
	}
}

// TestCachedNames checks which names the prompt of a cached step can use.
func TestCachedNames(t *testing.T) {
	for text, want := range map[string]string{
		`cache: {a: agent.id}, prompt: "${a} ${params.n}"`:                          "",
		`cache: {a: agent.id}, prompt: "${agent.id}"`:                               "agent",
		`cache: {a: agent.id}, prompt: hi, system: "${now.hour}"`:                   "now",
		`cache: {a: agent.id}, prompt: "${b}"`:                                      "b",
		`cache: {}, prompt: "${steps.x}"`:                                           "steps",
		`cache: {}, messages: [{role: user, content: "${session.cycle}"}]`:          "session",
		`cache: [a], prompt: hi`:                                                    "a cache is a map",
		`cache: {for: agent.id}, prompt: hi`:                                        "for",
		`cache: {a: agent.id + }, prompt: hi`:                                       "a",
		`cache: {a: agent.id}, prompt: hi, answer: {n: int}, otherwise: 'agent.id'`: "",
	} {
		o := says("hi")
		_, report, _ := (&stage{steps: "step a: {kind: llm, service: model, " + text + "}", more: o.models(t)}).read(t)
		err := report.Err()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a mistake about %q", text, err, want)
		}
	}
}

// TestEveryCrashOfCaches kills a run after each row of its journal and resumes it. It checks that the results equal
// those of a run that was never killed, that no stored answer is requested again, and that the totals match the
// requests.
func TestEveryCrashOfCaches(t *testing.T) {
	const text = `
step a: {kind: llm, service: model, cache: {k: agent.index % 2}, prompt: "twice ${k}", answer: {n: int}, parallel: true}
step own: {kind: llm, service: model, prompt: "own ${agent.id}", parallel: true}
step loop:
  kind: for
  each: "[1, 2]"
  as: i
  do:
    step b: {kind: llm, service: model, cache: {i: (i + agent.index) % 2}, prompt: "flaky ${i}", stream: true}
step none: {kind: llm, service: other, cache: {}, prompt: "never", otherwise: '"no one"'}
step state: {kind: emit, event: e, data: "${[steps.a, steps.own, steps.loop, steps.none]}"}
`
	const agents = 3
	for _, limit := range []int{1, agents} {
		undisturbed := newMoody()
		st := stage{steps: text, agents: agents, change: atOnce(limit), journal: &enginetest.Journal{}, more: undisturbed.models(t)}
		want := enginetest.Results(st.run(t))
		rows := len(st.journal.Rows())
		if rows < 20 || strings.Contains(want, "failed") {
			t.Fatalf("%d rows of\n%s", rows, want)
		}
		once, hits := undisturbed.bodies(), hitsOf(st.journal)
		for dies := 1; dies <= rows; dies++ {
			server := newMoody()
			st := stage{steps: text, agents: agents, change: atOnce(limit), journal: &enginetest.Journal{DieAfter: dies}, more: server.models(t)}
			kill(t, st)
			st.journal = st.journal.Reopen()
			st.resume = st.journal.Resumption()
			st.more = server.models(t) // another process shares no requests with this one
			before := server.bodies()
			if len(st.resume.Done) < agents && st.resume.Cycle == 0 {
				st.run(t)
				checkShared(t, dies, st.journal)
				if got := hitsOf(st.journal); got != hits {
					t.Errorf("limit %d, killed after row %d: %d answers from the cache, want %d", limit, dies, got, hits)
				}
			}
			if got := enginetest.Results(st.journal.Sessions()); got != want {
				t.Fatalf("limit %d, killed after row %d:\n got %s\nwant %s", limit, dies, got, want)
			}
			checkCached(t, dies, st.resume, once, before, server.bodies())
		}
	}
}

// hitsOf returns the number of answers from the cache, according to the last row of the run.
func hitsOf(j *enginetest.Journal) int64 {
	ends := enginetest.Of[engine.EndRow](j)
	asked := ends[len(ends)-1].Totals.AllRequests()
	return asked.Usage.Hits
}

// checkCached checks which requests were sent again: those in flight, and failures, which are not stored.
func checkCached(t *testing.T, dies int, resume *engine.Resumption, once, before, got map[string]int) {
	t.Helper()
	open, again := len(resume.Shared.Unanswered), 0
	for _, prefix := range resume.Prefixes {
		for _, e := range prefix {
			if e.Attempts == 0 {
				open++
			}
		}
	}
	for body, n := range got {
		if strings.Contains(body, "never") {
			continue
		}
		if _, known := once[body]; !known {
			t.Errorf("killed after row %d: unexpected request: %s", dies, body)
		}
		if before[body] > 0 && n > once[body] {
			again += n - once[body]
		}
	}
	if again > 2*open { // a request makes at most two calls, and starts again
		t.Errorf("killed after row %d: %d calls were made again, %d askings were under way", dies, again, open)
	}
}

// checkShared compares the totals in the last row of the run with the rows of its journal.
func checkShared(t *testing.T, dies int, j *enginetest.Journal) {
	t.Helper()
	kept := map[engine.SharedKey]int{}
	var asked engine.RequestCounts
	for _, row := range enginetest.Of[engine.SharedRow](j) {
		if row.Record != nil {
			asked.Add(row.Record)
		}
		if row.Answers() {
			kept[row.Key]++
		}
	}
	for key, n := range kept {
		if n > 1 {
			t.Errorf("killed after row %d: the run has %d answers of %x", dies, n, key)
		}
	}
	ends := enginetest.Of[engine.EndRow](j)
	if n := len(ends); n == 0 || ends[n-1].Totals.Shared != asked {
		t.Errorf("killed after row %d: %d ends, the rows say %+v", dies, n, asked)
	}
}
