package apimock

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/openapi"
)

// call is a request on its way to an answer.
type call struct {
	server *Server
	method string
	target *url.URL
	header http.Header
	body   []byte

	name   string // of the agent; "" for a caller without a name
	signed bool   // with credentials
	cycle  int
	place  string // cycle/path of the step; "" without a tag
	tagged string // with the attempt
	route  *route
	values map[string]string
}

// identify finds out who calls, from the token and X-Throng-Request.
func (c *call) identify(r *http.Request) {
	secret := c.server.cfg.Secret
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch rest, ok := strings.CutPrefix(token, secret); {
	case ok && rest == "":
		c.signed = true
	case ok && rest[0] == '.':
		c.name, c.signed = rest[1:], true
	case ok && rest[0] == '~':
		c.name = rest[1:]
	default:
		c.name, c.signed = c.server.holder(token)
	}
	if _, password, ok := r.BasicAuth(); ok && same(password, secret) {
		c.signed = true
	}
	tag, _, _ := strings.Cut(r.Header.Get("X-Throng-Request"), " ")
	if i := strings.LastIndexByte(tag, '/'); i > 0 {
		c.place, c.tagged = tag[:i], tag
		cycle, _, _ := strings.Cut(tag, "/")
		c.cycle, _ = strconv.Atoi(cycle)
	}
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// tokenPrefix begins the tokens that logins issue: login.<mac>.<agent>
const tokenPrefix = "login."

// token issues a token. Tokens are signed, not stored.
func (s *Server) token(name string) string {
	mac := hmac.New(sha256.New, []byte(s.cfg.Secret))
	mac.Write([]byte(name))
	return tokenPrefix + hex.EncodeToString(mac.Sum(nil)[:16]) + "." + hex.EncodeToString([]byte(name))
}

// holder returns who a token was issued to.
func (s *Server) holder(token string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	_, encoded, _ := strings.Cut(rest, ".")
	text, err := hex.DecodeString(encoded)
	if !ok || err != nil || !same(token, s.token(string(text))) {
		return "", false
	}
	return string(text), true
}

// chance returns the key of the draws for the network.
func (c *call) chance() draw.Key {
	u := c.server.user(c.name)
	if c.tagged != "" {
		return u.key.Text("request").Text(c.tagged)
	}
	return u.key.Text("call").Int(u.calls.Add(1))
}

// find finds the operation and checks that the caller is signed in. done means that the answer is known.
func (c *call) find() (a reply, done bool) {
	m, allowed := c.server.cfg.Document.Find(c.method, c.target.EscapedPath())
	if m == nil && c.method == http.MethodHead {
		m, _ = c.server.cfg.Document.Find(http.MethodGet, c.target.EscapedPath())
	}
	switch {
	case m == nil && len(allowed) > 0:
		a = problem(nil, http.StatusMethodNotAllowed, "Method not allowed")
		a.header = map[string]string{"Allow": strings.Join(allowed, ", ")}
		return a, true
	case m == nil:
		return problem(nil, http.StatusNotFound, "Not found"), true
	}
	c.route, c.values = c.server.api.routes[m.Operation.Key()], m.Values
	if !m.Operation.Public() && !c.authenticated() {
		a = problem(m.Operation, http.StatusUnauthorized, "Not authenticated")
		a.header = map[string]string{"WWW-Authenticate": "Bearer"}
		return a, true
	}
	return reply{}, false
}

// authenticated reports whether the caller has credentials: a token, or a key where the document wants one.
func (c *call) authenticated() bool {
	if c.signed {
		return true
	}
	for _, names := range c.route.op.Security {
		for _, name := range names {
			s := c.server.cfg.Document.Scheme(name)
			if s == nil || s.Type != "apiKey" {
				continue
			}
			key := ""
			switch s.In {
			case "header":
				key = c.header.Get(s.Key)
			case "query":
				key = c.target.Query().Get(s.Key)
			default:
				if cookie, err := (&http.Request{Header: c.header}).Cookie(s.Key); err == nil {
					key = cookie.Value
				}
			}
			if same(key, c.server.cfg.Secret) || key != "" && c.name != "" { // a run of this program has its own keys, or stand-ins for them
				return true
			}
			if holder, ok := c.server.holder(key); ok {
				c.name = holder
				return true
			}
		}
	}
	return false
}

// work answers the request and keeps what it changes.
func (c *call) work() reply {
	u := c.server.user(c.name)
	u.mu.Lock()
	defer u.mu.Unlock()
	changes := c.method != http.MethodGet && c.method != http.MethodHead
	key := c.header.Get("Idempotency-Key")
	if kept, ok := u.kept[key]; ok && key != "" && changes {
		kept.header = with(kept.header, "Idempotency-Replayed", "true")
		return kept
	}
	if why := c.wrong(); why != "" {
		return c.bad(why)
	}
	place := c.place
	if place == "" {
		u.made++
		place = "call " + strconv.FormatInt(u.made, 10)
	}
	a := c.do(u, place)
	if !changes || a.status >= 400 {
		return a
	}
	if key != "" {
		u.kept[key] = a
	}
	err := c.server.log.append(record{
		User: c.name, Cycle: c.cycle, Place: place, Key: key, Method: c.method, Target: c.target.RequestURI(), Type: c.header.Get("Content-Type"),
		Body: base64.StdEncoding.EncodeToString(c.body),
	})
	if err != nil {
		return problem(nil, http.StatusInternalServerError, "The change could not be stored")
	}
	return a
}

// redo repeats a request of the log.
func (s *Server) redo(r record) {
	target, err := url.ParseRequestURI(r.Target)
	body, err2 := base64.StdEncoding.DecodeString(r.Body)
	if err != nil || err2 != nil {
		return
	}
	c := &call{server: s, method: r.Method, target: target, header: http.Header{"Content-Type": {r.Type}}, body: body, name: r.User, signed: true, place: r.Place}
	m, _ := s.cfg.Document.Find(r.Method, target.EscapedPath())
	if m == nil {
		return // the document has changed
	}
	c.route, c.values = s.api.routes[m.Operation.Key()], m.Values
	u := s.user(r.User)
	if n, ok := strings.CutPrefix(r.Place, "call "); ok {
		u.made, _ = strconv.ParseInt(n, 10, 64)
	}
	a := c.do(u, r.Place)
	if r.Key != "" {
		u.kept[r.Key] = a
	}
}

func with(header map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	maps.Copy(all, header)
	return all
}

// bad refuses a request with the status that the document has for it.
func (c *call) bad(why string) reply {
	status := http.StatusBadRequest
	if documented(c.route.op, http.StatusUnprocessableEntity) && !documented(c.route.op, http.StatusBadRequest) {
		status = http.StatusUnprocessableEntity
	}
	return problem(c.route.op, status, why)
}

func documented(op *openapi.Operation, status int) bool {
	return slices.ContainsFunc(op.Responses, func(r openapi.Response) bool { return r.Status == strconv.Itoa(status) })
}

// problem is an answer of 4xx or 5xx, in the form of the document if it has one.
func problem(op *openapi.Operation, status int, why string) reply {
	plain, err := json.Marshal(map[string]string{"detail": why})
	if err != nil {
		plain = []byte("{}")
	}
	if op == nil {
		return reply{status: status, body: plain}
	}
	for _, r := range op.Responses {
		if r.Status != strconv.Itoa(status) && r.Status != strconv.Itoa(status/100)+"XX" {
			continue
		}
		m := openapi.JSON(r.Media)
		if m == nil || m.Schema == nil {
			return reply{status: status, body: plain}
		}
		return reply{status: status, body: explained(m.Schema, why)}
	}
	return reply{status: status, body: plain}
}
