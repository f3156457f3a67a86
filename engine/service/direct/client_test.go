package direct

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// talk serves a connection, and returns when it is done.
type talk func(t *testing.T, in *bufio.Reader, out net.Conn)

// host returns a client of a server. Each talk serves one connection, in order; the last one serves all others. Everything goes
// through pipes, so that time can be virtual.
func host(t *testing.T, talks ...talk) *Client {
	t.Helper()
	n := 0
	c := clientOf(t, "http://shop.example")
	c.Trust(&tls.Config{MinVersion: tls.VersionTLS13}) // without effect
	c.dial = func(ctx context.Context, _, addr string) (net.Conn, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if addr != "shop.example:80" {
			return nil, fmt.Errorf("dialed %s", addr)
		}
		client, server := net.Pipe()
		serve := talks[min(n, len(talks)-1)]
		n++
		go func() {
			defer func() { _ = server.Close() }()
			serve(t, bufio.NewReader(server), server)
		}()
		return client, nil
	}
	c.rest.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("the pool was asked") }
	return c
}

// maxHead is the limit of headers in tests, in bytes.
const maxHead = 1 << 20

// transport returns a Transport such as services have.
func transport() *http.Transport {
	return &http.Transport{
		DialContext: new(net.Dialer).DialContext, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 100, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHead,
	}
}

// clientOf returns a client of an address.
func clientOf(t testing.TB, address string) *Client {
	t.Helper()
	if !canLook {
		t.Skip("direct connections are not supported here")
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	rest := transport()
	c := New(u, rest)
	if c == nil {
		t.Fatalf("%s is not asked directly", address)
	}
	t.Cleanup(func() {
		c.Close()
		rest.CloseIdleConnections()
	})
	return c
}

// says answers every request with a text, until the client closes.
func says(text string) talk {
	return func(_ *testing.T, in *bufio.Reader, out net.Conn) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if _, err := io.WriteString(out, text); err != nil {
				return
			}
		}
	}
}

