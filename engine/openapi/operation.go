package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Operation is a method of a path.
type Operation struct {
	ID         string // the operationId; "" if there is none, or another operation has it
	Method     string // in upper case
	Path       string // the template: /baskets/{basket_id}
	Summary    string
	Tag        string // the first one
	Deprecated bool
	Parameters []Parameter
	Body       *Body
	Responses  []Response
	// Security are the alternatives to sign in, each a list of schemes. An empty alternative means that signing in is optional;
	// nil means that the document says nothing.
	Security [][]string
	Line     int
}

// Key returns the method and path: "POST /baskets". It is unique in a document.
func (o *Operation) Key() string { return o.Method + " " + o.Path }

// Parameter is a parameter of an operation.
type Parameter struct {
	Name     string
	In       string // path, query, header or cookie
	Required bool
	Schema   *Schema // nil if it cannot be read
	Example  any     // nil if there is none
	Exploded bool    // a list is sent as repeated parameters
}

// Body is the body of a request.
type Body struct {
	Required bool
	Media    []Media
}

// Media is one form of a body.
type Media struct {
	Type    string  // application/json
	Schema  *Schema // nil if it is not known
	Example any     // nil if there is none
}

// Response is an answer of an operation.
type Response struct {
	Status  string // "201", "2XX" or "default"
	Media   []Media
	Headers []string
	Links   []Link
}

// Link says how an answer fills the parameters of another operation.
type Link struct {
	Name       string
	Operation  string            // the key of an operation: "GET /baskets/{basket_id}"
	Parameters map[string]string // a parameter's name, with "path." or such if the document has it, and a runtime expression
}

// Good reports whether the answer means success.
func (r Response) Good() bool { return strings.HasPrefix(r.Status, "2") }

// JSON returns the JSON form of an answer or body, or nil.
func JSON(media []Media) *Media {
	i := slices.IndexFunc(media, func(m Media) bool { return IsJSON(m.Type) })
	if i < 0 {
		i = slices.IndexFunc(media, func(m Media) bool { return m.Type == "*/*" })
	}
	if i < 0 {
		return nil
	}
	return &media[i]
}

// IsJSON reports whether a content type is JSON.
func IsJSON(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json")
}

// methods are the members of a path that are operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

// operations reads all operations.
func (d *Document) operations() {
	byID := map[string]*Operation{}
	links := map[*Operation][]pendingLink{}
	seen := map[string]string{}
	for template, raw := range d.main.root.get("paths").all() {
		if strings.HasPrefix(template, "x-") {
			continue
		}
		item, err := d.deref(raw)
		if err != nil || !item.is(object) || !strings.HasPrefix(template, "/") {
			d.leftOut(template, raw, err)
			continue
		}
		same := anonymous(template)
		for method, n := range operationsOf(item) {
			op := &Operation{Method: strings.ToUpper(method), Path: template, Line: int(n.line)}
			if other := seen[op.Method+" "+same]; other != "" {
				d.note(Problem{Operation: op.Key(), Line: int(n.line), Col: int(n.col), Text: "the same as " + other + ", which is used", LeftOut: true})
				continue
			}
			found, err := d.read(op, n, item)
			if err != nil {
				d.note(Problem{Operation: op.Key(), Line: int(n.line), Col: int(n.col), Text: err.Error(), LeftOut: true})
				continue
			}
			seen[op.Method+" "+same] = op.Key()
			links[op] = found
			if other := byID[op.ID]; op.ID != "" && other != nil {
				d.problem(op, n, "the operationId %q belongs to %s", short(op.ID), other.Key())
				op.ID = ""
			}
			byID[op.ID] = op
			d.Operations = append(d.Operations, op)
			d.byKey[op.Key()] = op
		}
	}
	for _, op := range d.Operations {
		d.link(op, links[op], byID)
	}
}

// operationsOf iterates over the operations of a path.
func operationsOf(item *node) func(func(string, *node) bool) {
	return func(yield func(string, *node) bool) {
		for method, n := range item.all() {
			if slices.Contains(methods, method) && !yield(method, n) {
				return
			}
		}
		for method, n := range item.get("additionalOperations").all() {
			if !yield(method, n) {
				return
			}
		}
	}
}

