package chain

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

const cachedAsks = `
step a: {kind: llm, service: model, cache: {k: agent.index % 2}, prompt: "twice ${k}", answer: {n: int}, parallel: true}
step own: {kind: llm, service: model, prompt: "own ${agent.id}", parallel: true}
step none: {kind: llm, service: other, cache: {}, prompt: "never", otherwise: '"no one"'}
step bad: {kind: llm, service: other, cache: {k: agent.id}, prompt: "never ${k}", when: agent.index == 1}
step state: {kind: emit, event: e, data: "${[steps.a, steps.own, steps.none]}"}
`

// TestReplayOfRecording records runs with every kind of step, including recordings that were killed and resumed, and
// replays other runs from them. It checks that the results are the same, that no request is sent, and that nothing is
// spent.
func TestReplayOfRecording(t *testing.T) {
	late := "\nstep late: {kind: http, service: shop, get: /hang, when: agent.index == 2}\n"
	for _, tt := range []struct {
		name, must string
		stage      stage
		limited    func(s *engine.Settings, limit time.Duration) // nil is not
	}{
		{"plain", "loop[1].inner:timeout:timeout", stage{steps: resumable}, nil},
		{"groups", "slow:timeout:timeout", stage{steps: resumableGroups, others: subchainOfGroups}, nil},
		{"connectors", "slow:timeout:timeout", stage{steps: resumableConnectors, others: connectorsOfReplay}, nil},
		{"models", "failed bad_answer", stage{steps: asks}, nil},
		{"caches", "failed client_error", stage{steps: cachedAsks}, nil},
		{"sql", " ok ", stage{steps: ledger, database: "yes"}, nil},
		{"login", "failed script", stage{steps: resumable, auth: `{login: {post: /auth/login, json: "${agent.id}", token: body.access.token}}`}, nil},
		{"jwt", "failed script", stage{steps: resumable, auth: `{jwt: {secret: secret:KEY, claims: {sub: "${agent.id}"}}}`, secrets: map[string]string{"KEY": "s3cret"}}, nil},
		{"a chain that runs out of time", "late:timeout:timeout", stage{steps: resumable + late}, func(s *engine.Settings, limit time.Duration) { s.ChainTimeout = limit }},
		{
			"a session that runs out of time", "rest:timeout:timeout",
			stage{steps: resumable + "\nstep rest: {kind: wait, for: 1h}\n"},
			func(s *engine.Settings, limit time.Duration) { s.SessionTimeout = limit },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, dies := range []int{0, 9} {
				st, limit := tt.stage, 300*time.Millisecond
				if tt.limited != nil {
					st.change = func(s *engine.Settings) { tt.limited(s, limit) }
				}
				journal, want := recorded(t, st, dies)
				for ; !strings.Contains(want, tt.must); journal, want = recorded(t, st, dies) {
					if limit *= 4; tt.limited == nil || limit > time.Minute { // what a busy machine may take until it is there
						t.Fatalf("no %q in\n%s", tt.must, want)
					}
				}
				for _, limit := range []int{1, 3} {
					if replayed(t, st, limit, journal.Recording(), want) == 0 {
						t.Error("no step is marked as recorded")
					}
				}
			}
		})
	}
}

// recorded runs a stage that records and returns its journal and results. If a number of rows is given, the run is
// killed after them and resumed.
func recorded(t *testing.T, st stage, dies int) (*enginetest.Journal, string) {
	t.Helper()
	st.agents, st.tag = 3, !strings.Contains(st.auth, "jwt")
	shop := newShop()
	st.address = serve(t, shop.handler)
	if strings.Contains(st.auth, "login") {
		st.address = serve(t, (&doorman{shop: shop, uses: 3, left: map[string]int{}}).handler)
	} else if st.auth != "" {
		st.address = serve(t, func(w http.ResponseWriter, r *http.Request) { // accept any token
			r.Header.Set("Authorization", "Bearer .a")
			r.Header.Set("X-Throng-Request", "0/x/1 ")
			shop.handler(w, r)
		})
	}
	if st.database != "" {
		st.database = books(t, pgtest.Shared(t).Database(t), "recorded"+itoa(dies))
	}
	server := newMoody()
	st.more = server.models(t)
	change := st.change
	st.change = func(s *engine.Settings) {
		if change != nil {
			change(s)
		}
		s.Record = true
	}
	st.journal = &enginetest.Journal{DieAfter: dies}
	if dies > 0 {
		kill(t, st)
		st.more = server.models(t) // another process shares no requests with this one
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
	}
	return st.journal, enginetest.Results(st.run(t))
}

// replayed replays a stage from a recording and returns the number of replayed steps. Any request to a service fails
// the test.
func replayed(t *testing.T, st stage, limit int, from engine.Recording, want string) (steps int64) {
	t.Helper()
	nobody := func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked %s %s", r.Method, r.URL) }
	st.agents, st.tag, st.address = 3, !strings.Contains(st.auth, "jwt"), serve(t, nobody)
	if st.database != "" {
		st.database = "postgres://nowhere.invalid/none"
	}
	st.more = []*Service{served(t, "model", st.address, "m1", "m2"), served(t, "other", st.address, "m3")}
	st.secrets, st.journal, st.recording = nil, &enginetest.Journal{}, from
	change := st.change
	st.change = func(s *engine.Settings) {
		if change != nil {
			change(s)
		}
		s.Limit, s.Governor = limit, ""
	}
	var purposes map[string]engine.Purpose
	st.before = func(c *Chain) { purposes = c.Purposes() }
	rows := st.run(t)
	if got := enginetest.Results(rows); got != want {
		t.Fatalf("at %d\n got %s\nwant %s", limit, got, want)
	}
	for _, row := range rows {
		for _, s := range row.Steps {
			if purposes[engine.StepName(s.Path)] == engine.ForThinking && s.Service > 0 {
				t.Errorf("%s waited again, for %v", s.Path, s.Service)
			}
		}
	}
	ends := enginetest.Of[engine.EndRow](st.journal)
	totals := &ends[len(ends)-1].Totals
	asked := totals.AllRequests()
	if asked.Requests != 0 || asked.Usage != (engine.Usage{}) || totals.Spent() != (engine.Outlay{}) {
		t.Errorf("a replay sent %+v and spent %+v", asked, totals.Spent())
	}
	return asked.Labels[engine.Recorded]
}

