package mock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine/mock/fraction"
)

// judge checks a document against a schema, with formats, using only the library.
func judge(t interface{ Fatalf(string, ...any) }, schema, document string) error {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatalf("%v in %s", err, schema)
	}
	if err := c.AddResource("test.json", doc); err != nil {
		t.Fatalf("%v in %s", err, schema)
	}
	compiled, err := c.Compile("test.json")
	if err != nil {
		t.Fatalf("%v in %s", err, schema)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

var someTalk = newTalk([]message{{role: "user", text: "What about the gardens of \"Lisbon\" <in> winter?"}})

// drawSchema draws a schema of the supported kinds, with references to a $defs of the root.
func drawSchema(t *rapid.T, depth int, strict bool) map[string]any {
	kinds := []string{"string", "enum", "const", "format", "pattern", "number", "integer", "boolean", "null", "ref"}
	if depth > 0 {
		kinds = append(kinds, "object", "object", "array", "anyOf", "oneOf", "types")
	}
	s := map[string]any{}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		s["type"] = "string"
		least := rapid.IntRange(0, 90).Draw(t, "minLength")
		if rapid.Bool().Draw(t, "bounded") {
			s["minLength"], s["maxLength"] = least, least+rapid.IntRange(0, 40).Draw(t, "more")
		}
	case "enum":
		s["enum"] = []any{"a", 1, nil, true, []any{1.5}, map[string]any{"é<": "\n"}}[rapid.IntRange(0, 5).Draw(t, "from"):]
	case "const":
		s["const"] = rapid.SampledFrom([]any{"x", 0, false, nil, 1e-9}).Draw(t, "const")
	case "format":
		s["type"], s["format"] = "string", rapid.SampledFrom([]string{
			"date", "date-time", "time", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid", "color",
		}).Draw(t, "format")
	case "pattern":
		s["type"], s["pattern"] = "string", rapid.SampledFrom([]string{
			`^[A-Z]{2}-\d{3,5}$`, `\w+@\w+\.(com|org)`, `^(red|green)?$`, `x`, `^\S+\s.*é$`, `[^a-z]`, `^$`, `a*?b+?`,
		}).Draw(t, "pattern")
	case "number", "integer":
		drawNumber(t, s, kind)
	case "boolean", "null":
		s["type"] = kind
	case "ref":
		s["$ref"] = rapid.SampledFrom([]string{"#/$defs/leaf", "#/$defs/tree", "#/$defs/list"}).Draw(t, "ref")
	case "types":
		s["type"] = []string{"integer", "null", "string"}[:rapid.IntRange(1, 3).Draw(t, "types")]
		s["maximum"], s["maxLength"] = 7, 5
	case "object":
		drawObject(t, s, depth, strict)
	case "array":
		s["type"], s["items"] = "array", drawSchema(t, depth-1, strict)
		least := rapid.IntRange(0, 3).Draw(t, "minItems")
		if rapid.Bool().Draw(t, "bounded") {
			s["minItems"], s["maxItems"] = least, least+rapid.IntRange(0, 2).Draw(t, "more")
		}
	case "anyOf":
		s["anyOf"] = []any{drawSchema(t, depth-1, strict), drawSchema(t, depth-1, strict)}
	case "oneOf": // branches that overlap in part
		s["oneOf"] = []any{map[string]any{"type": "integer"}, map[string]any{"type": "number", "minimum": 5}, map[string]any{"type": "null"}}
	}
	return s
}

func drawNumber(t *rapid.T, s map[string]any, kind string) {
	s["type"] = kind
	least := float64(rapid.IntRange(-1000, 1000).Draw(t, "least")) / 8
	span := float64(rapid.IntRange(8, 4000).Draw(t, "span")) / 8
	if kind == "integer" {
		span += 2
	}
	if rapid.Bool().Draw(t, "from") {
		s[rapid.SampledFrom([]string{"minimum", "exclusiveMinimum"}).Draw(t, "lower")] = least
	}
	if rapid.Bool().Draw(t, "to") {
		s[rapid.SampledFrom([]string{"maximum", "exclusiveMaximum"}).Draw(t, "upper")] = least + span
	}
	if rapid.Bool().Draw(t, "multiple") {
		s["multipleOf"] = rapid.SampledFrom([]any{0.01, 0.25, 0.1, 0.3, 1, json.Number("1e-3")}).Draw(t, "multipleOf")
	}
}

