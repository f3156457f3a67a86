package fit

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const shopper = `{"type":"object","properties":{"shop":{"type":"boolean"},"mood":{"enum":["good","bad"]},"basket":{"type":"object",
	"properties":{"size":{"type":"integer"}},"required":["size"]}},"required":["shop"],"additionalProperties":false}`

func TestCheck(t *testing.T) {
	s, err := Compile(json.RawMessage(shopper))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		document string
		want     []string // nil: the document is valid
	}{
		{`{"shop":true}`, nil},
		{`{"shop":true,"mood":"bad","basket":{"size":3.0}}`, nil},
		{` {"shop": false} `, nil},
		{`{}`, []string{"missing property 'shop'"}},
		{`{"shop":"yes"}`, []string{"shop: got string, want boolean"}},
		{`{"shop":true,"mood":"so-so"}`, []string{"mood: value must be one of 'good', 'bad'"}},
		{`{"shop":true,"basket":{"size":"x"}}`, []string{"basket.size: got string, want integer"}},
		{`{"shop":true,"price":1}`, []string{"additional properties 'price' not allowed"}},
		{`{"shop":1,"mood":2}`, []string{"shop: ", "mood: ", "; "}},
		{`{"shop":true} and more`, []string{"it is not a JSON document"}},
		{`{"shop":tru`, []string{"it is not a JSON document"}},
		{``, []string{"it is not a JSON document"}},
		{`[]`, []string{"got array, want object"}},
	} {
		err := s.Check([]byte(tt.document))
		if (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v", tt.document, err)
		}
		for _, want := range tt.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", tt.document, err, want)
			}
		}
	}
}

// TestErrorsAreBounded checks that the number, length and depth of reported errors are limited.
func TestErrorsAreBounded(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"type":"object","additionalProperties":{"type":"boolean"}}`))
	if err != nil {
		t.Fatal(err)
	}
	strict, err := Compile(json.RawMessage(`{"type":"object","additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	many := map[string]int{}
	for i := range 1000 {
		many[strings.Repeat("é", i+1)] = i
	}
	wrong, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	deep := `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	for _, schema := range []*Schema{s, strict} {
		for _, document := range []string{string(wrong), deep, `{"` + strings.Repeat("x", 1<<20) + `":1}`, strings.Repeat("{", 1<<20)} {
			err := schema.Check([]byte(document))
			if err == nil || len(err.Error()) > 2000 || !utf8.ValidString(err.Error()) {
				t.Errorf("a document of %d bytes: %.3000v", len(document), err)
			}
		}
	}
}

func TestSchemasThatAreNone(t *testing.T) {
	for schema, want := range map[string]string{
		`{`: "unexpected EOF", `{"type":"text"}`: "type: value must be one of", `{"$ref":"https://example.com/x"}`: "is not in the schema",
		`{"$ref":"file:///etc/hostname"}`: "is not in the schema", `{"$ref":"other.json"}`: "other.json", `{"$ref":"#/$defs/x"}`: "$defs/x",
		`{"pattern":"("}`: "pattern: ", `7`: "got number, want boolean or object",
	} {
		_, err := Compile(json.RawMessage(schema))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "engine") {
			t.Errorf("%s: got %v, want %s", schema, err, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(shopper, `{"shop":true}`)
	f.Add(`{"$ref":"#"}`, `{"a":[{}]}`)
	f.Fuzz(func(_ *testing.T, schema, document string) {
		if s, err := Compile(json.RawMessage(schema)); err == nil {
			_ = s.Check([]byte(document))
		}
	})
}