// TestReplayOfTimes records sessions in which the session or the chain times out at different steps. It checks that a
// replay without timeouts ends at the same steps.
func TestReplayOfTimes(t *testing.T) {
	for i := range 5 {
		limit := time.Duration(1+5*i) * time.Millisecond
		for _, change := range []func(*engine.Settings){
			func(s *engine.Settings) { s.ChainTimeout = limit }, func(s *engine.Settings) { s.SessionTimeout = limit },
		} {
			for _, st := range []stage{{steps: resumableGroups, others: subchainOfGroups, change: change}, {steps: asks, change: change}} {
				journal, want := recorded(t, st, 0)
				st.change = nil
				replayed(t, st, 3, journal.Recording(), want)
			}
		}
	}
}

// TestTimeoutAfterInnerFailure checks a loop whose step failed and whose timeout expired before the loop returned: it
// failed in time, so it continues if configured to, and the next step times out.
func TestTimeoutAfterInnerFailure(t *testing.T) {
	st := stage{
		steps: `
step a: {kind: for, each: "[1]", as: i, on_error: continue, do: {step b: {kind: python, call: "[][0]"}}}
step c: {kind: emit, event: e}
`,
		before: func(c *Chain) {
			a := c.Body.Steps[0]
			a.action = lateLoop{a.action.(*loop)}
		},
		change: func(s *engine.Settings) { s.ChainTimeout = 20 * time.Millisecond },
	}
	journal, want := recorded(t, st, 0)
	if records := "a:failed:script a[0].b:failed:script c:timeout:timeout"; !strings.Contains(want, records) {
		t.Errorf("no %s in\n%s", records, want)
	}
	st.change = nil
	replayed(t, st, 3, journal.Recording(), want)
}

// lateLoop is a loop that returns after the timeout of its enclosing step.
type lateLoop struct{ *loop }

func (l lateLoop) run(t *turn) (value.Value, error) {
	out, err := l.loop.run(t)
	<-t.clock().Context().Done()
	return out, err
}

// TestWhatWasNotRecorded checks that a step that is missing in the recording ends its session with the reason, whatever
// it does on errors.
func TestWhatWasNotRecorded(t *testing.T) {
	for name, c := range map[string]struct{ recorded, steps, says string }{
		"nothing":         {"step z: {kind: emit, event: e}", "step a: {kind: http, service: shop, get: /x, on_error: continue}", "has no answer for this step"},
		"another request": {"step a: {kind: http, service: shop, get: /x}", "step a: {kind: http, service: shop, get: /y, on_error: continue}", "another request of this step"},
		"a model":         {"step z: {kind: emit, event: e}", `step a: {kind: llm, service: model, prompt: hi, otherwise: '"x"'}`, "has no answer for this step"},
		"a cache":         {"step z: {kind: emit, event: e}", `step a: {kind: llm, service: model, cache: {}, prompt: hi, otherwise: '"x"'}`, "has no answer for this step"},
	} {
		t.Run(name, func(t *testing.T) {
			journal, _ := recorded(t, stage{steps: c.recorded}, 0)
			address := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked %s %s", r.Method, r.URL) })
			row := stage{steps: c.steps, address: address, more: []*Service{served(t, "model", address, "m1")}, recording: journal.Recording()}.one(t)
			if row.Outcome != engine.Failed || row.Class != engine.ConfigError || row.Path != "a" || !strings.Contains(row.Error, c.says) {
				t.Errorf("%v %v at %s: %s", row.Outcome, row.Class, row.Path, row.Error)
			}
		})
	}
}

// TestSentAgainBeforeTheLastKill checks that a call that an earlier process sent again is still counted when its answer
// is taken from the journal, but not in a replay.
func TestSentAgainBeforeTheLastKill(t *testing.T) {
	st := stage{steps: "step a: {kind: llm, service: model, prompt: hi}", more: says("yes").models(t), journal: &enginetest.Journal{}}
	st.one(t)
	entry := enginetest.Of[engine.AnswerRow](st.journal)[0].Entry
	entry.Again = true
	st.resume = &engine.Resumption{Prefixes: map[int]engine.Prefix{0: {entry}}}
	st.journal = &enginetest.Journal{}
	if s := st.one(t).Steps[0]; s.Label != engine.Replayed || s.Usage == nil || s.Usage.Again != 1 || s.Usage.Calls != 1 {
		t.Errorf("resumed: %v, %+v", s.Label, s.Usage)
	}
	from := &enginetest.Journal{}
	from.Append(engine.AnswerRow{Entry: entry})
	st.resume, st.recording, st.journal = nil, from.Recording(), &enginetest.Journal{}
	if s := st.one(t).Steps[0]; s.Label != engine.Recorded || s.Usage != nil {
		t.Errorf("replayed: %v, %+v", s.Label, s.Usage)
	}
}
