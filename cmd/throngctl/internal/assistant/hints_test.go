package assistant

import "testing"

// TestInJSON checks that only what commands say is translated.
func TestInJSON(t *testing.T) {
	h := Hints{Commands: func() []string { return []string{"resume", "push"} }}
	for text, want := range map[string]string{
		`{"hint": "throngctl resume RUN <b>", "n": 1.50}`:          `{"hint": "the tool resume (run: RUN) <b>", "n": 1.50}`,
		`{"reason" : "by throngctl resume", "list": ["a","b--c"]}`: `{"reason" : "by throngctl resume", "list": ["a","b--c"]}`,
		`{"throngctl resume": "a \"throngctl resume\""}`:           `{"throngctl resume": "a \"the tool resume\""}`,
		`{"words":"send: throngctl push"}`:                         `{"words":"send: throngctl push (only the person you work for can use this, in a terminal: throngctl push)"}`,
		`["throngctl resume"`:                                      `["the tool resume"`,
		`"throngctl resume`:                                        `"throngctl resume`,
	} {
		if got := string(h.inJSON([]byte(text))); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
