package chain

import (
	"net/http"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

const ordersAPI = `
openapi: 3.1.0
info: {title: Orders}
paths:
  /orders: {post: {responses: {201: {content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: integer}}}}}}}}}
  /orders/{id}: {get: {responses: {200: {content: {application/json: {schema: {type: object, properties: {state: {enum: [open]}}}}}}}}}
`

// TestContract checks that an answer that does not fit the document fails its step with the class contract, is not asked for again, and
// ends the same when it is taken from the journal.
func TestContract(t *testing.T) {
	for _, tt := range []struct{ step, answer, error string }{
		{"post: /orders, check: schema", `{"id": 1}`, ""},
		{"post: /orders", `{"id": "hunter2"}`, ""},
		{"post: /orders, check: schema", `{"id": "hunter2"}`, "the body does not fit its schema: id: got a string, expected an integer"},
		{"post: /orders, check: schema, private: true", `{"id": "hunter2"}`, "the answer, which is private, does not fit the OpenAPI document"},
		{"post: /orders, check: schema, expect: 200", `{"id": 1}`, "status 201"},
		{"get: '/orders/${params.n}', check: schema, expect: [200, 201]", `{"state": "hunter2"}`, "the API description has no answer 201 for GET /orders/{id}, only 200"},
	} {
		asked := 0
		st := stage{
			address: serve(t, func(w http.ResponseWriter, _ *http.Request) { asked++; js(w, 201, tt.answer) }), files: map[string]string{"openapi.yaml": ordersAPI},
			steps: "step a: {kind: http, service: shop, " + tt.step + "}", journal: &enginetest.Journal{},
		}
		row := st.one(t)
		wrong := tt.error != "" && !strings.HasPrefix(tt.error, "status")
		if (row.Outcome == engine.OK) != (tt.error == "") || !strings.Contains(row.Error, tt.error) || (row.Class == engine.Contract) != wrong || strings.Contains(row.Error, "hunter2") || asked != 1 {
			t.Errorf("%s: %v, class %q: %s; asked %d times", tt.step, row.Outcome, row.Class, row.Error, asked)
		}
		if !strings.HasPrefix(tt.step, "post") {
			continue
		}
		st.journal = &enginetest.Journal{DieAfter: 3} // the cycle, the request and its answer
		kill(t, st)
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
		if again := st.one(t); again.Error != row.Error || again.Class != row.Class || again.Outcome != row.Outcome || asked != 2 {
			t.Errorf("%s: replayed as %q %s; asked %d times", tt.step, again.Class, again.Error, asked)
		}
	}
}
