package mock

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

const maxBody = 1 << 20

// Request is what the hook OnRequest hears of a request.
type Request struct {
	// N counts all requests from 1, as they arrived.
	N            int64
	Method, Path string
	// User is "" when the token was refused, or named none; Cycle, Step and Attempt are those of X-Throng-Request.
	User           string
	Cycle, Attempt int
	Step           string
	// Status is what leaves, 0 for a request that hangs or is cut.
	Status   int
	Fault    Fault
	Replayed bool
}

// call is one request on its way through a host.
type call struct {
	host    *host
	w       http.ResponseWriter
	r       *http.Request
	request Request // for the hook
	beside  int64   // requests in flight, this one included, when it arrived
	tag     tag
	tagged  bool
	body    []byte // what came
}

func (h *host) call(w http.ResponseWriter, r *http.Request) call {
	request := Request{N: h.count.requests.Add(1), Method: r.Method, Path: r.URL.Path}
	return call{host: h, w: w, r: r, request: request, beside: h.inFlight.Add(1)}
}

// gone counts the request out.
func (c *call) gone() { c.host.inFlight.Add(-1) }

// slowed is a latency as it is where more requests are in flight than the server has capacity for: each takes longer, so
// that all of them together get no more done.
func (c *call) slowed(d time.Duration) time.Duration {
	capacity := int64(c.host.weather.Load().faults.Capacity)
	if capacity == 0 || c.beside <= capacity {
		return d
	}
	return time.Duration(float64(d) * float64(c.beside) / float64(capacity))
}

// readTag reads X-Throng-Request, if it is there.
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

// readBody reads what came, and says whether it came whole.
func (c *call) readBody() bool {
	if c.r.ContentLength == 0 || c.body != nil {
		return true
	}
	if c.r.ContentLength > maxBody { // whoever is still sending would not hear the answer
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

// pause waits for the latency. A server that closes and a client that leaves end it.
func (c *call) pause(d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.host.server.closing:
		panic(http.ErrAbortHandler)
	case <-c.r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// hold keeps the request until the server closes or the client leaves.
func (c *call) hold() {
	c.leave(0)
	select {
	case <-c.host.server.closing:
	case <-c.r.Context().Done():
	}
	panic(http.ErrAbortHandler)
}

// cut closes the connection without an answer.
func (c *call) cut() {
	c.leave(0)
	panic(http.ErrAbortHandler)
}

// leave tells the hook that the request is about to be answered with status, 0 for not at all.
func (c *call) leave(status int) {
	if status > 0 {
		c.host.count.statuses[status].Add(1)
	}
	c.request.Status = status
	if c.host.onRequest != nil {
		c.host.onRequest(c.request)
	}
}

// sendJSON answers.
func (c *call) sendJSON(status int, b []byte) {
	c.leave(status)
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	c.w.WriteHeader(status)
	// A client that left meanwhile is no concern of the server.
	_, _ = c.w.Write(b)
}
