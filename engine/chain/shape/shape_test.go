package shape

import "testing"

// TestDocuments checks that JSON documents are found within the text of a model's answer.
func TestDocuments(t *testing.T) {
	const d = `{"a":{"b":"}"}}`
	for _, tt := range []struct{ text, want string }{
		{d, d},
		{" \n" + d + "\n", d},
		{"```json\n" + d + "\n```", d},
		{"```\n" + d + "\n```\nI hope this helps :}", d},
		{"Of course! Here it is: " + d + " Anything else?", d},
		{"The set {1, 2} and {x}: " + d, d},
		{"First {} then " + d + ", not " + `{"a":1}`, d},
		{`<think>{"a": or {"b"</think>` + d, d},
		{"{ open " + d, d},
		{`{"a":{"b":`, `{"a":{"b":`},
		{`see {"a":1,} there`, `{"a":1,}`},
		{"nothing", "nothing"},
		{"}{", "}{"},
		{"", ""},
	} {
		if got := document(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}
