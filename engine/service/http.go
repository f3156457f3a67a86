package service

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/gate"
)

// Limits bound the use of a service. The zero value takes the defaults.
type Limits struct {
	Connections int           // requests at once; 200
	Keepalive   int           // idle connections kept; 100
	Idle        time.Duration // how long these are kept; 30 s
	Timeout     time.Duration // of one attempt; 10 s
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
	base      *url.URL
	limits    Limits
	pool      *http.Transport
	transport transport
	open      atomic.Int64
}

// NewHTTP returns a client of the service at base. tag tells the service what each request is (the rehearsal only).
func NewHTTP(name, base string, limits Limits, tag bool) (*HTTP, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", name, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("service %s: %q is no http address", name, base)
	}
	h := &HTTP{base: u, limits: limits.withDefaults()}
	dialer := &net.Dialer{Timeout: h.limits.Timeout, KeepAlive: 30 * time.Second}
	h.pool = &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         h.counted(dialer.DialContext),
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        h.limits.Keepalive,
		MaxIdleConnsPerHost: h.limits.Keepalive,
		IdleConnTimeout:     h.limits.Idle,
		TLSHandshakeTimeout: h.limits.Timeout,
	}
	h.transport = transport{base: h.pool, bound: gate.New(h.limits.Connections), tag: tag}
	return h, nil
}

// Request is one request of a step. Target is a path with an optional query, relative to the service's address.
type Request struct {
	Method string
	Target string
	Query  url.Values // added to the target's
	Header http.Header
	Body   []byte // nil is none
}

// Do carries out a call. Its error is a *engine.StepError, or the cause of a context that ended.
func (h *HTTP) Do(call *Call, r Request) (*Answer, error) {
	u, err := h.resolve(r)
	if err != nil {
		return nil, err
	}
	if call.Timeout == 0 {
		call.Timeout = h.limits.Timeout
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(call.Clock.Context(), r.Method, u.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header = r.Header
	if req.Header == nil {
		req.Header = http.Header{}
	}
	return h.transport.do(req, call)
}

// resolve joins a target to the service's address; it cannot leave the service's host.
func (h *HTTP) resolve(r Request) (*url.URL, error) {
	t, err := url.Parse(r.Target)
	if err != nil {
		return nil, fmt.Errorf("the path %q: %w", r.Target, err)
	}
	if t.IsAbs() || t.Host != "" {
		return nil, fmt.Errorf("the path %q names a host; requests go to the service's own", r.Target)
	}
	u := h.base.JoinPath(t.EscapedPath())
	query := t.Query()
	for name, values := range r.Query {
		query[name] = append(query[name], values...)
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// Open is how many connections are open.
func (h *HTTP) Open() int { return int(h.open.Load()) }

// Host returns the host that requests go to.
func (h *HTTP) Host() string { return h.base.Host }

// Close lets go of idle connections.
func (h *HTTP) Close() { h.pool.CloseIdleConnections() }
