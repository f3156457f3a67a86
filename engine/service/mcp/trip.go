package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/throng-sim/throng/engine"
)

// trip is what one attempt of a call sends and hears: its headers, and how the server failed. The library's errors do not have it.
type trip struct {
	header http.Header
	single bool // the connection pool must not send a request again by itself

	mu     sync.Mutex
	err    error // of the newest request that had no response
	status int   // of the newest response that was an error
	said   http.Header
	body   []byte
	tooBig int64 // the limit that a response exceeded; 0 if none did
}

type tripKey struct{}

func tripOf(ctx context.Context) *trip {
	t, _ := ctx.Value(tripKey{}).(*trip)
	if t == nil {
		t = &trip{}
	}
	return t
}

// forget forgets the failures so far.
func (t *trip) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err, t.status, t.said, t.body = nil, 0, nil, nil
}

// refused reports whether a request had no response, or the server refused it as such, not the call in it.
func (t *trip) refused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	answered := t.status == 0 || t.status == http.StatusBadRequest || t.status == http.StatusNotFound
	return t.err != nil || !answered
}

// failed returns what a failed attempt looks like to [service.HTTP]: the error of its connection, or the response of the server. A result
// that is too big counts as one.
func (t *trip) failed(r *http.Request, err error) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case r.Context().Err() != nil:
		return nil, err
	case t.tooBig > 0 && r.Method == http.MethodGet:
		return nil, fmt.Errorf("the list of tools has more than %s", engine.FormatBytes(t.tooBig))
	case t.tooBig > 0:
		return response(r, http.StatusOK, nil, &Result{Text: "the result has more than " + engine.FormatBytes(t.tooBig), Failed: true})
	case t.err != nil:
		return nil, t.err
	case t.status != 0:
		return response(r, t.status, t.said, t.body)
	}
	return nil, fmt.Errorf("the MCP server: %w", err)
}

// carrier sends the HTTP requests of the protocol with the headers of the call.
type carrier struct {
	pool http.RoundTripper
	most int64 // bytes of a response
}

// own are the headers that the protocol or the pool sets.
var own = []string{"Accept", "Accept-Encoding", "Content-Type", "Content-Length"}

// mostSaid limits the body of an error that is kept, in bytes.
const mostSaid = 64 << 10

// RoundTrip implements [http.RoundTripper].
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	t := tripOf(r.Context())
	r = r.Clone(r.Context())
	for name, values := range t.header {
		if !slices.Contains(own, name) {
			r.Header[name] = values
		}
	}
	if t.single {
		r.GetBody = nil
	}
	resp, err := c.pool.RoundTrip(r)
	if r.Method == http.MethodDelete { // it ends a session, perhaps while the call that failed is judged
		return resp, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.err = err
		return nil, err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		body, err := io.ReadAll(io.LimitReader(resp.Body, mostSaid))
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.err = err
			return nil, err
		}
		t.status, t.said, t.body = resp.StatusCode, resp.Header.Clone(), body
		t.said.Del("Content-Encoding") // the body is decoded
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
	resp.Body = &limited{ReadCloser: resp.Body, trip: t, most: c.most, left: c.most}
	return resp, nil
}

// limited is the body of a response up to a size.
type limited struct {
	io.ReadCloser
	trip       *trip
	most, left int64
}

var errTooBig = errors.New("the answer is too big")

// Read implements [io.Reader].
func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errTooBig
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left+1)])
	if l.left -= int64(n); l.left < 0 {
		l.trip.mu.Lock()
		l.trip.tooBig = l.most
		l.trip.mu.Unlock()
		return 0, errTooBig
	}
	return n, err
}
