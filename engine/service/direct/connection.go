package direct

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
)

// connection is an open connection to the host.
type connection struct {
	socket *socket
	secure *tls.Conn            // over the socket; nil for a plain connection
	state  *tls.ConnectionState // nil for a plain connection
}

// conn returns what requests are written to.
func (c connection) conn() net.Conn {
	if c.secure != nil {
		return c.secure
	}
	return c.socket
}

func (c connection) prefersHTTP2() bool {
	return c.state != nil && c.state.NegotiatedProtocol == "h2"
}

// open opens a connection on a goroutine of its own: that needs several times the stack of a session that waits for a response.
func (c *Client) open(ctx context.Context) (conn connection, err error) {
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		conn, err = c.connect(ctx, c.addr)
	}()
	<-opened
	return conn, err
}

// connect opens a connection.
func (c *Client) connect(ctx context.Context, addr string) (connection, error) {
	conn, err := c.dial(ctx, "tcp", addr)
	if err != nil {
		return connection{}, err
	}
	s := &socket{Conn: conn}
	if below, ok := conn.(syscall.Conn); ok {
		if s.raw, err = below.SyscallConn(); err != nil {
			_ = conn.Close()
			return connection{}, err
		}
	}
	s.now.read, s.arrival.check = s.now.at, s.arrival.ready
	if !c.secure {
		return connection{socket: s}, nil
	}
	s.records = &records{}
	secure, err := c.handshake(ctx, s)
	if err != nil {
		return connection{}, err
	}
	state := secure.ConnectionState()
	return connection{s, secure, &state}, nil
}

// Trust sets the TLS configuration; nil is the default. Call it before any request. It does not affect a client without TLS.
func (c *Client) Trust(config *tls.Config) {
	if !c.secure {
		return
	}
	c.trust = &tls.Config{MinVersion: tls.VersionTLS12}
	if config != nil {
		c.trust = config.Clone()
	}
	if c.trust.ServerName == "" {
		c.trust.ServerName, _, _ = net.SplitHostPort(c.addr)
	}
	offered := []string{"h2", "http/1.1"} // in the order of a Transport
	if strings.Contains(os.Getenv("GODEBUG"), "http2client=0") {
		offered = offered[1:] // it does not speak HTTP/2
	}
	for _, protocol := range offered {
		if !slices.Contains(c.trust.NextProtos, protocol) {
			c.trust.NextProtos = append(slices.Clip(c.trust.NextProtos), protocol)
		}
	}
}

// handshake starts TLS as a Transport does.
func (c *Client) handshake(ctx context.Context, s *socket) (*tls.Conn, error) {
	if limit := c.rest.TLSHandshakeTimeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errHandshakeTimeout)
		defer cancel()
	}
	conn := tls.Client(s, c.trust)
	err := conn.HandshakeContext(ctx)
	if err == nil {
		return conn, nil
	}
	_ = s.Close()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, unsent{err}
}

// errHandshakeTimeout is the error of a Transport.
var errHandshakeTimeout error = handshakeTimeout{}

type handshakeTimeout struct{}

func (handshakeTimeout) Error() string   { return "net/http: TLS handshake timeout" }
func (handshakeTimeout) Timeout() bool   { return true }
func (handshakeTimeout) Temporary() bool { return true }

// unsent is the error of a request that was not sent because TLS failed to start.
type unsent struct{ error }

func (u unsent) Unwrap() error { return u.error }

// sentBefore is the error of a new connection for a request that was written to an earlier one.
type sentBefore struct{ error }

func (s sentBefore) Unwrap() error { return s.error }

// Unsent reports whether a request was not sent because its connection could not be opened.
func Unsent(err error) bool {
	if _, ok := errors.AsType[sentBefore](err); ok {
		return false
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	_, ok := errors.AsType[unsent](err)
	return ok
}

// socket is a connection whose input can also be read without waiting.
type socket struct {
	net.Conn
	raw     syscall.RawConn // nil if the connection is not a socket
	now     immediate
	arrival arrival
	looking bool     // do not wait for input
	records *records // nil without TLS
}

// Read implements [io.Reader]. If no input has arrived, and must not be waited for, its error is [os.ErrDeadlineExceeded]: a TLS
// connection remains usable after an error that is temporary.
func (s *socket) Read(p []byte) (n int, err error) {
	if s.looking {
		n, err = s.now.from(s.raw, p)
	} else {
		n, err = s.Conn.Read(p)
	}
	if s.records != nil {
		s.records.pass(p[:n])
	}
	return n, err
}

// await waits until input has arrived, or the connection has failed, which the next read says. Nothing has been read ahead.
func (s *socket) await() {
	if s.raw == nil {
		return
	}
	s.arrival.waited = false
	_ = s.raw.Read(s.arrival.check)
}

// hasInput reports whether an idle connection has pending input, bytes or the end. TLS reads and processes its own messages, such as
// session tickets, which do not count. conn is the connection, or TLS over it; b is one byte of space.
func (s *socket) hasInput(conn net.Conn, b []byte) bool {
	if s.raw == nil {
		return false
	}
	s.looking = true
	n, err := conn.Read(b)
	s.looking = false
	return n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || s.records != nil && !s.records.atBoundary()
}

// records follows the boundaries of records in a stream of TLS (RFC 8446, section 5.1).
type records struct {
	header [5]byte
	got    int // bytes of the header
	left   int // bytes of the content that have not arrived
}

// pass follows more of the stream.
func (r *records) pass(b []byte) {
	for len(b) > 0 {
		if r.got < len(r.header) {
			n := copy(r.header[r.got:], b)
			r.got, b = r.got+n, b[n:]
			if r.got < len(r.header) {
				return
			}
			r.left = int(r.header[3])<<8 | int(r.header[4])
		}
		n := min(r.left, len(b))
		r.left, b = r.left-n, b[n:]
		if r.left == 0 {
			r.got = 0
		}
	}
}

// atBoundary reports whether the last record has arrived as a whole.
func (r *records) atBoundary() bool { return r.got == 0 }
