package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// warnings returns the warnings of a valid scenario.
func warnings(t *testing.T, text string) []string {
	t.Helper()
	s, err := read(text, nil, nil)
	if err != nil {
		t.Fatal(all(err))
	}
	var got []string
	for _, w := range s.report.Warnings() {
		got = append(got, w.Error())
	}
	return got
}

func TestWarnsOfLimitsOfPaidServices(t *testing.T) {
	const rest = "\nchain c: {step a: {kind: llm, service: m, prompt: hello}}\n"
	for name, c := range map[string]struct {
		service string
		want    []string
	}{
		"paid": {"{kind: llm, provider: openai, model: x, limits: {concurrent: 1000, max_rate: 2000}}", []string{
			"test.yaml:1:76: 1000 hardly limits the calls, and the service m is paid for (10 to 50, and raise it while you watch the cost)",
			"test.yaml:1:92: 2000 hardly limits the calls, and the service m is paid for (10 to 50, and raise it while you watch the cost)",
		}},
		"moderate":  {"{kind: llm, provider: openai, model: x, limits: {concurrent: 50, max_rate: 50}}", nil},
		"one's own": {"{kind: llm, provider: ollama, model: x, limits: {concurrent: 1000}}", nil},
		"mocked":    {"{kind: llm, url: 'mock:model', limits: {concurrent: 1000}}", nil},
		"no model":  {"{kind: llm, url: 'mock:model', limits: {timeout: 5s}}", []string{"test.yaml:1:64: 5s for a model: many answers take longer (60s, say)"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := warnings(t, "services: {m: "+c.service+"}"+rest); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestWarnsOfModelsForEmbeddings checks that a recall step needs the name of a model for embeddings, unless the mock answers.
func TestWarnsOfModelsForEmbeddings(t *testing.T) {
	const rest = "\nchain c: {step a: {kind: recall, service: m, query: hello}}\n"
	for service, want := range map[string][]string{
		"{kind: llm, provider: lmstudio, model: x}":                     {"test.yaml:2:43: the service m names no model for embeddings, so its model for chats is asked for them (`embedding_model: NAME` in the service)"},
		"{kind: llm, provider: lmstudio, model: x, embedding_model: y}": nil,
		"{kind: llm, provider: openai}":                                 nil,
		"{kind: llm, provider: mock}":                                   nil,
	} {
		if got := warnings(t, "services: {m: "+service+"}"+rest); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", service, got, want)
		}
	}
}

func TestWarnsOfShortTimesRoundModels(t *testing.T) {
	const model = "services: {m: {kind: llm, url: 'mock:model'}}\n"
	const hint = ": many answers take longer (60s, for example; it counts the service's time, not waits in Throng)"
	for name, c := range map[string]struct {
		chains string
		want   []string
	}{
		"the chain's":     {"chain c: {timeout: 5, step a: {kind: llm, service: m, prompt: x}}", []string{"test.yaml:2:20: 5s for the model that a asks" + hint}},
		"the step's":      {"chain c: {step a: {kind: llm, service: m, prompt: x, timeout: 900ms}}", []string{"test.yaml:2:63: 900ms for the model that a asks" + hint}},
		"long enough":     {"chain c: {timeout: 2m, step a: {kind: llm, service: m, prompt: x, timeout: 10s}}", nil},
		"another kind":    {"chain c: {timeout: 5, step a: {kind: embed, service: m, input: x}}", nil},
		"a step's around": {"chain c: {step f: {kind: for, each: range(2), as: i, timeout: 5s, do: {step a: {kind: llm, service: m, prompt: x}}}}", []string{"test.yaml:2:63: 5s for the model that a asks" + hint}},
		"another chain's": {
			"chain c: {step f: {kind: chain, target: d}}\nchain d: {timeout: 5, step a: {kind: llm, service: m, prompt: x}}",
			[]string{"test.yaml:3:20: 5s for the model that a asks" + hint},
		},
		"that of a step that runs another": {
			"chain c: {step f: {kind: chain, target: d, timeout: 5}}\nchain d: {step a: {kind: llm, service: m, prompt: x}}",
			[]string{"test.yaml:2:53: 5s for the model that a asks" + hint},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := warnings(t, model+c.chains); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestExpectsCallsOfModels(t *testing.T) {
	const services = "services: {m: {kind: llm, url: 'mock:model'}, n: {kind: llm, url: 'mock:model'}}\nparameters: {share: {default: 0.25}}\n"
	for step, want := range map[string][2][2]int64{
		"{kind: llm, service: m, prompt: x}":                                                      {{1, 1}},
		"{kind: llm, service: m, prompt: x, fallback: [n]}":                                       {{1, 1}, {0, 1}},
		"{kind: llm, service: m, prompt: x, share: '${params.share}', otherwise: str(1)}":         {{0, 1}},
		"{kind: llm, service: m, prompt: x, share: 0, otherwise: str(1)}":                         {{0, 0}},
		"{kind: llm, service: m, prompt: x, share: 1, otherwise: str(1)}":                         {{1, 1}},
		"{kind: llm, service: m, prompt: 'x ${a}', cache: {a: agent.index}}":                      {{0, 1}},
		"{kind: for, each: range(4), as: i, do: {step b: {kind: embed, service: m, input: 'x'}}}": {{4, 4}},
	} {
		s, err := read(services+"chain c: {step a: "+step+"}", nil, nil)
		if err != nil {
			t.Fatal(all(err))
		}
		for i, r := range s.Chain.Expect() {
			if r.Least != want[i][0] || r.Most != want[i][1] {
				t.Errorf("%s: got %d to %d of %s, want %v", step, r.Least, r.Most, r.Service.Name, want[i])
			}
		}
	}
	s, err := read(services+"chain c: {step a: {kind: llm, service: m, prompt: x, share: '${params.share}', otherwise: str(1)}}", nil, nil)
	if err != nil {
		t.Fatal(all(err))
	}
	if got := s.Chain.Expect(); len(got) != 1 || got[0].Mean != 0.25 || math.IsNaN(got[0].Mean) {
		t.Errorf("a quarter asks: got %+v", got)
	}
}

// TestBucketsThatFitNoStep checks the warning about a bucket whose pattern matches no request of any chain. Requests
// with computed paths may match.
func TestBucketsThatFitNoStep(t *testing.T) {
	const file = `population: {count: 1}
services:
  shop:
    kind: http
    url: "http://127.0.0.1:1"
    limits: {buckets: {orders: {match: %s, rate: 2}}}
run: c
chain c:
  step a: {kind: http, service: shop, post: /orders, json: {}}
  step b: {kind: http, service: shop, get: "/products/${agent.index}"}
  step c: {kind: chain, target: other}
chain other:
  step d: {kind: http, service: shop, delete: %s}
`
	for _, c := range []struct {
		name, match, path, want string
	}{
		{"all fit", "[POST /orders, '/products/*', DELETE /carts/mine]", "/carts/mine", ""},
		{"another method", "[GET /orders]", "/carts/mine", `"GET /orders" fits no step`},
		{"a misspelled path", "/order", "/carts/mine", `the bucket orders of the service shop: "/order" fits no step`},
		{"one of two", "[POST /orders, /customers]", "/carts/mine", `"/customers" fits no step`},
		{"a path that is found out", "/order", "'${agent.id}'", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf(file, c.match, c.path)
			got := strings.Join(warnings(t, text), "\n")
			if c.want == "" && strings.Contains(got, "fits no step") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
