package app_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
)

// tried returns the launch for a trial of a scenario.
func tried(t *testing.T, name string, set map[string]string) app.Launch {
	t.Helper()
	s, err := authoring.Load(name, set)
	if err != nil {
		t.Fatal(err)
	}
	settings, _, err := config.Layers{File: s.Settings()}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	config.Schedule(&settings, s)
	settings.Mock.Profile = "none"
	return app.Launch{Services: app.Services{Scenario: s, Settings: settings, Data: t.TempDir()}, Trusted: true}
}

// scenarioFile writes a scenario.
func scenarioFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// stepsOf returns the paths of a trial's steps in order, with their results.
func stepsOf(trial *engine.Trial) (all []string) {
	trial.Walk(func(depth int, s *engine.TrialStep) {
		all = append(all, strings.Repeat(">", depth)+s.Path+" "+s.Status.String())
	})
	return all
}

// TestTryTheBuiltIns tries a session of each built-in scenario: it checks inputs and outputs of steps, and that no files are
// left.
func TestTryTheBuiltIns(t *testing.T) {
	asks := map[string]string{"shopping.yaml": "POST /api/", "conversation.yaml": "mock-1", "world.yaml": "mock-1", "analysis.ai": "mock-1"}
	for _, name := range assets.Gallery {
		t.Run(name, func(t *testing.T) {
			l, agent := tried(t, name, nil), ""
			if name == "shopping.yaml" {
				agent = "shopper-3" // an agent that goes shopping
			}
			trial, err := l.Try(t.Context(), agent)
			if err != nil {
				t.Fatal(err)
			}
			if trial.Outcome != engine.OK || len(trial.Steps) == 0 || trial.ID == "" || trial.Took <= 0 {
				t.Errorf("%s ended %s: %s\n%s", trial.ID, trial.Outcome, trial.Error, strings.Join(stepsOf(trial), "\n"))
			}
			asked, gave := "", 0
			trial.Walk(func(_ int, s *engine.TrialStep) {
				if s.File != name || s.Line == 0 || s.Kind == "" {
					t.Errorf("step %s: got position %s:%d, kind %q", s.Path, s.File, s.Line, s.Kind)
				}
				for _, e := range s.Exchanges {
					if s.Kind == "say" { // a message to an agent, not a request
						continue
					}
					asked += e.Request + "\n"
					if e.Answer == "" || !strings.Contains(e.Headers, "Host: 127.0.0.1") || !strings.Contains(e.Headers, "Authorization: …") {
						t.Errorf("%s: headers %q, answer %q", s.Path, e.Headers, e.Answer)
					}
				}
				if s.Output != "" {
					gave++
				}
			})
			if !strings.Contains(asked, asks[name]) || gave == 0 {
				t.Errorf("requests %q, %d steps have an output", asked, gave)
			}
			if left, err := os.ReadDir(l.Data); err != nil || len(left) > 0 {
				t.Errorf("left files %v, %v", left, err)
			}
		})
	}
}

// TestTryAgain checks that a session depends only on the seed and the agent.
func TestTryAgain(t *testing.T) {
	l := tried(t, "shopping", nil)
	first, err := l.Try(t.Context(), "shopper-3")
	if err != nil {
		t.Fatal(err)
	}
	again, err := tried(t, "shopping", nil).Try(t.Context(), "2")
	if err != nil {
		t.Fatal(err)
	}
	if first.ID != "shopper-3" || again.ID != first.ID || !slices.Equal(stepsOf(first), stepsOf(again)) {
		t.Errorf("%s: %v\n%s: %v", first.ID, stepsOf(first), again.ID, stepsOf(again))
	}
}

