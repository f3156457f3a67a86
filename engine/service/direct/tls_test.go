package direct

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// shop is a server with TLS, and what it has seen.
type shop struct {
	*httptest.Server
	connections atomic.Int64
	mu          sync.Mutex
	bodies      []string // of requests
}

// openShop starts a server that responds with the protocol of each request.
func openShop(t testing.TB, http2 bool, config *tls.Config) *shop {
	t.Helper()
	s := &shop{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2, s.TLS = http2, config
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// trust returns a client configuration that trusts a test server.
func (s *shop) trust() *tls.Config {
	return &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
}

func (s *shop) client(t testing.TB) *Client {
	t.Helper()
	c := clientOf(t, s.URL)
	c.Trust(s.trust())
	return c
}

// TestTLS checks that requests share a connection with TLS, in all of its versions.
func TestTLS(t *testing.T) {
	for version, name := range map[uint16]string{tls.VersionTLS12: "TLS 1.2", tls.VersionTLS13: "TLS 1.3"} {
		s := openShop(t, false, &tls.Config{MinVersion: version, MaxVersion: version})
		c := s.client(t)
		for range 3 {
			resp, err := c.RoundTrip(asksAt(t.Context(), t, s.URL, "POST", "x"))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != "HTTP/1.1" || resp.TLS == nil || resp.TLS.Version != version {
				t.Errorf("%s: %q, %v, error %v", name, body, resp.TLS, err)
			}
		}
		alone := asksAt(t.Context(), t, s.URL, "POST", "")
		alone.Header.Del("Idempotency-Key") // the Transport sends it
		if status, body, err := fetch(c, alone); status != 200 || body != "HTTP/1.1" || err != nil {
			t.Errorf("%s: got %d %q, error %v", name, status, body, err)
		}
		if n := s.connections.Load(); n != 2 || c.http2.Load() || len(s.bodies) != 4 {
			t.Errorf("%s: %d connections, HTTP/2: %v, %d requests", name, n, c.http2.Load(), len(s.bodies))
		}
	}
}

// TestHTTP2 checks that a Transport takes over the connection of a server that prefers HTTP/2, together with its request.
func TestHTTP2(t *testing.T) {
	s := openShop(t, true, nil)
	c := s.client(t)
	for n := range 3 {
		r := asksAt(t.Context(), t, s.URL, "POST", fmt.Sprint("body ", n))
		r.GetBody = nil // it must not be sent again
		if status, body, err := fetch(c, r); status != 200 || body != "HTTP/2.0" || err != nil {
			t.Errorf("got %d %q, error %v", status, body, err)
		}
	}
	if got := fmt.Sprint(s.bodies); got != "[body 0 body 1 body 2]" {
		t.Errorf("arrived: %s", got)
	}
	if n := s.connections.Load(); n != 1 || !c.http2.Load() || len(c.kept) > 0 {
		t.Errorf("%d connections, HTTP/2: %v, %d kept", n, c.http2.Load(), len(c.kept))
	}
}

// TestHTTP2ForMany has concurrent requests open connections before the protocol is known.
func TestHTTP2ForMany(t *testing.T) {
	s := openShop(t, true, nil)
	c := s.client(t)
	var all sync.WaitGroup
	const many = 20
	for n := range many {
		all.Go(func() {
			if status, body, err := fetch(c, asksAt(t.Context(), t, s.URL, "POST", fmt.Sprint(n))); status != 200 || body != "HTTP/2.0" || err != nil {
				t.Errorf("got %d %q, error %v", status, body, err)
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, body := range s.bodies {
		seen[body] = true
	}
	if len(seen) != many || len(s.bodies) != many {
		t.Errorf("%d requests arrived, %d of them different", len(s.bodies), len(seen))
	}
}

// TestHandshakes compares errors of TLS with those of a Transport.
func TestHandshakes(t *testing.T) {
	good := openShop(t, false, nil)
	strict := openShop(t, false, &tls.Config{ClientAuth: tls.RequireAnyClientCert})
	strict12 := openShop(t, false, &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12})
	modern := openShop(t, false, &tls.Config{MinVersion: tls.VersionTLS13})
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	for _, tt := range []struct {
		name, url string
		change    func(*tls.Config)
		sent      bool // the error comes after the request
	}{
		{"unknown authority", good.URL, func(c *tls.Config) { c.RootCAs = nil }, false},
		{"another name", good.URL, func(c *tls.Config) { c.ServerName = "other.example" }, false},
		{"expired", good.URL, func(c *tls.Config) { c.Time = func() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) } }, false},
		{"another version", modern.URL, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, false},
		{"no common protocol", good.URL, func(c *tls.Config) { c.NextProtos = nil }, false},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), func(*tls.Config) {}, false},
		{"a client certificate is required", strict.URL, func(*tls.Config) {}, true},
		{"a client certificate is required by TLS 1.2", strict12.URL, func(*tls.Config) {}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := good.trust()
			tt.change(config)
			ask := func(rt http.RoundTripper) error {
				_, _, err := fetch(rt, asksAt(t.Context(), t, tt.url, "POST", "x"))
				return err
			}
			c := clientOf(t, tt.url)
			c.Trust(config)
			whole := transport()
			whole.TLSClientConfig = config
			defer whole.CloseIdleConnections()
			want, got := ask(whole), ask(c)
			text := strings.Replace(fmt.Sprint(want), "readLoopPeekFailLocked: ", "", 1) // where its reader was faster
			if text != fmt.Sprint(got) || reflect.TypeOf(cause(want)) != reflect.TypeOf(cause(got)) {
				t.Errorf("got %v (%T), a Transport returns %v (%T)", got, cause(got), want, cause(want))
			}
			if got != nil && Unsent(got) == tt.sent {
				t.Errorf("%v: unsent: %v", got, Unsent(got))
			}
		})
	}
}

