package service

import (
	"maps"
	"net/http"

	"github.com/throng-sim/throng/engine/service/anthropic"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/ollama"
	"github.com/throng-sim/throng/engine/service/openai"
)

// NamedAPI is a wire format of completions, by its name in a scenario.
type NamedAPI struct {
	Name  string
	API   llm.API
	Key   string      // header of the service's key; "" is Authorization, as a bearer token
	Needs http.Header // headers that every request needs
	List  string      // query of the list of models, for all of them
	Chats bool        // it has no embeddings
	Mock  llm.API     // used with the mock model, which does not serve API; nil is API
}

// KeyHeader returns the header, with its value, that hands over the key of a service.
func (a NamedAPI) KeyHeader(key string) (header, value string) {
	if a.Key != "" {
		return a.Key, key
	}
	return "Authorization", "Bearer " + key
}

// Header returns the headers of a request without a body. key may be "".
func (a NamedAPI) Header(key string) http.Header {
	h := http.Header{}
	maps.Copy(h, a.Needs)
	if key != "" {
		h.Set(a.KeyHeader(key))
	}
	return h
}

// Of returns the wire format for a service, which may be the mock model.
func (a NamedAPI) Of(mocks bool) llm.API {
	if mocks && a.Mock != nil {
		return a.Mock
	}
	return a.API
}

// APIs are the wire formats that a scenario can name. The first is the default.
var APIs = []NamedAPI{
	{Name: "completions", API: openai.API{}},
	{Name: "messages", API: anthropic.API{}, Key: "X-Api-Key", Needs: http.Header{"Anthropic-Version": {anthropic.Version}}, List: "limit=1000", Chats: true},
	{Name: "ollama", API: ollama.API{}, Mock: openai.API{}},
}

// APINames returns the names of the wire formats.
func APINames() (names []string) {
	for _, a := range APIs {
		names = append(names, a.Name)
	}
	return names
}

// Provider is a service of models.
type Provider struct {
	Name   string
	Title  string
	URL    string
	Secret string // usual name of its key; "" if it needs none
	Model  string // default model; "" if the scenario must name one
	Embeds string // default model for embeddings; "" if the scenario must name one
	Free   bool   // it runs on the user's machine
	API    int    // index of its wire format in APIs
}

// Providers are the services that a scenario can name. The first is embedded in Throng.
var Providers = []Provider{
	{Name: "mock", Title: "Mock", URL: "mock:model", Model: "mock-1", Free: true},
	{Name: "openai", Title: "OpenAI", URL: "https://api.openai.com/v1", Secret: "OPENAI_API_KEY", Model: "gpt-4o-mini", Embeds: "text-embedding-3-small"},
	{Name: "anthropic", Title: "Anthropic", URL: "https://api.anthropic.com/v1", Secret: "ANTHROPIC_API_KEY", Model: "claude-haiku-4-5", API: 1},
	{Name: "openrouter", Title: "OpenRouter", URL: "https://openrouter.ai/api/v1", Secret: "OPENROUTER_API_KEY", Model: "openai/gpt-4o-mini", Embeds: "openai/text-embedding-3-small"},
	{Name: "lambda", Title: "Lambda", URL: "https://api.lambda.ai/v1", Secret: "LAMBDA_API_KEY", Model: "llama3.3-70b-instruct-fp8"},
	{Name: "ollama", Title: "Ollama", URL: "http://127.0.0.1:11434/v1", Model: "llama3.2", Embeds: "nomic-embed-text", Free: true},
	{Name: "lmstudio", Title: "LM Studio", URL: "http://127.0.0.1:1234/v1", Free: true},
	{Name: "llamacpp", Title: "llama.cpp", URL: "http://127.0.0.1:8080/v1", Free: true},
	{Name: "vllm", Title: "vLLM", URL: "http://127.0.0.1:8000/v1", Free: true},
}
