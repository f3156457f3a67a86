package service

import (
	"bytes"
	"cmp"
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

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/breaker"
	"github.com/throng-sim/throng/engine/service/direct"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Limits limit the use of a service. The zero value takes the defaults.
type Limits struct {
	Connections int           // concurrent requests; default 200
	Keepalive   int           // idle connections to keep; default 100
	Idle        time.Duration // how long they are kept; default 30 s
	Timeout     time.Duration // of one attempt; default 10 s
	// RequestSize and ResponseSize limit bodies, in bytes; the default is 32 MiB.
	RequestSize, ResponseSize int64
	// Rate is the number of requests that may start per second, at first; 0 sets no limit. MaxRate is the most that it may grow to.
	Rate, MaxRate float64
	Pace          pace.Mode // how the rate is kept
	Burst         int       // of a token bucket, how many may start together; 0 is one second's worth
	Per           Per       // scope of the rate and of a 429
	Buckets       []BucketLimits
	// NoBreaker lets calls fail while the service is unavailable, instead of waiting.
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
	l.RequestSize, l.ResponseSize = cmp.Or(l.RequestSize, maxBody), cmp.Or(l.ResponseSize, maxBody)
	return l
}

// HTTP is the client of one http service. It calls no other host and follows no redirects.
type HTTP struct {
	name, kind string
	base       *url.URL
	prefix     string // escaped path of the address, without a trailing slash
	limits     Limits
	pool       *http.Transport
	direct     *direct.Client // nil if pool sends everything
	transport  transport
	open       atomic.Int64
}

// The kinds of services that use HTTP.
const kindHTTP, kindLLM = "http", "llm"

// NewHTTP returns a client of the service at base. tag is for the mock only: it adds a header that identifies each request.
func NewHTTP(name, base string, limits Limits, tag bool) (*HTTP, error) {
	return newHTTP(name, base, limits, tag, nil)
}

// newHTTP returns a client that also keeps to a limit that it shares with others, if that is not nil.
func newHTTP(name, base string, limits Limits, tag bool, shared *concurrency.Limit) (*HTTP, error) {
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
		name: name, base: h.pool, control: admission.New(h.limits.admission(), shared), tag: tag,
		breaker: breaker.New(name, limits.NoBreaker), retries: newRetryBudget(),
	}
	h.transport.limits = h.transport.control
	if h.direct = direct.New(u, h.pool); h.direct != nil {
		h.transport.base = h.direct
	}
	h.transport.prefix, h.transport.mostBody = h.prefix, h.limits.ResponseSize
	h.transport.patience.Store(int64(h.limits.Timeout))
	return h, nil
}

// Trust sets the TLS configuration; nil leaves it unchanged. Call it before any request.
func (h *HTTP) Trust(c *tls.Config) {
	if c != nil {
		h.pool.TLSClientConfig = c
		if h.direct != nil {
			h.direct.Trust(c)
		}
		h.transport.certified = len(c.Certificates) > 0
	}
}

// Through sends all requests by an HTTP proxy. Call it before any request.
func (h *HTTP) Through(proxy *url.URL) {
	h.pool.Proxy = http.ProxyURL(proxy)
	if h.direct != nil { // otherwise the pool is used already, perhaps by Via
		h.leaveToPool(h.pool)
	}
}

// leaveToPool sends all requests by base, which uses the pool.
func (h *HTTP) leaveToPool(base http.RoundTripper) {
	if h.direct != nil {
		h.direct.Leave()
	}
	h.direct, h.transport.base = nil, base
}

// Via sends all requests by what by returns, which speaks the protocol of a kind of services over the pool. Call it before any request.
func (h *HTTP) Via(kind string, by func(pool http.RoundTripper) http.RoundTripper) {
	h.kind = kind
	h.leaveToPool(by(h.pool))
}

// CheckAddress parses the address of a service: http or https, a host and an optional path. Its errors do not repeat the address,
// which may contain a password.
func CheckAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("its address cannot be read")
	case u.User != nil:
		return nil, errors.New("an address must not contain a password")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("its address does not begin with http:// or https:// and a host")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("its address has more than a host and a path")
	}
	return u, nil
}

