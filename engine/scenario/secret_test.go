package scenario

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
)

const secretive = `
parameters:
  key: {secret: true, title: Key of the shop}
  word: {default: plain}
services:
  shop: {kind: http, url: "http://127.0.0.1:1"}
chain c:
  step a: {kind: http, service: shop, post: /x, json: {k: "secret:key", w: "${params.word}"}}
`

// TestSecretParametersAreKeptNowhere checks that steps get a secret parameter, and that nothing that the run stores
// contains its value.
func TestSecretParametersAreKeptNowhere(t *testing.T) {
	s, err := Read("s.yaml", FS(fstest.MapFS{"s.yaml": {Data: []byte(secretive)}}), map[string]string{"key": "hush-4711", "word": "other"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Secrets) != 1 || s.Secrets[0].Name != "key" || s.Secrets[0].Given != "hush-4711" || len(s.Parameters) != 1 {
		t.Errorf("secret parameters %+v, others %+v", s.Secrets, s.Parameters)
	}
	if got := s.Services[0].Secrets(); len(got) != 1 || got[0] != "key" {
		t.Errorf("the service needs %v", got)
	}
	kept, err := json.Marshal(s.Source)
	if err != nil || strings.Contains(string(kept), "hush") || s.Source.Parameters["word"] != `"other"` {
		t.Errorf("kept with a run: %s %v", kept, err)
	}
	again, err := Restore(s.Source)
	if err != nil || len(again.Secrets) != 1 || again.Secrets[0].Given != "" {
		t.Errorf("restored: %+v %v", again, err)
	}
}

// TestSecretsInTheWrongPlace checks the errors for secrets that are used where they are not allowed.
func TestSecretsInTheWrongPlace(t *testing.T) {
	for change, want := range map[string]string{
		"title: Key of the shop|default: 5":                                                            "3:32: a secret parameter has no default",
		"w: \"${params.word}\"|w: \"${params.key}\"":                                                   "params has no key here",
		"{default: plain}|{default: \"secret:key\"}":                                                   "4:20: a secret cannot be used here",
		"chain c:|chain c:\n  label: \"secret:key\"":                                                   "a secret cannot be used here",
		"json: {k|auth: some, json: {k":                                                                "none",
		"parameters:|title: \"about ${secret:key}\"\nparameters:":                                      "2:15: a secret cannot be used here",
		"\"http://127.0.0.1:1\"}|\"http://127.0.0.1:1\", auth: {header: {name: X-Key, value: plain}}}": "a secret must not be in the file",
	} {
		old, now, _ := strings.Cut(change, "|")
		text := strings.Replace(secretive, old, now, 1)
		if _, err := Read("s.yaml", FS(fstest.MapFS{"s.yaml": {Data: []byte(text)}}), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", now, err, want)
		}
	}
}
