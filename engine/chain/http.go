package chain

import (
	"net/http"
	"strings"

	"github.com/throng-sim/throng/engine/chain/answer"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/redact"
)

var methods = []string{"get", "post", "put", "patch", "delete"}

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
	unsigned bool // it is sent without the service's credentials

	json  expr.Value
	form  expr.Pairs
	body  expr.Value
	fixed []byte   // the body if it is constant
	sends []string // its content type; nil if unset
	kind  service.BodyKind
}

func readHTTP(r *reader, n *doc.Node) action {
	n.Require("service")
	q := &request{service: r.serviceOf(n.Get("service"), "http"), expect: readExpect(n.Get("expect"))}
	r.hold(q.service)
	which := n.Only(methods...)
	if which.Key == nil {
		n.Errorf("`get: /path`, or post, put, patch, delete", "an http step without a request")
	} else {
		q.method = strings.ToUpper(which.Key.Text())
		r = r.writing(q.method != http.MethodGet)
		q.target = r.Target(which.Value)
		if path := q.target.Template(); path != "" {
			q.endpoint = q.method + " " + redact.Unmarked(path)
		}
	}
	q.query = r.Pairs(n.Get("query"), "query")
	q.headers = r.headers(n.Get("headers"), "headers.")
	r.readBody(n, q)
	q.unsigned = n.Get("auth").OneOf("none") == "none"
	if q.repeats = r.repeats(n); q.repeats.set && q.method == http.MethodGet {
		n.Only("repeats", "verify").Key.Errorf("remove it", "a GET changes nothing: it can always be retried")
	}
	q.private = n.Get("private").Bool()
	return q
}

// readBody reads the body: json, a form or a text.
func (r *reader) readBody(n *doc.Node, q *request) {
	n.Only("json", "form", "body")
	switch {
	case n.Get("json") != nil:
		q.kind = service.BodyJSON
		q.json, q.sends = r.Data(n.Get("json"), "json"), []string{"application/json"}
		if c, ok := q.json.(expr.Const); ok && c.V != nil {
			var err error
			if q.fixed, err = value.AppendJSON(nil, c.V); err != nil {
				n.Get("json").Errorf("", "%v", err)
			}
		}
	case n.Get("form") != nil:
		q.kind = service.BodyForm
		q.form, q.sends = r.Pairs(n.Get("form"), "form"), []string{"application/x-www-form-urlencoded"}
	case n.Get("body") != nil:
		if k := n.Get("body").Kind(); k == doc.Map || k == doc.List {
			q.kind = service.BodyJSON
		}
		q.body, q.sends = r.Data(n.Get("body"), "body"), []string{"text/plain; charset=utf-8"}
	}
}

// serviceOf returns the service that a step names, or nil for an absent node or an error.
func (r *reader) serviceOf(n *doc.Node, kind string) *Service {
	name := n.Text()
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
	if q.method == http.MethodGet {
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
		out, err = answer.Read(a)
		return err
	}
	if policy := q.repeatPolicy(); q.method != http.MethodGet {
		call.Repeats, call.Once = policy.how, policy.how == service.Never
		if policy.verify != nil {
			call.Verify = policy.verify.of(t, q)
		}
	}
	t.asked = true
	_, err = t.bound(q.service).HTTP.Do(call, r)
	t.record().Take(&call.Record)
	return out, err
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
	r.Target, r.Kind = r.Target.With(query), q.kind
	if q.service != nil {
		r.Secrets = t.bound(q.service).Values
	}
	for _, h := range q.headers {
		if err := h.Set(t, r.Header, r.Secrets); err != nil {
			return err
		}
	}
	if r.Body, err = q.content(t); err != nil {
		return err
	}
	if q.sends != nil && r.Header["Content-Type"] == nil {
		r.Header["Content-Type"] = q.sends
	}
	return nil
}

// content evaluates the body.
func (q *request) content(t *turn) ([]byte, error) {
	switch {
	case q.fixed != nil:
		return q.fixed, nil
	case q.json != nil:
		v, err := q.json.Eval(t)
		if err != nil {
			return nil, err
		}
		return value.AppendJSON(nil, v)
	case q.form != nil:
		form, err := q.form.Encode(t)
		return []byte(form), err
	case q.body != nil:
		v, err := q.body.Eval(t)
		if err != nil {
			return nil, err
		}
		return value.AppendText(nil, v)
	}
	return nil, nil
}

// simulated is shared by all requests and must not be changed in place.
var simulated = []string{"true"}

// sign sets the service's own headers and its authorization.
func (s *Service) sign(t expr.Contexts, h http.Header) error {
	user := ""
	if s.HTTP.Mocks() { // a login in it is signed the same way
		name, err := expr.Text(t, s.User, "service."+s.Name+".auth.user")
		if err != nil {
			return err
		}
		user = "." + name
	}
	return s.signAs(t, h, user)
}

// open sets the headers of a request without credentials; the mocks still need their token.
func (s *Service) open(t expr.Contexts, h http.Header) error {
	if s.HTTP.Mocks() {
		return s.signAs(t, h, "")
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
	authorization := "Bearer " + s.token + user
	if !credential.ValidHeader(authorization) {
		return credential.BadHeader("Authorization")
	}
	h["Authorization"] = []string{authorization}
	return nil
}
