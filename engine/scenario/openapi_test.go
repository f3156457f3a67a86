package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContractsOfServices checks the mistakes that `openapi` and `check` can have.
func TestContractsOfServices(t *testing.T) {
	const api = `
openapi: 3.0.0
info: {title: Shop}
servers: [{url: /api}]
paths:
  /baskets: {post: {responses: {201: {}}}}
  /baskets/{id}: {$ref: 'parts/basket.yaml'}
`
	const part = "get: {responses: {200: {content: {application/json: {schema: {$ref: '../shared.yaml#/Basket'}}}}}}\n"
	const address = "url: 'http://127.0.0.1:1', "
	for _, tt := range []struct{ service, step, want string }{
		{"url: 'mock:api.yaml'", "post: /baskets, check: schema", ""},
		{"url: 'mock:api.yaml', openapi: api.yaml", "post: /baskets", ""},
		{"url: 'mock:api.yaml', openapi: wrong.yaml", "post: /baskets", "the mock answers as api.yaml says (remove it, or name the same file)"},
		{"url: 'mock:gone.yaml'", "post: /baskets", "there is no file gone.yaml"},
		{"url: 'mock:api'", "post: /baskets", "there is no mock \"api\" (there is mock:shop, and mock:openapi.yaml for a mock of that document)"},
		{"openapi: api.yaml", "post: /baskets, check: schema", ""},
		{"openapi: api.yaml", "post: /api/baskets, check: schema", ""},
		{"openapi: api.yaml", "get: '/baskets/${agent.id}', check: schema", ""},
		{"openapi: api.yaml", "get: /other", ""},
		{"openapi: api.yaml", "post: /basket, check: schema", "the OpenAPI document of shop has no POST /basket (did you mean `/baskets`?)"},
		{"openapi: api.yaml", "delete: /baskets, check: schema", "the OpenAPI document of shop has no DELETE of /baskets (it has POST)"},
		{"openapi: api.yaml", "post: /baskets, check: shema", "did you mean `schema`?"},
		{"openapi: gone.yaml", "post: /baskets", "there is no file gone.yaml"},
		{"openapi: ../api.yaml", "post: /baskets", "path escapes"},
		{"openapi: wrong.yaml", "post: /baskets", "wrong.yaml: it has no operations"},
		{"headers: {a: b}", "post: /baskets, check: schema", "the service shop has no OpenAPI document to check answers against (add `openapi: FILE` to the service)"},
	} {
		dir := t.TempDir()
		if !strings.HasPrefix(tt.service, "url") {
			tt.service = address + tt.service
		}
		for name, text := range map[string]string{
			"a.yaml":            "title: A\nservices:\n  shop: {kind: http, " + tt.service + "}\nchain go:\n  step a: {kind: http, service: shop, " + tt.step + "}\n",
			"api.yaml":          api,
			"parts/basket.yaml": part,
			"wrong.yaml":        "openapi: 3.0.0\npaths: {}\n",
			"shared.yaml":       "Basket: {type: object}\n",
		} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Load(filepath.Join(dir, "a.yaml"), nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, %s: got %v, want %s", tt.service, tt.step, err, tt.want)
		}
		if err == nil && s.Source.Files["shared.yaml"] == nil {
			t.Errorf("the files of the scenario are %d, without what the document refers to", len(s.Source.Files))
		}
	}
}
