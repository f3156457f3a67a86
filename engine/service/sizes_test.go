package service

import (
	"compress/gzip"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// asked sends one request outside of any session, and returns the answer's body.
func asked(t *testing.T, h *HTTP, r Request) (string, error) {
	t.Helper()
	timer := clock.New(t.Context(), time.Minute, nil)
	defer timer.Stop()
	a, err := h.Do(&Call{Clock: timer, Path: "a", Retry: engine.Retry{Attempts: 1}}, r)
	if a == nil {
		return "", err
	}
	return string(a.Body), err
}

// TestSizes checks the limits of requests and answers, compressed and not, with and without their length.
func TestSizes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		text := strings.Repeat("x", 2000)
		switch r.URL.Path {
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, text)
			_ = z.Close()
		case "/chunked":
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, text)
		default:
			_, _ = io.WriteString(w, text)
		}
	}))
	defer server.Close()
	for _, tt := range []struct {
		limits Limits
		path   string
		body   string
		want   string
	}{
		{Limits{ResponseSize: 2000}, "/", "", ""},
		{Limits{ResponseSize: 2000}, "/chunked", "", ""},
		{Limits{ResponseSize: 2000}, "/packed", "", ""},
		{Limits{ResponseSize: 1999}, "/", "", "the answer is too big: more than the 2.0 kB of `limits: {response_size: …}` of its service"},
		{Limits{ResponseSize: 1999}, "/chunked", "", "the answer is too big"},
		{Limits{ResponseSize: 1999}, "/packed", "", "the answer is too big"},
		{Limits{RequestSize: 5}, "/", "12345", ""},
		{Limits{RequestSize: 4}, "/", "12345", "the request has 5 B, more than the 4 B of `limits: {request_size: …}` of the service shop"},
	} {
		h, err := NewHTTP("shop", server.URL, tt.limits, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, coding := range []string{"", "gzip"} {
			r := Request{Method: "POST", Target: must(t, tt.path), Header: http.Header{}, Body: []byte(tt.body)}
			if coding != "" {
				r.Header.Set("Accept-Encoding", coding)
			}
			got, err := asked(t, h, r)
			if tt.want == "" && (err != nil || len(got) != 2000) || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
				t.Errorf("%s %+v: %d bytes, %v; want %q", tt.path, tt.limits, len(got), err, tt.want)
			}
		}
		h.Close()
	}
}

// TestProxy checks that all requests go through the proxy of a service, with its password.
func TestProxy(t *testing.T) {
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.String()+" "+r.Header.Get("Proxy-Authorization"))
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("me", "pw")
	h, err := NewHTTP("shop", "http://shop.invalid:81/api", Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.Through(u)
	if _, err := asked(t, h, Request{Method: "GET", Target: must(t, "/x")}); err != nil || len(seen) != 1 || seen[0] != "http://shop.invalid:81/api/x Basic bWU6cHc=" {
		t.Errorf("%q, %v", seen, err)
	}
}

// TestProxyByTLS checks that a proxy with TLS is asked for a connection to a service with TLS.
func TestProxyByTLS(t *testing.T) {
	requests := make(chan string, 1)
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Method + " " + r.Host
		w.WriteHeader(http.StatusTeapot)
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHTTP("shop", "https://shop.invalid", Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.Trust(&tls.Config{RootCAs: proxy.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
	h.Through(u)
	if _, err := asked(t, h, Request{Method: "GET", Target: must(t, "/x")}); err == nil || !strings.Contains(err.Error(), "teapot") {
		t.Errorf("error %v", err)
	}
	if got := <-requests; got != "CONNECT shop.invalid:443" {
		t.Errorf("the proxy was asked for %s", got)
	}
}

// TestRenewedConnections checks that a renewed client keeps no connection.
func TestRenewedConnections(t *testing.T) {
	for _, secure := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		start := server.Start
		if secure {
			start = server.StartTLS
		}
		start()
		h, err := NewHTTP("shop", server.URL, Limits{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if secure {
			h.Trust(&tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs})
		}
		for range 2 {
			if _, err := asked(t, h, Request{Method: "GET", Target: must(t, "/x")}); h.Open() != 1 {
				t.Errorf("TLS: %v: error %v, %d connections are open", secure, err, h.Open())
			}
		}
		h.Renew()
		if n := h.Open(); n != 0 {
			t.Errorf("TLS: %v: %d connections are open", secure, n)
		}
		h.Close()
		server.Close()
	}
}
