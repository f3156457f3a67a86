package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// builtIns is the folder of the built-in scenarios.
var builtIns = filepath.Join("..", "..", "assets", "scenarios")

// small is a scenario with parameters of every type.
const small = `
title: Small
parameters:
  agents: {default: 3, min: 1, max: 100}
  share: {default: 0.5, min: 0, max: 1}
  mood: {default: calm, choices: [calm, angry]}
  loud: false
  key: {secret: true}
  word: hello
  later: hello
clock: {cycles: 10}
acted: sold
population: {count: "${params.agents}", id: "a-${agent.index}", attributes: {age: "${uniform(0, 90)}"}}
services:
  shop: {kind: http, url: mock:shop}
  model: {kind: llm, url: mock:model, model: small, limits: {concurrent: 5}}
interventions:
  - {cycle: 4, to: all, text: "${params.later}"}
chain c:
  step ask: {kind: llm, service: model, prompt: "Say ${params.word} and be ${params.mood}."}
  step look: {kind: http, service: shop, get: /api/products/search, when: chance(params.share)}
  step sell: {kind: emit, event: sold, data: {price: "${uniform(0, 1)}", loud: "${params.loud}"}}
  step keep: {kind: remember, set: {spent: 1}}
`

// load loads a built-in scenario, or the small one.
func load(name string, given map[string]string) (*scenario.Scenario, error) {
	if name == "small" {
		return scenario.Read("small.yaml", only("small.yaml", small), given)
	}
	for _, ending := range scenario.Endings {
		s, err := scenario.FS(os.DirFS(builtIns))(name + ending)
		if err == nil && s != nil {
			return scenario.Read(name+ending, scenario.FS(os.DirFS(builtIns)), given)
		}
	}
	return nil, fs.ErrNotExist
}

// only opens files given as names and texts.
func only(files ...string) scenario.Opener {
	return func(path string) ([]byte, error) {
		for i := 0; i < len(files); i += 2 {
			if files[i] == path {
				return []byte(files[i+1]), nil
			}
		}
		return nil, fs.ErrNotExist
	}
}

func read(text string, files ...string) (*Experiment, error) {
	return Read("x.experiment.yaml", only(append([]string{"x.experiment.yaml", text}, files...)...), load)
}

