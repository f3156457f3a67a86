package redact

import (
	"strings"
	"testing"
)

// TestPrefilter checks that the quick test for names of secrets lets every text pass that the expressions would change.
func TestPrefilter(t *testing.T) {
	words := []string{
		"password", "passwd", "PassWord", "pa\u017f\u017fword", "secret", "\u017fecret", "client_secret", "token", "access_token", "to\u212aen", "authorization",
		"Proxy-Authorization", "apikey", "api_key", "api-key", "API-Key", "x-api-\u212aey", "credential", "credentials",
	}
	for _, word := range words {
		if !secretWord.MatchString(word) {
			t.Errorf("%q is not a secret's name", word)
		}
		for _, text := range []string{
			`{"` + word + `": "hunter2"}`, `{"a": "{\"` + word + `\": \"hunter2\"}"}`, "a=1&" + word + "=hunter2", word + "=hunter2",
			strings.Repeat("é", 7) + `{"` + word + `":"hunter2"`,
		} {
			if got := Unnamed(text); strings.Contains(got, "hunter2") {
				t.Errorf("%s stays %s", text, got)
			}
		}
	}
	for _, text := range []string{"", "{}", `{"product": "apple", "task": "carry"}`, "p", "s", "t", "a", "c", "\xe2", "\xc5"} {
		if got := Unnamed(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// FuzzPrefilter checks that the quick test and the expressions agree on any text.
func FuzzPrefilter(f *testing.F) {
	f.Add(`{"password": "x"}`)
	f.Add("to\u212aen=1")
	f.Fuzz(func(t *testing.T, text string) {
		if !mayName(text) && secretWord.MatchString(text) {
			t.Errorf("%q is not filtered", text)
		}
	})
}
