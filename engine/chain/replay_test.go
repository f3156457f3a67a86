package chain

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// shop is a server that supports idempotency keys. Its answer is a function of the request, except that the first
// request to /flaky with each key fails.
type shop struct {
	mu      sync.Mutex
	kept    map[string]string // answers by key
	effects map[string]int    // changes made by key
	asked   map[string]int    // requests by agent and step, GETs too
	flaky   map[string]bool   // keys that have failed once
}

func newShop() *shop {
	return &shop{kept: map[string]string{}, effects: map[string]int{}, asked: map[string]int{}, flaky: map[string]bool{}}
}

func (s *shop) handler(w http.ResponseWriter, r *http.Request) {
	tag, _, _ := strings.Cut(r.Header.Get("X-Throng-Request"), " ")
	tag = r.Header.Get("Authorization") + " " + tag[:strings.LastIndex(tag, "/")]
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/hang" {
		s.count(tag)
		<-r.Context().Done()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[tag]++
	key := r.Header.Get("Idempotency-Key")
	switch answer, known := s.kept[key]; {
	case key != "" && known:
		w.Header().Set("Idempotency-Replayed", "true")
		js(w, 201, answer)
	case r.URL.Path == "/flaky" && !s.flaky[key]:
		s.flaky[key] = true
		w.WriteHeader(503)
	case r.URL.Path == "/missing":
		js(w, 404, `{}`)
	case key != "":
		s.effects[key]++
		s.kept[key] = fmt.Sprintf(`{"key": %q, "of": %q}`, key, body)
		js(w, 201, s.kept[key])
	default:
		js(w, 200, fmt.Sprintf(`{"read": %q}`, r.RequestURI))
	}
}

func (s *shop) count(tag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[tag]++
}

// resumable covers the difficult cases of a replay: reads before and between changes, ignored failures, steps that time
// out with and without a request, and waits.
const resumable = `
step look: {kind: http, service: shop, get: "/look/${agent.id}"}
step first: {kind: http, service: shop, post: /make, json: {of: "${steps.look.read}"}}
step pause: {kind: wait, for: 1ms}
step miss: {kind: http, service: shop, get: /missing, default: {x: 1}}
step slow: {kind: wait, for: 1h, timeout: 3ms, on_error: continue}
step loop:
  kind: for
  each: "[1, 2]"
  as: i
  do:
    step read: {kind: http, service: shop, get: "/read/${i}"}
    step change: {kind: http, service: shop, put: "/flaky/${i}", json: "${steps.read.read}", when: i == agent.index % 3}
    step add: {kind: http, service: shop, post: /make, json: {i: "${i}", changed: "${steps.change.of}"}}
    step inner:
      kind: for
      each: "[1, 2]"
      as: j
      when: i == 2
      timeout: 20ms
      on_error: continue
      do:
        step hang: {kind: http, service: shop, post: /hang, on_error: continue}
        step never: {kind: http, service: shop, post: /make}
    step state: {kind: emit, event: state, data: "${[steps.read, steps.inner, steps.add]}"}
step last: {kind: http, service: shop, delete: /flaky, json: "${[steps.slow, steps.miss.x, steps.loop]}", retry: {attempts: 3, wait: 0}}
step keep: {kind: remember, set: {key: "${steps.last.key}"}}
step fail: {kind: python, call: "[][0]", when: agent.index == 1}
`

// resumableGroups covers the difficult cases of replaying parallel steps: changes that wait for reads and for each
// other, a chain, a step that times out in parallel with others that continue, and a failure that cancels later
// changes.
const resumableGroups = `
step look: {kind: http, service: shop, get: "/look/${agent.id}"}
step sum: {kind: http, service: shop, put: /flaky, json: "${[previous.one.of, steps.read.read, steps.sub]}", depends_on: [one, read, sub]}
step one: {kind: http, service: shop, post: /make, json: {of: "${steps.look.read}"}, parallel: true}
step read: {kind: http, service: shop, get: /read, parallel: true}
step sub: {kind: chain, target: sub, input: "${steps.look.read}", parallel: true}
step slow: {kind: wait, for: 1h, timeout: 3ms, on_error: continue, parallel: true}
step miss: {kind: http, service: shop, get: /missing, default: {x: 1}, depends_on: [read]}
step loop:
  kind: for
  each: "[1, 2]"
  as: i
  on_error: continue
  do:
    step post: {kind: http, service: shop, post: /make, json: "${i}", parallel: true}
    step hang: {kind: http, service: shop, post: /hang, parallel: true, timeout: 10ms, on_error: continue, when: i == 1}
    step bad: {kind: python, call: "[][0]", when: i == 2 and agent.index > 0, depends_on: [post]}
    step gone: {kind: http, service: shop, post: /make, parallel: true}
    step after: {kind: http, service: shop, post: /make, json: "${steps.post.of}", depends_on: [post, gone]}
    step state: {kind: emit, event: state, data: "${previous}"}
step pause: {kind: wait, for: 1ms}
step last: {kind: http, service: shop, delete: /flaky, json: "${[steps.slow, steps.miss.x, steps.loop]}", parallel: true, retry: {attempts: 3, wait: 0}}
step keep: {kind: remember, set: {key: "${steps.last.key}"}, depends_on: [last]}
step fail: {kind: python, call: "[][0]", when: agent.index == 1, parallel: true}
step never: {kind: http, service: shop, post: /make, depends_on: [fail]}
`