// TestTrySteps checks nested steps and the line of an error. A failed session changes nothing.
func TestTrySteps(t *testing.T) {
	path := scenarioFile(t, `population: {count: 2, attributes: {mood: fine, password: open-sesame}}
services:
  shop: {kind: http, url: "mock:shop"}
chain a:
  step loop:
    kind: for
    each: "[1, 2]"
    as: n
    do:
      step keep: {kind: remember, set: {count: "${n}"}}
      step tell: {kind: say, to: all, text: "n is ${n}"}
  step choose:
    kind: if
    condition: "len(steps.loop) == 2"
    then:
      step record: {kind: emit, event: seen, data: "${n2()}"}
  step wrong:
    kind: http
    service: shop
    get: /api/nothing
    on_error: continue
  step hidden: {kind: http, service: shop, get: /api/coupons/eligible, private: true}
  step last: {kind: stop, because: enough}
functions: |
  def n2():
      return {"n": 2, "token": "abc"}
`)
	trial, err := tried(t, path, nil).Try(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"loop ok", ">loop[0].keep ok", ">loop[0].tell ok", ">loop[1].keep ok", ">loop[1].tell ok",
		"choose ok", ">choose.record ok", "wrong failed", "hidden ok", "last ok",
	}
	if got := stepsOf(trial); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	wrong, hidden := trial.Steps[2], trial.Steps[3]
	if wrong.Line != 17 || !strings.Contains(wrong.Error, "status 404") || wrong.Exchanges[0].Status != 404 {
		t.Errorf("the failed step: %+v", wrong)
	}
	if hidden.Output != "" || !hidden.Private || strings.Contains(hidden.Exchanges[0].Answer, "coupons") {
		t.Errorf("a private step shows %+v", hidden)
	}
	if pass := trial.Steps[0].Inner[2].Pass; pass != 2 {
		t.Errorf("the third step of the loop is in iteration %d", pass)
	}
	if len(trial.Before.Fields) != 0 || len(trial.After.Fields) != 1 || trial.After.Fields[0] != (engine.Fact{Name: "count", Value: "2"}) {
		t.Errorf("got memory %+v before and %+v after", trial.Before, trial.After)
	}
	if len(trial.Said) != 2 || len(trial.Events) != 1 || trial.Events[0].Data != `{"n":2,"token":"…"}` || trial.Because != "enough" {
		t.Errorf("got messages %+v, events %+v, reason %q", trial.Said, trial.Events, trial.Because)
	}
	if want := []engine.Fact{{Name: "mood", Value: `"fine"`}, {Name: "password", Value: "…"}}; !slices.Equal(trial.Persona, want) {
		t.Errorf("persona %+v, want %+v", trial.Persona, want)
	}
}

// TestTryRefuses checks that Try rejects what a launch rejects.
func TestTryRefuses(t *testing.T) {
	far := scenarioFile(t, "services: {shop: {kind: http, url: \"https://shop.example.com\"}}\nchain a: {step b: {kind: http, service: shop, get: /}}\n")
	empty := scenarioFile(t, "population: {count: 0}\nchain a: {step b: {kind: stop}}\n")
	for _, c := range []struct{ name, file, agent, want string }{
		{"a host that is not allowed", far, "", "shop.example.com"},
		{"a missing agent", "shopping", "missing-9", "no such agent: missing-9"},
		{"an empty population", empty, "", "the population is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			trial, err := tried(t, c.file, nil).Try(t.Context(), c.agent)
			if _, ok := errors.AsType[*engine.FieldError](err); !ok || trial != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v", trial, err)
			}
		})
	}
}

// TestTryIsCut checks that the trial so far is returned when the context ends.
func TestTryIsCut(t *testing.T) {
	path := scenarioFile(t, `services: {shop: {kind: http, url: "mock:shop"}}
chain a:
  step first: {kind: remember, note: x}
  step ask: {kind: http, service: shop, get: /api/coupons/eligible}
  step long: {kind: wait, for: 600}
`)
	l := tried(t, path, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough of it")
	l.OnRequest = func(mock.Request) { cancel(cause) }
	trial, err := l.Try(ctx, "")
	if !errors.Is(err, cause) || trial == nil || trial.Outcome != engine.Cut || trial.Steps[0].Status != engine.StepOK {
		t.Errorf("got %+v, %v", trial, err)
	}
}
