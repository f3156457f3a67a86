package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// TestUsersPricesGoFirst checks that the user's table overrides the built-in one.
func TestUsersPricesGoFirst(t *testing.T) {
	data := t.TempDir()
	before, err := services.ReadPrices(data)
	if err != nil {
		t.Fatal(err)
	}
	write(t, data, `{"gpt-4o-mini": {"input_cost_per_token": 1e-3, "output_cost_per_token": 2e-3}, "mine": {"input_cost_per_token": 0}}`)
	after, err := services.ReadPrices(data)
	if err != nil {
		t.Fatal(err)
	}
	if after["gpt-4o-mini"] != (pricing.Price{Input: 1e-3, Output: 2e-3, CacheRead: 1e-3, CacheWrite: 1e-3, CacheWriteLong: 1e-3, Reasoning: 2e-3, BatchInput: 1e-3, BatchOutput: 2e-3}) || after["gpt-4o"] != before["gpt-4o"] || len(after) != len(before)+1 {
		t.Errorf("%v, before %v", after, before)
	}
}

// TestMistakesInTheUsersPrices checks that every mistake is reported with the file.
func TestMistakesInTheUsersPrices(t *testing.T) {
	data := t.TempDir()
	for text, want := range map[string]string{
		`{`: "an object of models", `{"a": {"input_cost_per_token": -1}, "b": {"output_cost_per_token": "x"}}`: "model b: ",
	} {
		write(t, data, text)
		_, err := services.ReadPrices(data)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Join(data, "prices.json")) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := os.Remove(filepath.Join(data, "prices.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(data, "prices.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := services.ReadPrices(data); err == nil {
		t.Error("a folder was accepted as a table of prices")
	}
}

func write(t *testing.T, data, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(data, "prices.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSettingsOfModels checks the settings of models from flags and the environment.
func TestSettingsOfModels(t *testing.T) {
	odd := map[string]string{"max-llm-calls": "7", "llm-rate": "2.5"}
	found := 0
	for _, s := range config.RunSettings() {
		if value, ok := odd[s.Name]; ok {
			found++
			settings := engine.DefaultSettings()
			if err := s.Set(&settings, value); err != nil || s.Show(&settings) != value {
				t.Errorf("%s: %s, %v", s.Name, s.Show(&settings), err)
			}
			for _, bad := range []string{"-1", "x", "0"} {
				if err := s.Set(&settings, bad); err == nil && settings.Validate() == nil {
					t.Errorf("%s accepts %s", s.Name, bad)
				}
			}
		}
	}
	if found != len(odd) {
		t.Errorf("%d of them are settings", found)
	}
}
