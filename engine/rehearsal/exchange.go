package rehearsal

import (
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

const (
	maxBody   = 1 << 20
	maxUserID = 512
)

// Request is what Config.OnRequest hears of a request.
type Request struct {
	// N counts all requests from 1, as they arrived.
	N            int64
	Method, Path string
	// User is "" when the token was refused; Cycle, Step and Attempt are those of X-Throng-Request.
	User           string
	Cycle, Attempt int
	Step           string
	// Status is what leaves, 0 for a request that hangs or is cut.
	Status   int
	Fault    Fault
	Replayed bool
}

// exchange is one request and its answer.
type exchange struct {
	shop    *Shop
	w       http.ResponseWriter
	r       *http.Request
	request Request // for the hook

	user      *user
	route     *route
	tag       tag
	tagged    bool
	calls     int64    // of the user without X-Throng-Request, this one included
	body      []byte   // what came
	problem   *refusal // with what came
	inSession bool     // the request names a session of its user
	mutation  int64    // number of the change that was made, 0 if there was none
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 4096)) }}

// serve answers one request.
func (s *Shop) serve(w http.ResponseWriter, r *http.Request) {
	x := &exchange{shop: s, w: w, r: r}
	x.request = Request{N: s.count.requests.Add(1), Method: r.Method, Path: r.URL.Path}
	out := buffers.Get().(*[]byte)
	defer buffers.Put(out)
	*out = x.serve((*out)[:0])
}

// serve goes through the request: who asks, for what, whether the network lets it, then the work. It returns b with
// whatever it wrote there, for the next to use.
func (x *exchange) serve(b []byte) []byte {
	weather := x.shop.weather.Load()
	if weather.faults.outage(x.shop.clock().Sub(x.shop.started)) {
		x.fault(FaultOutage)
		return x.send((&refusal{http.StatusServiceUnavailable, "The shop is out of service"}).write(nil, nil, b))
	}
	if x.r.URL.Path == "/healthz" {
		return x.health(b)
	}
	if no := x.identify(); no != nil {
		return x.send(no.write(nil, nil, b))
	}
	if seconds := x.limited(); seconds > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(seconds))
		return x.send((&refusal{http.StatusTooManyRequests, "Rate limit exceeded"}).write(nil, nil, b))
	}
	x.readBody()
	chance := x.chance()
	x.pause(weather.profile.delay(chance))
	return x.meet(weather.faults, chance, b)
}

// meet has the request meet its fault, if it is to have one, and does the work.
func (x *exchange) meet(faults Faults, chance draw.Key, b []byte) []byte {
	fault, after := faults.pick(chance)
	if fault != FaultNone {
		x.fault(fault)
	}
	switch {
	case fault == FaultRateLimited:
		x.w.Header().Set("Retry-After", "1")
		return x.send((&refusal{http.StatusTooManyRequests, "Too many requests"}).write(nil, nil, b))
	case fault == FaultServerError:
		return x.send((&refusal{http.StatusInternalServerError, "Internal server error"}).write(nil, nil, b))
	case fault == FaultHang:
		x.leave(0)
		x.hold()
		return b
	case fault == FaultCut && !after:
		x.cut()
	}
	status, b := x.work(b)
	switch fault {
	case FaultCut:
		x.cut()
	case FaultBadBody:
		return x.send(http.StatusOK, b[:len(b)/2]) // half of an object is no JSON
	case FaultNone, FaultRateLimited, FaultServerError, FaultHang, FaultOutage:
	}
	return x.send(status, b)
}

func (x *exchange) health(b []byte) []byte {
	if x.r.Method != http.MethodGet {
		return x.send(x.wrongMethod([]string{http.MethodGet}).write(nil, nil, b))
	}
	return x.send(http.StatusOK, append(b, `{"status":"ok"}`...))
}

func (x *exchange) wrongMethod(methods []string) *refusal {
	x.w.Header().Set("Allow", strings.Join(methods, ", "))
	return &refusal{http.StatusMethodNotAllowed, "Method not allowed"}
}

