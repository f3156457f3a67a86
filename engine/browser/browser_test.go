package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRefuse(t *testing.T) {
	for _, tt := range []struct {
		name, host string
		header     http.Header
		code       int
	}{
		{"curl", "127.0.0.1:9464", nil, 200},
		{"IPv6", "[::1]:9464", nil, 200},
		{"without a port", "127.0.0.1", nil, 200},
		{"localhost", "localhost:9464", nil, 200},
		{"a name of the local network", "studio:9464", nil, 200},
		{"a container", "host.docker.internal:9464", nil, 200},
		{"mDNS", "studio.local.:9464", nil, 200},
		{"its own page", "localhost:9464", http.Header{"Origin": {"http://localhost:9464"}}, 200},
		{"a link that a person followed", "127.0.0.1:9464", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, 200},
		{"a page whose name leads here", "evil.example:9464", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 403},
		{"such a page with an address in its name", "127.0.0.1.evil.example:9464", nil, 403},
		{"nothing", "", nil, 403},
		{"a page of another site", "127.0.0.1:9464", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"another port", "127.0.0.1:9464", http.Header{"Origin": {"http://127.0.0.1:8000"}}, 403},
		{"a sandbox", "127.0.0.1:9464", http.Header{"Origin": {"null"}}, 403},
		{"no origin that can be", "127.0.0.1:9464", http.Header{"Origin": {""}}, 403},
		{"two origins", "127.0.0.1:9464", http.Header{"Origin": {"http://127.0.0.1:9464", "https://evil.example"}}, 403},
		{"an image in a page", "127.0.0.1:9464", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}, 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		r.Host, r.Header = tt.host, tt.header
		if r.Header == nil {
			r.Header = http.Header{}
		}
		w := httptest.NewRecorder()
		reached := false
		Refuse(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })).ServeHTTP(w, r)
		if w.Code != tt.code || reached != (tt.code == 200) {
			t.Errorf("%s: %d, reached %t", tt.name, w.Code, reached)
		}
	}
}
