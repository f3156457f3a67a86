package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// asksModels is a scenario with the mock's model, a provider's default model, and a named model.
const asksModels = `
services:
  mock: {kind: llm, provider: mock}
  usual: {kind: llm, provider: openai}
  named: {kind: llm, provider: openai, model: [a, b]}
chain c: {step s: {kind: stop}}
`

// TestModelName checks the model that is requested at a replaced address: the one that the file or the address names, or the
// only one that the service has.
func TestModelName(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-1")
	have := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if have == "" || r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"data":[{"id":"`+strings.Join(strings.Fields(have), `"},{"id":"`)+`"}]}`)
	}))
	defer server.Close()
	for _, tt := range []struct{ name, service, behind, have, want, problem string }{
		{"the only one", "mock", "", "llama3", "llama3", ""},
		{"the only one that does not embed", "mock", "", "nomic-embed-text llama3", "llama3", ""},
		{"a choice", "mock", "", "llama3 qwen3", "", "it has llama3, qwen3 (append the model to the address: --service 'mock=URL#llama3')"},
		{"one of them", "mock", "#qwen3:8b", "llama3 qwen3", "qwen3:8b", ""},
		{"a name with a slash and a space", "mock", "#openai/my%20model", "x y", "openai/my model", ""},
		{"no list", "mock", "", "", "", "no model specified for URL: HOST answered 404 to the request for its models (append the model to the address: --service 'mock=URL#NAME')"},
		{"the usual one", "usual", "", "gpt-4o gpt-4o-mini", "gpt-4o-mini", ""},
		{"the usual one is not there", "usual", "", "llama3", "llama3", ""},
		{"the usual one without a list", "usual", "", "", "gpt-4o-mini", ""},
		{"what the file names", "named", "", "x y", "a b", ""},
		{"instead of what the file names", "named", "#x", "x y", "x", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			have = tt.have
			s, err := scenario.Read("models.yaml", func(string) ([]byte, error) { return []byte(asksModels), nil }, nil)
			if err != nil {
				t.Fatal(err)
			}
			address := server.URL + "/v1"
			l := Launch{Services: Services{Data: t.TempDir(), Scenario: s, Settings: engine.DefaultSettings()}}
			given := map[string]string{tt.service: address + tt.behind}
			l.Settings.Services = given
			l.Settings.Services, err = l.nameModels(t.Context(), map[string]string{})
			said := ""
			if err != nil {
				said = err.Error()
			}
			problem := strings.NewReplacer("URL", address, "HOST", strings.TrimPrefix(server.URL, "http://")).Replace(tt.problem)
			if (said == "") != (tt.problem == "") || !strings.Contains(said, problem) {
				t.Fatalf("got %q, want %q", said, problem)
			}
			if err != nil {
				return
			}
			for _, service := range s.Services {
				want := map[string]string{"mock": "mock-1", "usual": "gpt-4o-mini", "named": "a b"}[service.Name]
				if service.Name == tt.service {
					want = tt.want
				}
				if !slices.Equal(service.Models, l.models(service)) || strings.Join(service.Models, " ") != want && service.Models[0] != want {
					t.Errorf("%s: the models are %v, want %s", service.Name, service.Models, want)
				}
			}
			if got := l.address(s.Services[slices.IndexFunc(s.Services, func(one *chain.Service) bool { return one.Name == tt.service })]); got != address {
				t.Errorf("got address %s", got)
			}
			again := l // as in a resumed run
			have = "another"
			if named, err := again.nameModels(t.Context(), nil); err != nil || named[tt.service] != l.Settings.Services[tt.service] {
				t.Errorf("after a second request: %v, %v", again.Settings.Services, err)
			}
			if given[tt.service] != address+tt.behind {
				t.Error("the settings of another launch have changed")
			}
		})
	}
}
