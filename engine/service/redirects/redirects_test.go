package redirects

import (
	"net/http"
	"net/url"
	"testing"
)

// TestNext checks methods and addresses of redirects.
func TestNext(t *testing.T) {
	from, _ := url.Parse("https://shop.example.com/api/orders?of=1")
	for _, tt := range []struct {
		method   string
		status   int
		location string
		want     string
	}{
		{"POST", 301, "/x", "GET https://shop.example.com/x"},
		{"POST", 302, "done", "GET https://shop.example.com/api/done"},
		{"PUT", 302, "/x", "PUT https://shop.example.com/x"},
		{"POST", 303, "?of=2", "GET https://shop.example.com/api/orders?of=2"},
		{"DELETE", 303, "/x", "GET https://shop.example.com/x"},
		{"HEAD", 303, "/x", "HEAD https://shop.example.com/x"},
		{"POST", 307, "../up", "POST https://shop.example.com/up"},
		{"PATCH", 308, "//other.example.com/x", "PATCH https://other.example.com/x"},
		{"GET", 302, "", ""},
		{"GET", 304, "/x", ""},
		{"GET", 300, "/x", ""},
		{"GET", 201, "/x", ""},
		{"GET", 302, "http://[", "it redirects to an address that cannot be read"},
	} {
		method, to, moves, err := Next(tt.method, from, tt.status, tt.location)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case moves:
			got = method + " " + to.String()
		}
		if got != tt.want {
			t.Errorf("%s %d %s: got %q, want %q", tt.method, tt.status, tt.location, got, tt.want)
		}
	}
}

func TestSameHost(t *testing.T) {
	base, _ := url.Parse("https://shop.example.com")
	for text, want := range map[string]bool{
		"https://shop.example.com/x": true, "https://SHOP.example.com:443/": true, "http://shop.example.com/": false,
		"https://shop.example.com:8443/": false, "https://shop.example.com.evil.org/": false,
	} {
		u, err := url.Parse(text)
		if err != nil || SameHost(u, base) != want {
			t.Errorf("%s: %v, %v", text, !want, err)
		}
	}
	if h := WithoutBody(http.Header{"Content-Type": {"x"}, "Content-Encoding": {"x"}, "Accept": {"y"}}); len(h) != 1 {
		t.Errorf("headers %v", h)
	}
}
