package service

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// serve starts a server that does not log failed handlers, and returns its address.
func serve(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func TestAddresses(t *testing.T) {
	tests := []struct{ address, wrong string }{
		{"http://127.0.0.1:8080", ""},
		{"https://staging.example.com/v2/", ""},
		{"ftp://example.com", "http://"},
		{"example.com", "http://"},
		{"http://", "host"},
		{"http://:80", "host"},
		{"https://me:hunter2@example.com", "password"},
		{"ftp://me:hunter2@example.com", "password"},
		{"https://me:hunter2@exa mple.com", "cannot be read"},
		{"https://example.com/?key=hunter2", "more than a host and a path"},
		{"https://example.com/#hunter2", "more than a host and a path"},
	}
	for _, tt := range tests {
		_, err := NewHTTP("shop", tt.address, Limits{}, false)
		switch {
		case tt.wrong == "" && err != nil:
			t.Errorf("%s: %v", tt.address, err)
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s: got %v, want something of %q", tt.address, err, tt.wrong)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error contains the secret: %v", tt.address, err)
		}
	}
}

// TestRequestLine sends requests with odd targets to a server that answers with the request line.
func TestRequestLine(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host+" "+r.RequestURI) })
	host := strings.TrimPrefix(address, "http://")
	for _, tt := range []struct{ base, target, want string }{
		{"", "/", "/"},
		{"", "", "/"},
		{"", "x", "/x"},
		{"/v1", "/", "/v1/"},
		{"/v1/", "/x", "/v1/x"},
		{"/v%201", "/a b", "/v%201/a%20b"},
		{"", "/a%2Fb%3Fc", "/a%2Fb%3Fc"},
		{"", "/a?q=1", "/a?q=1"},
		{"", "/a?q=a b", "/a?q=a+b"},
		{"", "/ä", "/%C3%A4"},
		{"", "/a//b", "/a//b"},
	} {
		h, err := NewHTTP("shop", address+tt.base, Limits{}, false)
		if err != nil {
			t.Fatal(err)
		}
		stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			a, err := h.Do(c, Request{Method: "GET", Target: must(t, tt.target)})
			if err == nil && string(a.Body) != host+" "+tt.want {
				t.Errorf("%s + %s = %s, want %s", tt.base, tt.target, a.Body, tt.want)
			}
			end(s, c, err)
		})
		h.Close()
	}
}

// TestRedirectsGoNowhere checks that no other host receives a request.
func TestRedirectsGoNowhere(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	address := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	h, err := NewHTTP("shop", address, Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	row := stage{}.play(t, func(s *engine.Session) {
		c := callOf(s, "step")
		_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/")})
		end(s, c, err)
	})
	if row.Class != engine.ClientError || !strings.Contains(row.Error, "redirects are not followed") {
		t.Errorf("class %q: %s", row.Class, row.Error)
	}
}

// TestConnectionRefused checks that a failed dial is retried.
func TestConnectionRefused(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := NewHTTP("shop", "http://"+address, Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	row := stage{}.play(t, func(s *engine.Session) {
		c := callOf(s, "step")
		c.Once, c.Retry = true, engine.Retry{Attempts: 3}
		_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/")})
		end(s, c, err)
	})
	if row.Class != engine.Network || row.Steps[0].Attempts != 3 {
		t.Errorf("class %q after %d attempts: %s", row.Class, row.Steps[0].Attempts, row.Error)
	}
}
