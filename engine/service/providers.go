package service

// Provider is a service of models in OpenAI's wire format.
type Provider struct {
	Name   string
	Title  string
	URL    string
	Secret string // usual name of its key; "" if it needs none
	Model  string // default model; "" if the scenario must name one
	Embeds string // default model for embeddings; "" if the scenario must name one
	Free   bool   // it runs on the user's machine
}

// Providers are the services that a scenario can name. The first is embedded in Throng.
var Providers = []Provider{
	{Name: "mock", Title: "Mock", URL: "mock:model", Model: "mock-1", Free: true},
	{Name: "openai", Title: "OpenAI", URL: "https://api.openai.com/v1", Secret: "OPENAI_API_KEY", Model: "gpt-4o-mini", Embeds: "text-embedding-3-small"},
	{Name: "openrouter", Title: "OpenRouter", URL: "https://openrouter.ai/api/v1", Secret: "OPENROUTER_API_KEY", Model: "openai/gpt-4o-mini", Embeds: "openai/text-embedding-3-small"},
	{Name: "lambda", Title: "Lambda", URL: "https://api.lambda.ai/v1", Secret: "LAMBDA_API_KEY", Model: "llama3.3-70b-instruct-fp8"},
	{Name: "ollama", Title: "Ollama", URL: "http://127.0.0.1:11434/v1", Model: "llama3.2", Embeds: "nomic-embed-text", Free: true},
	{Name: "lmstudio", Title: "LM Studio", URL: "http://127.0.0.1:1234/v1", Free: true},
	{Name: "vllm", Title: "vLLM", URL: "http://127.0.0.1:8000/v1", Free: true},
}