func drawObject(t *rapid.T, s map[string]any, depth int, strict bool) {
	s["type"] = "object"
	properties, required := map[string]any{}, []string{}
	for _, name := range []string{"a", "b \"é\"", "<c>"}[:rapid.IntRange(0, 3).Draw(t, "properties")] {
		properties[name] = drawSchema(t, depth-1, strict)
		if strict || rapid.Bool().Draw(t, "required") {
			required = append(required, name)
		}
	}
	s["properties"], s["required"], s["additionalProperties"] = properties, required, false
	if !strict && rapid.Bool().Draw(t, "open") {
		s["additionalProperties"] = drawSchema(t, 0, strict)
		s["required"] = append(required, "more")
	}
}

// defs are the targets of references in drawn schemas: trees and lists that contain themselves.
func defs() map[string]any {
	object := func(properties map[string]any, required ...string) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	ref := func(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }
	return map[string]any{
		"leaf": map[string]any{"type": "string", "maxLength": 9},
		"tree": object(map[string]any{"name": ref("leaf"), "children": map[string]any{"type": "array", "items": ref("tree")}}, "name", "children"),
		"list": object(map[string]any{"next": map[string]any{"anyOf": []any{ref("list"), map[string]any{"type": "null"}}}}, "next"),
	}
}

// TestDocumentsMatchTheirSchema draws schemas and validates the documents with another implementation.
func TestDocumentsMatchTheirSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strict := rapid.Bool().Draw(t, "strict")
		root := map[string]any{}
		if strict {
			drawObject(t, root, 3, true)
		} else {
			root = drawSchema(t, 3, false)
		}
		root["$defs"] = defs()
		raw := encode(root)
		s, err := readSchema(raw, strict)
		if err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		key := testRoot(rapid.Uint64().Draw(t, "key"))
		document, err := s.document(key, someTalk)
		if err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		if err := judge(t, string(raw), document); err != nil {
			t.Fatalf("%s does not match %s: %v", document, raw, err)
		}
		if again, err := s.document(key, someTalk); err != nil || again != document {
			t.Fatalf("%s, then %s", document, again)
		}
	})
}

// TestDocumentsVary checks that 200 documents cover every choice, bound and optional part.
func TestDocumentsVary(t *testing.T) {
	s, err := readSchema([]byte(`{"type":"object","properties":{"kind":{"enum":["p","q"]},"n":{"type":"integer","minimum":1,"maximum":3},
		"some":{"type":"array","items":{"type":"boolean"},"maxItems":2},"maybe":{"type":"null"},"any":true,"map":{"additionalProperties":{"type":"integer"}}},"required":["kind","n","some"]}`), false)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for i := range 200 {
		document, err := s.document(testRoot(uint64(i)), someTalk)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(document, `{"kind":`) {
			t.Fatalf("%s is not in the order of the schema", document)
		}
		all.WriteString(document)
	}
	for _, want := range []string{`"p"`, `"q"`, `"n":1,`, `"n":3,`, `"some":[]`, `[true,`, `,false]`, `"maybe"`, `"any":"`, `"item 3":`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no document has %s", want)
		}
	}
}

