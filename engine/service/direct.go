package service

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// maxDirect is the largest body, in bytes, that is written before the response is read: socket buffers hold that much.
	maxDirect = 16 << 10
	// maxLinkBuffer is the read buffer of a connection. Longer bodies bypass it.
	maxLinkBuffer = 2 << 10
)

// direct sends requests to one host by HTTP/1.1 without TLS. The calling goroutine writes the request and reads the response. An
// [http.Transport] has two goroutines for each connection and passes every request and response between them, which is half of the
// cost of a short request, and most of the memory of a waiting one. direct sends what a Transport would send, and reads responses
// with [http.ReadResponse]. It passes requests that it does not support to a Transport.
//
// No goroutine reads from an idle connection. So it is checked before it is reused: data that arrived in the meantime, such as a
// 408 before the server closes, is not the response to the next request.
type direct struct {
	dial dial
	addr string // host and port
	most int    // idle connections kept
	idle time.Duration
	rest *http.Transport

	mu     sync.Mutex
	kept   []*link // most recently used last
	expiry *time.Timer
	closed bool
}

var _ http.RoundTripper = (*direct)(nil)

// newDirect returns a client of h's host, or nil if a Transport must send all requests.
func newDirect(h *HTTP) *direct {
	if !canLook || h.base.Scheme != "http" || strings.ContainsFunc(h.base.Host, func(r rune) bool { return r > '~' || r == '%' }) {
		return nil
	}
	if proxy, err := h.pool.Proxy(&http.Request{URL: h.base}); proxy != nil || err != nil {
		return nil
	}
	port := h.base.Port()
	if port == "" {
		port = "80"
	}
	return &direct{
		dial: h.pool.DialContext, addr: net.JoinHostPort(h.base.Hostname(), port),
		most: h.limits.Keepalive, idle: h.limits.Idle, rest: h.pool,
	}
}

// RoundTrip implements [http.RoundTripper]. The response's body must be used by one goroutine.
func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if !canSend(r) || r.Context().Err() != nil { // the Transport sends nothing and returns the error
		return d.rest.RoundTrip(r)
	}
	l := d.take()
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
		single, _ := r.Context().Value(singleKey{}).(bool)
		if err == nil || !silent || single || r.Context().Err() != nil {
			return resp, err
		}
		// The server closed the connection at that moment: try once more on a new one.
	}
	if l, err = d.open(r.Context()); err != nil {
		return nil, err
	}
	resp, _, err := l.exchange(r, request)
	return resp, err
}

// canSend reports whether direct supports a request: it is short, has no headers that a Transport writes, reads or rejects, and may
// be sent again on another connection if the server closed the first one.
func canSend(r *http.Request) bool {
	hasBody := r.Body != nil && r.Body != http.NoBody
	switch {
	case r.ContentLength > maxDirect, r.ContentLength > 0 != hasBody, r.Host == "":
		return false
	case r.Method != http.MethodGet && r.Header["Idempotency-Key"] == nil:
		return false
	}
	for name, values := range r.Header {
		switch name {
		case "Connection", "Content-Length", "Expect", "Host", "Trailer", "Transfer-Encoding", "Upgrade", "":
			return false
		case "User-Agent":
			if len(values) != 1 || values[0] == "" {
				return false
			}
		}
		if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == ':' }) {
			return false
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				return false
			}
		}
	}
	return true
}

// appendRequest appends a request as a Transport writes it, except for the position of Accept-Encoding.
func appendRequest(b []byte, r *http.Request) ([]byte, error) {
	b = append(append(b, r.Method...), ' ')
	b = append(append(b, r.URL.RequestURI()...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, r.Host...), "\r\n"...)
	if _, ok := r.Header["User-Agent"]; !ok {
		b = append(b, "User-Agent: Go-http-client/1.1\r\n"...)
	}
	if r.ContentLength > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), r.ContentLength, 10), "\r\n"...)
	}
	names := make([]string, 0, 16)
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range r.Header[name] {
			b = append(append(append(b, name...), ": "...), strings.Trim(v, " \t")...)
			b = append(b, "\r\n"...)
		}
	}
	if acceptsGzip(r) {
		b = append(b, "Accept-Encoding: gzip\r\n"...)
	}
	b = append(b, "\r\n"...)
	if r.ContentLength == 0 {
		return b, nil
	}
	body := slices.Grow(b, int(r.ContentLength))
	body = body[:len(b)+int(r.ContentLength)]
	_, err := io.ReadFull(r.Body, body[len(b):])
	return body, errors.Join(err, r.Body.Close())
}

// acceptsGzip reports whether the response may be compressed without the request's asking for it.
func acceptsGzip(r *http.Request) bool {
	return r.Header["Accept-Encoding"] == nil && r.Header["Range"] == nil
}

// take takes the most recently used idle connection without pending input, or returns nil.
func (d *direct) take() *link {
	for {
		l := d.last()
		if l == nil || !l.hasInput() {
			return l
		}
		l.close()
	}
}

func (d *direct) last() *link {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.kept) == 0 {
		return nil
	}
	last := len(d.kept) - 1
	l := d.kept[last]
	d.kept[last] = nil
	d.kept = d.kept[:last]
	return l
}

// keep keeps a connection for reuse.
func (d *direct) keep(l *link) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.kept) >= d.most {
		l.close()
		return
	}
	l.since = time.Now()
	d.kept = append(d.kept, l)
	if d.expiry == nil {
		d.expiry = time.AfterFunc(d.idle, d.expire)
	}
}

// expire closes the connections that were idle for too long.
func (d *direct) expire() {
	d.closeIdle(time.Now().Add(-d.idle))
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.kept) == 0 || d.closed {
		d.expiry = nil
		return
	}
	d.expiry.Reset(d.idle - time.Since(d.kept[0].since))
}

