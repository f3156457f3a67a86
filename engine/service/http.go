package service

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/breaker"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Limits bound the use of a service. The zero value takes the defaults.
type Limits struct {
	Connections int           // requests at once; 200
	Keepalive   int           // idle connections kept; 100
	Idle        time.Duration // how long these are kept; 30 s
	Timeout     time.Duration // of one attempt; 10 s
	// Rate is how many requests may start per second, at first; 0 is as many as come. MaxRate is what it may grow to.
	Rate, MaxRate float64
	Pace          pace.Mode // how the rate is kept to
	Burst         int       // of a token bucket, how many may start at once; 0 is one second's worth
	Per           Per       // what the rate, and a 429, hold for
	Buckets       []BucketLimits
	// NoBreaker lets calls fail while the service is away: nobody waits for it.
	NoBreaker bool
}

func (l Limits) withDefaults() Limits {
	if l.Connections == 0 {
		l.Connections = 200
	}
	if l.Keepalive == 0 {
		l.Keepalive = 100
	}
	if l.Idle == 0 {
		l.Idle = 30 * time.Second
	}
	if l.Timeout == 0 {
		l.Timeout = 10 * time.Second
	}
	return l
}

// HTTP is a client of one http service: it goes to the service's host and to no other, and follows no redirect.
type HTTP struct {
	name, kind string
	base       *url.URL
	prefix     string // of the address's path, escaped, without a slash at its end
	limits     Limits
	pool       *http.Transport
	direct     *direct // nil has pool carry everything
	transport  transport
	open       atomic.Int64
}

// The kinds of services that are called by HTTP.
const kindHTTP, kindLLM = "http", "llm"

// NewHTTP returns a client of the service at base. tag tells the service what each request is (the mock only).
func NewHTTP(name, base string, limits Limits, tag bool) (*HTTP, error) {
	u, err := CheckAddress(base)
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", name, err)
	}
	h := &HTTP{name: name, kind: kindHTTP, base: u, prefix: strings.TrimRight(u.EscapedPath(), "/"), limits: limits.withDefaults()}
	dialer := &net.Dialer{Timeout: h.limits.Timeout, KeepAlive: 30 * time.Second}
	h.pool = &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            h.counted(dialer.DialContext),
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           h.limits.Keepalive,
		MaxIdleConnsPerHost:    h.limits.Keepalive,
		IdleConnTimeout:        h.limits.Idle,
		TLSHandshakeTimeout:    h.limits.Timeout,
		MaxResponseHeaderBytes: maxHeader,
	}
	h.transport = transport{
		name: name, base: h.pool, bound: concurrency.NewLimit(h.limits.Connections), rateLimiter: pace.New(limits.wholePace()), buckets: newBuckets(limits), tag: tag,
		breaker: breaker.New(name, limits.NoBreaker), retries: newRetryBudget(),
	}
	if h.direct = newDirect(h); h.direct != nil {
		h.transport.base = h.direct
	}
	h.transport.prefix = h.prefix
	h.transport.patience.Store(int64(h.limits.Timeout))
	return h, nil
}

// Trust has the client use a TLS configuration; nil leaves it. It is called before any request.
func (h *HTTP) Trust(c *tls.Config) {
	if c != nil {
		h.pool.TLSClientConfig = c
		h.transport.certified = len(c.Certificates) > 0
	}
}

// CheckAddress reads the address of a service: http or https with a host, and no more than a path behind it. Its
// errors do not repeat the address, which may hold a password.
func CheckAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("its address cannot be read")
	case u.User != nil:
		return nil, errors.New("a password does not belong into an address")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("its address does not begin with http:// or https:// and a host")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("its address has more than a host and a path")
	}
	return u, nil
}

// Request is one request of a step. It belongs to the client from here on.
type Request struct {
	Method string
	Target Target
	Header http.Header // by canonical names
	Body   []byte      // nil is none
	Sent   []byte      // leaves in place of Body, which still tells what is asked; nil is Body

	Kind    BodyKind       // how secrets are written into the body
	Secrets redact.Secrets // whose marks stand in target and body
}

