package scenario

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
)

const stopping = "chain c: {step a: {kind: stop}}\n"

func TestArrivals(t *testing.T) {
	const params = "parameters: {rate: 20, window: 90}\n"
	stage := func(d time.Duration, from, to float64) arrivals.Stage {
		return arrivals.Stage{For: d, From: from, To: to}
	}
	for text, want := range map[string]*arrivals.Plan{
		"at-once":                       nil,
		"even":                          {},
		"poisson":                       {Poisson: true},
		"{even: 60s}":                   {Over: time.Minute},
		"{even: 60}":                    {Over: time.Minute},
		"{poisson: 1h30m}":              {Poisson: true, Over: 90 * time.Minute},
		"{poisson: 10/s}":               {Poisson: true, Stages: arrivals.Constant(10)},
		"{even: 90/min}":                {Stages: arrivals.Constant(1.5)},
		"{poisson: '${params.rate}/s'}": {Poisson: true, Stages: arrivals.Constant(20)},
		"{even: '${params.window}'}":    {Over: 90 * time.Second},
		"{profile: [{for: 30s, rate: 2}, {for: 60s, rate: 20/s}]}":                    {Stages: []arrivals.Stage{stage(30*time.Second, 2, 2), stage(time.Minute, 20, 20)}},
		"{profile: [{for: 10s, to: 5/s}, {for: 5s, rate: 5/s}, {for: 10s, to: 1/s}]}": {Stages: []arrivals.Stage{stage(10*time.Second, 0, 5), stage(5*time.Second, 5, 5), stage(10*time.Second, 5, 1)}},
		"{profile: [{for: 10s, from: 2/s, to: '${params.rate / 2}'}, {rate: 1/s}]}":   {Stages: []arrivals.Stage{stage(10*time.Second, 2, 10), stage(0, 1, 1)}},
		"{poisson: [{for: 1m, from: 0, to: 3/s}]}":                                    {Poisson: true, Stages: []arrivals.Stage{stage(time.Minute, 0, 3)}},
	} {
		s, err := read(params+"clock: {arrivals: "+text+"}\n"+stopping, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if !reflect.DeepEqual(s.Clock.Arrivals, want) {
			t.Errorf("%s: %+v, want %+v", text, s.Clock.Arrivals, want)
		}
	}
}

func TestMistakesInArrivals(t *testing.T) {
	for text, want := range map[string]string{
		"clock: {arrivals: evne}":                                   "did you mean `even`?",
		"clock: {arrivals: {poison: 10/s}}":                         "did you mean `poisson`?",
		"clock: {arrivals: {even: 60s, poisson: 60s}}":              "cannot be combined",
		"clock: {arrivals: {}}":                                     "have no rate",
		"clock: {arrivals: {even: ten}}":                            "`ten` is not a time",
		"clock: {arrivals: {even: 10/fortnight}}":                   "not a rate",
		"clock: {arrivals: {even: 0/s}}":                            "too low",
		"clock: {arrivals: {even: 0}}":                              "out of range",
		"clock: {arrivals: {profile: []}}":                          "no stage",
		"clock: {arrivals: {profile: [{for: 30s}]}}":                "the stage has no rate",
		"clock: {arrivals: {profile: [{for: 30s, from: 3/s}]}}":     "needs `to`",
		"clock: {arrivals: {profile: [{rate: 3}, {rate: 4}]}}":      "needs `for`",
		"clock: {arrivals: {profile: [{for: 1s, rate: 3, to: 4}]}}": "cannot be combined",
		"clock: {arrivals: {profile: [{for: 9s, from: 5, to: 0}]}}": "would never arrive",
		"clock: {arrivals: {even: 60s}}\norder: sequential":         "sequential run",
		"clock: {arrivals: {even: 60s}}\nbatch: 5":                  "do not start in batches",
		"clock: {arrivals: {even: '${params.nothing}'}}":            "nothing",
	} {
		_, err := read(text+"\n"+stopping, nil, nil)
		mistakes, ok := errors.AsType[*Mistakes](err)
		if !ok {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var out strings.Builder
		if err := mistakes.Print(&out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: want %q in\n%s", text, want, out.String())
		}
	}
}

func TestCriteriaOfServices(t *testing.T) {
	const file = `services: {shop: {kind: http, url: 'mock:shop'}, bank: {kind: http, url: 'mock:shop'}}
chain c:
  step search: {kind: http, service: shop, get: /a}
  step think: {kind: wait, for: 1}
  step fill:
    kind: for
    each: "[1, 2]"
    as: n
    do:
      step add: {kind: http, service: shop, post: /b}
  step pay: {kind: http, service: bank, post: /c}
success:
`
	s, err := read(file+"  request_p95: {shop: < 1s, fill.add: < 2s, pay: 3s}\n  request_rate: {bank: 5/s}\n  request_error_rate: < 1%\n", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []engine.Criterion{
		{Metric: "request_p95", Of: "shop", Steps: []string{"search", "fill.add"}, Op: "<", Bound: 1, Text: "< 1s"},
		{Metric: "request_p95", Of: "fill.add", Steps: []string{"fill.add"}, Op: "<", Bound: 2, Text: "< 2s"},
		{Metric: "request_p95", Of: "pay", Steps: []string{"pay"}, Op: "<=", Bound: 3, Text: "3s"},
		{Metric: "request_rate", Of: "bank", Steps: []string{"pay"}, Op: ">=", Bound: 5, Text: "5/s"},
		{Metric: "request_error_rate", Op: "<", Bound: 0.01, Text: "< 1%"},
	}
	if !reflect.DeepEqual(s.Success, want) {
		t.Errorf("%+v, want %+v", s.Success, want)
	}
	for text, want := range map[string]string{
		"request_p95: {shap: < 1s}":  "did you mean `shop`?",
		"request_p95: {think: < 1s}": "no service or step `think` with requests",
		"request_p95: {shop: < 5/s}": "not a bound for request_p95",
		"request_rate: {shop: fast}": "a rate, such as",
		"latency_p95: {shop: < 1s}":  "text",
		"request_p9: < 1s":           "did you mean `request_p95`",
	} {
		_, err := read(file+"  "+text+"\n", nil, nil)
		mistakes, ok := errors.AsType[*Mistakes](err)
		if !ok {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var out strings.Builder
		if err := mistakes.Print(&out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: want %q in\n%s", text, want, out.String())
		}
	}
}
