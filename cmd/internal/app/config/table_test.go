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
