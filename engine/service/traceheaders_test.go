package service

import (
	"net/http"
	"testing"

	"github.com/throng-sim/throng/engine/service/redact"
)

// TestHeadersForPeople checks that secrets, by name or by value, and headers that no author wrote are left out.
func TestHeadersForPeople(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://shop.example.com/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer canary", "X-Api-Key": "canary", "Cookie": "canary", "X-Note": "with canary/1 inside", "Accept": "text/plain",
		"X-Throng-Request": "0/a/1", "User-Agent": "x",
	} {
		r.Header.Set(name, value)
	}
	c := &Call{Secrets: redact.Spellings("canary/1")}
	want := "Host: shop.example.com\nAccept: text/plain\nAuthorization: …\nCookie: …\nX-Api-Key: …\nX-Note: with … inside"
	if got := c.display().headers(r); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