// identify finds out who asks for what.
func (x *exchange) identify() *refusal {
	if x.r.URL.Path == loginPath {
		return x.signUp()
	}
	user, login, ok := x.who()
	if !ok {
		return x.unauthorized()
	}
	x.request.User = user
	route, others := findRoute(x.r.Method, x.r.URL.Path)
	if route == nil {
		if len(others) > 0 {
			return x.wrongMethod(others)
		}
		return unknown("Not found")
	}
	x.route = route
	if no := x.known(); no != nil {
		return no
	}
	if !x.spend(login) {
		return x.unauthorized()
	}
	return nil
}

// who reads the token: <secret>.<user id>, or that of a login with its number.
func (x *exchange) who() (user string, login int64, ok bool) {
	token, secret := x.r.Header.Get("Authorization"), x.shop.bearer
	if len(token) > len(secret) && len(token) <= len(secret)+maxUserID &&
		subtle.ConstantTimeCompare([]byte(token[:len(secret)]), []byte(secret)) == 1 {
		return token[len(secret):], 0, true
	}
	return x.loggedIn(strings.TrimPrefix(token, "Bearer "))
}

func (x *exchange) unauthorized() *refusal {
	x.w.Header().Set("WWW-Authenticate", "Bearer")
	return &refusal{http.StatusUnauthorized, "Not authenticated"}
}

// known finds the user, whose name is known, and what Throng says of the request.
func (x *exchange) known() *refusal {
	if header := x.r.Header.Get("X-Throng-Request"); header != "" {
		var err error
		if x.tag, err = parseTag(header); err != nil {
			return bad(err.Error())
		}
		x.tagged = true
		x.request.Cycle, x.request.Step, x.request.Attempt = x.tag.cycle, x.tag.path, x.tag.attempt
	}
	x.user = x.shop.users.of(x.request.User)
	if !x.tagged {
		x.tag.at = x.shop.clock()
		x.calls = x.user.calls.Add(1)
	}
	return nil
}

// limited counts the call against the limit of its route, and returns the seconds to wait when there were too many.
func (x *exchange) limited() int {
	if x.route.limit == limitNone || !x.shop.cfg.KeepRateLimits && x.r.Header.Get("X-Simulation-Mode") == "true" {
		return 0
	}
	address, _, err := net.SplitHostPort(x.r.RemoteAddr)
	if err != nil {
		address = x.r.RemoteAddr
	}
	return x.shop.limits.take(caller{address, x.route.limit}, x.shop.clock())
}

func (x *exchange) readBody() {
	if x.r.ContentLength == 0 || x.body != nil {
		return
	}
	if x.r.ContentLength <= maxBody {
		var err error
		x.body, err = io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxBody))
		if err == nil {
			return
		}
	}
	x.body, x.problem = nil, bad("The body is larger than 1 MiB or was not sent whole")
}

// chance is the key of what happens to this request.
func (x *exchange) chance() draw.Key {
	if x.tagged {
		return x.user.key.Text("request").Int(uint64(x.tag.cycle)).Text(x.tag.path).Int(uint64(x.tag.attempt))
	}
	return x.user.key.Text("call").Int(uint64(x.calls))
}

func (x *exchange) fault(f Fault) {
	x.request.Fault = f
	x.shop.count.fault(f)
}

// pause waits for the latency. A shop that closes and a client that leaves end it.
func (x *exchange) pause(d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.shop.server.closing:
		panic(http.ErrAbortHandler)
	case <-x.r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// hold keeps the request until the shop closes or the client leaves.
func (x *exchange) hold() {
	select {
	case <-x.shop.server.closing:
	case <-x.r.Context().Done():
	}
	panic(http.ErrAbortHandler)
}

// cut closes the connection without an answer.
func (x *exchange) cut() {
	x.leave(0)
	panic(http.ErrAbortHandler)
}

// leave tells the hook that the request is about to be answered with status.
func (x *exchange) leave(status int) {
	x.request.Status = status
	if x.shop.cfg.OnRequest != nil {
		x.shop.cfg.OnRequest(x.request)
	}
}

// send answers, and returns b.
func (x *exchange) send(status int, b []byte) []byte {
	x.shop.count.statuses[status].Add(1)
	if x.request.Replayed {
		x.w.Header().Set("Idempotency-Replayed", "true")
	}
	x.leave(status)
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	x.w.WriteHeader(status)
	// A client that left meanwhile is no concern of the shop.
	_, _ = x.w.Write(b)
	return b
}
