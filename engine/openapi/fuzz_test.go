package openapi_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/openapi"
)

func FuzzLoad(f *testing.F) {
	for _, text := range []string{swagger, circular, file(f, "petstore.yaml"), "a: &a {b: *a}", "x: {<<: {a: 1}}", `{"openapi":"3.0.0","paths":{"/a":{"get":{}}}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := openapi.Load(text, openapi.Options{Location: "openapi.yaml", Open: func(string) ([]byte, error) { return text, nil }})
		if err != nil {
			if d != nil || err.Error() == "" {
				t.Errorf("got %v and %v", d, err)
			}
			return
		}
		for _, op := range d.Operations {
			if m, _ := d.Find(op.Method, parameter.ReplaceAllString(op.Path, "x")); m == nil && !strings.Contains(op.Path, "?") {
				t.Errorf("%q is not found", op.Key())
			}
			for _, r := range op.Responses {
				for _, m := range r.Media {
					walk(m.Schema, 3)
					if m.Schema != nil {
						if v, err := m.Schema.Compile(openapi.OfResponse); err == nil {
							_ = v.Check([]byte(`{"a":[1,"b",null]}`))
						}
					}
				}
			}
		}
	})
}

var parameter = regexp.MustCompile(`\{[^{}/]+\}`)

func walk(s *openapi.Schema, depth int) {
	if s == nil || depth == 0 {
		return
	}
	_, _, _ = s.Range()
	_, _, _ = s.Enum(), s.Examples(), s.Default()
	for _, p := range s.Properties() {
		walk(p.Schema, depth-1)
	}
	walk(s.Items(), depth-1)
	walk(s.Values(), depth-1)
}
