// Package direct is a client of one host by HTTP/1.1, with or without TLS. The calling goroutine writes the request and reads the
// response. An [http.Transport] has two goroutines for each connection and passes every request and response between them, which is
// half of the cost of a short request, and most of the memory of a waiting one.
package direct

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Client sends what an [http.Transport] would send, and reads responses with [http.ReadResponse]. It passes requests that it does
// not support to a Transport, and all requests if the server prefers HTTP/2.
//
// No goroutine reads from an idle connection. So it is checked before it is reused: data that arrived in the meantime, such as a
// 408 before the server closes, is not the response to the next request. It is safe for concurrent use.
type Client struct {
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	addr   string      // host and port
	secure bool        // with TLS
	trust  *tls.Config // of TLS
	most   int         // idle connections kept
	idle   time.Duration
	head   int64 // limit of a response's headers, in bytes
	rest   *http.Transport
	http2  atomic.Bool // the server has chosen HTTP/2

	mu     sync.Mutex
	kept   []*link // most recently used last
	expiry *time.Timer
	closed bool
}

var _ http.RoundTripper = (*Client)(nil)

// New returns a client of the host of an address, or nil if rest must send all requests. The client has the limits, the dialer and
// the TLS configuration of rest, and is rest's dialer for TLS from now on: see [Client.Leave].
func New(to *url.URL, rest *http.Transport) *Client {
	if !canLook || strings.ContainsFunc(to.Host, func(r rune) bool { return r > '~' || r == '%' }) {
		return nil
	}
	if rest.Proxy != nil {
		if proxy, err := rest.Proxy(&http.Request{URL: to}); proxy != nil || err != nil {
			return nil
		}
	}
	port := to.Port()
	switch {
	case port != "":
	case to.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	c := &Client{
		dial: rest.DialContext, addr: net.JoinHostPort(to.Hostname(), port),
		secure: to.Scheme == "https", most: rest.MaxIdleConnsPerHost, idle: rest.IdleConnTimeout, head: rest.MaxResponseHeaderBytes, rest: rest,
	}
	if c.secure {
		c.Trust(rest.TLSClientConfig)
		rest.DialTLSContext = c.dialTLS
	}
	return c
}

// Leave makes the Transport open its connections by itself. The client must not be used any longer.
func (c *Client) Leave() { c.rest.DialTLSContext = nil }

// Single is a key of a context. Its value true keeps the client from sending a request again on another connection by itself.
type Single struct{}

// RoundTrip implements [http.RoundTripper]. The response's body must be used by one goroutine.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.http2.Load() || !canSend(r) || r.Context().Err() != nil { // the Transport sends nothing and returns the error
		return c.rest.RoundTrip(r)
	}
	l := c.take()
	var request []byte
	if l != nil {
		request = l.request[:0]
	}
	request, err := appendRequest(request, r)
	if err != nil {
		return nil, err
	}
	if l != nil {
		resp, silent, err := l.exchange(r, request)
		single, _ := r.Context().Value(Single{}).(bool)
		if err == nil || !silent || single || r.Context().Err() != nil {
			return resp, err
		}
		// The server closed the connection at that moment: try once more on a new one.
	}
	conn, err := c.open(r.Context())
	switch {
	case err != nil && l != nil:
		return nil, sentBefore{err}
	case err != nil:
		return nil, err
	}
	if conn.prefersHTTP2() {
		c.http2.Store(true)
		return c.handOver(conn, r, request[len(request)-int(r.ContentLength):])
	}
	resp, _, err := c.newLink(conn).exchange(r, request)
	return resp, err
}

// handOver passes a request and the connection that was opened for it to the Transport. Nothing has been written to it.
func (c *Client) handOver(conn connection, r *http.Request, body []byte) (*http.Response, error) {
	var spare atomic.Pointer[tls.Conn]
	spare.Store(conn.secure)
	r = r.WithContext(context.WithValue(r.Context(), spareKey{}, &spare))
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body)) // of the original one everything was read
	}
	defer func() {
		if unused := spare.Swap(nil); unused != nil { // another request's connection was faster
			_ = unused.Close()
		}
	}()
	return c.rest.RoundTrip(r)
}

// spareKey is the key of a connection in the context of a request.
type spareKey struct{}

// dialTLS is the Transport's dialer. It returns the connection that was handed over with the request, or opens one.
func (c *Client) dialTLS(ctx context.Context, _, addr string) (net.Conn, error) {
	if spare, ok := ctx.Value(spareKey{}).(*atomic.Pointer[tls.Conn]); ok {
		if conn := spare.Swap(nil); conn != nil {
			return conn, nil
		}
	}
	conn, err := c.connect(ctx, addr)
	if err != nil {
		return nil, err
	}
	return conn.secure, nil
}

// take takes the most recently used idle connection without pending input, or returns nil.
func (c *Client) take() *link {
	for {
		l := c.last()
		if l == nil || !l.hasInput() {
			return l
		}
		l.close()
	}
}

func (c *Client) last() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) == 0 {
		return nil
	}
	last := len(c.kept) - 1
	l := c.kept[last]
	c.kept[last] = nil
	c.kept = c.kept[:last]
	return l
}

// keep keeps a connection for reuse, or closes it.
func (c *Client) keep(l *link) {
	if !c.add(l) {
		l.close()
	}
}

func (c *Client) add(l *link) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.kept) >= c.most {
		return false
	}
	l.since = time.Now()
	c.kept = append(c.kept, l)
	if c.expiry == nil {
		c.expiry = time.AfterFunc(c.idle, c.expire)
	}
	return true
}

// expire closes the connections that were idle for too long.
func (c *Client) expire() {
	c.closeIdle(time.Now().Add(-c.idle))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) == 0 || c.closed {
		c.expiry = nil
		return
	}
	c.expiry.Reset(c.idle - time.Since(c.kept[0].since))
}

// closeIdle closes the connections that have been idle since a time, or for longer.
func (c *Client) closeIdle(since time.Time) {
	c.mu.Lock()
	n := 0
	for n < len(c.kept) && !c.kept[n].since.After(since) {
		n++
	}
	old := slices.Clone(c.kept[:n])
	c.kept = slices.Delete(c.kept, 0, n)
	c.mu.Unlock()
	for _, l := range old { // TLS sends a close_notify, which may take time
		l.close()
	}
}

// CloseIdle closes all idle connections.
func (c *Client) CloseIdle() { c.closeIdle(time.Now()) }

// Close closes all idle connections. From now on, connections close after their response.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.mu.Unlock()
	c.CloseIdle()
}
