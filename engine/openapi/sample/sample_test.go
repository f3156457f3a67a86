package sample_test

import (
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/openapi"
	"github.com/throng-sim/throng/engine/openapi/sample"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = `
openapi: 3.1.0
info: {title: Samples}
paths:
  /a: {get: {responses: {200: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}}}
components:
  schemas:
    A:
      type: object
      required: [id, name, code, zip, price, count, even, tags, kind, child, mail, day, at, flag, long, either]
      properties:
        id: {type: string, format: uuid}
        name: {type: string, minLength: 3, maxLength: 8}
        code: {type: string, pattern: '^[A-Z]{2}-\d{3,5}(x|y)?$'}
        zip: {type: string, pattern: '^\d{5}$'}
        price: {type: number, exclusiveMinimum: 0, maximum: 9.5}
        count: {type: integer, minimum: -5, maximum: -2}
        even: {type: integer, multipleOf: 2, minimum: 3}
        tags: {type: array, minItems: 2, items: {type: string}}
        kind: {enum: [a, b]}
        child: {$ref: '#/components/schemas/A1'}
        mail: {type: string, format: email}
        day: {type: string, format: date}
        at: {type: string, format: date-time}
        flag: {type: boolean}
        long: {type: string, minLength: 100}
        either: {oneOf: [{type: 'null'}, {type: integer}]}
        self: {$ref: '#/components/schemas/A'}
    A1: {allOf: [{type: object, required: [x], properties: {x: {type: integer}}}, {type: object, required: [y], properties: {y: {const: 7}}}]}
`

// TestValue checks that values fit their schema, repeat with the key and differ between keys.
func TestValue(t *testing.T) {
	d, err := openapi.Load([]byte(document), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := openapi.JSON(d.Operations[0].Responses[0].Media).Schema
	v, err := s.Compile(openapi.OfResponse)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for seed := range uint64(200) {
		text, err := json.Marshal(sample.Value(s, "", draw.Key{}.Int(seed)))
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Check(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := json.Marshal(sample.Value(s, "", draw.Key{}.Int(seed)))
		if err != nil || string(again) != string(text) {
			t.Errorf("got %s, then %s", text, again)
		}
		seen[string(text)] = true
	}
	if len(seen) != 200 {
		t.Errorf("%d different values of 200", len(seen))
	}
}