// Request is one request of a step. The client owns it from here on.
type Request struct {
	Method string
	Target Target
	Header http.Header // by canonical names
	Body   []byte      // nil for none
	Sent   []byte      // sent instead of Body, which still identifies the request; nil is Body

	Kind    BodyKind       // how secrets are written into the body
	Secrets redact.Secrets // whose marks are in target and body

	rooted bool // the target does not begin with the path of the service's address
}

// Described returns the request for display: without secrets, and without values whose names look like secrets.
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

// Do carries out a call, and follows no redirects. Its error is a *engine.StepError, or the cause of a context that ended: [*Overtime], engine.ErrCut or a
// *engine.TimeoutError.
func (h *HTTP) Do(call *Call, r Request) (*Answer, error) {
	answer, err := h.ask(call, &r)
	if err != nil {
		return nil, err
	}
	if err := call.check(answer); err != nil {
		return answer, err
	}
	h.spent(call)
	return answer, nil
}

// ask is Do for a call that accepts any status.
func (h *HTTP) ask(call *Call, r *Request) (*Answer, error) {
	hash := r.hash()
	req, err := r.prepare(h, call)
	if err != nil {
		return nil, err
	}
	answer, err := h.transport.do(req, hash, call)
	if call.bill != nil {
		call.budget().charge()
	}
	return answer, err
}

// prepare returns the request as the client sends it, and says in the call what it is.
func (r *Request) prepare(h *HTTP, call *Call) (*http.Request, error) {
	path := redact.Unmarked(r.Target.path)
	if n := int64(len(r.Body)); n > h.limits.RequestSize {
		return nil, engine.Fail(engine.Script, "the request has %s, more than the %s of `limits: {request_size: …}` of the service %s",
			engine.FormatBytes(n), engine.FormatBytes(h.limits.RequestSize), h.name)
	}
	r, err := r.revealed()
	if err != nil {
		return nil, err
	}
	req := h.request(r)
	if k := call.Cookies; k != nil {
		k.request, k.address = r, h.address
		if r.rooted {
			k.address = h.rooted
		}
	}
	call.what, call.named.Path = call.display().described(r.Method, req.URL.Path), path
	if call.Verify != nil {
		call.ask = func(ctx context.Context) (*Answer, error) { return h.verify(ctx, call) }
	}
	return req, nil
}

// patience returns the timeout of one attempt.
func (h *HTTP) patience() time.Duration { return time.Duration(h.transport.patience.Load()) }

// request returns a request as it is sent. Attempts use copies of it.
func (h *HTTP) request(r *Request) *http.Request {
	u := h.address(r.Target)
	if r.rooted {
		u = h.rooted(r.Target)
	}
	req := &http.Request{
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
	return req
}

// setBody sets the body of a request, which attempts copy.
func setBody(req *http.Request, body []byte) {
	req.ContentLength, req.GetBody = int64(len(body)), nil
	if len(body) > 0 {
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
}

// address joins a target to the service's address.
func (h *HTTP) address(t Target) *url.URL {
	return h.rooted(Target{h.prefix + t.path, t.query})
}

// rooted returns the address of a target at the service's host.
func (h *HTTP) rooted(t Target) *url.URL {
	u := &url.URL{Scheme: h.base.Scheme, Host: h.base.Host, RawQuery: t.query}
	escaped := t.path
	if path, err := url.PathUnescape(escaped); err == nil && path != escaped {
		u.Path, u.RawPath = path, escaped
	} else {
		u.Path = escaped
	}
	return u
}

// hash distinguishes the requests that a step may send, by method, target and body. The service's address does not count, because
// the mock's port changes. Secrets count by name: a hash reveals no value, and a new value is the same request. It is FNV-1a, 64
// bits.
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

// Open returns the number of open connections.
func (h *HTTP) Open() int { return int(h.open.Load()) }

// Host returns the host that requests go to.
func (h *HTTP) Host() string { return h.base.Host }

// Close closes idle connections. No call may be in progress.
func (h *HTTP) Close() {
	h.transport.breaker.Close()
	h.pool.CloseIdleConnections()
	if h.direct != nil {
		h.direct.Close()
	}
}

// attemptOf returns a copy of req for one attempt.
func attemptOf(ctx context.Context, req *http.Request, again bool) (*http.Request, error) {
	r := req.WithContext(ctx)
	if again { // an abandoned attempt may still read its headers
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
