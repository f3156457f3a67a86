package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service"
)

// TestMistakesAboutModels compares the printed mistakes of a file with a golden file.
func TestMistakesAboutModels(t *testing.T) {
	_, err := Load("testdata/models.yaml", nil)
	mistakes, ok := errors.AsType[*Mistakes](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	golden(t, "testdata/models.txt", mistakes)
	if strings.Contains(mistakes.Error(), "hunter2") {
		t.Errorf("the error contains a secret: %v", mistakes)
	}
}

// TestServicesOfModels checks the settings of model services, including the defaults of each provider.
func TestServicesOfModels(t *testing.T) {
	for _, tt := range []struct{ service, want string }{
		{"{kind: llm, provider: openai}", "https://api.openai.com/v1 [gpt-4o-mini] text-embedding-3-small key OPENAI_API_KEY schema"},
		{"{kind: llm, provider: anthropic}", "https://api.anthropic.com/v1 [claude-haiku-4-5]  key ANTHROPIC_API_KEY schema messages"},
		{"{kind: llm, provider: anthropic, api: completions}", "https://api.anthropic.com/v1 [claude-haiku-4-5]  key ANTHROPIC_API_KEY schema"},
		{"{kind: llm, url: 'mock:model', api: messages}", "mock:model [mock-1]  key  schema messages"},
		{"{kind: llm, provider: openrouter, model: [a/b, c/d]}", "https://openrouter.ai/api/v1 [a/b c/d] openai/text-embedding-3-small key OPENROUTER_API_KEY schema"},
		{"{kind: llm, provider: lambda}", "https://api.lambda.ai/v1 [llama3.3-70b-instruct-fp8]  key LAMBDA_API_KEY schema"},
		{"{kind: llm, provider: ollama, model: qwen3, answers: json}", "http://127.0.0.1:11434/v1 [qwen3] nomic-embed-text key  json free"},
		{"{kind: llm, provider: ollama, api: ollama}", "http://127.0.0.1:11434/v1 [llama3.2] nomic-embed-text key  schema ollama free"},
		{"{kind: llm, provider: lmstudio, model: m, embedding_model: e}", "http://127.0.0.1:1234/v1 [m] e key  schema free"},
		{"{kind: llm, provider: vllm, model: m, url: 'http://gpu.local:8000/v1', answers: text}", "http://gpu.local:8000/v1 [m]  key  text free"},
		{"{kind: llm, provider: mock}", "mock:model [mock-1]  key  schema free"},
		{"{kind: llm, url: 'mock:model'}", "mock:model [mock-1]  key  schema"},
		{"{kind: llm, url: 'https://llm.example.com/v1', model: m, auth: {bearer: 'secret:K'}}", "https://llm.example.com/v1 [m]  key K schema"},
		{"{kind: llm, provider: openai, auth: {bearer: 'secret:MINE'}, model: '${\"gpt\" + \"-4o\"}'}", "https://api.openai.com/v1 [gpt-4o] text-embedding-3-small key MINE schema"},
	} {
		s, err := read(minimal("services: {s: "+tt.service+"}"), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.service, err)
			continue
		}
		got := s.Services[0]
		said := fmt.Sprintf("%s %v %s key %s %s", got.URL, got.Models, got.Embeds, got.Bearer, chain.AnswersNames[got.Answers])
		if got.Wire.Name != "completions" {
			said += " " + got.Wire.Name
		}
		if got.Free {
			said += " free"
		}
		if said != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.service, said, tt.want)
		}
	}
}

// TestLimitsOfModels checks how the limits of model services are read, and their defaults.
func TestLimitsOfModels(t *testing.T) {
	for _, tt := range []struct {
		limits string
		want   service.Limits
	}{
		{"{}", service.Limits{}},
		{"{concurrent: 7, rate: 2.5, max_rate: 20}", service.Limits{Connections: 7, Rate: 2.5, MaxRate: 20}},
		{"{rate: 3}", service.Limits{Rate: 3}},
		{"{max_rate: 30}", service.Limits{Rate: 10, MaxRate: 30}},
		{"{max_rate: 3}", service.Limits{Rate: 3, MaxRate: 3}},
		{"{pace: adaptive}", service.Limits{Rate: 10, MaxRate: 50}},
		{"{rate: 3, pace: adaptive, max_rate: 9}", service.Limits{Rate: 3, MaxRate: 9}},
		{"{rate: 3, pace: bucket}", service.Limits{Rate: 3, Pace: pace.Bucket}},
		{"{rate: 3, pace: bucket, burst: 20}", service.Limits{Rate: 3, Pace: pace.Bucket, Burst: 20}},
		{"{pace: fixed, rate: 0.5}", service.Limits{Rate: 0.5, Pace: pace.Fixed}},
	} {
		s, err := read(minimal("services: {s: {kind: llm, provider: openai, limits: "+tt.limits+"}}"), nil, nil)
		if err != nil || !reflect.DeepEqual(s.Services[0].Limits, tt.want) {
			t.Errorf("%s: %+v, %v; want %+v", tt.limits, s.Services[0].Limits, err, tt.want)
		}
	}
}
