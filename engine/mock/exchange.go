package mock

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/quota"
)

const maxUserID = 512

// exchange is one request to the shop and its answer.
type exchange struct {
	call
	shop *Shop

	user      *user
	route     *route
	calls     int64    // of the user without X-Throng-Request, this one included
	problem   *refusal // of the body or the headers
	inSession bool     // the request names a session of its user
	mutation  int64    // number of the change that was made, 0 if there was none
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 4096)) }}

// serve answers one request.
func (s *Shop) serve(w http.ResponseWriter, r *http.Request) {
	x := &exchange{call: s.call(w, r), shop: s}
	defer x.gone()
	out := buffers.Get().(*[]byte)
	defer buffers.Put(out)
	*out = x.serve((*out)[:0])
}

// serve authenticates the request, finds its route, applies rate limits and faults, and does the work. It returns b with anything written
// to it, so that the buffer can be reused.
func (x *exchange) serve(b []byte) []byte {
	network := x.shop.network.Load()
	if x.shop.out() {
		x.fault(FaultOutage)
		return x.send((&refusal{http.StatusServiceUnavailable, "The shop is out of service"}).write(nil, nil, b))
	}
	if x.r.URL.Path == "/healthz" {
		return x.health(b)
	}
	if no := x.identify(); no != nil {
		return x.send(no.write(nil, nil, b))
	}
	if x.limited(network.faults) {
		return x.send((&refusal{http.StatusTooManyRequests, "Rate limit exceeded"}).write(nil, nil, b))
	}
	if !x.readBody() {
		x.problem = bad(badBody)
	}
	chance := x.chance()
	x.pause(x.slowed(network.profile.Delay(chance)))
	return x.applyFault(network.faults, chance, b)
}

// applyFault draws the request's fault, if any, and does the work that the fault leaves to do.
func (x *exchange) applyFault(faults Faults, chance draw.Key, b []byte) []byte {
	fault, after := faults.Pick(chance)
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
		return x.send(http.StatusOK, b[:len(b)/2]) // half of an object is invalid JSON
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

// identify authenticates the request and finds its route.
func (x *exchange) identify() *refusal {
	if x.r.URL.Path == loginPath {
		return x.signUp()
	}
	user, login, ok := x.token()
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

// token reads the bearer token: <secret>.<user id>, or a token of a login, whose number it returns too.
func (x *exchange) token() (user string, login int64, ok bool) {
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

// known finds the state of the authenticated user, and reads the X-Throng-Request header.
func (x *exchange) known() *refusal {
	if err := x.readTag(); err != nil {
		return bad(err.Error())
	}
	x.user = x.shop.users.of(x.request.User)
	if !x.tagged {
		x.tag.at = x.shop.clock()
		x.calls = x.user.calls.Add(1)
	}
	return nil
}

// limited counts the call against the quota of a fault and the limit of its route. If it exceeds one, limited sets the headers that say
// how long to wait. No header of the request lifts the quota.
func (x *exchange) limited(faults Faults) bool {
	now := x.shop.clock()
	if wait, _ := x.shop.quota.Take(0, faults.Quota, now, quota.Usual(x.w.Header())); wait > 0 {
		quota.Refuse(x.w.Header(), wait)
		return true
	}
	if x.route.limit == limitNone || !x.shop.cfg.KeepRateLimits && x.r.Header.Get("X-Simulation-Mode") == "true" {
		return false
	}
	address, _, err := net.SplitHostPort(x.r.RemoteAddr)
	if err != nil {
		address = x.r.RemoteAddr
	}
	seconds := x.shop.limits.take(caller{address, x.route.limit}, now)
	if seconds > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	return seconds > 0
}

// chance returns the key of the random draws for this request.
func (x *exchange) chance() draw.Key {
	if x.tagged {
		return x.user.key.Text("request").Int(uint64(x.tag.cycle)).Text(x.tag.path).Int(uint64(x.tag.attempt))
	}
	return x.user.key.Text("call").Int(uint64(x.calls))
}

// send answers, and returns b.
func (x *exchange) send(status int, b []byte) []byte {
	if x.request.Replayed {
		x.w.Header().Set("Idempotency-Replayed", "true")
	}
	x.sendJSON(status, b)
	return b
}