// cause returns the innermost error.
func cause(err error) error {
	for {
		below := errors.Unwrap(err)
		if below == nil {
			return err
		}
		err = below
	}
}

// TestHandshakeEnds covers a server that says nothing: the handshake times out, or its request ends.
func TestHandshakeEnds(t *testing.T) {
	errCut := errors.New("cut")
	for name, cut := range map[string]bool{"time-out": false, "cut": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				silent := func(context.Context, string, string) (net.Conn, error) {
					client, server := net.Pipe()
					t.Cleanup(func() { _ = server.Close() })
					go func() { _, _ = io.Copy(io.Discard, server) }()
					return client, nil
				}
				c := clientOf(t, "https://shop.example")
				c.dial = silent
				whole := transport()
				whole.DialContext = silent
				var texts []string
				for _, rt := range []http.RoundTripper{whole, c} {
					ctx, cancel := context.WithCancelCause(t.Context())
					if cut {
						time.AfterFunc(time.Second, func() { cancel(errCut) })
					}
					began := time.Now()
					_, _, err := fetch(rt, asksAt(ctx, t, "https://shop.example", "POST", "x"))
					timeout := errors.As(err, new(net.Error)) && !cut
					texts = append(texts, fmt.Sprint(err, timeout, time.Since(began)))
					cancel(nil)
					if rt == c && !Unsent(err) {
						t.Errorf("%v is not unsent", err)
					}
				}
				if texts[0] != texts[1] || cut != strings.HasPrefix(texts[1], "cut") {
					t.Errorf("got %q, a Transport returns %q", texts[1], texts[0])
				}
			})
		})
	}
}

// TestTicketsAreNoInput checks that TLS reads its own messages from an idle connection, and that half a message keeps it from being
// used again.
func TestTicketsAreNoInput(t *testing.T) {
	for _, tt := range []struct {
		name        string
		later, half bool // than the handshake; of the ticket
	}{{"with the handshake", false, false}, {"later", true, false}, {"half", true, true}} {
		t.Run(tt.name, func(t *testing.T) {
			server := rawServerOf(t, true, func(conn net.Conn) net.Conn { return &holding{Conn: conn, half: tt.half} }, func(conn net.Conn) {
				says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")(t, bufio.NewReader(conn), conn)
			})
			if tt.later { // because the server waits for a certificate
				server.config.ClientAuth = tls.RequestClientCert
			}
			c := server.client(t)
			c.trust.ClientSessionCache = tls.NewLRUClientSessionCache(1) // without which this server sends no tickets
			conn, err := c.connect(t.Context(), c.addr)
			if err != nil {
				t.Fatal(err)
			}
			l := c.newLink(conn)
			defer l.close()
			if tt.later {
				awaitInput(t, l)
			}
			if got := l.hasInput(); got != tt.half {
				t.Fatalf("a ticket is input: %v", got)
			}
			if tt.half {
				return
			}
			if _, ok := c.trust.ClientSessionCache.Get(c.trust.ServerName); !ok {
				t.Error("the ticket was not read")
			}
			c.keep(l)
			if status, body, err := fetch(c, asksAt(t.Context(), t, server.address, "POST", "x")); status != 200 || body != "ok" || err != nil || len(c.kept) != 1 || c.kept[0] != l {
				t.Errorf("got %d %q, error %v", status, body, err)
			}
		})
	}
}

