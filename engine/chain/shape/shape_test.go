package shape

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
)

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

// TestScales checks that a field can be a scale of whole numbers, as in the questions of a survey.
func TestScales(t *testing.T) {
	for text, c := range map[string]struct {
		fits, wrong []string
		problem     string
	}{
		"rating: {from: 1, to: 5}\nwhy?: string": {
			[]string{`{"rating":1}`, `{"rating":5,"why":"x"}`}, []string{`{"rating":0}`, `{"rating":6}`, `{"rating":2.5}`, `{"rating":"3"}`, `{"rating":{"from":1,"to":2}}`}, "",
		},
		"nested: {mood: {from: -2, to: 2}}": {[]string{`{"nested":{"mood":-2}}`}, []string{`{"nested":{"mood":3}}`}, ""},
		"age: {from: 0, to: 120}":           {[]string{`{"age":120}`}, []string{`{"age":121}`}, ""},
		"trip: {to: string}":                {[]string{`{"trip":{"to":"b"}}`}, []string{`{"trip":3}`}, ""},
		"trip: {from: string, to: string}":  {nil, nil, "string"},
		"rating: {from: 5, to: 1}":          {nil, nil, "a scale from 5 to 1 has no steps"},
		"rating: {from: 1}":                 {nil, nil, "to"},
		"rating: {from: 1, to: 5, by: 2}":   {nil, nil, "by"},
		"rating: {from: 1.5, to: 5}":        {nil, nil, "1.5"},
	} {
		report := &doc.Report{}
		s := Read(doc.Parse("x.yaml", []byte(text), report))
		if err := report.Err(); c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: %v, want %q", text, err, c.problem)
			}
			continue
		} else if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if strings.Contains(text, "to: 5") && !strings.Contains(string(s.Schema), `{"enum":[1,2,3,4,5],"type":"integer"}`) {
			t.Errorf("%s: the model is shown %s", text, s.Schema)
		}
		if of := s.Known.Fields[0].Of; strings.HasPrefix(text, "rating") && of.Kind != known.Whole {
			t.Errorf("%s: expressions see %+v, want a whole number", text, of)
		}
		for fits, all := range map[bool][]string{true: c.fits, false: c.wrong} {
			for _, answer := range all {
				v, err := s.Parse(answer)
				if (err == nil) != fits {
					t.Errorf("%s: %s: %v", text, answer, err)
				}
				if data, err := value.DecodeJSON([]byte(answer)); err != nil || s.Form.Fits(data) != fits {
					t.Errorf("%s: %s as a value: %v, %v, want %t", text, answer, v, err, fits)
				}
			}
		}
	}
}