// closeIdle closes the connections that have been idle since a time, or for longer.
func (d *direct) closeIdle(since time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for ; n < len(d.kept) && !d.kept[n].since.After(since); n++ {
		d.kept[n].close()
	}
	d.kept = slices.Delete(d.kept, 0, n)
}

// end closes all idle connections. From now on, connections close after their response.
func (d *direct) end() {
	d.mu.Lock()
	d.closed = true
	if d.expiry != nil {
		d.expiry.Stop()
	}
	d.mu.Unlock()
	d.closeIdle(time.Now())
}

func (d *direct) open(ctx context.Context) (*link, error) {
	// Dial on a goroutine of its own: it needs twice the stack of a session that waits for a response.
	var conn net.Conn
	var err error
	dialed := make(chan struct{})
	go func() {
		defer close(dialed)
		conn, err = d.dial(ctx, "tcp", d.addr)
	}()
	if <-dialed; err != nil {
		return nil, err
	}
	l := &link{of: d, conn: conn, cut: func() { _ = conn.SetDeadline(past) }}
	if c, ok := conn.(syscall.Conn); ok {
		if l.raw, err = c.SyscallConn(); err != nil {
			l.close()
			return nil, err
		}
	}
	l.look = inputCheck(&l.quiet)
	l.in = bufio.NewReaderSize(l, maxLinkBuffer)
	return l, nil
}

// link is a connection to the host.
type link struct {
	of      *direct
	conn    net.Conn
	raw     syscall.RawConn // nil if the connection is not a socket
	look    func(fd uintptr) bool
	quiet   bool // the last look found no input
	in      *bufio.Reader
	left    int64       // bytes of the response that may be read
	request []byte      // buffer for reuse
	since   time.Time   // when it became idle
	cut     func()      // ends the exchange in progress
	alive   func() bool // stops watching the request's context; false if that has ended the exchange
}

// Read implements [io.Reader], up to the limit of the response.
func (l *link) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("read limit of %d bytes exhausted", maxHeader)
	}
	n, err := l.conn.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

func (l *link) close() { _ = l.conn.Close() }

// hasInput reports whether an idle connection has pending input.
func (l *link) hasInput() bool {
	if l.raw == nil {
		return false
	}
	err := l.raw.Read(l.look)
	return err != nil || !l.quiet
}

// past is a deadline in the past.
var past = time.Unix(1, 0)

// exchange sends a request and reads the response up to its body. silent says that no byte of a response arrived.
func (l *link) exchange(r *http.Request, request []byte) (resp *http.Response, silent bool, err error) {
	l.request, l.left = request, maxHeader
	if cap(request) > 4*maxLinkBuffer {
		l.request = nil
	}
	if t, ok := r.Context().(*term); ok {
		l.alive = t.AfterFunc(l.cut) // as context.AfterFunc does, at a lower cost
	} else {
		l.alive = context.AfterFunc(r.Context(), l.cut)
	}
	if resp, silent, err = l.answer(r, request); err != nil {
		l.alive()
		l.close()
		return nil, silent, err
	}
	l.left = math.MaxInt64
	body := &linkBody{l: l, body: resp.Body, keep: !resp.Close && resp.StatusCode >= http.StatusOK}
	resp.Body = body
	switch {
	case resp.ContentLength == 0:
		body.end(true)
	case acceptsGzip(r) && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip"):
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Uncompressed = -1, true
		resp.Body = &unpacked{packed: body}
	}
	return resp, false, nil
}

// answer reads responses up to the first final one. The texts of its errors are those of a Transport.
func (l *link) answer(r *http.Request, request []byte) (resp *http.Response, silent bool, err error) {
	if _, err := l.conn.Write(request); err != nil {
		return nil, true, fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", err)
	}
	if _, err := l.in.Peek(1); err != nil {
		return nil, true, fmt.Errorf("net/http: Transport failed to read from server: %w", err)
	}
	for {
		resp, err := http.ReadResponse(l.in, r)
		switch {
		case err != nil && l.left <= 0:
			return nil, false, fmt.Errorf("net/http: server response headers exceeded %d bytes; aborted", maxHeader)
		case err != nil:
			return nil, false, fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", err)
		case resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols:
			return resp, false, nil
		}
	}
}

// linkBody is the body of a response. Its end frees the connection.
type linkBody struct {
	l    *link
	body io.ReadCloser
	keep bool
	over bool
}

// Read implements [io.Reader].
func (b *linkBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err != nil {
		b.end(errors.Is(err, io.EOF))
	}
	return n, err
}

// Close implements [io.Closer].
func (b *linkBody) Close() error {
	b.end(false)
	return nil
}

// end keeps or closes the connection, once. It closes a connection with unexpected input.
func (b *linkBody) end(whole bool) {
	if b.over {
		return
	}
	b.over = true
	alive := b.l.alive()
	b.l.alive = nil // an idle connection holds no reference to a session
	if alive && whole && b.keep && b.l.in.Buffered() == 0 {
		b.l.of.keep(b.l)
		return
	}
	b.l.close()
}

// unpacked decompresses a body.
type unpacked struct {
	packed *linkBody
	reader *gzip.Reader // nil until the first read
}

// Read implements [io.Reader].
func (u *unpacked) Read(p []byte) (n int, err error) {
	if u.reader == nil {
		if u.reader, err = gzip.NewReader(u.packed); err != nil {
			return 0, err
		}
	}
	return u.reader.Read(p)
}

// Close implements [io.Closer].
func (u *unpacked) Close() error { return u.packed.Close() }