const subchainOfGroups = `
chain sub:
  step make: {kind: http, service: shop, post: /make, json: "${input}"}
  step again: {kind: http, service: shop, post: /make, json: "${steps.make.key}"}
`

// resumableConnectors has connectors that change something, in parallel and through a chain.
const resumableConnectors = `
step look: {kind: connector, target: looks, options: {id: "${agent.id}"}}
step one: {kind: connector, target: makes, options: {of: "${previous.read}"}, parallel: true}
step two: {kind: connector, target: makes, options: {of: 2}, parallel: true}
step sub: {kind: connector, target: both, options: {x: "${steps.look.read}"}, parallel: true}
step slow: {kind: connector, target: hangs, on_error: continue, parallel: true}
step loop:
  kind: for
  each: "[1, 2]"
  as: i
  do:
    step again: {kind: connector, target: makes, options: {of: "${[i, steps.one.key, steps.sub.key]}"}}
    step state: {kind: emit, event: state, data: "${[steps.again, steps.look]}"}
step fail: {kind: python, call: "[][0]", when: agent.index == 1}
`

const connectorsOfReplay = subchainOfGroups + `
connectors:
  looks: {kind: http, service: shop, get: "/look/${options.id}"}
  makes: {kind: http, service: shop, post: /make, json: {of: "${options.of}"}}
  both: {kind: chain, target: sub, input: "${options.x}"}
  hangs: {kind: http, service: shop, post: /hang, timeout: 10ms}
`

// TestEveryCrash kills a run after each row of its journal and resumes it. It checks that the results equal those of a
// run that was never killed, that every change is made once, and that no journaled request is sent again.
func TestEveryCrash(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		everyCrash(t, stage{steps: resumable}, "loop[1].inner:timeout:timeout")
	})
	t.Run("connectors", func(t *testing.T) {
		everyCrash(t, stage{steps: resumableConnectors, others: connectorsOfReplay}, "slow:timeout:timeout")
	})
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			everyCrash(t, stage{steps: resumableGroups, others: subchainOfGroups, change: mode.change}, "slow:timeout:timeout")
		})
	}
}

// everyCrash does this for one stage, whose results must contain the given text.
func everyCrash(t *testing.T, alone stage, must string) {
	const agents = 3
	alone.agents, alone.tag, alone.address, alone.journal = agents, true, serve(t, newShop().handler), &enginetest.Journal{}
	want := enginetest.Results(alone.run(t))
	rows := len(alone.journal.Rows())
	if !strings.Contains(want, must) || !strings.Contains(want, "1 failed script") || rows < 20 {
		t.Fatalf("%d rows of\n%s", rows, want)
	}
	labels := map[engine.Label]int{}
	for dies := 1; dies <= rows; dies++ {
		server := newShop()
		st := alone
		st.address, st.journal = serve(t, server.handler), &enginetest.Journal{DieAfter: dies}
		kill(t, st)
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
		before := asked(server)
		if len(st.resume.Done) < agents && st.resume.Cycle == 0 {
			st.run(t)
		}
		if got := enginetest.Results(st.journal.Sessions()); got != want {
			t.Fatalf("killed after row %d:\n got %s\nwant %s", dies, got, want)
		}
		for key, n := range effects(server) {
			if n != 1 {
				t.Errorf("killed after row %d: %s has had its effect %d times", dies, key, n)
			}
		}
		after := asked(server) // a cut request may still be served
		for agent, prefix := range st.resume.Prefixes {
			for _, e := range prefix {
				tag := fmt.Sprintf("Bearer .a%d 0/%s", agent, e.Path)
				if e.Attempts > 0 && after[tag] > max(before[tag], e.Attempts) { // one that was given up may be served later
					t.Errorf("killed after row %d: agent %d asked again for %s", dies, agent, e.Path)
				}
			}
		}
		for _, row := range st.journal.Sessions() {
			for _, s := range row.Steps {
				labels[s.Label]++
			}
		}
	}
	for _, l := range []engine.Label{engine.Replayed, engine.Resent, engine.Confirmed} {
		if labels[l] == 0 {
			t.Errorf("no step was %v", l)
		}
	}
}

