package mock

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

const maxBody = 1 << 20

// Request is what OnRequest receives about a request.
type Request struct {
	// N counts all requests from 1, in order of arrival.
	N            int64
	Method, Path string
	// User is "" if the token was refused or named no user. Cycle, Step and Attempt come from X-Throng-Request.
	User           string
	Cycle, Attempt int
	Step           string
	// Status is the status sent, 0 for a request that hangs or is cut.
	Status   int
	Fault    Fault
	Replayed bool
}

// call is one request while a host handles it.
type call struct {
	host       *host
	w          http.ResponseWriter
	r          *http.Request
	request    Request // for the hook
	concurrent int64   // requests in flight at its arrival, this one included
	tag        tag
	tagged     bool
	body       []byte // of the request
}

func (h *host) call(w http.ResponseWriter, r *http.Request) call {
	request := Request{N: h.count.requests.Add(1), Method: r.Method, Path: r.URL.Path}
	return call{host: h, w: w, r: r, request: request, concurrent: h.inFlight.Add(1)}
}

// gone removes the request from those in flight.
func (c *call) gone() { c.host.inFlight.Add(-1) }

// slowed scales a latency when more requests are in flight than the server has capacity for. Each takes longer, so that the throughput of
// all of them stays the same.
func (c *call) slowed(d time.Duration) time.Duration {
	capacity := int64(c.host.network.Load().faults.Capacity)
	if capacity == 0 || c.concurrent <= capacity {
		return d
	}
	return time.Duration(float64(d) * float64(c.concurrent) / float64(capacity))
}

// readTag reads the X-Throng-Request header, if present.
func (c *call) readTag() (err error) {
	header := c.r.Header.Get("X-Throng-Request")
	if header == "" {
		return nil
	}
	if c.tag, err = parseTag(header); err != nil {
		return err
	}
	c.tagged = true
	c.request.Cycle, c.request.Step, c.request.Attempt = c.tag.cycle, c.tag.path, c.tag.attempt
	return nil
}

const badBody = "The body is larger than 1 MiB or was not sent whole"

// readBody reads the body and reports whether it is complete.
func (c *call) readBody() bool {
	if c.r.ContentLength == 0 || c.body != nil {
		return true
	}
	if c.r.ContentLength > maxBody { // a client that is still sending would not read the answer
		_, _ = io.CopyN(io.Discard, c.r.Body, 2*maxBody)
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	if err != nil {
		return false
	}
	c.body = body
	return true
}

func (c *call) fault(f Fault) {
	c.request.Fault = f
	c.host.count.fault(f)
}

// pause waits for the latency. It ends early if the server closes or the client disconnects.
func (c *call) pause(d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.host.server.Closing():
		panic(http.ErrAbortHandler)
	case <-c.r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// hold keeps the request open until the server closes or the client disconnects.
func (c *call) hold() {
	c.leave(0)
	select {
	case <-c.host.server.Closing():
	case <-c.r.Context().Done():
	}
	panic(http.ErrAbortHandler)
}

// cut closes the connection without an answer.
func (c *call) cut() {
	c.leave(0)
	panic(http.ErrAbortHandler)
}

// leave reports to the hook that the request is about to be answered with status, or with 0 if it gets no answer.
func (c *call) leave(status int) {
	if status > 0 {
		c.host.count.statuses[status].Add(1)
	}
	c.request.Status = status
	if c.host.onRequest != nil {
		c.host.onRequest(c.request)
	}
}

// sendJSON sends the answer.
func (c *call) sendJSON(status int, b []byte) {
	c.leave(status)
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	c.w.WriteHeader(status)
	// The client may have disconnected; the server ignores that.
	_, _ = c.w.Write(b)
}