// TestUnsupportedSchemas checks that the error names what is wrong and where.
func TestUnsupportedSchemas(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 70) + `{}` + strings.Repeat(`}`, 70)
	for _, c := range []struct {
		schema string
		strict bool
		want   []string
	}{
		{`7`, false, []string{"In #", "a number"}},
		{`false`, false, []string{"no finite document"}},
		{`{"type":"strin"}`, false, []string{"unknown type 'strin'", "boolean"}},
		{`{"type":[]}`, false, []string{"empty"}},
		{`{"type":7}`, false, []string{"'type' is a number"}},
		{`{"not":{}}`, false, []string{"does not support 'not'"}},
		{`{"properties":{"a":{"if":{}},"b":{"contains":{}}}}`, false, []string{"#/properties/a: the mock does not support 'if'", "#/properties/b"}},
		{`{"$ref":"#/$defs/x"}`, false, []string{"does not exist"}},
		{`{"$ref":"http://example.com/x"}`, false, []string{"does not exist"}},
		{`{"$ref":"#/anyOf/7","anyOf":[{}]}`, false, []string{"'anyOf' next to '$ref'"}},
		{`{"items":{"$ref":"#/examples/7"},"examples":[{}]}`, false, []string{"does not exist"}},
		{`{"items":{"$ref":"#/anyOf/x"},"anyOf":[{}]}`, false, []string{"'items' next to 'anyOf'"}},
		{`{"$ref":"#"}`, false, []string{"no finite document"}},
		{`{"$ref":"#/$defs/x","type":"string","$defs":{"x":{}}}`, false, []string{"'type' next to '$ref'"}},
		{`{"$defs":{"x":{"type":"object","required":["x"],"properties":{"x":{"$ref":"#/$defs/x"}}}},"$ref":"#/$defs/x"}`, false, []string{"no finite document"}},
		{`{"allOf":[{},{}]}`, false, []string{"'allOf'"}},
		{`{"anyOf":[]}`, false, []string{"'anyOf' has 0"}},
		{`{"enum":[]}`, false, []string{"no value"}},
		{`{"type":"string","enum":[1,2]}`, false, []string{"no value"}},
		{`{"minLength":3,"maxLength":2}`, false, []string{"'minLength' is larger"}},
		{`{"minLength":-1}`, false, []string{"'minLength' is -1"}},
		{`{"minLength":1000000}`, false, []string{"the mock supports"}},
		{`{"minItems":2,"maxItems":1}`, false, []string{"'minItems' is larger"}},
		{`{"minItems":1.5}`, false, []string{"'minItems' is 1.5"}},
		{`{"pattern":"(?=a)"}`, false, []string{"'pattern'", "look-around"}},
		{`{"minimum":3,"maximum":2}`, false, []string{"no number"}},
		{`{"type":"integer","minimum":1.2,"maximum":1.8}`, false, []string{"no number"}},
		{`{"minimum":1,"maximum":2,"multipleOf":7}`, false, []string{"no number"}},
		{`{"multipleOf":0}`, false, []string{"larger than 0"}},
		{`{"minimum":"1"}`, false, []string{"'minimum'", "must be a number"}},
		{`{"exclusiveMinimum":true}`, false, []string{"a boolean"}},
		{`{"minimum":1e999999999}`, false, []string{"too large"}},
		{`{"properties":{"a":{"$id":"x"}}}`, false, []string{"'$id'"}},
		{`{"required":["a"],"additionalProperties":false}`, false, []string{"no finite document"}},
		{`{"properties":[]}`, false, []string{"'properties' is an array"}},
		{deep, false, []string{"levels"}},
		{`{"type":"string"}`, true, []string{"must be an object"}},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, true, []string{"'additionalProperties' must", "Missing 'a'"}},
	} {
		_, err := readSchema([]byte(c.schema), c.strict)
		if err == nil {
			t.Errorf("%s was read", c.schema)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.schema, err, want)
			}
		}
	}
}