func asked(s *shop) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

func effects(s *shop) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.effects)
}

// kill runs a stage until its journal fails, and cuts it there, like the process.
func kill(t *testing.T, st stage) {
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	st.ctx = ctx
	died, ended := st.journal.Died(), make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-died:
			cut()
		case <-ended:
		}
	}()
	st.run(t)
	close(ended)
	<-watched
}

// TestWaitsAreNotWaitedForAgain checks that think time before the end of the journal is not repeated.
func TestWaitsAreNotWaitedForAgain(t *testing.T) {
	server := newShop()
	st := stage{steps: `
step a: {kind: wait, for: 1h}
step b: {kind: http, service: shop, post: /make}
step c: {kind: wait, for: 1ms}
`, tag: true, address: serve(t, server.handler), journal: &enginetest.Journal{}}
	// What an earlier process left: an intent of b, whose request is Entry.Hash.
	probe := stage{
		steps: "step b: {kind: http, service: shop, post: /make}", tag: true, address: serve(t, newShop().handler), journal: &enginetest.Journal{},
	}
	probe.one(t)
	intent := enginetest.Of[engine.IntentRow](probe.journal)[0]
	st.resume = &engine.Resumption{Prefixes: map[int]engine.Prefix{0: {{Path: "b", Hash: intent.Hash}}}}
	row := st.one(t)
	if row.Outcome != engine.OK || row.Total > time.Minute || row.Steps[1].Label != engine.Resent || row.Steps[2].Service < time.Millisecond {
		t.Errorf("row %+v", row)
	}
}

// TestJournalOfAnotherScenario checks that a session fails if the journal contains a different request, whatever its
// steps do on errors.
func TestJournalOfAnotherScenario(t *testing.T) {
	server := newShop()
	for _, entry := range []engine.Entry{
		{Path: "b", Hash: 7}, {Path: "b", Hash: 7, Attempts: 1, Output: []byte("x")}, {Path: "a", Attempts: 1},
	} {
		row := stage{
			steps: `
step a: {kind: python, call: 1, on_error: continue}
step b: {kind: http, service: shop, post: /make, on_error: continue}
`, tag: true, address: serve(t, server.handler), resume: &engine.Resumption{Prefixes: map[int]engine.Prefix{0: {entry}}},
		}.one(t)
		if row.Outcome != engine.Failed || row.Class != engine.ConfigError || row.Path != entry.Path {
			t.Errorf("%v, class %q, step %q: %s", row.Outcome, row.Class, row.Path, row.Error)
		}
	}
	if len(server.asked) > 0 {
		t.Errorf("asked %v", server.asked)
	}
}

// TestForgets checks that journaled results of steps that do not run again because of a failure do not shorten a later
// wait.
func TestForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := stage{
			steps: `
step loop:
  kind: for
  each: "[1]"
  as: i
  on_error: continue
  do:
    step bad: {kind: python, call: "[][0]", parallel: true}
    step gone: {kind: chain, target: sub, parallel: true}
step w: {kind: wait, for: 5}
`, others: "chain sub:\n  step x: {kind: http, service: shop, post: /make}\n",
			change: modes[1].change,
			resume: &engine.Resumption{Prefixes: map[int]engine.Prefix{0: {{Path: "loop[0].gone", Attempts: 1}, {Path: "loop[0].gone.x", Attempts: 1}}}},
		}.one(t)
		if got, want := steps(&row), "loop:failed:script loop[0].bad:failed:script loop[0].gone:canceled w:ok"; got != want || row.Total != 5*time.Second {
			t.Errorf("after %v\n got %s\nwant %s", row.Total, got, want)
		}
	})
}
