// Package answer shows the response of a service to expressions.
package answer

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/internal/charset"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/cookies"
)

// answered shows an answer to expressions: the fields of its body, plus status, headers and body.
type answered struct {
	status int
	header http.Header
	body   value.Value
	size   int  // size of the received answer
	hides  bool // the values of cookies
}

var (
	_ value.Weighed = (*answered)(nil)
	_ value.Listed  = (*answered)(nil)
)

// Read decodes an answer, whose body must not change. Invalid JSON is an error. With hides, expressions do not see the values of its cookies.
func Read(a *service.Answer, hides bool) (value.Value, error) {
	o := &answered{a.Status, a.Header, starlark.None, len(a.Body), hides}
	for _, values := range a.Header {
		for _, v := range values {
			o.size += len(v)
		}
	}
	kind := a.Header.Get("Content-Type")
	text := charset.UTF8(a.Body, kind)
	switch {
	case len(bytes.TrimSpace(text)) == 0:
	case strings.Contains(kind, "json"):
		v, err := value.DecodeJSONLater(text)
		if err != nil {
			return nil, err
		}
		o.body = v
	default:
		o.body = starlark.String(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	return value.NewLazy("answer", o), nil
}

// OwnFields are the fields that an answer has in addition to those of its body.
var OwnFields = []string{"status", "headers", "body"}

// Field implements value.Fields.
func (o *answered) Field(name string) (value.Value, error) {
	switch name {
	case "status":
		return starlark.MakeInt(o.status), nil
	case "headers":
		return o.headers(), nil
	case "body":
		return o.body, nil
	}
	if r, ok := o.body.(*value.Record); ok {
		if v, ok := r.Field(name); ok {
			return v, nil
		}
	}
	return nil, nil //nolint:nilnil // value.Fields: a missing field is not an error
}

// List implements value.Listed: if the body is a list, the answer is that list.
func (o *answered) List() *starlark.List {
	list, _ := o.body.(*starlark.List)
	return list
}

// Weight implements value.Weighed.
func (o *answered) Weight() int { return max(value.Weight(o.body), o.size) }

// Names implements value.Fields.
func (o *answered) Names() []string {
	names := slices.Clone(OwnFields)
	if r, ok := o.body.(*value.Record); ok {
		for _, n := range r.Names() {
			if !slices.Contains(OwnFields, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// headers returns a record by lower-case name. Repeated headers are joined as in RFC 9110, section 5.3.
func (o *answered) headers() value.Value {
	names := slices.Sorted(maps.Keys(o.header))
	fields := make([]value.Field, len(names))
	for i, name := range names {
		values := o.header[name]
		if name == cookies.Header && o.hides {
			values = slices.Clone(values)
			for i, v := range values {
				values[i] = cookies.Hidden(v)
			}
		}
		fields[i] = value.Field{Name: strings.ToLower(name), Value: starlark.String(strings.Join(values, ", "))}
	}
	return value.NewRecord(fields...)
}