// leftOut notes that a path is left out.
func (d *Document) leftOut(template string, raw *node, err error) {
	p := Problem{Operation: short(template), LeftOut: true}
	if raw != nil {
		p.Line, p.Col = int(raw.line), int(raw.col)
	}
	switch {
	case err != nil:
		p.Text = err.Error()
	case !strings.HasPrefix(template, "/"):
		p.Text = "a path begins with a slash"
	default:
		p.Text = "the path is " + raw.what() + ", not an object"
	}
	d.note(p)
}

// anonymous is a path template without the names of its parameters.
func anonymous(template string) string {
	var b strings.Builder
	depth := 0
	for _, r := range template {
		switch {
		case r == '{':
			if depth++; depth == 1 {
				b.WriteString("{}")
			}
		case r == '}' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pendingLink is a link whose operation is looked for when all are read.
type pendingLink struct {
	response int
	name     string
	at       *node
}

// read reads an operation. An error means that it cannot be used.
func (d *Document) read(op *Operation, n, item *node) ([]pendingLink, error) {
	if !n.is(object) {
		return nil, fmt.Errorf("the operation is %s, not an object", n.what())
	}
	op.ID = n.get("operationId").word()
	op.Summary = n.get("summary").text()
	op.Deprecated = n.get("deprecated").truth()
	if tags := n.get("tags").texts(); len(tags) > 0 {
		op.Tag = tags[0]
	}
	if err := d.parameters(op, item.get("parameters"), n.get("parameters")); err != nil {
		return nil, err
	}
	if raw := n.get("requestBody"); raw != nil {
		body, err := d.deref(raw)
		if err == nil && !body.is(object) {
			err = fmt.Errorf("it is %s, not an object", body.what())
		}
		switch {
		case err != nil && raw.get("required").truth():
			return nil, fmt.Errorf("the request body: %w", err)
		case err != nil:
			d.problem(op, raw, "the request body is ignored: %v", err)
		default:
			op.Body = &Body{Required: body.get("required").truth(), Media: d.media(op, body.get("content"))}
		}
	}
	links := d.responses(op, n.get("responses"))
	security := n.get("security")
	if security == nil {
		security = d.security
	}
	op.Security = d.requirements(op, security)
	return links, nil
}

// parameters reads the parameters of an operation, which replace those of its path.
func (d *Document) parameters(op *Operation, lists ...*node) error {
	for _, list := range lists {
		for _, raw := range list.list() {
			p, err := d.parameter(op, raw)
			if err != nil {
				d.problem(op, raw, "a parameter is ignored: %v", err)
				continue
			}
			if i := slices.IndexFunc(op.Parameters, func(o Parameter) bool { return o.Name == p.Name && o.In == p.In }); i >= 0 {
				op.Parameters[i] = p
				continue
			}
			op.Parameters = append(op.Parameters, p)
		}
	}
	names, err := PathParameters(op.Path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(op.Parameters, func(p Parameter) bool { return p.In == "path" && p.Name == name }) {
			op.Parameters = append(op.Parameters, Parameter{Name: name, In: "path", Required: true})
		}
	}
	op.Parameters = slices.DeleteFunc(op.Parameters, func(p Parameter) bool { return p.In == "path" && !slices.Contains(names, p.Name) })
	return nil
}

func (d *Document) parameter(op *Operation, raw *node) (Parameter, error) {
	n, err := d.deref(raw)
	if err != nil {
		return Parameter{}, err
	}
	p := Parameter{Name: n.get("name").word(), In: n.get("in").text(), Required: n.get("required").truth()}
	switch {
	case !n.is(object):
		return p, fmt.Errorf("it is %s, not an object", n.what())
	case p.Name == "":
		return p, errors.New("it has no name")
	case !slices.Contains([]string{"path", "query", "header", "cookie"}, p.In):
		return p, fmt.Errorf("%q is not in the path, query, header or cookie", short(p.Name))
	}
	p.Required = p.Required || p.In == "path"
	p.Exploded = p.In == "query" && (!n.has("explode") || n.get("explode").truth()) && (!n.has("style") || n.get("style").text() == "form")
	schema := n.get("schema")
	if schema == nil {
		if media := d.media(op, n.get("content")); len(media) > 0 {
			p.Schema, p.Example = media[0].Schema, media[0].Example
		}
	} else if p.Schema, err = d.schema(schema); err != nil {
		d.problem(op, schema, "the schema of the parameter %q is ignored: %v", short(p.Name), err)
	}
	if e := d.example(n); e != nil {
		p.Example = e
	}
	return p, nil
}

// example returns the example of a parameter or body.
func (d *Document) example(n *node) any {
	if e := n.get("example"); e != nil {
		return e.plain()
	}
	for _, raw := range n.get("examples").all() {
		if e, err := d.deref(raw); err == nil && e.has("value") {
			return e.get("value").plain()
		}
	}
	return nil
}

// media reads the forms of a body.
func (d *Document) media(op *Operation, content *node) []Media {
	var all []Media
	for kind, raw := range content.all() {
		n, err := d.deref(raw)
		if err != nil {
			d.problem(op, raw, "the content %q is ignored: %v", short(kind), err)
			continue
		}
		m := Media{Type: kind, Example: d.example(n)}
		if schema := n.get("schema"); schema != nil {
			if m.Schema, err = d.schema(schema); err != nil {
				d.problem(op, schema, "the schema of %q is ignored: %v", short(kind), err)
			}
		}
		all = append(all, m)
	}
	return all
}

// responses reads the answers.
func (d *Document) responses(op *Operation, list *node) []pendingLink {
	var links []pendingLink
	for status, raw := range list.all() {
		status = strings.ToUpper(status)
		if strings.HasPrefix(status, "X-") {
			continue
		}
		if status == "DEFAULT" {
			status = "default"
		} else if code, err := strconv.Atoi(strings.ReplaceAll(status, "X", "0")); err != nil || len(status) != 3 || code < 100 || code > 599 {
			d.problem(op, raw, "a response is ignored: %q is not a status", short(status))
			continue
		}
		n, err := d.deref(raw)
		if err != nil {
			d.problem(op, raw, "the response %s is ignored: %v", status, err)
			continue
		}
		r := Response{Status: status, Media: d.media(op, n.get("content"))}
		for name := range n.get("headers").all() {
			r.Headers = append(r.Headers, http.CanonicalHeaderKey(name))
		}
		for name, l := range n.get("links").all() {
			links = append(links, pendingLink{len(op.Responses), name, l})
		}
		op.Responses = append(op.Responses, r)
	}
	return links
}

// link finds the operations of links.
func (d *Document) link(op *Operation, pending []pendingLink, byID map[string]*Operation) {
	for _, p := range pending {
		n, err := d.deref(p.at)
		if err != nil {
			d.problem(op, p.at, "the link %q is ignored: %v", short(p.name), err)
			continue
		}
		l := Link{Name: p.name, Parameters: map[string]string{}}
		if id := n.get("operationId").word(); id != "" && byID[id] != nil {
			l.Operation = byID[id].Key()
		} else if ref := n.get("operationRef").text(); strings.HasPrefix(ref, "#/paths/") {
			template, method, _ := strings.Cut(strings.TrimPrefix(ref, "#/paths/"), "/")
			l.Operation = strings.ToUpper(method) + " " + strings.ReplaceAll(strings.ReplaceAll(template, "~1", "/"), "~0", "~")
		}
		for name, v := range n.get("parameters").all() {
			l.Parameters[name] = v.word()
		}
		if d.Operation(l.Operation) == nil {
			d.problem(op, p.at, "the link %q is ignored: it leads to no operation", short(p.name))
			continue
		}
		op.Responses[p.response].Links = append(op.Responses[p.response].Links, l)
	}
}

// Operation returns the operation with a key, "POST /baskets", or nil.
func (d *Document) Operation(key string) *Operation { return d.byKey[key] }

// PathParameters returns the names of the parameters in a path template.
func PathParameters(template string) ([]string, error) {
	var names []string
	for rest := template; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			return names, nil
		}
		name, more, ok := strings.Cut(after, "}")
		if !ok || name == "" || strings.ContainsAny(name, "{/") {
			return nil, errors.New("a parameter in the path cannot be read")
		}
		names, rest = append(names, name), more
	}
}
