package tokenpath

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPaths checks which paths are valid, and what they find.
func TestPaths(t *testing.T) {
	header, body := http.Header{"X-Token": {"h"}}, []byte(`{"a": {"b": " t "}, "n": 1, "l": ["x"]}`)
	for _, tt := range []struct {
		path, want string
		bad        bool
	}{
		{"body.a.b", "t", false},
		{"headers.x-token", "h", false},
		{"headers.x-other", "", false},
		{"body.a", "", false},
		{"body.n", "", false},
		{"body.l.x", "", false},
		{"body.a.b.c", "", false},
		{"access_token", "", true},
		{"body.", "", true},
		{"body.a..b", "", true},
		{"headers.", "", true},
		{"headers", "", true},
		{"", "", true},
	} {
		p, err := Parse(tt.path)
		if (err != nil) != tt.bad {
			t.Errorf("%s: error %v", tt.path, err)
		}
		if err != nil {
			continue
		}
		if p.String() != tt.path {
			t.Errorf("%s is shown as %s", tt.path, p)
		}
		if got, err := p.Find(header, body); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: got %v, %v; want %q", tt.path, got, err, tt.want)
		}
	}
}

// FuzzTokenPath checks that a token can always be sent in a header.
func FuzzTokenPath(f *testing.F) {
	f.Add("body.a.b", `{"a": {"b": "t"}}`)
	f.Add("body", " t\r\n")
	f.Add("headers.x", "h")
	f.Add("body.a", `{"a": "x\u0000"}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		p, err := Parse(path)
		if err != nil {
			return
		}
		if p.String() != path {
			t.Errorf("%q is shown as %q", path, p)
		}
		got, err := p.Find(http.Header{"X": {body}}, []byte(body))
		if err != nil {
			return
		}
		if got == "" || strings.ContainsAny(got, "\r\n\x00") || strings.TrimSpace(got) != got {
			t.Errorf("%q of %q is %q", path, body, got)
		}
	})
}

// TestExpiry checks that a token is replaced a little before it expires.
func TestExpiry(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for body, want := range map[string]time.Duration{
		`{"expires_in": 3600}`: 3570 * time.Second, `{"expires_in": "100"}`: 90 * time.Second, `{"expires_in": 1.5}`: 1350 * time.Millisecond,
		`{"expires_in": 0}`: 0, `{"expires_in": -1}`: 0, `{}`: 0, `nonsense`: 0, `{"expires_in": 1e300}`: 0,
	} {
		got := Expiry([]byte(body), now)
		if want == 0 && !got.IsZero() || want > 0 && got.Sub(now) != want {
			t.Errorf("%s: %v", body, got.Sub(now))
		}
	}
}