// hangsUp answers n requests, and closes the connection at the next.
func hangsUp(n int) talk {
	return func(_ *testing.T, in *bufio.Reader, out net.Conn) {
		for i := 0; ; i++ {
			if _, err := http.ReadRequest(in); err != nil || i == n {
				return
			}
			_, _ = io.WriteString(out, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}
}

// asks returns a request with a key, so that it may be sent again.
func asks(ctx context.Context, t testing.TB, method, body string) *http.Request {
	t.Helper()
	return asksAt(ctx, t, "http://shop.example", method, body)
}

// asksAt returns a request to another address.
func asksAt(ctx context.Context, t testing.TB, address, method, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, address+"/x?y=%20z", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", "key")
	return r
}

// fetch reads a response to its end.
func fetch(d http.RoundTripper, r *http.Request) (status int, body string, err error) {
	resp, err := d.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// TestSendsWhatATransportSends compares the bytes on the wire, line by line.
func TestSendsWhatATransportSends(t *testing.T) {
	for _, tt := range []struct {
		name   string
		method string
		body   string
		header http.Header
	}{
		{"get", "GET", "", nil},
		{"post", "POST", `{"a":1}`, http.Header{"Content-Type": {"application/json"}}},
		{"post nothing", "POST", "", nil},
		{"put nothing", "PUT", "", nil},
		{"delete", "DELETE", "", nil},
		{"delete something", "DELETE", "x", nil},
		{"own agent", "GET", "", http.Header{"User-Agent": {"me"}}},
		{"own coding", "GET", "", http.Header{"Accept-Encoding": {"br"}}},
		{"range", "GET", "", http.Header{"Range": {"bytes=0-1"}}},
		{"several values", "GET", "", http.Header{"B": {"1", " 2 "}, "A": {""}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent := make(chan []string, 2)
			record := func(_ *testing.T, in *bufio.Reader, out net.Conn) {
				var all bytes.Buffer
				r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(in, &all)))
				if err != nil {
					t.Error(err)
				} else if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Error(err)
				}
				lines := strings.Split(all.String(), "\r\n")
				slices.Sort(lines[1:])
				sent <- lines
				_, _ = io.WriteString(out, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			}
			d := host(t, record)
			whole := &http.Transport{DialContext: d.dial}
			defer whole.CloseIdleConnections()
			for _, rt := range []http.RoundTripper{d, whole} {
				r := asks(t.Context(), t, tt.method, tt.body)
				maps.Copy(r.Header, tt.header)
				if resp, err := rt.RoundTrip(r); err != nil {
					t.Fatal(err)
				} else if err := resp.Body.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if direct, whole := <-sent, <-sent; !slices.Equal(direct, whole) {
				t.Errorf("sent\n%q, a Transport sends\n%q", direct, whole)
			}
		})
	}
}

// TestAnswers covers all forms of responses. Two requests are sent if the connection can be reused.
func TestAnswers(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("packed")); err != nil {
		t.Fatal(err)
	} else if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, answer string
		status       int
		body         string
		fails        string
		again        bool // the connection can be reused
	}{
		{name: "of a length", answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", status: 200, body: "ok", again: true},
		{name: "empty", answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, again: true},
		{name: "in chunks", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n", status: 200, body: "ok", again: true},
		{name: "after another", answer: "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", status: 201, body: "ok", again: true},
		{
			name: "packed", answer: fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", packed.Len(), packed.String()),
			status: 200, body: "packed", again: true,
		},
		{name: "then closed", answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", status: 200, body: "ok"},
		{name: "with more than was asked for", answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1", status: 200, body: "ok"},
		{name: "no HTTP", answer: "220 mail\r\n\r\n", fails: "net/http: HTTP/1.x transport connection broken: malformed HTTP status code \"mail\""},
		{
			name: "of too many headers", answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead) + "\r\n\r\n",
			fails: "net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 1048576 bytes; aborted",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := host(t, says(tt.answer))
			status, body, err := fetch(d, asks(t.Context(), t, "POST", "x"))
			if tt.fails != "" {
				if err == nil || err.Error() != tt.fails {
					t.Errorf("got %d %q, error %v, want %s", status, body, err, tt.fails)
				}
				return
			}
			if status != tt.status || body != tt.body || err != nil {
				t.Errorf("got %d %q, error %v", status, body, err)
			}
			if again := len(d.kept) == 1; again != tt.again {
				t.Errorf("its connection is kept: %v", again)
			}
			if status, body, err := fetch(d, asks(t.Context(), t, "POST", "x")); status != tt.status || body != tt.body || err != nil {
				t.Errorf("the second got %d %q, error %v", status, body, err)
			}
		})
	}
}

// TestIsCutShort closes the connection within the body of a response.
func TestIsCutShort(t *testing.T) {
	d := host(t, func(_ *testing.T, in *bufio.Reader, out net.Conn) {
		_, _ = http.ReadRequest(in)
		_, _ = io.WriteString(out, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok")
	})
	if _, _, err := fetch(d, asks(t.Context(), t, "GET", "")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if len(d.kept) > 0 {
		t.Error("its connection is kept")
	}
}

// TestSendsNothingTooLate checks that a request whose context has ended is not sent, and that an idle connection holds no
// reference to the previous request.
func TestSendsNothingTooLate(t *testing.T) {
	sent := make(chan struct{}, 2)
	d := host(t, func(_ *testing.T, in *bufio.Reader, out net.Conn) {
		for {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			sent <- struct{}{}
			_, _ = io.WriteString(out, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	if _, _, err := fetch(d, asks(t.Context(), t, http.MethodGet, "")); err != nil {
		t.Fatal(err)
	}
	errCut := errors.New("cut")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCut)
	if _, _, err := fetch(d, asks(ctx, t, http.MethodGet, "")); !errors.Is(err, errCut) || len(sent) != 1 {
		t.Errorf("error %v, %d requests left", err, len(sent))
	}
	if len(d.kept) != 1 || d.kept[0].alive != nil {
		t.Errorf("%d connections are kept, or one holds what watched over its request", len(d.kept))
	}
}

// TestHungUp uses a server that closes a connection: a reused one is replaced, a new one is not.
func TestHungUp(t *testing.T) {
	d := host(t, hangsUp(1), hangsUp(1), hangsUp(0))
	for n := range 2 {
		if _, body, err := fetch(d, asks(t.Context(), t, "POST", "x")); body != "ok" || err != nil {
			t.Errorf("request %d: %q, error %v", n, body, err)
		}
	}
	_, _, err := fetch(d, asks(t.Context(), t, "POST", "x")) // on the second connection, then the third
	if !errors.Is(err, io.EOF) || Unsent(err) {
		t.Errorf("error %v", err)
	}
}

// TestSentBefore checks that a request counts as sent if its first connection was closed, and no other can be opened.
func TestSentBefore(t *testing.T) {
	d := host(t, hangsUp(1))
	if _, _, err := fetch(d, asks(t.Context(), t, "POST", "x")); err != nil {
		t.Fatal(err)
	}
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	d.dial = func(context.Context, string, string) (net.Conn, error) { return nil, refused }
	for n, unsent := range []bool{false, true} {
		if _, _, err := fetch(d, asks(t.Context(), t, "POST", "x")); !errors.Is(err, refused) || Unsent(err) != unsent {
			t.Errorf("request %d: error %v, unsent: %v", n, err, Unsent(err))
		}
	}
}

// TestSingle checks that a request that must not be sent again fails instead, if the server closes its connection.
func TestSingle(t *testing.T) {
	d := host(t, hangsUp(1), says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	if _, _, err := fetch(d, asks(t.Context(), t, "POST", "x")); err != nil {
		t.Fatal(err)
	}
	_, _, err := fetch(d, asks(context.WithValue(t.Context(), Single{}, true), t, "POST", "x"))
	if !errors.Is(err, io.EOF) || Unsent(err) {
		t.Errorf("error %v", err)
	}
}

// TestInput checks that an idle connection with pending input is not reused.
func TestInput(t *testing.T) {
	for name, more := range map[string]string{"bytes": "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", "its end": ""} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", TLS: ", secure), func(t *testing.T) {
				idle := make(chan struct{})
				var connections atomic.Int64
				server := rawServerOf(t, secure, nil, func(conn net.Conn) {
					n := connections.Add(1)
					in := bufio.NewReader(conn)
					_, _ = http.ReadRequest(in)
					_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d", n)
					if <-idle; n == 1 {
						_, _ = io.WriteString(conn, more)
					}
					if more != "" {
						_, _ = io.Copy(io.Discard, in) // until the client closes
					}
				})
				d := server.client(t)
				ask := func(want string) {
					t.Helper()
					if status, body, err := fetch(d, asksAt(t.Context(), t, server.address, "POST", "x")); status != 200 || body != want || err != nil {
						t.Fatalf("got %d %q, error %v, want 200 %q", status, body, err, want)
					}
				}
				ask("1")
				if d.kept[0].hasInput() {
					t.Error("the connection has data before any arrived")
				}
				close(idle)
				awaitInput(t, d.kept[0])
				if l := d.take(); l != nil {
					l.close()
					t.Error("the connection is used again")
				}
				ask("2")
			})
		}
	}
}

// TestLeavesToThePool covers requests that must not be sent twice, and others that the client does not support.
func TestLeavesToThePool(t *testing.T) {
	d := host(t, says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	for name, r := range map[string]*http.Request{
		"no key":            asks(t.Context(), t, "POST", "x"),
		"long":              asks(t.Context(), t, "POST", strings.Repeat("x", maxDirect+1)),
		"of unknown length": asks(t.Context(), t, "POST", "x"),
		"a bad header":      asks(t.Context(), t, "GET", ""),
		"a bad name":        asks(t.Context(), t, "GET", ""),
		"framed":            asks(t.Context(), t, "POST", "x"),
		"no agent":          asks(t.Context(), t, "GET", ""),
	} {
		switch name {
		case "no key":
			r.Header.Del("Idempotency-Key")
		case "of unknown length":
			r.ContentLength = 0
		case "a bad header":
			r.Header.Set("X", "a\r\nb")
		case "a bad name":
			r.Header["X: a\r\nB"] = []string{"c"}
		case "framed":
			r.Header.Set("Transfer-Encoding", "chunked")
		case "no agent":
			r.Header.Set("User-Agent", "")
		}
		if _, err := d.RoundTrip(r); err == nil || !strings.Contains(err.Error(), "the pool was asked") && !strings.Contains(err.Error(), "invalid header") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestAddresses covers hosts that only a Transport serves.
func TestAddresses(t *testing.T) {
	for address, direct := range map[string]string{
		"http://shop.example": "shop.example:80", "https://shop.example": "shop.example:443", "http://[::1]:80/base": "[::1]:80",
		"http://läden.example": "", "http://[fe80::1%25en0]": "",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		c, addr := New(u, transport()), ""
		if c != nil {
			addr = c.addr
		}
		if canLook && addr != direct {
			t.Errorf("%s is called directly at %q", address, addr)
		}
	}
	behind := transport()
	behind.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.example"})
	if New(&url.URL{Scheme: "http", Host: "shop.example"}, behind) != nil {
		t.Error("a host behind a proxy is called directly")
	}
}

// TestEnds ends the context of a request before its response, or within it.
func TestEnds(t *testing.T) {
	for _, begun := range []string{"", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok"} {
		synctest.Test(t, func(t *testing.T) {
			d := host(t, func(_ *testing.T, in *bufio.Reader, out net.Conn) {
				_, _ = http.ReadRequest(in)
				if begun != "" {
					_, _ = io.WriteString(out, begun)
				}
				_, _ = io.Copy(io.Discard, in) // until the client closes
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			_, _, err := fetch(d, asks(ctx, t, "POST", "x"))
			if took := time.Since(began); err == nil || took != time.Minute {
				t.Errorf("after %q: error %v after %v", begun, err, took)
			}
			if len(d.kept) > 0 {
				t.Error("its connection is kept")
			}
		})
	}
}

// TestKeepsFor checks that connections are closed after their idle time, and when the client closes.
func TestKeepsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan time.Time, 2)
		d := host(t, func(t *testing.T, in *bufio.Reader, out net.Conn) {
			says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")(t, in, out)
			gone <- time.Now()
		})
		ask := func() time.Time {
			if _, _, err := fetch(d, asks(t.Context(), t, "GET", "")); err != nil {
				t.Fatal(err)
			}
			return time.Now()
		}
		ask()
		time.Sleep(d.idle / 2)
		last := ask()
		if idle := (<-gone).Sub(last); idle != d.idle {
			t.Errorf("closed after %v", idle)
		}
		last = ask()
		d.Close()
		if idle := (<-gone).Sub(last); idle != 0 {
			t.Errorf("closed %v after the end", idle)
		}
	})
}