func mustRead(t interface {
	Helper()
	Fatal(args ...any)
}, text string, files ...string,
) *Experiment {
	t.Helper()
	e, err := read(text, files...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// issueExample is the example of the design document.
const issueExample = `
# prices.experiment.yaml
title: Does eagerness pay?
scenario: shopping                      # a file, or a built-in
vary:                                   # factors: parameters, settings, services, population filters
  params.eagerness: [0.5, 1, 2]
  params.llm_share: {from: 0, to: 1, step: 0.25}     # or {log: [1, 1000], points: 7}
  service.model.model: [small, large]
  settings.max-concurrent: [10, 50]
design: grid
replicates: {seeds: 10, until: {half_width: 5%, of: acted, at_most: 40}}     # or seeds: [1, 2, 3]
baseline: {params.eagerness: 1}
measures: [acted, events.order, events.order.final_total.mean, cost, latency_p95, request_p95, memory.spent.mean]
settings: {cycles: 24}
budget: {usd: 20, time: 8h}
parallel: 1                             # runs in progress; they share limit, rate limiters and budget
`

func TestReadTheExample(t *testing.T) {
	e := mustRead(t, issueExample)
	var names []string
	for _, f := range e.Factors {
		names = append(names, f.Name)
	}
	if got, want := strings.Join(names, " "), "params.eagerness params.llm_share service.model.model settings.max-concurrent"; got != want {
		t.Errorf("factors: got %s, want %s", got, want)
	}
	if got := len(e.Factor("params.llm_share").Levels); got != 5 {
		t.Errorf("levels of llm_share: got %d, want 5", got)
	}
	if u := e.Replicates.Until; u == nil || u.HalfWidth != 0.05 || !u.Relative || u.Of != "acted" || u.AtMost != 40 {
		t.Errorf("until: got %+v", u)
	}
	if got, want := e.Label(e.Baseline), "params.eagerness=1, params.llm_share=0, service.model.model=small, settings.max-concurrent=50"; got != want {
		t.Errorf("baseline: got %s, want %s", got, want)
	}
	p, err := e.Plan(engine.DefaultSettings(), 0)
	if err != nil || len(p.Points) != 60 || len(p.Runs) != 600 {
		t.Fatalf("got %d points, %d runs, %v, want 60 and 600", len(p.Points), len(p.Runs), err)
	}
	if p.Baseline < 0 || e.Label(p.Points[p.Baseline].Values) != e.Label(e.Baseline) {
		t.Errorf("baseline is point %d", p.Baseline)
	}
	if m := e.Measures[2]; m.Kind != MeasureField || m.Subject != "order" || m.Field != "final_total" || m.Statistic != "mean" {
		t.Errorf("got %+v", m)
	}
}

func TestLevels(t *testing.T) {
	for text, want := range map[string]string{
		"params.share: {from: 0, to: 1, step: 0.1}":                          "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1",
		"params.agents: {from: 1, to: 10, step: 3}":                          "1 4 7 10",
		"params.agents: {from: 1, to: 9, points: 4}":                         "1 4 6 9",
		"params.agents: {log: [1, 100], points: 3}":                          "1 10 100",
		"params.share: {log: [0.001, 1], points: 4}":                         "0.001 0.01 0.1 1",
		"params.mood: [angry, calm]":                                         "angry calm",
		"params.loud: [true, false]":                                         "true false",
		"params.word: 7":                                                     "7",
		"params.share: {at: 5, levels: [0.1, 0.2]}":                          "0.1 0.2",
		"settings.session-timeout: [30, 2m]":                                 "30s 2m",
		"settings.sequential: [true, off]":                                   "on off",
		"settings.cycles: {from: 2, to: 4, step: 1}":                         "2 3 4",
		"service.model.limits.concurrent: [1, 10]":                           "1 10",
		"service.model.model: [a, b]":                                        "a b",
		"population.filter: ['', 'agent.age > 30 and chance(0.5)']":          " |agent.age > 30 and chance(0.5)",
		"service.shop.url: ['mock:shop', \"${'http://127.0.0.1:' + '80'}\"]": "mock:shop ${'http://127.0.0.1:' + '80'}",
	} {
		e, err := read("scenario: small\nvary:\n  " + text + "\n")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, v := range e.Factors[0].Levels {
			got = append(got, v.Text)
		}
		if strings.Join(got, " ") != strings.ReplaceAll(want, "|", "") {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	e := mustRead(t, "scenario: small\nvary: {params.agents: {from: 1, to: 9}, params.share: {log: [0.1, 1]}, settings.budget: {from: 1, to: 5}}\ndesign: {lhs: 5}\n")
	if r := e.Factors[0].Range; r == nil || !r.Whole || r.From != 1 || r.To != 9 || r.Log {
		t.Errorf("agents: got %+v", r)
	}
	if r := e.Factors[1].Range; r == nil || r.Whole || !r.Log {
		t.Errorf("share: got %+v", r)
	}
	if r := e.Factors[2].Range; r == nil || r.Whole {
		t.Errorf("budget: got %+v", r)
	}
}

func TestDefaults(t *testing.T) {
	e := mustRead(t, "scenario: small\n")
	if e.Title != "x" || e.Design.Kind != Grid || len(e.Replicates.Seeds) != 10 || e.Replicates.Until != nil || e.Parallel != 1 || e.Seed != 1 || e.Budget != (Budget{}) {
		t.Errorf("got %+v", e)
	}
	var names []string
	for _, m := range e.Measures {
		names = append(names, m.Name)
	}
	if got, want := strings.Join(names, " "), "acted events.sold error_rate"; got != want {
		t.Errorf("measures: got %s, want %s", got, want)
	}
	p, err := e.Plan(engine.DefaultSettings(), 0)
	if err != nil || len(p.Points) != 1 || len(p.Runs) != 10 || p.Baseline != 0 {
		t.Errorf("got %+v, %v, want one point and 10 runs", p, err)
	}
	if e := mustRead(t, "scenario: small\nreplicates: {seeds: [7, 3]}\n"); e.Replicates.Seed(0) != 7 || e.Replicates.Seed(1) != 3 || e.Replicates.Seed(2) != 8 || e.Replicates.Seed(3) != 9 {
		t.Errorf("seeds: got %v, then %d", e.Replicates.Seeds, e.Replicates.Seed(2))
	}
}

func TestMeasures(t *testing.T) {
	e := mustRead(t, `
scenario: small
functions: |
  def busy(run):
      return 1
measures: [acted, outcomes, events.sold, events.sold.price.p95, events.sold.a.b.sum, cost, tokens, latency_p95, request_p95, request_p95.shop, request_p99.look,
  memory.spent.mean, busy, error_rate]
`)
	find := func(name string) Measure {
		for _, m := range e.Measures {
			if m.Name == name {
				return m
			}
		}
		t.Fatalf("no measure %s", name)
		return Measure{}
	}
	if m := find("outcomes.canceled"); m.Kind != MeasureOutcome || m.Subject != "canceled" || m.Timing() {
		t.Errorf("got %+v", m)
	}
	if m := find("events.sold.a.b.sum"); m.Field != "a.b" || m.Statistic != "sum" {
		t.Errorf("got %+v", m)
	}
	m := find("events.sold.price.p95")
	if q, ok := m.Quantile(); !ok || q != 0.95 {
		t.Errorf("got %v of %+v", q, m)
	}
	if m := find("request_p95.shop"); m.Of != "shop" || strings.Join(m.Steps, " ") != "look" || !m.Timing() {
		t.Errorf("got %+v", m)
	}
	if m := find("busy"); m.Kind != MeasureFunction {
		t.Errorf("got %+v", m)
	}
	e = mustRead(t, "scenario: small\nfunctions: m.star\nmeasures: [busy]\n", "m.star", "def busy(run, scale = 2):\n    return scale\n")
	if e.Functions == nil {
		t.Error("the functions of the file are missing")
	}
}

// TestMistakes checks where each mistake is reported, and how.
func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"vary: {}", "1:1: the file needs `scenario`"},
		{"scenario: nothing", "1:11: there is no scenario nothing"},
		{"scenario: small\nvari: {}", "2:1: unknown key `vari` (did you mean `vary`?"},
		{"scenario: small\nvary: {params.sare: [1]}", "2:8: there is no params.sare to vary (did you mean `params.share`?"},
		{"scenario: small\nvary: {settings.max-concurent: [1]}", "did you mean `settings.max-concurrent`?"},
		{"scenario: small\nvary: {settings.keep-awake: [on]}", "keep-awake can change neither the results nor the speed of a run"},
		{"scenario: small\nvary: {settings.seed: [1]}", "the seeds of the runs stand in `replicates`"},
		{"scenario: small\nvary: {settings.preset: [x]}", "a preset is a group of settings"},
		{"scenario: small\nvary: {service.modle.model: [a]}", "the scenario has no service modle (did you mean `model`?)"},
		{"scenario: small\nvary: {service.model: [a]}", "names no field of a service"},
		{"scenario: small\nvary: {service.model.kind: [a]}", "the scenario does not accept a"},
		{"scenario: small\nvary: {service.model.limits: [1]}", "services.model.limits is not a single value"},
		{"scenario: small\nvary: {population.filtre: [x]}", "did you mean `population.filter`?"},
		{"scenario: small\nvary: {population.filter: ['agent.agee > 3']}", `agent has no agee here, at column 7 of "agent.agee > 3" (did you mean age?)`},
		{"scenario: small\nvary: {params.key: [1]}", "params.key is a secret, which an experiment cannot vary"},
		{"scenario: small\nvary: {params.share: [0.5, 1.5]}", "2:28: params.share: 1.5 is above 1"},
		{"scenario: small\nvary: {params.share: [a]}", `params.share: "a" is not a number`},
		{"scenario: small\nvary: {params.agents: [1.5]}", `"1.5" is not a whole number`},
		{"scenario: small\nvary: {params.mood: [cross]}", `"cross" is not one of calm, angry`},
		{"scenario: small\nvary: {params.share: ['${1 / 2}']}", "a parameter takes no expression"},
		{"scenario: small\nvary: {params.share: [0.5, 0.50]}", "params.share has the level 0.5 twice"},
		{"scenario: small\nvary: {params.share: []}", "params.share has no level"},
		{"scenario: small\nvary: {params.share: [[1]]}", "a level of params.share cannot be a list"},
		{"scenario: small\nvary: {params.share: {from: 1, to: 0}}", "which is not above 1"},
		{"scenario: small\nvary: {params.share: {from: 0}}", "`params.share` needs `to`"},
		{"scenario: small\nvary: {params.mood: {from: calm, to: angry}}", "is not a number, so it has no range"},
		{"scenario: small\nvary: {params.share: {log: [0, 1]}}", "a logarithmic range begins above 0"},
		{"scenario: small\nvary: {params.share: {log: [1]}}", "`log` needs two numbers"},
		{"scenario: small\nvary: {params.share: {from: 0, to: 1, step: 0.00001}}", "100001 levels, more than 10000"},
		{"scenario: small\nvary: {params.share: {from: 0, to: 1}}", "2:8: params.share: a range has no levels for the design grid"},
		{"scenario: small\nvary: {params.share: {at: 10, levels: [1]}}", "params.share changes at cycle 10, and there are runs with 10 cycles (a cycle from 1 to 9)"},
		{"scenario: small\nvary: {settings.cycles: {at: 3, levels: [5]}}", "cannot change in the course of a run"},
		{"scenario: small\nvary: {params.share: {at: 5, levels: [1]}, settings.cycles: [4, 8]}", "changes at cycle 5, and there are runs with 4 cycles"},
		{"scenario: small\ndesign: latin", "`design` cannot be `latin`"},
		{"scenario: small\ndesign: lhs", "the design lhs needs a number"},
		{"scenario: small\ndesign: {lhs: 5}", "the design lhs has nothing to vary"},
		{"scenario: small\ndesign: {lhs: 0}", "it must be between 1"},
		{"scenario: small\ndesign: {lhs: 5, morris: 3}", "`morris` cannot be combined with `lhs`"},
		{"scenario: small\ndesign: {lhs: 5, levels: 3}\nvary: {params.share: {from: 0, to: 1}}", "`levels` belongs to the design morris"},
		{"scenario: small\nvary: {params.share: [0, 1], params.agents: [1, 2, 3]}\ndesign: zip", "has 2 levels, and params.agents has 3"},
		{"scenario: small\ndesign: {points: []}", "the design has no point"},
		{"scenario: small\ndesign: {points: [{params.x: 1}]}", "there is no params.x to vary"},
		{"scenario: small\nreplicates: 0", "it must be between 1 and 10000"},
		{"scenario: small\nreplicates: {seeds: [1, 1]}", "the seed 1 is there twice"},
		{"scenario: small\nreplicates: {seeds: 5, until: {of: acted}}", "`until` needs `half_width`"},
		{"scenario: small\nreplicates: {until: {half_width: 0%, of: acted}}", "`half_width` cannot be `0%`"},
		{"scenario: small\nreplicates: {until: {half_width: 5%, of: act}}", "the experiment does not measure act"},
		{"scenario: small\nreplicates: {seeds: 5, until: {half_width: 5%, of: acted, at_most: 4}}", "it must be between 5"},
		{"scenario: small\nvary: {params.share: [0, 1]}\nbaseline: {params.share: 0.5}", "the baseline 0.5 is not a level of params.share (levels: 0, 1)"},
		{"scenario: small\nvary: {params.share: {from: 0.1, to: 1}}\ndesign: {lhs: 3}\nbaseline: {params.share: 0}", "outside of its range"},
		{"scenario: small\nbaseline: {params.share: 1}", "unknown key `params.share`"},
		{"scenario: small\nmeasures: []", "nothing is measured"},
		{"scenario: small\nmeasures: [acted, acted]", "acted is measured twice"},
		{"scenario: small\nmeasures: [outcomes.fialed]", "there is no outcome fialed (did you mean `failed`?"},
		{"scenario: small\nmeasures: [events.sodl]", "the scenario never emits the event sodl (did you mean `sold`?"},
		{"scenario: small\nmeasures: [events.sold.price]", "events.sold.price has no statistic"},
		{"scenario: small\nmeasures: [events.sold.price.maen]", "there is no statistic maen (did you mean `mean`?"},
		{"scenario: small\nmeasures: [memory.spend.mean]", "no step remembers spend (did you mean `spent`?"},
		{"scenario: small\nmeasures: [latency_p59]", "there is no measure latency_p59 (did you mean `latency_p95`?"},
		{"scenario: small\nmeasures: [latency_p95.shop]", "latency_p95 has no parts"},
		{"scenario: small\nmeasures: [request_p95.shpo]", "no service or step shpo with requests (did you mean `shop`?"},
		{"scenario: small\nfunctions: 'def f(a, b): return 1'\nmeasures: [f]", "the function f must have one argument"},
		{"scenario: small\nfunctions: none.star\nmeasures: [f]", "there is no file none.star"},
		{"scenario: small\nsettings: {cycels: 4}", "there is no setting cycels (did you mean `cycles`?)"},
		{"scenario: small\nsettings: {cycles: some}", `cycles: "some" is not a whole number`},
		{"scenario: small\nsettings: {cycles: 4}\nvary: {settings.cycles: [1]}", "cycles is in `vary`, too"},
		{"scenario: small\nbudget: {usd: -1}", "it must be at least 0"},
		{"scenario: small\nbudget: {euro: 1}", "unknown key `euro`"},
		{"scenario: small\nparallel: 0", "it must be between 1 and 1000"},
		{"scenario: small\nseed: -1", "it must be at least 0"},
	} {
		text, want := tt.text, tt.want
		_, err := read(text)
		mistakes, ok := errors.AsType[*scenario.Mistakes](err)
		if !ok {
			t.Errorf("%s: got %v, want a mistake", text, err)
			continue
		}
		all := ""
		for _, p := range mistakes.Problems() {
			all += fmt.Sprintf("%d:%d: %s (%s)\n", p.Line, p.Col, p.Text, p.Hint)
		}
		if !strings.Contains(all, want) {
			t.Errorf("%s:\ngot  %swant %s", text, all, want)
		}
	}
}

// TestAllMistakesInOnePass checks that no mistake hides another one.
func TestAllMistakesInOnePass(t *testing.T) {
	_, err := read("scenario: small\nvary: {params.shar: [1], params.mood: [x]}\ndesign: {lhs: x}\nmeasures: [actd]\nsettings: {cycels: 1}\nbudget: {usd: x}\nparallel: 0\n")
	mistakes, ok := errors.AsType[*scenario.Mistakes](err)
	if !ok || mistakes.Count() != 7 {
		t.Errorf("got %v, want 7 mistakes", mistakes.Problems())
	}
}

// TestWithoutLoader checks what can be read without the scenario.
func TestWithoutLoader(t *testing.T) {
	e, err := Read("x.experiment.yaml", only("x.experiment.yaml", issueExample), nil)
	if err != nil || len(e.Factors) != 4 {
		t.Fatalf("got %v, %v", e, err)
	}
	if _, err := e.Plan(engine.DefaultSettings(), 0); err == nil {
		t.Error("an experiment without its scenario has a plan")
	}
}

// TestForksOfRealServices checks the warning about changes that a fork cannot take back.
func TestForksOfRealServices(t *testing.T) {
	text := strings.Replace(strings.Replace(small, "mock:shop", "'https://shop.example.com'", 1), "get: /api", "post: /api", 1)
	for of, want := range map[string]bool{small: false, text: true} {
		e, err := Read("x", only("x", "scenario: s\nvary: {params.share: {at: 2, levels: [1]}}\n"), func(string, map[string]string) (*scenario.Scenario, error) {
			return scenario.Read("s.yaml", only("s.yaml", of), nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := e.PrintWarnings(&b); err != nil || strings.Contains(b.String(), "a fork cannot take back") != want {
			t.Errorf("got %q, %v, want a warning: %v", b.String(), err, want)
		}
	}
}

// TestUnbalancedDesigns checks the warnings about numbers that a design works less well with.
func TestUnbalancedDesigns(t *testing.T) {
	for design, want := range map[string]string{
		"{sobol: 5}": "balanced over powers of 2\n    3  | design: {sobol: 5}\n       |                 ^\n       = use 8", "{sobol: 8}": "", "{morris: 3, levels: 5}": "use an even number", "{morris: 3, levels: 6}": "",
	} {
		e := mustRead(t, "scenario: small\nvary: {params.share: {from: 0, to: 1}}\ndesign: "+design+"\n")
		var b strings.Builder
		if err := e.PrintWarnings(&b); err != nil || !strings.Contains(b.String(), want) || want == "" && b.Len() > 0 {
			t.Errorf("%s: got %q, %v, want %q", design, b.String(), err, want)
		}
	}
}

// TestUnusedParameter checks the warning about a factor without effect.
func TestUnusedParameter(t *testing.T) {
	text := strings.Replace(small, "parameters:", "parameters:\n  idle: 1", 1)
	e, err := Read("x", only("x", "scenario: s\nvary: {params.idle: [1, 2], params.share: [0, 1]}\n"), func(string, map[string]string) (*scenario.Scenario, error) {
		return scenario.Read("s.yaml", only("s.yaml", text), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := e.PrintWarnings(&b); err != nil || !strings.Contains(b.String(), "the scenario never uses params.idle") || strings.Contains(b.String(), "uses params.share") {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

// TestParams checks parameters that have the same value in every run: they are part of each run and of its identity, and mistakes are
// where they are.
func TestParams(t *testing.T) {
	read := func(text string) (*Experiment, error) {
		return Read("x", only("x", "scenario: small\n"+text), load)
	}
	e, err := read("params: {agents: 7, mood: angry}\nvary: {params.share: [0, 1]}\n")
	if err != nil {
		t.Fatal(err)
	}
	same, err := read("vary: {params.share: [0, 1], params.agents: [7], params.mood: [angry]}\n")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := e.Plan(engine.DefaultSettings(), 1)
	if err != nil {
		t.Fatal(err)
	}
	like, err := same.Plan(engine.DefaultSettings(), 1)
	if err != nil || len(plan.Points) != 2 || plan.Points[1].Hash != like.Points[1].Hash {
		t.Errorf("a parameter for all runs is another run than a factor with one level: %v, %v, %v", plan.Points, like.Points, err)
	}
	setup, err := e.Setup(plan.Points[1].Values)
	if err != nil {
		t.Fatal(err)
	}
	s, err := setup.Scenario()
	if err != nil || s.Agents != 7 || setup.Parameters["share"] != "1" || e.Params["share"] != "" {
		t.Errorf("a run has %d agents and %v, %v", s.Agents, setup.Parameters, err)
	}
	again, err := read(strings.TrimPrefix(string(e.Write()), "title: x\nscenario: small\n"))
	if err != nil || fmt.Sprint(again.Params) != fmt.Sprint(e.Params) {
		t.Errorf("written and read: %v, %v", again, err)
	}
	_, err = read("params: {agnts: 7, share: 3, mood: angry}\nvary: {params.mood: [calm, angry], params.shre: [0]}\n")
	mistakes, ok := errors.AsType[*scenario.Mistakes](err)
	if !ok {
		t.Fatal(err)
	}
	var all strings.Builder
	if err := mistakes.Print(&all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x:2:17: agnts: the scenario has no such parameter", "x:2:27: share: ", "x:2:36: mood is in `vary`, too", "shre"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is missing in\n%s", want, all.String())
		}
	}
}
