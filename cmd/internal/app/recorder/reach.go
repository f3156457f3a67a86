package recorder

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine/service"
)

// reason returns why a request has no answer, in a few words: "connection refused".
func reason(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return "the client closed the connection"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted"
	}
	if none, ok := errors.AsType[*net.DNSError](err); ok {
		return none.Err
	}
	return service.Plain(err).Error()
}

// Trouble returns why nothing answers at the target's address, as in "127.0.0.1:4999 did not answer: connection refused"; "" if
// something does. It waits up to two seconds. Behind a proxy of the environment it knows nothing.
func (r *Recorder) Trouble(ctx context.Context) string {
	const patience = 2 * time.Second
	if proxy, err := r.transport.Proxy(&http.Request{URL: r.target}); err != nil || proxy != nil {
		return ""
	}
	port := r.target.Port()
	switch {
	case port != "":
	case r.target.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(r.target.Hostname(), port))
	if err != nil {
		return NoAnswer(r.target.Host, reason(err))
	}
	_ = conn.Close() // nothing was sent
	return ""
}

// NoAnswer says that a host did not answer, and why.
func NoAnswer(host, why string) string { return host + " did not answer: " + why }