// TestDocumentsThatAreNotFound checks valid schemas that no drawn document matches.
func TestDocumentsThatAreNotFound(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"pattern":"^a{5}$","maxLength":3}`, "matches"},
		{`{"format":"uuid","maxLength":3}`, "no uuid"},
		{`{"type":"array","items":{"type":"boolean"},"minItems":3,"uniqueItems":true}`, "no document that matches"},
		{`{"type":"array","minItems":40000,"items":{"type":"array","minItems":40000}}`, "1 MiB"},
		{`{"type":"string","pattern":"(()*)*x","minLength":40000,"maxLength":40000}`, "matches"},
	} {
		s, err := readSchema([]byte(c.schema), false)
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if document, err := s.document(testRoot(1), someTalk); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.100s %v, want %q", c.schema, document, err, c.want)
		}
	}
}

// TestEveryKeyword validates 50 documents of each schema.
func TestEveryKeyword(t *testing.T) {
	for _, schema := range []string{
		`{"pattern":"^[A-Z]{2}-\\d{3,5}$"}`, `{"pattern":"\\w+@\\w+\\.(com|org)","maxLength":30}`, `{"pattern":"^(red|green)?$"}`,
		`{"pattern":"^\\S+\\s.*é$"}`, `{"pattern":"[^a-z]"}`, `{"pattern":"^[à-ü]{3}$"}`, `{"pattern":"a*?b+?c{2,}"}`, `{"pattern":"\\bx\\b"}`,
		`{"pattern":"^[a-z]+$","minLength":20,"maxLength":30}`,
		`{"type":"integer","enum":[1,2.5,3.0,"4",null]}`, `{"type":["string","null"],"enum":["a",null,7]}`, `{"type":"object","const":{"a":[1,2]}}`,
		`{"type":"array","enum":[[],{}]}`, `{"type":"boolean","enum":[true,"x"]}`, `{"type":"number","const":-1.5e3}`,
		`{"enum":["a","bb","ccc"],"minLength":2}`, `{"enum":[1,2,3],"const":3}`, `{"const":null}`,
		`{"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#/anyOf/0"}}]}`,
		`{"$defs":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"$ref":"#/$defs/a/anyOf/0"}`,
		`{"definitions":{"a~b/c":{"type":"boolean"}},"items":{"$ref":"#/definitions/a~0b~1c"},"minItems":1}`,
		`{"allOf":[{"type":"integer","minimum":3}],"title":"T","description":"D","default":7,"examples":[1]}`,
		`{"oneOf":[{"type":"string"},{"type":"string","maxLength":20},{"type":"boolean"}]}`,
		`{"oneOf":[{"properties":{"kind":{"const":"a"}},"required":["kind"]},{"properties":{"kind":{"const":"b"}},"required":["kind"]}]}`,
		`{"exclusiveMinimum":0,"exclusiveMaximum":1e-3}`, `{"type":"number","minimum":0.1234567,"maximum":0.1234567}`, `{"type":"integer","maximum":-1e15}`,
		`{"type":"integer","multipleOf":2.5,"minimum":1,"maximum":11}`, `{"minimum":1,"exclusiveMinimum":2,"maximum":5,"exclusiveMaximum":4}`,
		`{"type":"string","maxLength":0}`, `{"type":"string","minLength":500,"maxLength":501}`, `{"format":"email","maxLength":30}`,
		`{"type":"object","additionalProperties":{"type":"integer"},"required":["x"]}`, `{"type":"array","items":false}`, `{"type":"array"}`, `{}`, `true`,
		`{"type":"object","properties":{"never":false,"a":{"$ref":"#"}}}`,
		`{"type":"array","items":{"$ref":"#"},"maxItems":9}`,
	} {
		s, err := readSchema([]byte(schema), false)
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		for i := range 50 {
			document, err := s.document(testRoot(uint64(i)), someTalk)
			if err == nil {
				err = judge(t, schema, document)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", schema, document, err)
				break
			}
		}
	}
}

// TestUniqueItems checks that documents are validated for conditions that their forms do not guarantee.
func TestUniqueItems(t *testing.T) {
	const schema = `{"type":"array","items":{"type":"integer","minimum":1,"maximum":4},"minItems":3,"maxItems":3,"uniqueItems":true}`
	s, err := readSchema([]byte(schema), false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		document, err := s.document(testRoot(uint64(i)), someTalk)
		if err != nil {
			t.Fatal(err)
		}
		if err := judge(t, schema, document); err != nil {
			t.Errorf("%s: %v", document, err)
		}
	}
}

func TestDecimals(t *testing.T) {
	for text, want := range map[string]string{"1.50": "1.5", "-0.001": "-0.001", "3": "3", "1e-20": "0.00000000000000000001", "100": "100"} {
		r, err := fraction.Read(text)
		if err != nil || fraction.Text(r) != want {
			t.Errorf("%s is %s (%v), want %s", text, fraction.Text(r), err, want)
		}
	}
	if n, exact := ceil(big.NewRat(-3, 2)); n.Int64() != -1 || exact {
		t.Errorf("the ceiling of -1.5 is %v", n)
	}
}

// TestSchemasAreCached checks that a schema is read once, and that the cache stays small.
func TestSchemasAreCached(t *testing.T) {
	var kept schemas
	read := func(i int) *schema {
		s, no := kept.of(format{schema: fmt.Appendf(nil, `{"const":%d}`, i)})
		if no != nil {
			t.Fatal(no.Message)
		}
		return s
	}
	if first := read(1); first != read(1) {
		t.Error("a schema was read twice")
	}
	for i := range 3 * schemasKept {
		read(i)
	}
	if len(kept.known) > schemasKept {
		t.Errorf("%d schemas are kept", len(kept.known))
	}
}

// FuzzSchema reads anything: a schema that is read makes valid JSON or returns an error.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":["integer","null"],"minimum":1e3}},"required":["a"]}`), true)
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#"},{"const":1}]}}}`), false)
	f.Add([]byte(`{"pattern":"^(a|[^b-z]{2,3})*$","maxLength":5}`), false)
	f.Add([]byte(`{"oneOf":[{"multipleOf":0.5},{"type":"array","items":false}]}`), false)
	f.Fuzz(func(t *testing.T, raw []byte, strict bool) {
		var compact bytes.Buffer
		if json.Compact(&compact, raw) != nil {
			return
		}
		s, err := readSchema(compact.Bytes(), strict)
		if err != nil {
			return
		}
		if document, err := s.document(testRoot(1), someTalk); err == nil && !json.Valid([]byte(document)) {
			t.Errorf("%s returns %s", raw, document)
		}
	})
}
