package service

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestStatusesWithoutABody uses a server that announces the length of the body that it leaves out (RFC 9110, section 8.6).
func TestStatusesWithoutABody(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1234")
			w.WriteHeader(http.StatusNotModified)
		}))
		server.EnableHTTP2 = http2
		server.StartTLS()
		t.Cleanup(server.Close)
		h, err := NewHTTP("shop", server.URL, Limits{}, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.Close)
		h.Trust(&tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			c.Expect, c.Retry.Wait = []int{304}, 0
			_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/")})
			end(s, c, err)
		})
		if row.Class != engine.NoError || row.Steps[0].Attempts != 1 {
			t.Errorf("HTTP/2: %v: %v after %d attempts: %s", http2, row.Class, row.Steps[0].Attempts, row.Error)
		}
	}
}
