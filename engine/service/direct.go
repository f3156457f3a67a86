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
	// maxDirect is how long a body may be, in bytes, that is written before anything of the answer is read: the systems
	// on both sides hold so much of it.
	maxDirect = 16 << 10
	// maxLinkBuffer is the buffer of a connection for what is read. A body that is longer is read past it.
	maxLinkBuffer = 2 << 10
)

// direct carries requests to one host by HTTP/1.1 without TLS: who asks writes the request and reads the answer. An
// [http.Transport] has two goroutines for each connection and hands every request to one and every answer to the other,
// which is half of what a short request costs, and most of the memory of one that waits. What it sends is what a
// Transport would, and answers are read by [http.ReadResponse]. What it is not made for goes to a Transport.
//
// Nobody reads from an idle connection. So it is looked at before it is used again: what came in meanwhile, such as a
// server's 408 before it hangs up, is the answer to nothing that was asked.
type direct struct {
	dial dial
	addr string // host and port
	most int    // idle connections kept
	idle time.Duration
	rest *http.Transport

	mu     sync.Mutex
	kept   []*link // the one that was used last is the last
	expiry *time.Timer
	closed bool
}

var _ http.RoundTripper = (*direct)(nil)

// newDirect returns a client of h's host; nil where a Transport is wanted for all.
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

// RoundTrip implements [http.RoundTripper]. The body of the answer belongs to one goroutine.
func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if !takes(r) || r.Context().Err() != nil { // then a Transport sends nothing, and says why
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
		// The server closed it just then: once more, over a new one.
	}
	if l, err = d.open(r.Context()); err != nil {
		return nil, err
	}
	resp, _, err := l.exchange(r, request)
	return resp, err
}

// takes reports whether a request is one that direct is made for: short, without headers that a Transport writes itself,
// reads or refuses, and one that may be sent again over another connection where the server closed the one that it went by.
func takes(r *http.Request) bool {
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

// appendRequest appends a request as a Transport writes it, but for the order of what says how the answer may be coded.
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
	if unpacks(r) {
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

// unpacks reports whether the answer may be packed without the request's saying so.
func unpacks(r *http.Request) bool {
	return r.Header["Accept-Encoding"] == nil && r.Header["Range"] == nil
}

// take takes the idle connection that was used last and has been quiet since; nil if there is none.
func (d *direct) take() *link {
	for {
		l := d.last()
		if l == nil || !l.stirred() {
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

// keep lays a connection by.
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

// expire closes the connections that were idle for long enough.
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

// closeIdle closes the connections that are idle since a time, or for longer.
func (d *direct) closeIdle(since time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for ; n < len(d.kept) && !d.kept[n].since.After(since); n++ {
		d.kept[n].close()
	}
	d.kept = slices.Delete(d.kept, 0, n)
}

// end closes what is idle, and from now on every connection after its answer.
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
	// On a goroutine of its own: what dialling needs of a stack is twice of what a session does that waits for an answer.
	var conn net.Conn
	var err error
	dialled := make(chan struct{})
	go func() {
		defer close(dialled)
		conn, err = d.dial(ctx, "tcp", d.addr)
	}()
	if <-dialled; err != nil {
		return nil, err
	}
	l := &link{of: d, conn: conn, cut: func() { _ = conn.SetDeadline(past) }}
	if c, ok := conn.(syscall.Conn); ok {
		if l.raw, err = c.SyscallConn(); err != nil {
			l.close()
			return nil, err
		}
	}
	l.look = looker(&l.quiet)
	l.in = bufio.NewReaderSize(l, maxLinkBuffer)
	return l, nil
}

// link is a connection to the host.
type link struct {
	of      *direct
	conn    net.Conn
	raw     syscall.RawConn // of it; nil is that it is none of the system's
	look    func(fd uintptr) bool
	quiet   bool // look has seen nothing
	in      *bufio.Reader
	left    int64       // bytes of the answer that may be read
	request []byte      // used again
	since   time.Time   // it is idle
	cut     func()      // ends what is under way
	alive   func() bool // ends the watch over its request's context; false if that has ended it
}

// Read implements [io.Reader]: bytes of an answer, as many as may be.
func (l *link) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("read limit of %d bytes exhausted", maxHeader)
	}
	n, err := l.conn.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

func (l *link) close() { _ = l.conn.Close() }

// stirred reports whether something came in while nobody asked.
func (l *link) stirred() bool {
	if l.raw == nil {
		return false
	}
	err := l.raw.Read(l.look)
	return err != nil || !l.quiet
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// exchange sends a request and reads the answer up to its body. silent says that there was no byte of one.
func (l *link) exchange(r *http.Request, request []byte) (resp *http.Response, silent bool, err error) {
	l.request, l.left = request, maxHeader
	if cap(request) > 4*maxLinkBuffer {
		l.request = nil
	}
	if t, ok := r.Context().(*term); ok {
		l.alive = t.AfterFunc(l.cut) // what the other does, for less
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
	case unpacks(r) && strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip"):
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Uncompressed = -1, true
		resp.Body = &unpacked{packed: body}
	}
	return resp, false, nil
}

// answer is the first answer that says more than that others follow. The texts of its errors are those of a Transport.
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

// linkBody is the body of an answer, with whose end its connection is free again.
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

// end keeps the connection, or closes it, once. What is left in the buffer then, nobody asked for.
func (b *linkBody) end(whole bool) {
	if b.over {
		return
	}
	b.over = true
	alive := b.l.alive()
	b.l.alive = nil // an idle connection holds nothing of a session
	if alive && whole && b.keep && b.l.in.Buffered() == 0 {
		b.l.of.keep(b.l)
		return
	}
	b.l.close()
}

// unpacked is a body that came packed.
type unpacked struct {
	packed *linkBody
	reader *gzip.Reader // nil until something is read
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
