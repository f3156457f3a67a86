package app

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// TestSecretsAreFound checks the places where a secret is found, their order, and the error if there is none.
func TestSecretsAreFound(t *testing.T) {
	keyring.MockInit()
	env := map[string]string{"BOTH": "of the environment\n", "ENV": "e"}
	s := secrets.Finder{Env: func(name string) string { return env[name] }}
	for _, name := range []string{"BOTH", "KEY"} {
		if err := secrets.Keep(name, " of the keychain\n"); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, value, place string }{
		{"BOTH", "of the environment", secrets.InEnvironment}, {"ENV", "e", secrets.InEnvironment}, {"KEY", "of the keychain", secrets.InKeychain},
	} {
		if value, place, err := s.Find("service shop", tt.name); value != tt.value || place != tt.place || err != nil {
			t.Errorf("%s: got %q of %q, %v", tt.name, value, place, err)
		}
	}
	_, _, err := s.Find("service shop", "NONE")
	want := "service shop: the secret NONE is neither in the environment nor in the keychain (export NONE=…, or throngctl secret set NONE)"
	if _, ok := errors.AsType[*engine.FieldError](err); !ok || err.Error() != want {
		t.Errorf("got %v", err)
	}

	if err := secrets.Forget("KEY"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Find("x", "KEY"); err == nil {
		t.Error("a deleted secret is found")
	}
	if err := secrets.Forget("KEY"); err != nil {
		t.Errorf("deleted again: %v", err)
	}

	keyring.MockInitWithError(errors.New("no bus"))
	if value, _, err := s.Find("x", "BOTH"); value == "" || err != nil {
		t.Errorf("without a keychain: %q, %v", value, err)
	}
	_, _, err = s.Find("service shop", "KEY")
	if field, ok := errors.AsType[*engine.FieldError](err); !ok || !strings.Contains(field.Problem, "not in the environment, and the keychain cannot be used: no bus") {
		t.Errorf("without a keychain: %v", err)
	}
}

func TestSecretNames(t *testing.T) {
	keyring.MockInit()
	for _, name := range []string{"", "a b", "-x", "database me@host", "a/b", strings.Repeat("x", 300)} {
		_, err := secrets.FindPlace(name)
		for _, err := range []error{err, secrets.Keep(name, "v"), secrets.Forget(name)} {
			if field, ok := errors.AsType[*engine.FieldError](err); !ok || !strings.Contains(field.Problem, "invalid name") {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	if err := secrets.Keep("NAME", "\n"); err == nil || !strings.Contains(err.Error(), "is empty (to delete it: throngctl secret forget NAME)") {
		t.Errorf("an empty secret: %v", err)
	}
}

// TestServicesGetTheirSecrets checks that the error lists all missing secrets, and that mocks need none.
func TestServicesGetTheirSecrets(t *testing.T) {
	keyring.MockInit()
	const text = `
services:
  a: {kind: http, url: "http://127.0.0.1:1", auth: {bearer: secret:A}}
  b: {kind: http, url: "http://127.0.0.1:1", auth: {jwt: {secret: secret:B}}}
  c: {kind: http, url: "http://127.0.0.1:1", auth: {login: {post: /in, json: {p: secret:C, q: secret:A}, token: body}}}
chain c: {step a: {kind: emit, event: e}}
`
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	l := Launch{Services: Services{Scenario: s, Settings: engine.DefaultSettings(), Secrets: secrets.Finder{Env: func(name string) string { return env[name] }}}}
	_, err = l.unlock()
	var told []string
	for line := range strings.Lines(fmt.Sprint(err)) {
		told = append(told, strings.Join(strings.Fields(line)[:5], " "))
	}
	if got, want := strings.Join(told, "\n"), "service a: the secret A\nservice b: the secret B\nservice c: the secret C\nservice c: the secret A"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	env["A"], env["B"], env["C"] = "1", "2", "3"
	if bearers, err := l.unlock(); err != nil || bearers["a"] != "1" || bearers["b"] != "" {
		t.Errorf("got %v, %v", bearers, err)
	}
	clear(env)
	l.Settings.Services = map[string]string{"a": "mock:shop", "b": "mock:shop", "c": "mock:shop"}
	if _, err := l.unlock(); err != nil {
		t.Errorf("the mock: %v", err)
	}
}