// holding is a server's connection. It sends half of the ticket that follows a handshake, if half is set.
type holding struct {
	net.Conn
	half   bool
	writes int
}

// Write implements [net.Conn]. The second write is the ticket.
func (h *holding) Write(p []byte) (int, error) {
	if h.writes++; h.half && h.writes == 2 {
		_, err := h.Conn.Write(p[:len(p)/2])
		return len(p), err
	}
	return h.Conn.Write(p)
}

// rawServer is a server that speaks no HTTP by itself.
type rawServer struct {
	address string
	shop    *shop       // whose certificate it has
	config  *tls.Config // before the first connection it may be changed
}

func (s rawServer) client(t testing.TB) *Client {
	t.Helper()
	c := clientOf(t, s.address)
	if strings.HasPrefix(s.address, "https:") {
		c.Trust(s.shop.trust())
	}
	return c
}

// rawServerOf serves each connection, with or without TLS, and closes it. under may wrap the connection below TLS; nil does not.
func rawServerOf(t testing.TB, secure bool, under func(net.Conn) net.Conn, serve func(net.Conn)) rawServer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := rawServer{address: "http://" + listener.Addr().String()}
	if secure {
		s.shop = openShop(t, false, nil)
		s.config, s.address = s.shop.TLS.Clone(), "https://"+listener.Addr().String()
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { s.serve(conn, under, serve) })
		}
	})
	return s
}

func (s rawServer) serve(conn net.Conn, under func(net.Conn) net.Conn, serve func(net.Conn)) {
	if under != nil {
		conn = under(conn)
	}
	if s.config != nil {
		conn = tls.Server(conn, s.config)
	}
	defer func() { _ = conn.Close() }()
	serve(conn)
}

// TestTruncated compares responses that end without a close_notify with those of a Transport. Go accepts that as an end, if it
// is not within a record.
func TestTruncated(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", "HTTP/1.1 200 OK\r\n\r\nok", "HTTP/1.1 200 OK\r\n",
	} {
		for _, within := range []bool{false, true} {
			server := rawServerOf(t, true, nil, func(conn net.Conn) {
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
					return
				}
				_, _ = io.WriteString(conn, answer)
				below := conn.(*tls.Conn).NetConn()
				if within {
					_, _ = below.Write([]byte{23, 3, 3, 0, 99, 1})
				}
				_ = below.Close()
			})
			c := server.client(t)
			whole := transport()
			whole.TLSClientConfig = server.shop.trust()
			var got []exchanged
			for _, rt := range []http.RoundTripper{whole, c} {
				got = append(got, fetched(rt, asksAt(t.Context(), t, server.address, "GET", "")))
			}
			whole.CloseIdleConnections()
			if !reflect.DeepEqual(got[1], got[0]) || len(c.kept) > 0 {
				t.Errorf("to %q, cut within a record: %v, a Transport says\n%+v; the client\n%+v", answer, within, got[0], got[1])
			}
			if failed := got[1].Err+got[1].BodyErr != ""; failed == (strings.HasSuffix(answer, "\r\n\r\nok") && !strings.Contains(answer, "Length") && !within) {
				t.Errorf("to %q, cut within a record: %v: failed: %v", answer, within, failed)
			}
		}
	}
}

// TestRecords checks the boundaries of records in pieces of any size.
func TestRecords(t *testing.T) {
	stream := []byte{23, 3, 3, 0, 2, 'o', 'k', 21, 3, 3, 0, 0, 22, 3, 3, 1, 0}
	stream = append(stream, make([]byte, 256)...)
	ends := map[int]bool{0: true, 7: true, 12: true, len(stream): true}
	for size := 1; size <= len(stream); size++ {
		var r records
		for at := 0; at < len(stream); {
			next := min(at+size, len(stream))
			r.pass(stream[at:next])
			if at = next; r.atBoundary() != ends[at] {
				t.Fatalf("in pieces of %d bytes: after %d bytes at a boundary: %v", size, at, r.atBoundary())
			}
		}
	}
}
