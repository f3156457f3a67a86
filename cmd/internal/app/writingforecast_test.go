package app_test

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
)

// TestWritingForecast checks the forecast for a population that is not written yet.
func TestWritingForecast(t *testing.T) {
	d := newTown(t)
	draft := func(text string, given, services map[string]string) string {
		t.Helper()
		settings := engine.DefaultSettings()
		settings.Services = services
		got, err := app.Launch{Services: app.Services{Data: d.data, Scenario: d.read(text, given), Settings: settings}}.Population().WritingForecast()
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			return ""
		}
		return got.String()
	}
	at := func(service string) string { return strings.Replace(harbour, `url: "mock:model"`, service, 1) }
	for _, tt := range []struct {
		name, text, want string
		given, services  map[string]string
	}{
		{"the mock", harbour, "12 personas to write by model (mock-1) at launch; free", nil, nil},
		{"one", harbour, "1 persona to write by model (mock-1) at launch; free", map[string]string{"count": "1"}, nil},
		{"a price", at("provider: openai"), "12 personas to write by model (gpt-4o-mini) at launch; less than $0.01, at 300 tokens per answer", nil, nil},
		{"a higher price", at("provider: openai, model: gpt-4o"), "by model (gpt-4o) at launch; about $0.04, at 300 tokens per answer", nil, nil},
		{"fewer tokens", strings.Replace(at("provider: openai, model: gpt-4o"), "system:", "max_tokens: 100\n    system:", 1), "at 100 tokens per answer", nil, nil},
		{"no price", at("provider: openai, model: unknown-model"), "; cost unknown", nil, nil},
		{"one's own machine", at("provider: ollama"), "; free", nil, nil},
		{"another address", at("provider: ollama"), "; cost unknown", nil, map[string]string{"model": "https://models.example.com"}},
	} {
		if got := draft(tt.text, tt.given, tt.services); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := draft("title: Empty\nchain c: {step a: {kind: stop}}\n", nil, nil); got != "" {
		t.Errorf("no model writes the population, but got %q", got)
	}
	d.run(d.read(harbour, map[string]string{"count": "5"}), nil)
	if got, want := draft(harbour, nil, nil), "7 personas to write by model (mock-1) at launch; 5 written earlier"; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := draft(harbour, map[string]string{"count": "5"}, nil); !strings.Contains(got, "no model calls") {
		t.Errorf("all are stored, but got %q", got)
	}
}
