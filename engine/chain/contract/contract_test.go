package contract_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine/chain/contract"
	"github.com/throng-sim/throng/engine/openapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = `
openapi: 3.0.3
info: {title: Shop}
paths:
  /orders/{id}:
    get:
      responses:
        200: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
        204: {description: none}
        4XX: {content: {application/problem+json: {schema: {type: object, required: [title]}}}}
        500: {content: {text/*: {}}}
  /free: {get: {}}
  /any: {get: {responses: {default: {content: {'*/*': {schema: {type: array}}}}}}}
components:
  schemas:
    Order:
      type: object
      required: [id, state, password]
      properties:
        id: {type: integer, minimum: 0, exclusiveMinimum: true}
        state: {type: string, enum: [open, paid]}
        note: {type: string, nullable: true, maxLength: 5}
        password: {type: string, writeOnly: true}
        lines: {type: array, items: {type: object, required: [price], properties: {price: {oneOf: [{type: number, maximum: 9}, {type: object, required: [cents], properties: {cents: {type: integer}}}]}}}}
`

func check(t testing.TB, path string) *contract.Check {
	t.Helper()
	d, err := openapi.Load([]byte(document), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Of(d.Operation("GET " + path))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		path   string
		status int
		kind   string
		body   string
		want   string
	}{
		{"/orders/{id}", 200, "application/json; charset=utf-8", `{"id":1,"state":"open","note":null,"lines":[{"price":1.5},{"price":{"cents":2}}]}`, ""},
		{"/orders/{id}", 200, "application/json", `{"id":0,"state":"open"}`, "the body does not fit its schema: id: is too small, expected more than 0"},
		{"/orders/{id}", 200, "application/json", `{"id":1,"state":"hunter2"}`, "the body does not fit its schema: state: expected one of open, paid"},
		{"/orders/{id}", 200, "application/json", `{"id":"hunter2","state":"open"}`, "the body does not fit its schema: id: got a string, expected an integer"},
		{"/orders/{id}", 200, "application/json", `{"id":1}`, "the body does not fit its schema: missing state"},
		{"/orders/{id}", 200, "application/json", `{"id":1,"state":"open","note":"too long"}`, "the body does not fit its schema: note: has 8 characters, expected at most 5"},
		{"/orders/{id}", 200, "application/json", `{"id":1,"state":"open","lines":[{"price":1},{"price":{"cents":1.5}}]}`, "the body does not fit its schema: lines[1].price.cents: got a number, expected an integer"},
		{"/orders/{id}", 200, "application/json", `{"id":1,`, "the body does not fit its schema: it is not a JSON document"},
		{"/orders/{id}", 200, "text/html", `<html>`, "got a body of type text/html, expected application/json"},
		{"/orders/{id}", 200, "", `x`, "got a body of type unknown, expected application/json"},
		{"/orders/{id}", 200, "", ``, "the body is empty, expected JSON"},
		{"/orders/{id}", 201, "application/json", `{}`, "the API description has no answer 201 for GET /orders/{id}, only 200, 204, 4XX, 500"},
		{"/orders/{id}", 204, "", ``, ""},
		{"/orders/{id}", 404, "application/json", `{"title":"gone"}`, ""},
		{"/orders/{id}", 404, "application/problem+json", `{"detail":"gone"}`, "the body does not fit its schema: missing title"},
		{"/orders/{id}", 500, "text/plain", `oops`, ""},
		{"/orders/{id}", 500, "image/png", `oops`, "got a body of type image/png, expected text/*"},
		{"/free", 200, "text/html", `x`, ""},
		{"/any", 418, "application/json", `[]`, ""},
		{"/any", 418, "application/json", `{}`, "the body does not fit its schema: got an object, expected an array"},
	} {
		err := check(t, tt.path).Answer(tt.status, tt.kind, []byte(tt.body))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%d %s %s:\n got %s\nwant %s", tt.status, tt.kind, tt.body, got, tt.want)
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("%s repeats a value", got)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	c := check(b, "/orders/{id}")
	body := []byte(`{"id":1,"state":"open","note":"abc","lines":[{"price":1.5},{"price":2},{"price":3},{"price":{"cents":4}}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Answer(200, "application/json", body); err != nil {
			b.Fatal(err)
		}
	}
}