// Described is what a request sends, for people: without secrets, and without values that are named like one.
func (r *Request) Described() string {
	text := r.Method + " " + r.Target.path
	if r.Target.query != "" {
		text += "?" + r.Target.query
	}
	if len(r.Body) > 0 {
		text += " " + string(r.Body)
	}
	return redact.Shorten(redact.Unnamed(redact.Unmarked(text)), mostShown)
}

// Do carries out a call. Its error is a *engine.StepError, or the cause of a context that ended: [*Overtime],
// engine.ErrCut or a *engine.TimeoutError.
func (h *HTTP) Do(call *Call, r Request) (*Answer, error) {
	hash, path := r.hash(), r.Target.path
	r, err := r.revealed()
	if err != nil {
		return nil, err
	}
	var req http.Request
	h.request(&r, &req)
	call.what, call.named.Path = call.described(r.Method, req.URL.Path), path
	if call.Verify != nil {
		call.ask = func(ctx context.Context) (*Answer, error) { return h.verify(ctx, call) }
	}
	answer, err := h.transport.do(&req, hash, call)
	if call.bill != nil {
		call.charge()
	}
	if err != nil {
		return nil, err
	}
	if err := call.check(answer); err != nil {
		return answer, err
	}
	h.spent(call)
	return answer, nil
}

// patience is how long one attempt may take.
func (h *HTTP) patience() time.Duration { return time.Duration(h.transport.patience.Load()) }

// request makes req what r is as it is sent; attempts take copies of it.
func (h *HTTP) request(r *Request, req *http.Request) {
	u := h.address(r.Target)
	*req = http.Request{
		Method: r.Method, URL: u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: r.Header,
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if r.Sent != nil {
		setBody(req, r.Sent)
	} else {
		setBody(req, r.Body)
	}
}

// setBody gives a request its body, which attempts take copies of.
func setBody(req *http.Request, body []byte) {
	req.ContentLength, req.GetBody = int64(len(body)), nil
	if len(body) > 0 {
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
}

// address joins a target to the service's address.
func (h *HTTP) address(t Target) *url.URL {
	u := &url.URL{Scheme: h.base.Scheme, Host: h.base.Host, RawQuery: t.query}
	escaped := h.prefix + t.path
	if path, err := url.PathUnescape(escaped); err == nil && path != escaped {
		u.Path, u.RawPath = path, escaped
	} else {
		u.Path = escaped
	}
	return u
}

// hash tells requests apart that a step may send, by method, target and body; not by the service's address, since the
// mock's port changes. Secrets count by their names, so that a hash says nothing of a value and a new value is the
// same request. It is FNV-1a, 64 bits.
func (r *Request) hash() uint64 {
	if r.marked() {
		r = r.unmarked()
	}
	h := uint64(14695981039346656037)
	for _, s := range [...]string{r.Method, " ", r.Target.path, "?", r.Target.query, "\n"} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	for _, b := range r.Body {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// Mocks reports whether the service is the embedded one.
func (h *HTTP) Mocks() bool { return h.transport.tag }

// Open is how many connections are open.
func (h *HTTP) Open() int { return int(h.open.Load()) }

// Host returns the host that requests go to.
func (h *HTTP) Host() string { return h.base.Host }

// Close lets go of idle connections. No call may be under way.
func (h *HTTP) Close() {
	h.transport.breaker.Close()
	h.pool.CloseIdleConnections()
	if h.direct != nil {
		h.direct.end()
	}
}

// attemptOf is a copy of req for one attempt.
func attemptOf(ctx context.Context, req *http.Request, again bool) (*http.Request, error) {
	r := req.WithContext(ctx)
	if again { // an attempt that was given up may still be reading its headers
		r.Header = req.Header.Clone()
	}
	if req.GetBody != nil {
		var err error
		if r.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return r, nil
}
