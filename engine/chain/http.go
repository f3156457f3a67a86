package chain

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service"
	"go.starlark.net/starlark"
)

var methods = []string{"get", "post", "put", "patch", "delete"}

// request is an http step: one request to a service. Its output is the decoded body with status and headers.
type request struct {
	service *Service
	method  string
	target  *script.Template
	query   mapValue
	headers []Named
	json    Value
	form    Value
	body    Value
	expect  []int
	once    bool
}

func readHTTP(r *reader, n *doc.Node) action {
	n.Require("service")
	q := &request{expect: readExpect(n.Get("expect"))}
	if s := n.Get("service"); s != nil {
		q.service = r.serviceOf(s, "http")
	}
	which := n.Only(methods...)
	if which.Key == nil {
		n.Errorf("`get: /path`, or post, put, patch, delete", "an http step without a request")
	} else {
		q.method, q.target = strings.ToUpper(which.Key.Text()), r.template(which.Value)
	}
	if m, ok := r.value(n.Get("query"), "query").(mapValue); ok {
		q.query = m
	} else if n.Get("query") != nil {
		n.Get("query").Errorf("`query: {name: value}`", "the query is no map")
	}
	q.headers = r.namedTemplates(n.Get("headers"))
	n.Only("json", "form", "body")
	q.json, q.form, q.body = r.value(n.Get("json"), "json"), r.value(n.Get("form"), "form"), r.value(n.Get("body"), "body")
	if f := n.Get("form"); f != nil && f.Kind() != doc.Map {
		f.Errorf("`form: {name: value}`", "the form is no map")
	}
	if i := n.Get("idempotent"); i != nil {
		q.once = !i.Bool()
	}
	return q
}

func (r *reader) serviceOf(n *doc.Node, kind string) *Service {
	name := n.Text()
	s, ok := r.Services[name]
	switch {
	case !ok:
		var names []string
		for name := range r.Services {
			names = append(names, name)
		}
		hint := "define it under services"
		if near := doc.Suggest(name, names); near != "" {
			hint = "did you mean `" + near + "`?"
		}
		n.Errorf(hint, "there is no service %s", name)
	case s.Kind != kind:
		n.Errorf("", "the service %s is of kind %s, this step wants %s", name, s.Kind, kind)
	}
	return s
}

// namedTemplates reads a map of names to texts.
func (r *reader) namedTemplates(n *doc.Node) []Named {
	var all []Named
	for _, e := range n.Entries() {
		all = append(all, Named{e.Key.Text(), r.template(e.Value)})
	}
	return all
}

func (q *request) run(t *turn) (script.Value, error) {
	r, err := q.make(t)
	if err != nil {
		return nil, err
	}
	var out script.Value
	call := &service.Call{
		Session: t.x.s, Clock: t.clock(), Path: t.path, Retry: t.x.s.Settings().Retry, Once: q.once,
		Accept: func(a *service.Answer) (err error) {
			out, err = output(a)
			return err
		},
	}
	if t.step.retry != nil {
		call.Retry = *t.step.retry
	}
	answer, err := q.service.HTTP.Do(call, r)
	rec := t.record()
	rec.Attempts, rec.Statuses, rec.Label = call.Record.Attempts, call.Record.Statuses, call.Record.Label
	rec.Held, rec.Service = call.Record.Held, call.Record.Service
	if err != nil {
		return nil, err
	}
	if err := service.Check(answer.Status, q.expect, answer.Body); err != nil {
		return nil, err
	}
	if answer.Status >= 400 { // expected, so it was not decoded on the way
		if out, err = output(answer); err != nil {
			return nil, &engine.StepError{Class: engine.BadAnswer, Err: err}
		}
	}
	return out, nil
}

