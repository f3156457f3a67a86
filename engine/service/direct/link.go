package direct

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxLinkBuffer is the read buffer of a response. Longer bodies bypass it.
const maxLinkBuffer = 2 << 10

// readers are used again. A connection has one while a response arrives, not while the service works on the request.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxLinkBuffer) }}

// link is a connection to the host, and its reader of responses.
type link struct {
	of      *Client
	conn    net.Conn
	socket  *socket
	state   *tls.ConnectionState // nil without TLS
	in      *bufio.Reader        // nil while no response arrives
	left    int64                // bytes of the response that may be read
	request []byte               // buffer for reuse
	spare   [1]byte              // of hasInput
	since   time.Time            // when it became idle
	cut     func()               // ends the exchange in progress
	alive   func() bool          // stops watching the request's context; false if that has ended the exchange
}

func (c *Client) newLink(of connection) *link {
	conn := of.conn()
	return &link{of: c, conn: conn, socket: of.socket, state: of.state, cut: func() { _ = conn.SetDeadline(past) }}
}

// Read implements [io.Reader], up to the limit of the response.
func (l *link) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("read limit of %d bytes exhausted", l.of.head)
	}
	n, err := l.conn.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// listen waits for the beginning of a response.
func (l *link) listen() error {
	l.socket.await()
	l.in = readers.Get().(*bufio.Reader)
	l.in.Reset(l)
	_, err := l.in.Peek(1)
	return err
}

// rest ends reading. It reports whether nothing was left unread.
func (l *link) rest() bool {
	if l.in == nil {
		return true
	}
	unread := l.in.Buffered()
	l.in.Reset(nil)
	readers.Put(l.in)
	l.in = nil
	return unread == 0
}

func (l *link) close() { _ = l.conn.Close() }

// hasInput reports whether an idle connection has pending input.
func (l *link) hasInput() bool { return l.socket.hasInput(l.conn, l.spare[:]) }

// watched is a context that calls functions at its end as [context.AfterFunc] does, at a lower cost.
type watched interface {
	AfterFunc(f func()) (stop func() bool)
}

// past is a deadline in the past.
var past = time.Unix(1, 0)

// exchange sends a request and reads the response up to its body. silent says that no byte of a response arrived.
func (l *link) exchange(r *http.Request, request []byte) (resp *http.Response, silent bool, err error) {
	l.request, l.left = request, l.of.head
	if cap(request) > 4*maxLinkBuffer {
		l.request = nil
	}
	if t, ok := r.Context().(watched); ok {
		l.alive = t.AfterFunc(l.cut)
	} else {
		l.alive = context.AfterFunc(r.Context(), l.cut)
	}
	if resp, silent, err = l.answer(r, request); err != nil {
		l.alive()
		l.rest()
		l.close()
		return nil, silent, err
	}
	l.left, resp.TLS = math.MaxInt64, l.state
	body := &linkBody{l: l, body: resp.Body, keep: !resp.Close && resp.StatusCode >= http.StatusOK}
	resp.Body = body
	switch {
	case resp.ContentLength == 0:
		body.end(io.EOF)
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
	if err := l.listen(); err != nil {
		return nil, true, err
	}
	for {
		resp, err := readHead(l.in, r)
		switch {
		case err != nil && l.left <= 0:
			return nil, false, fmt.Errorf("net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded %d bytes; aborted", l.of.head)
		case err != nil:
			return nil, false, fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", err)
		case resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols:
			return resp, false, nil
		}
	}
}

// linkBody is the body of a response. Its end frees the connection.
type linkBody struct {
	l    *link
	body io.ReadCloser
	keep bool
	over error // result of every further read; nil before the end
}

// Read implements [io.Reader].
func (b *linkBody) Read(p []byte) (int, error) {
	if b.over != nil {
		return 0, b.over
	}
	n, err := b.body.Read(p)
	if err != nil {
		b.end(err)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *linkBody) Close() error {
	b.end(http.ErrBodyReadAfterClose)
	return nil
}

// end keeps or closes the connection, once. It closes a connection with unexpected input.
func (b *linkBody) end(err error) {
	if b.over != nil {
		return
	}
	b.over = err
	alive, all := b.l.alive(), b.l.rest()
	b.l.alive = nil // an idle connection holds no reference to a session
	if alive && all && errors.Is(err, io.EOF) && b.keep {
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
