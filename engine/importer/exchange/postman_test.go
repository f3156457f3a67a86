package exchange_test

import (
	"testing"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
)

const collection = `{"info": {"name": "Shop", "_postman_id": "1", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
"variable": [{"key": "base", "value": "https://{{host}}"}, {"key": "host", "value": "shop.example"}],
"auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]},
"item": [
 {"name": "Account", "item": [
  {"name": "Log in", "event": [{"listen": "test", "script": {"exec": ["const body = pm.response.json();", "pm.environment.set(\"token\", body.data.token);"]}}],
   "request": {"auth": {"type": "noauth"}, "method": "POST", "url": "{{base}}/login", "header": [{"key": "X-Off", "value": "1", "disabled": true}],
    "body": {"mode": "urlencoded", "urlencoded": [{"key": "user", "value": "ann"}, {"key": "password", "value": "{{password}}"}]}},
   "response": [{"code": 401, "body": "{}"}, {"code": 200, "header": [{"key": "Content-Type", "value": "application/json"}], "body": "{\"data\": {\"token\": \"t-1\"}}"}]}]},
 {"name": "Get item", "request": {"method": "GET", "url": {"raw": "{{base}}/items/:id?a=1&b=2", "query": [{"key": "a", "value": "1"}, {"key": "b", "value": "2", "disabled": true}], "variable": [{"key": "id", "value": "{{item}}"}]}}},
 {"name": "Old", "request": "https://shop.example/old"},
 {"name": "Query", "request": {"method": "POST", "auth": {"type": "apikey", "apikey": [{"key": "key", "value": "X-Key"}, {"key": "value", "value": "k1"}]}, "url": {"host": ["{{base}}"], "path": ["graphql"]},
  "body": {"mode": "graphql", "graphql": {"query": "{ a }", "variables": "{\"n\": 1}"}}}},
 {"name": "Upload", "request": {"method": "POST", "auth": {"type": "basic", "basic": {"username": "u", "password": "p"}}, "url": "{{base}}/files", "body": {"mode": "formdata", "formdata": [{"key": "f", "type": "file", "src": "/pictures/a.png"}]}}},
 {"name": "Raw", "request": {"method": "PUT", "auth": {"type": "hawk"}, "url": "{{base}}/raw", "body": {"mode": "raw", "raw": "<a/>", "options": {"raw": {"language": "xml"}}}}}
]}`

func TestReadPostman(t *testing.T) {
	r, err := exchange.ReadPostman([]byte(collection))
	if err != nil {
		t.Fatal(err)
	}
	want := `POST https://shop.example/login (user=ann) (password={{password}})
GET https://shop.example/items/{{item}}?a=1 [Authorization: Bearer {{token}}]
GET https://shop.example/old [Authorization: Bearer {{token}}]
POST https://shop.example/graphql [X-Key: k1] application/json {"query":"{ a }","variables":{"n":1}}
POST https://shop.example/files [Authorization: Basic dTpw] (f=@a.png)
PUT https://shop.example/raw application/xml <a/>
The test script of Log in was not imported.
The authentication of Raw (hawk) was not imported.`
	if got := show(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(r.Sets) != 1 || r.Sets[0] != (exchange.Set{Variable: "token", Exchange: 0, Path: ".data.token"}) {
		t.Errorf("variables of scripts: %+v", r.Sets)
	}
	if e := r.Exchanges[0]; e.Page != "Account" || e.Title != "Log in" || e.Status != 200 || e.Response.Body == "" {
		t.Errorf("the login: %+v", e)
	}
}

func TestDamagedPostman(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"item": []}`, `{"item": {"a": 1}}`, `{"item": [{"name": "a", "request": {"url": null}}]}`} {
		if r, err := exchange.ReadPostman([]byte(text)); err == nil {
			t.Errorf("%q was read: %+v", text, r)
		}
	}
}

func FuzzReadPostman(f *testing.F) {
	f.Add([]byte(collection))
	f.Add([]byte(`{"variable": [{"key": "a", "value": "{{a}}{{a}}"}], "item": [{"request": {"url": "{{a}}", "body": {"mode": "raw"}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := exchange.ReadPostman(data)
		if err == nil && len(r.Exchanges) == 0 {
			t.Error("a collection without requests")
		}
	})
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]importer.Kind{
		chrome: importer.HAR, chrome[:60]: importer.HAR, collection: importer.Postman, collection[:80]: importer.Postman,
		`{"openapi": "3.1.0"}`: importer.OpenAPI, "# mine\nopenapi: 3.0.1\n": importer.OpenAPI, "swagger: '2.0'": importer.OpenAPI, `{"info": {}, "swagger": "2.0"}`: importer.OpenAPI,
		"$ curl https://a.example": importer.CURL, "curl ^\"https://a.example^\"": importer.CURL, "population: {count: 2}\nchain c:\n": importer.Scenario,
		"hello": importer.Unknown, "": importer.Unknown, `{"a": {"log": {"entries": 1}}}`: importer.Unknown, "{": importer.Unknown,
		`{"a": ["openapi", "3"], "b": [{"swagger": 1}]}`: importer.Unknown,
	} {
		if got := importer.Detect("", []byte(text)); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	if got := importer.Detect("visit.HAR", []byte("{")); got != importer.HAR {
		t.Errorf("by its name: %q", got)
	}
}
