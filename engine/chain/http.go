package chain

import (
	"net/http"
	"strings"

	"github.com/throng-sim/throng/engine/chain/answer"
	"github.com/throng-sim/throng/engine/chain/content"
	"github.com/throng-sim/throng/engine/chain/contract"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/redact"
)

var methods = []string{"get", "post", "put", "patch", "delete", "head", "options"}

// request is an http step: one request to a service. Its output is the decoded body with status and headers.
type request struct {
	service  *Service
	method   string
	target   expr.Target
	endpoint string // operation name for the service's limits; "" is derived from the request
	query    expr.Pairs
	headers  []credential.Header
	expect   []int
	repeats  Repeats // if the step sets it
	private  bool
	unsigned bool   // it is sent without the service's credentials
	redirect string // follow or manual; "" as its service says
	body     content.Body
	contract *contract.Check // of the answer; nil for none
}

// Redirects are the values of `redirects`. By default, none is followed.
var Redirects = []string{redirectFollow, "manual"}

const redirectFollow = "follow"

func readHTTP(r *reader, n *doc.Node) action {
	n.Require("service")
	q := &request{service: r.serviceOf(n.Get("service"), "http"), expect: readExpect(n.Get("expect"))}
	r.hold(q.service)
	which := n.Only(methods...)
	if which.Key == nil {
		n.Errorf("`get: /path`, or post, put, patch, delete, head, options", "an http step without a request")
	} else {
		q.method = strings.ToUpper(which.Key.Text())
		r = r.writing(!service.IsSafe(q.method))
		q.target = r.Target(which.Value)
		if path := q.target.Template(); path != "" {
			q.endpoint = q.method + " " + redact.Unmarked(path)
		}
	}
	q.query = r.Pairs(n.Get("query"), "query")
	q.headers = r.headers(n.Get("headers"), "headers.")
	q.body = content.Read(&r.Compiler, n, r.open)
	q.redirect = n.Get("redirects").OneOf(Redirects...)
	q.unsigned = n.Get("auth").OneOf("none") == "none"
	if q.repeats = r.repeats(n); q.repeats.set && service.IsSafe(q.method) {
		n.Only("repeats", "verify").Key.Errorf("remove it", "a %s changes nothing: it can always be retried", q.method)
	}
	q.private = n.Get("private").Bool()
	if s := q.service; s != nil {
		q.contract = contract.Read(n.Get("check"), contract.Service{Name: s.Name, URL: s.URL, API: s.API}, q.endpoint)
	}
	return q
}

// serviceOf returns the service that a step names, or nil for an absent node or an error.
func (r *reader) serviceOf(n *doc.Node, kind string) *Service {
	return r.namedService(n, n.Text(), kind)
}

// namedService returns the service with a name, which n contains.
func (r *reader) namedService(n *doc.Node, name, kind string) *Service {
	s, ok := r.Services[name]
	switch {
	case name == "": // reported
	case !ok:
		var names []string
		for name := range r.Services {
			names = append(names, name)
		}
		n.Guess(r.Near(name, names, "define it under services")).Errorf("there is no service %s", name)
	case s.Kind != kind && s.Kind != "":
		n.Errorf("", "the service %s is of kind %s, this step needs %s", name, s.Kind, kind)
	}
	return s
}

// readExpect reads the status codes that a step accepts.
func readExpect(n *doc.Node) []int {
	if n.Kind() == doc.Scalar {
		return []int{n.Int(100, 599)}
	}
	var codes []int
	for _, c := range n.List() {
		codes = append(codes, c.Int(100, 599))
	}
	return codes
}

func (q *request) changes() *Service {
	if service.IsSafe(q.method) {
		return nil
	}
	return q.service
}

func (q *request) asks() ([]*Service, odds.Odds) { return []*Service{q.service}, odds.Surely }

