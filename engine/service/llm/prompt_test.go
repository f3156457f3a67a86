package llm

import "testing"

func TestReadPrompt(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Buy?"}]}`: {"Be brief.", "Buy?"},
		`{"system":"Be brief.","messages":[{"role":"user","content":"Buy?"}]}`:                    {"Be brief.", "Buy?"},
		`{"messages":[{"role":"user","content":"Buy?"},{"role":"assistant","content":""},{"role":"tool","content":"1"},{"role":"assistant","content":""},
			{"role":"tool","content":"2"},{"role":"tool","content":"3"}]}`: {"", "2\n3"},
		`{"messages":[{"role":"tool","content":"1"},{"role":"user","content":"Buy?"}]}`: {"", "Buy?"},
		`{"messages":[`: {"", ""},
	} {
		if instructions, last := ReadPrompt([]byte(body)); instructions != want[0] || last != want[1] {
			t.Errorf("%s: %q and %q, want %q", body, instructions, last, want)
		}
	}
}
