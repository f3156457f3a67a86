package openapi_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/throng-sim/throng/engine/openapi"
)

func load(t testing.TB, text string, o openapi.Options) *openapi.Document {
	t.Helper()
	d, err := openapi.Load([]byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAgainstKin compares what is read of whole documents with what kin-openapi reads.
func TestAgainstKin(t *testing.T) {
	for _, name := range []string{"petstore.yaml", "fastapi.json"} {
		d := load(t, file(t, name), openapi.Options{})
		want, err := openapi3.NewLoader().LoadFromData([]byte(file(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for path, item := range want.Paths.Map() {
			for method, other := range item.Operations() {
				count++
				op := d.Operation(method + " " + path)
				if op == nil || op.ID != other.OperationID || op.Summary != other.Summary || len(op.Responses) != other.Responses.Len() ||
					len(op.Parameters) != len(other.Parameters)+len(item.Parameters) || (op.Body == nil) != (other.RequestBody == nil) {
					t.Errorf("%s: %s %s: got %+v, want %+v", name, method, path, op, other)
					continue
				}
				for _, p := range other.Parameters {
					i := slices.IndexFunc(op.Parameters, func(q openapi.Parameter) bool { return q.Name == p.Value.Name && q.In == p.Value.In })
					if i < 0 || op.Parameters[i].Required != p.Value.Required || op.Parameters[i].Schema.Type() != (*p.Value.Schema.Value.Type)[0] {
						t.Errorf("%s: %s: parameter %s differs", name, op.Key(), p.Value.Name)
					}
				}
				if other.RequestBody == nil {
					continue
				}
				for _, m := range op.Body.Media {
					same(t, name+": "+op.Key(), m.Schema, other.RequestBody.Value.Content[m.Type].Schema.Value)
				}
			}
		}
		if count != len(d.Operations) || len(d.Problems) > 0 || d.Partial != "" {
			t.Errorf("%s: got %d operations, %v; want %d", name, len(d.Operations), d.Problems, count)
		}
	}
}

// same compares the properties of two schemas, one level deep.
func same(t *testing.T, at string, got *openapi.Schema, want *openapi3.Schema) {
	t.Helper()
	properties := got.Properties()
	if len(properties) != len(want.Properties) {
		t.Errorf("%s: got %d properties, want %d", at, len(properties), len(want.Properties))
	}
	for _, p := range properties {
		other := want.Properties[p.Name].Value
		least, most, _ := p.Schema.Range()
		if p.Required != slices.Contains(want.Required, p.Name) || p.Schema.Format() != other.Format || p.Schema.Pattern() != other.Pattern ||
			len(p.Schema.Enum()) != len(other.Enum) || other.Type != nil && p.Schema.Type() != (*other.Type)[0] ||
			(least == nil) != (other.Min == nil && !other.ExclusiveMin.IsSet()) || (most == nil) != (other.Max == nil) {
			t.Errorf("%s: property %s differs", at, p.Name)
		}
	}
}

// TestOrder checks that operations and properties keep the order of the document.
func TestOrder(t *testing.T) {
	d := load(t, file(t, "fastapi.json"), openapi.Options{})
	if d.Title != "Corner Shop" || d.Version != "3.0.2" || d.Operations[0].Key() != "GET /health" || d.Operations[1].Key() != "POST /users" {
		t.Errorf("got %s %s, %s, %s", d.Title, d.Version, d.Operations[0].Key(), d.Operations[1].Key())
	}
	var names []string
	for _, p := range d.Operation("POST /products").Body.Media[0].Schema.Properties() {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "name price color sku tags" {
		t.Errorf("got %s", got)
	}
}

const swagger = `{
  "swagger": "2.0", "info": {"title": "Old", "version": "1"}, "host": "api.example.com", "basePath": "/v1", "schemes": ["https"],
  "consumes": ["application/json"], "produces": ["application/json"],
  "securityDefinitions": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}, "broken": {"type": 7},
    "login": {"type": "oauth2", "flow": "password", "tokenUrl": "https://api.example.com/token", "scopes": {}}},
  "security": [{"key": []}],
  "parameters": {"page": {"name": "page", "in": "query", "type": "integer", "minimum": 1}},
  "paths": {
    "/things": {
      "get": {"operationId": "listThings", "parameters": [{"$ref": "#/parameters/page"}], "responses": {"200": {"description": "ok",
        "schema": {"type": "array", "items": {"$ref": "#/definitions/Thing"}}}}},
      "post": {"parameters": [{"in": "body", "name": "thing", "required": true, "schema": {"$ref": "#/definitions/Thing"}}],
        "responses": {"201": {"description": "made", "schema": {"$ref": "#/definitions/Thing"}}}}
    },
    "/upload": {"post": {"consumes": ["multipart/form-data"], "parameters": [{"in": "formData", "name": "picture", "type": "file", "required": true},
      {"in": "formData", "name": "title", "type": "string"}], "responses": {"204": {"description": "done"}}}},
    "/wrong": {"get": {"parameters": "none", "responses": {"200": {"description": "ok"}}}, "put": {"responses": {"200": {"description": "ok"}}}}
  },
  "definitions": {"Thing": {"type": "object", "required": ["name", "id"], "properties": {"id": {"type": "integer", "readOnly": true},
    "name": {"type": "string", "x-nullable": true}, "parent": {"$ref": "#/definitions/Thing"}}}}
}`

func TestSwagger2(t *testing.T) {
	d := load(t, swagger, openapi.Options{})
	if got := fmt.Sprint(d.Version, d.Servers, len(d.Operations)); got != "2.0[https://api.example.com/v1] 4" {
		t.Errorf("got %s", got)
	}
	list := d.Operation("GET /things")
	if got := fmt.Sprint(list.ID, len(list.Parameters), list.Parameters[0].Name, list.Parameters[0].Schema.Type(), list.Security); got != "listThings1pageinteger[[key]]" {
		t.Errorf("got %s", got)
	}
	post := d.Operation("POST /things")
	if post.Body == nil || !post.Body.Required || post.Line != 12 {
		t.Fatalf("got %+v", post)
	}
	schema := openapi.JSON(post.Body.Media).Schema
	if got := fmt.Sprint(schema.Name, len(schema.Properties()), schema.Property("parent").Same(schema), schema.Property("id").ReadOnly()); got != "Thing3 true true" {
		t.Errorf("got %s", got)
	}
	answer, err := openapi.JSON(post.Responses[0].Media).Schema.Compile(openapi.OfResponse)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Check([]byte(`{"id":1,"name":null,"parent":{"id":2,"name":"a"}}`)); err != nil {
		t.Error(err)
	}
	if err := answer.Check([]byte(`{"id":1,"name":"a","parent":{"id":"2","name":"a"}}`)); err == nil || err.Error() != "parent.id: got a string, expected an integer" {
		t.Errorf("got %v", err)
	}
	upload := d.Operation("POST /upload")
	if upload.Body == nil || upload.Body.Media[0].Type != "multipart/form-data" || upload.Body.Media[0].Schema.Property("picture").Format() != "binary" {
		t.Errorf("got %+v", upload.Body)
	}
	if s := d.Scheme("key"); s == nil || s.In != "header" || s.Key != "X-Key" || d.Scheme("login").Flows[0].TokenURL == "" || d.Scheme("broken") != nil {
		t.Errorf("got %+v", d.Schemes)
	}
	var out []string
	for _, p := range d.Problems {
		if p.LeftOut {
			out = append(out, p.Operation)
		}
	}
	if len(out) != 1 || out[0] != "GET /wrong" {
		t.Errorf("got %v", d.Problems)
	}
}

const circular = `
openapi: 3.1.0
info: {title: Trees}
paths:
  /trees:
    post:
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Tree'}}}}
      responses: {201: {content: {application/json: {schema: {$ref: '#/components/schemas/Tree'}}}}}
  /loops:
    get: {responses: {200: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}}
  /both:
    get: {responses: {200: {content: {application/json: {schema: {$ref: '#/components/schemas/X'}}}}}}
components:
  schemas:
    Tree: {type: object, required: [name], properties: {name: {type: string}, children: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}
    A: {$ref: '#/components/schemas/B'}
    B: {$ref: '#/components/schemas/A'}
    X: {allOf: [{$ref: '#/components/schemas/Y'}], properties: {x: {type: integer}}}
    Y: {allOf: [{$ref: '#/components/schemas/X'}], properties: {y: {type: [integer, 'null']}}}
`

func TestCircularReferences(t *testing.T) {
	d := load(t, circular, openapi.Options{})
	if len(d.Operations) != 3 || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].String(), "GET /loops") {
		t.Fatalf("got %v", d.Problems)
	}
	tree := openapi.JSON(d.Operation("POST /trees").Responses[0].Media).Schema
	if !tree.Property("children").Items().Same(tree) {
		t.Error("a tree has no trees")
	}
	v, err := tree.Compile(openapi.OfResponse)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Check([]byte(`{"name":"a","children":[{"name":"b","children":[{"children":[]}]}]}`)); err == nil || err.Error() != "children[0].children[0]: missing name" {
		t.Errorf("got %v", err)
	}
	both := openapi.JSON(d.Operation("GET /both").Responses[0].Media).Schema
	if len(both.Properties()) != 2 {
		t.Errorf("got %v", both.Properties())
	}
}

func TestOtherFiles(t *testing.T) {
	const main = `
openapi: 3.0.0
info: {title: Split}
paths:
  /a: {$ref: 'paths/a.yaml'}
  /b: {get: {responses: {200: {content: {application/json: {schema: {$ref: 'https://schemas.example.com/b.json#/B'}}}}}}}
  /c: {get: {parameters: [{$ref: '../secret.yaml#/p'}], responses: {}}}
  /d: {$ref: 'gone.yaml'}
`
	files := map[string]string{
		"paths/a.yaml":   "get: {operationId: a, responses: {200: {content: {application/json: {schema: {$ref: '../schemas.json#/A'}}}}}}",
		"schemas.json":   `{"A": {"type": "object", "properties": {"next": {"$ref": "#/A"}}}}`,
		"../secret.yaml": "p: {name: x, in: query}",
	}
	var asked []string
	open := func(name string) ([]byte, error) {
		asked = append(asked, name)
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	}
	d := load(t, main, openapi.Options{Location: "/somewhere/openapi.yaml", Open: open})
	a := d.Operation("GET /a")
	if a == nil || !openapi.JSON(a.Responses[0].Media).Schema.Property("next").Same(openapi.JSON(a.Responses[0].Media).Schema) {
		t.Errorf("got %+v, %v", a, d.Problems)
	}
	if got := strings.Join(asked, " "); got != "paths/a.yaml schemas.json gone.yaml" {
		t.Errorf("read %s", got)
	}
	all := fmt.Sprint(d.Problems)
	for _, want := range []string{"another address, which is not allowed", "out of the folder of the document", `/d: read "gone.yaml": no such file`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s lacks %s", all, want)
		}
	}

	fetched := ""
	d = load(t, main, openapi.Options{Location: "https://example.com/v1/openapi.yaml", Open: open, Fetch: func(url string) ([]byte, error) {
		fetched += url + " "
		return []byte(`{"B": {"type": "string"}}`), nil
	}})
	if d.Operation("GET /b") == nil || openapi.JSON(d.Operation("GET /b").Responses[0].Media).Schema.Type() != "string" || !strings.Contains(fetched, "https://example.com/v1/paths/a.yaml ") {
		t.Errorf("fetched %s; %v", fetched, d.Problems)
	}
}

// TestPartial checks that what is wrong is left out and named, and the rest stays.
func TestPartial(t *testing.T) {
	d := load(t, `
openapi: 3.1.1
info: {title: 7}
servers: [{url: 'https://{region}.example.com', variables: {region: {default: eu}}}, {url: 'https://{x}'}, 5]
paths:
  /good/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}, 7]
    get: {operationId: same, responses: {200: {description: ok}, ok: {}}}
    put: {operationId: same, requestBody: 5, responses: {204: {}}}
    delete: none
  /good/{other}:
    get: {responses: {}}
  no-slash: {get: {}}
  /list: [get]
  /bad/{id: {get: {}}
  /missing: {post: {requestBody: {required: true, $ref: '#/components/requestBodies/Gone'}, responses: {200: {$ref: '#/x/y'}}}}
  /missing2: {get: {responses: {200: {$ref: '#/x/y'}}, security: [{unknown: []}]}}
`, openapi.Options{})
	var keys []string
	for _, op := range d.Operations {
		keys = append(keys, op.Key()+"="+op.ID)
	}
	if got, want := strings.Join(keys, ", "), "GET /good/{id}=same, PUT /good/{id}=, GET /missing2="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if d.Title != "7" || len(d.Servers) != 1 || d.Servers[0] != "https://eu.example.com" {
		t.Errorf("got %q %v", d.Title, d.Servers)
	}
	out := map[string]bool{}
	for _, p := range d.Problems {
		if p.Line == 0 {
			t.Errorf("%v has no position", p)
		}
		if p.LeftOut {
			out[p.Operation] = true
		}
	}
	for _, want := range []string{"DELETE /good/{id}", "GET /good/{other}", "no-slash", "/list", "GET /bad/{id", "POST /missing"} {
		if !out[want] {
			t.Errorf("%s is not listed among %v", want, out)
		}
	}
}

// TestCutOff reads a document that ends in the middle.
func TestCutOff(t *testing.T) {
	text := file(t, "fastapi.json")
	d := load(t, text[:len(text)/2], openapi.Options{})
	if d.Partial == "" || len(d.Operations) < 5 || !strings.Contains(d.Partial, "it ends in the middle") {
		t.Errorf("got %q, %d operations", d.Partial, len(d.Operations))
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "it is empty",
		"<html>":                                "it is a web page",
		"[1]":                                   "it is a list, not an OpenAPI document",
		"{":                                     "line 1, column 2: it ends in the middle",
		"{\"openapi\": \"3.0.0\",\n x}":         "line 2, column 2: invalid character 'x'",
		"a: 1":                                  "neither `openapi` nor `swagger`",
		"openapi: 4.0.0":                        `unknown version "4.0.0"`,
		"openapi: 3.0.0\npaths: []":             "line 2: `paths` is a list, not an object",
		"openapi: 3.0.0\npaths: {}":             "it has no operations",
		"openapi: 3.0.0\npaths: {/a: {get: 5}}": "GET /a: the operation is a number",
		"a: &a [*a]":                            "is inside of what it stands for",
		"a: [":                                  "line 2, column 1: did not find expected node content",
		"\xff\xfe":                              "not UTF-8",
		strings.Repeat("[", 10_000):             "levels",
		"a: " + strings.Repeat("[", 1000):       "levels",
		"a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]": "more than 8000000 values",
	} {
		_, err := openapi.Load([]byte(text), openapi.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

func TestFind(t *testing.T) {
	d := load(t, `
openapi: 3.0.0
info: {title: Paths}
servers: [{url: 'https://example.com/api/v1/'}]
paths:
  /a/{id}: {get: {}, delete: {}}
  /a/mine: {get: {}}
  /f/{name}.{ext}: {get: {}}
  /v/{id}:cancel: {post: {}}
`, openapi.Options{})
	for request, want := range map[string]string{
		"GET /a/7":         "GET /a/{id} map[id:7]",
		"GET /a/x%2Fy":     "GET /a/{id} map[id:x/y]",
		"GET /a/mine":      "GET /a/mine map[]",
		"GET /a/{}":        "GET /a/{id} map[id:{}]",
		"GET /api/v1/a/7":  "GET /a/{id} map[id:7]",
		"GET /a/7?x=1":     "GET /a/{id} map[id:7]",
		"GET /f/a.b.c":     "GET /f/{name}.{ext} map[ext:b.c name:a]",
		"POST /v/7:cancel": "POST /v/{id}:cancel map[id:7]",
		"POST /a/7":        "[GET DELETE]",
		"GET /b":           "[]",
		"GET /a/":          "[]",
		"GET /api/v1b":     "[]",
	} {
		method, path, _ := strings.Cut(request, " ")
		m, allowed := d.Find(method, path)
		got := fmt.Sprint(allowed)
		if m != nil {
			got = fmt.Sprint(m.Operation.Key(), " ", m.Values)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

func TestLinks(t *testing.T) {
	d := load(t, `
openapi: 3.0.0
info: {title: Links}
paths:
  /a:
    post:
      responses:
        201:
          links:
            byID: {operationId: getA, parameters: {id: '$response.body#/uuid'}}
            byRef: {operationRef: '#/paths/~1a~1{id}/get', parameters: {path.id: '$response.header.Location'}}
            wrong: {operationId: gone}
  /a/{id}: {get: {operationId: getA}}
`, openapi.Options{})
	links := d.Operation("POST /a").Responses[0].Links
	if len(links) != 2 || links[0].Operation != "GET /a/{id}" || links[1].Operation != links[0].Operation || links[0].Parameters["id"] != "$response.body#/uuid" {
		t.Errorf("got %+v", links)
	}
	if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Text, `"wrong"`) {
		t.Errorf("got %v", d.Problems)
	}
}

// large is a document of a size, in bytes.
func large(size int, yaml bool) string {
	var b strings.Builder
	b.WriteString(`{"openapi": "3.1.0", "info": {"title": "Large"}, "paths": {`)
	text := strings.Repeat("a long description, ", 20)
	for i := 0; b.Len() < size*3/5; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `"/things%d/{id}": {"get": {"operationId": "op%d", "description": %q, "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}], "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S%d"}}}}}}}`, i, i, text, i)
	}
	b.WriteString("},\n" + `"components": {"schemas": {`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `"S%d": {"type": "object", "description": %q, "properties": {"id": {"type": "integer"}, "next": {"$ref": "#/components/schemas/S%d"}, "names": {"type": "array", "items": {"type": "string"}}}}`, i, text, i+1)
	}
	b.WriteString("}}}")
	if !yaml {
		return b.String()
	}
	return "# YAML contains JSON\n" + b.String()
}

// TestLarge reads 20 MB of JSON, and 5 MB of YAML.
func TestLarge(t *testing.T) {
	for _, yaml := range []bool{false, true} {
		size := 20 << 20
		if yaml {
			size = 5 << 20
		}
		text := large(size, yaml)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begun := time.Now()
		d := load(t, text, openapi.Options{})
		took := time.Since(begun)
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20
		t.Logf("yaml=%v: %d MB in %v, %d operations, %d MB held, %d MB allocated", yaml, len(text)>>20, took, len(d.Operations), held, (after.TotalAlloc-before.TotalAlloc)>>20)
		if len(d.Operations) < size/2000 || held > 400 {
			t.Errorf("%d operations, %d MB", len(d.Operations), held)
		}
		if took > 2*time.Minute {
			t.Errorf("it took %v", took)
		}
		runtime.KeepAlive(d)
	}
}