func (q *request) run(t *turn) (value.Value, error) {
	r, auth, err := q.make(t)
	if err != nil {
		return nil, err
	}
	var out value.Value
	call := t.call(q.service)
	call.Endpoint, call.Expect, call.Auth, call.Private = q.endpoint, q.expect, auth, q.private
	call.Accept = func(a *service.Answer) (err error) {
		out, err = answer.Read(a, q.service.Cookies)
		return err
	}
	if policy := q.repeatPolicy(); !service.IsSafe(q.method) {
		call.Repeats, call.Once = policy.how, policy.how == service.Never
		if policy.verify != nil {
			call.Verify = policy.verify.of(t, q)
		}
	}
	t.asked = true
	send := t.bound(q.service).HTTP.Do
	if q.redirect == redirectFollow || q.redirect == "" && q.service.Follow {
		send = t.bound(q.service).HTTP.Follow
	}
	a, err := send(call, r)
	t.record().Take(&call.Record)
	if a != nil && q.service.Cookies {
		t.x.cookies.Add(q.service.Name, a.Cookies())
	}
	if err != nil || a == nil || len(a.Body) == 0 && call.Verify != nil { // a stand-in may have no body
		return out, err
	}
	return out, q.contract.Fulfilled(a, q.private)
}

// make evaluates the request and its credentials.
func (q *request) make(t *turn) (r service.Request, auth *service.Auth, err error) {
	s := t.bound(q.service)
	r.Header = make(http.Header, len(s.Headers)+len(q.headers)+4)
	if q.unsigned {
		if err = s.open(t, r.Header); err == nil {
			err = q.fill(t, &r)
		}
		return r, nil, err
	}
	if err := s.sign(t, r.Header); err != nil {
		return r, nil, err
	}
	if auth, err = s.auth(t, r.Header); err != nil {
		return r, nil, err
	}
	if err = q.fill(t, &r); err != nil {
		return r, nil, err
	}
	key := ""
	if !s.HTTP.Mocks() {
		key, err = s.Key.Query(t)
	}
	r.Target = r.Target.With(key)
	return r, auth, err
}

// fill evaluates the fields of a request.
func (q *request) fill(t *turn, r *service.Request) (err error) {
	r.Method = q.method
	if r.Target, err = q.target.Eval(t); err != nil {
		return err
	}
	query, err := q.query.Encode(t)
	if err != nil {
		return err
	}
	r.Target, r.Kind = r.Target.With(query), q.body.Kind
	if q.service != nil {
		r.Secrets = t.bound(q.service).Values
	}
	for _, h := range q.headers {
		if err := h.Set(t, r.Header, r.Secrets); err != nil {
			return err
		}
	}
	var sends []string
	if r.Body, sends, err = q.body.Eval(t); err != nil {
		return err
	}
	if sends != nil && r.Header["Content-Type"] == nil {
		r.Header["Content-Type"] = sends
	}
	return nil
}

// simulated is shared by all requests and must not be changed in place.
var simulated = []string{"true"}

// sign sets the service's own headers and its authorization.
func (s *Service) sign(t expr.Contexts, h http.Header) error { return s.signed(t, h, ".") }

// signed signs in to the mock as the agent with a dot before its name. After a ~, the mock only knows who asks.
func (s *Service) signed(t expr.Contexts, h http.Header, before string) error {
	user := ""
	if s.HTTP.Mocks() { // a login in it is signed the same way
		name, err := expr.Text(t, s.User, "service."+s.Name+".auth.user")
		if err != nil {
			return err
		}
		user = before + name
	}
	return s.signAs(t, h, user)
}

// open sets the headers of a request without credentials; the mocks still need their token.
func (s *Service) open(t expr.Contexts, h http.Header) error {
	if s.HTTP.Mocks() {
		return s.signed(t, h, "~")
	}
	return s.ownHeaders(t, h)
}

// ownHeaders sets the service's own headers.
func (s *Service) ownHeaders(t expr.Contexts, h http.Header) error {
	if s.Simulation {
		h["X-Simulation-Mode"] = simulated
	}
	for _, n := range s.Headers {
		if err := n.Set(t, h, s.Values); err != nil {
			return err
		}
	}
	return nil
}

// signAs signs in as a user of the mocks, with a dot before the name; "" means without a user.
func (s *Service) signAs(t expr.Contexts, h http.Header, user string) error {
	if err := s.ownHeaders(t, h); err != nil {
		return err
	}
	switch {
	case s.HTTP.Mocks():
	case s.Key != nil:
		return s.Key.Sign(t, h, s.Values)
	case s.Bearer == "":
		return nil
	}
	header, key := s.Wire.KeyHeader(s.token + user)
	if !credential.ValidHeader(key) {
		return credential.BadHeader(header)
	}
	h[header] = []string{key}
	return nil
}
