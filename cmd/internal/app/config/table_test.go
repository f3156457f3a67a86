package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestSettingsTable checks that names and variables are unique, and that every setting can be found and shown.
func TestSettingsTable(t *testing.T) {
	names, variables := map[string]bool{}, map[string]string{}
	origins, err := Sources{Data: t.TempDir(), Env: func(string) string { return "" }}.InForce()
	if err != nil {
		t.Fatal(err)
	}
	for i := range Settings {
		s := &Settings[i]
		if names[s.Name] || FindSetting(s.Name) != s {
			t.Errorf("%s is not unique", s.Name)
		}
		names[s.Name] = true
		for _, v := range append(s.Env, s.EnvNot...) {
			if other := variables[v]; other != "" {
				t.Errorf("%s sets %s and %s", v, other, s.Name)
			}
			variables[v] = s.Name
		}
		if s.Help == "" || s.Unit == "" {
			t.Errorf("%s has no help or unit", s.Name)
		}
		o, known := origins[s.Name]
		if !known || s.Default != "" && (o.Value != s.Default || o.From != "default") {
			t.Errorf("%s is %+v, want %q by default", s.Name, o, s.Default)
		}
	}
}

// TestSaveOfAllScopes checks that Save accepts settings of all scopes, and names unknown ones.
func TestSaveOfAllScopes(t *testing.T) {
	data := t.TempDir()
	err := Save(data, map[string]string{"retries": "3", LogLevelKey: "debug", "push-rows": "20", ListenKey: "127.0.0.1:9464"})
	if err != nil {
		t.Fatal(err)
	}
	origins, err := Sources{Data: data, Env: func(string) string { return "" }}.InForce()
	for name, want := range map[string]string{"retries": "3", LogLevelKey: "debug", "push-rows": "20", ListenKey: "127.0.0.1:9464"} {
		if got := origins[name]; err != nil || got != (Origin{Value: want, From: "saved"}) {
			t.Errorf("%s is %+v, %v", name, got, err)
		}
	}
	var field *engine.FieldError
	if err := Save(data, map[string]string{"retrie": "4"}); !errors.As(err, &field) || !strings.Contains(field.Hint, "retries") {
		t.Errorf("an unknown setting: %v", err)
	}
}

// TestWordsOfSettings checks that values for people have units, or say what 0 means.
func TestWordsOfSettings(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"max-concurrent", "50", "50 sessions"},
		{"cycles", "1", "1 cycle"},
		{"hours", "0", "not used"},
		{"cpu-high", "80%", "80%"},
		{"memory-low", "0%", "automatic"},
		{"budget", "0", "unlimited"},
		{"session-timeout", "1m30s", "1m30s"},
		{"session-timeout", "0s", "off"},
		{"seed", "1", "1"},
		{"database-share", "50", "50%"},
		{"database-timeout", "1m", "1m"},
	} {
		if got := FindSetting(c.name).Words(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
