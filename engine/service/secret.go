package service

import (
	"encoding/json"
	"net/url"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/redact"
)

// BodyKind is how a secret is written into a body.
type BodyKind uint8

// BodyText writes a secret as it is, BodyJSON as part of a JSON string, and BodyForm as a form value.
const (
	BodyText BodyKind = iota
	BodyJSON
	BodyForm
)

// escape returns how a text is escaped, or nil.
func (k BodyKind) escape() func(string) string {
	return map[BodyKind]func(string) string{BodyJSON: inJSON, BodyForm: url.QueryEscape}[k]
}

// inJSON returns a text as it appears between the quotes of a JSON string.
func inJSON(text string) string {
	quoted, _ := json.Marshal(text) // strings always encode
	return string(quoted[1 : len(quoted)-1])
}

// revealed returns the request as it is sent, with the values of its secrets.
func (r *Request) revealed() (*Request, error) {
	if !r.marked() {
		return r, nil
	}
	var err error
	plain := *r
	r = &plain
	if r.Target.path, err = r.Secrets.Reveal(r.Target.path, url.PathEscape); err != nil {
		return r, err
	}
	if path, err := url.PathUnescape(r.Target.path); err != nil || climbs(path) {
		return r, engine.Fail(engine.ConfigError, "a secret in the path has dots that climb")
	}
	if r.Target.query, err = r.Secrets.Reveal(r.Target.query, url.QueryEscape); err != nil {
		return r, err
	}
	body, err := r.Secrets.Reveal(string(r.Body), r.Kind.escape())
	if r.Body != nil {
		r.Body = []byte(body)
	}
	return r, err
}

// marked reports whether the request contains marks of secrets.
func (r *Request) marked() bool {
	return redact.Marked(r.Target.path) || redact.Marked(r.Target.query) || redact.MarkedBytes(r.Body)
}

// unmarked returns the request as it is hashed, with secrets by name.
func (r *Request) unmarked() *Request {
	plain := *r
	plain.Target = Target{redact.Unmarked(r.Target.path), redact.Unmarked(r.Target.query)}
	plain.Body = []byte(redact.Unmarked(string(r.Body)))
	return &plain
}