// make evaluates what is to be sent.
func (q *request) make(t *turn) (r service.Request, err error) {
	r = service.Request{Method: q.method, Header: http.Header{}}
	if r.Target, err = text(t, q.target, "path"); err != nil {
		return r, err
	}
	if r.Query, err = q.query.form(t); err != nil {
		return r, err
	}
	if err := q.service.sign(t, r.Header); err != nil {
		return r, err
	}
	for _, h := range q.headers {
		value, err := text(t, h.value, "headers."+h.name)
		if err != nil {
			return r, err
		}
		r.Header.Set(h.name, value)
	}
	switch {
	case q.json != nil:
		v, err := q.json.Eval(t)
		if err != nil {
			return r, err
		}
		if r.Body, err = script.AppendJSON(nil, v); err != nil {
			return r, err
		}
		setDefault(r.Header, "Content-Type", "application/json")
	case q.form != nil:
		values, err := q.form.(mapValue).form(t)
		if err != nil {
			return r, err
		}
		r.Body = []byte(values.Encode())
		setDefault(r.Header, "Content-Type", "application/x-www-form-urlencoded")
	case q.body != nil:
		v, err := q.body.Eval(t)
		if err != nil {
			return r, err
		}
		body, err := script.Text(v)
		if err != nil {
			return r, err
		}
		r.Body = []byte(body)
		setDefault(r.Header, "Content-Type", "text/plain; charset=utf-8")
	}
	return r, nil
}

// sign sets the service's own headers and its authorization.
func (s *Service) sign(t *turn, h http.Header) error {
	for _, n := range s.Headers {
		value, err := text(t, n.value, "service."+s.Name+".headers."+n.name)
		if err != nil {
			return err
		}
		h.Set(n.name, value)
	}
	switch {
	case s.User != nil:
		user, err := text(t, s.User, "service."+s.Name+".auth.user")
		if err != nil {
			return err
		}
		h.Set("Authorization", "Bearer "+s.token+"."+user)
	case s.Bearer != "":
		h.Set("Authorization", "Bearer "+s.token)
	}
	return nil
}

func setDefault(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}

// text evaluates a template to what stands in a text.
func text(t *turn, tmpl *script.Template, field string) (string, error) {
	v, err := tmpl.Eval(t.Context(field))
	if err != nil {
		return "", err
	}
	return script.Text(v)
}

// form evaluates a map to form values; a list gives a name several times, None and missing leave it out.
func (m mapValue) form(t *turn) (url.Values, error) {
	if len(m.values) == 0 {
		return nil, nil
	}
	v, err := m.Eval(t)
	if err != nil {
		return nil, err
	}
	values := url.Values{}
	for name, v := range v.(*script.Record).All() {
		list := []script.Value{v}
		switch v := v.(type) {
		case *starlark.List:
			list = nil
			for item := range v.Elements() {
				list = append(list, item)
			}
		default:
			if v == starlark.None || v == script.Missing {
				list = nil
			}
		}
		for _, item := range list {
			text, err := script.Text(item)
			if err != nil {
				return nil, err
			}
			values.Add(name, text)
		}
	}
	return values, nil
}

// answered shows an answer to expressions: the fields of its body, status, headers and body.
type answered struct {
	answer *service.Answer
	body   script.Value
}

// output decodes an answer. JSON that cannot be read is an error.
func output(a *service.Answer) (script.Value, error) {
	o := answered{answer: a, body: starlark.None}
	switch {
	case len(bytes.TrimSpace(a.Body)) == 0:
	case strings.Contains(a.Header.Get("Content-Type"), "json"):
		v, err := script.DecodeJSON(a.Body)
		if err != nil {
			return nil, err
		}
		o.body = v
	default:
		o.body = starlark.String(strings.ToValidUTF8(string(a.Body), "\uFFFD"))
	}
	return script.Lazy("answer", o), nil
}

// Field implements script.Fields.
func (o answered) Field(name string) (script.Value, error) {
	switch name {
	case "status":
		return starlark.MakeInt(o.answer.Status), nil
	case "headers":
		return o.headers(), nil
	case "body":
		return o.body, nil
	}
	if r, ok := o.body.(*script.Record); ok {
		if v, ok := r.Field(name); ok {
			return v, nil
		}
	}
	return nil, nil //nolint:nilnil // script.Fields: no such field is no error
}

// Names implements script.Fields.
func (o answered) Names() []string {
	names := []string{"status", "headers", "body"}
	if r, ok := o.body.(*script.Record); ok {
		for _, n := range r.Names() {
			if n != "status" && n != "headers" && n != "body" {
				names = append(names, n)
			}
		}
	}
	return names
}

// headers are a record by lower-case name; several values of one are joined as RFC 9110 section 5.3 does.
func (o answered) headers() script.Value {
	names := slices.Sorted(maps.Keys(o.answer.Header))
	fields := make([]script.Field, len(names))
	for i, name := range names {
		fields[i] = script.Field{Name: strings.ToLower(name), Value: starlark.String(strings.Join(o.answer.Header[name], ", "))}
	}
	return script.NewRecord(fields...)
}
