package mock

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestModelWire pins the bytes of answers: changing them changes the results of existing runs.
func TestModelWire(t *testing.T) {
	m := indoorModel(ModelConfig{Seed: 7, RequestsPerMinute: 60, TokensPerMinute: 6000}, nil)
	var wire strings.Builder
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/models", ""},
		{"GET", "/v1/models/mock-1", ""},
		{"POST", chatPath, hello(`,"max_tokens":30`)},
		{"POST", chatPath, hello(`,"max_tokens":12,"stream":true,"stream_options":{"include_usage":true}`)},
		{"POST", chatPath, hello(`,"response_format":{"type":"json_object"}`)},
		{"POST", chatPath, hello(`,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","required":["when","price","tags"],"properties":{
			"when":{"type":"string","format":"date"},"price":{"type":"number","minimum":1,"maximum":9},"tags":{"type":"array","items":{"enum":["a","b"]},"minItems":2}}}}}`)},
		{"POST", embedPath, `{"model":"mock-1","input":["gardens in winter"],"dimensions":4}`},
		{"POST", embedPath, `{"model":"mock-1","input":["gardens in winter"],"dimensions":4,"encoding_format":"base64"}`},
		{"POST", chatPath, hello(`,"temperature":"hot"`)},
	} {
		g := m.send(c.method, c.path, c.body)
		fmt.Fprintf(&wire, "%s %s %s\n%d\n", c.method, c.path, strings.Join(strings.Fields(c.body), " "), g.status)
		for _, name := range []string{"Content-Type", "X-Request-Id", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"} {
			if value := g.header.Get(name); value != "" {
				fmt.Fprintf(&wire, "%s: %s\n", name, value)
			}
		}
		fmt.Fprintf(&wire, "\n%s\n\n", strings.TrimSpace(g.body))
	}
	path := filepath.Join("testdata", "model.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, []byte(wire.String()))
	}
	if want := string(readFile(t, path)); wire.String() != want {
		t.Errorf("the wire has changed (-update rewrites it):\n%s\nwant\n%s", wire.String(), want)
	}
}
