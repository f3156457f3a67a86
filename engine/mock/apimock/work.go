package apimock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/openapi"
	"github.com/throng-sim/throng/engine/openapi/sample"
)

// wrong says what is wrong with a request; "" if nothing is.
func (c *call) wrong() string {
	c.route.compile()
	query := c.target.Query()
	for _, p := range c.route.op.Parameters {
		values, given := []string(nil), false
		switch p.In {
		case "path":
			values, given = []string{c.values[p.Name]}, true
		case "query":
			values, given = query[p.Name]
		case "header":
			values, given = c.header[http.CanonicalHeaderKey(p.Name)]
		default:
			continue
		}
		if !given || len(values) == 0 {
			if p.Required {
				return fmt.Sprintf("The parameter %s is missing", p.Name)
			}
			continue
		}
		if p.Schema == nil || p.Schema.Type() == "array" || p.Schema.Type() == "object" {
			continue
		}
		if !fits(p.Schema, values[0]) {
			return fmt.Sprintf("The parameter %s is not valid", p.Name)
		}
	}
	return c.wrongBody()
}

// fits reports whether a text is a value of a schema.
func fits(s *openapi.Schema, text string) bool {
	value := coerce(s, text)
	if values := s.Enum(); len(values) > 0 {
		return slices.ContainsFunc(values, func(v any) bool { return fmt.Sprint(v) == text })
	}
	switch s.Type() {
	case "integer", "number", "boolean":
		_, isText := value.(string)
		return !isText
	}
	return true
}

// coerce reads a text as a value of a schema.
func coerce(s *openapi.Schema, text string) any {
	switch s.Type() {
	case "integer":
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i
		}
	case "number":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case "array":
		return []any{coerce(s.Items(), text)}
	}
	return text
}

// wrongBody says what is wrong with the body.
func (c *call) wrongBody() string {
	body := c.route.op.Body
	switch {
	case body == nil:
		return ""
	case len(c.body) == 0 && body.Required:
		return "The body is missing"
	case len(c.body) == 0:
		return ""
	}
	kind, _, _ := mime.ParseMediaType(c.header.Get("Content-Type"))
	if !slices.ContainsFunc(body.Media, func(m openapi.Media) bool {
		want, _, _ := strings.Cut(strings.ToLower(m.Type), ";")
		return want == kind || strings.Contains(want, "*") || openapi.IsJSON(want) && openapi.IsJSON(kind)
	}) {
		return "The type of the body is not supported"
	}
	if c.route.request == nil || !openapi.IsJSON(kind) && kind != "application/x-www-form-urlencoded" {
		return ""
	}
	text := c.body
	if !openapi.IsJSON(kind) {
		text, _ = json.Marshal(c.sent()) //nolint:errchkjson // texts, numbers and lists of them
	}
	if err := c.route.request.Check(text); err != nil {
		return err.Error()
	}
	return ""
}

// sent returns the fields of the body.
func (c *call) sent() map[string]any {
	kind, params, _ := mime.ParseMediaType(c.header.Get("Content-Type"))
	fields := map[string]any{}
	var form url.Values
	switch {
	case openapi.IsJSON(kind):
		d := json.NewDecoder(bytes.NewReader(c.body))
		d.UseNumber()
		if d.Decode(&fields) != nil {
			return map[string]any{}
		}
		return fields
	case kind == "application/x-www-form-urlencoded":
		form, _ = url.ParseQuery(string(c.body))
	case kind == "multipart/form-data":
		if f, err := multipart.NewReader(bytes.NewReader(c.body), params["boundary"]).ReadForm(maxBody); err == nil {
			form = f.Value
		}
	}
	var schema *openapi.Schema
	if b := c.route.op.Body; b != nil && len(b.Media) > 0 {
		schema = b.Media[0].Schema
	}
	for name, values := range form {
		if len(values) > 0 {
			fields[name] = coerce(schema.Property(name), values[0])
		}
	}
	return fields
}

// instantiate fills the parameters of a path.
func instantiate(template string, values map[string]string) string {
	for name, v := range values {
		template = strings.ReplaceAll(template, "{"+name+"}", url.PathEscape(v))
	}
	return template
}

// do carries a request out. place identifies it among those of the user.
func (c *call) do(u *user, place string) reply {
	r := c.route
	r.compile()
	for _, parent := range c.server.api.parents(r.op.Path) {
		if u.collection(instantiate(parent.path, c.values), parent).find(c.values[parent.name]) == nil {
			return problem(r.op, http.StatusNotFound, "Not found")
		}
	}
	if r.role == other {
		return c.answerOther(u, place)
	}
	path := instantiate(r.resource.path, c.values)
	things := u.collection(path, r.resource)
	switch r.role {
	case create:
		return c.create(u, things, path, place)
	case list:
		return c.answerList(things)
	case other, read, update, remove:
	}
	id := c.values[r.resource.name]
	if !strings.HasSuffix(r.op.Path, "}") { // the identifier is in the body
		id = fmt.Sprint(c.sent()[r.bodyID])
	}
	it := things.find(id)
	if it == nil {
		return problem(r.op, http.StatusNotFound, "Not found")
	}
	switch r.role {
	case update:
		for name, v := range c.sent() {
			if name != r.resource.id {
				it.data[name] = v
			}
		}
	case remove:
		u.remove(things, it, path+"/"+url.PathEscape(it.id))
	case other, create, list, read:
	}
	return c.finish(r.render(it), nil)
}

// create adds a thing. Its identifier depends on the request, not on what was created before.
func (c *call) create(u *user, things *collection, path, place string) reply {
	r := c.route
	key := u.key.Text("created").Text(path).Text(place)
	data := c.sent()
	it := &item{key: key, order: "9 " + place, data: data}
	if r.resource.id == "" {
		it.id = fmt.Sprint(sample.ID(r.resource.param, key.Text("id")))
	} else if given, ok := data[r.resource.id]; ok && given != nil {
		it.id = fmt.Sprint(given)
	} else {
		id := r.resource.identifier(key)
		data[r.resource.id], it.id = id, fmt.Sprint(id)
	}
	if old := things.find(it.id); old != nil {
		u.remove(things, old, path+"/"+url.PathEscape(old.id))
	}
	things.add(it)
	return c.finish(r.render(it), map[string]string{"Location": path + "/" + url.PathEscape(it.id)})
}

// answerList lists things, as far as the query asks for them.
func (c *call) answerList(things *collection) reply {
	r := c.route
	_, of := listAt(r.answer)
	query := c.target.Query()
	all := []any{}
	for _, it := range things.items {
		v := it.show(of)
		m, _ := v.(map[string]any)
		matches := true
		for name, want := range query {
			if have, ok := m[name]; ok && isScalar(have) {
				matches = matches && fmt.Sprint(have) == want[0]
			}
		}
		if matches {
			all = append(all, v)
		}
	}
	total := len(all)
	all = page(all, query)
	if len(r.at) == 0 {
		return c.finish(all, nil)
	}
	whole := sample.Value(r.answer, "", c.server.root.Text(r.op.Key()))
	m, _ := whole.(map[string]any)
	for name, v := range m {
		if _, number := v.(int64); number && slices.Contains([]string{"total", "count", "totalcount", "size", "totalitems"}, plain(name)) {
			m[name] = total
		}
	}
	m[r.at[0]] = all
	return c.finish(m, nil)
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any, nil:
		return false
	}
	return true
}

// page returns the part of a list that limit and offset ask for.
func page(all []any, query url.Values) []any {
	for _, name := range []string{"offset", "skip"} {
		if n, err := strconv.Atoi(query.Get(name)); err == nil && n > 0 {
			all = all[min(n, len(all)):]
		}
	}
	for _, name := range []string{"limit", "page_size", "pageSize", "per_page", "size"} {
		if n, err := strconv.Atoi(query.Get(name)); err == nil && n >= 0 {
			all = all[:min(n, len(all))]
		}
	}
	return all
}

// render makes an answer with an item.
func (r *route) render(it *item) any {
	if r.answer == nil {
		return nil
	}
	if len(r.at) == 0 {
		return it.show(r.answer)
	}
	whole := sample.Value(r.answer, "", it.key)
	if m, ok := whole.(map[string]any); ok {
		m[r.at[0]] = it.show(r.answer.Property(r.at[0]))
	}
	return whole
}

// show makes the form of an item that a schema describes.
func (it *item) show(s *openapi.Schema) any {
	return overlaid(s, sample.Value(s, "", it.key), it.data, it.key, 0)
}

// overlaid puts what was sent over drawn values, as far as a schema has it.
func overlaid(s *openapi.Schema, drawn, sent any, key draw.Key, depth int) any {
	const deepest = 8
	switch of := sent.(type) {
	case map[string]any:
		m, ok := drawn.(map[string]any)
		if !ok || depth > deepest {
			return drawn
		}
		free := len(s.Properties()) == 0
		for _, name := range slices.Sorted(maps.Keys(of)) {
			p := s.Property(name)
			switch {
			case free:
				m[name] = of[name]
			case p != nil && !p.WriteOnly():
				base, ok := m[name]
				if !ok {
					base = sample.Value(p, name, key.Text(name))
				}
				m[name] = overlaid(p, base, of[name], key.Text(name), depth+1)
			}
		}
		return m
	case []any:
		if s.Type() != "array" || depth > deepest {
			return drawn
		}
		list := make([]any, len(of))
		for i, v := range of {
			at := key.Int(uint64(i)) //nolint:gosec // not negative
			list[i] = overlaid(s.Items(), sample.Value(s.Items(), "", at), v, at, depth+1)
		}
		return list
	}
	if s.Type() == "object" || s.Type() == "array" || !alike(s.Type(), sent) {
		return drawn
	}
	return sent
}

// alike reports whether a value is of a type.
func alike(kind string, v any) bool {
	switch n := v.(type) {
	case json.Number:
		_, err := n.Int64()
		return kind == "number" || kind == "integer" && err == nil || kind == ""
	case int64:
		return kind == "integer" || kind == "number" || kind == ""
	case float64:
		return kind == "number" || kind == ""
	case string:
		return kind == "string" || kind == ""
	case bool:
		return kind == "boolean" || kind == ""
	}
	return kind == ""
}

// answerOther answers an operation that is about no collection: a login, an action, a profile. A GET of the same path shows what was sent to it.
func (c *call) answerOther(u *user, place string) reply {
	r := c.route
	path := instantiate(r.op.Path, c.values)
	key := u.key.Text("single").Text(path)
	if c.method != http.MethodGet && c.method != http.MethodHead {
		sent := u.single[path]
		if sent == nil || c.method != "PATCH" {
			sent = map[string]any{}
		}
		maps.Copy(sent, c.sent())
		u.single[path] = sent
		if c.method == "DELETE" {
			delete(u.single, path)
		}
		if c.method == "POST" {
			key = key.Text(place)
		}
	}
	if r.answer == nil {
		return c.finish(nil, c.issue(nil))
	}
	it := &item{key: key, data: u.single[path]}
	v := sample.Value(r.answer, "", key)
	if it.data != nil {
		v = it.show(r.answer)
	}
	return c.finish(v, c.issue(v))
}

// tokens are the properties that are tokens, without case and separators.
var tokens = []string{"accesstoken", "token", "jwt", "idtoken", "authtoken", "sessiontoken", "bearer", "apitoken"}

// issue puts a token into the answer of a login, which is a POST that needs none, and returns headers with it.
func (c *call) issue(v any) map[string]string {
	if !c.route.public || c.method != http.MethodPost {
		return nil
	}
	token := c.server.token(c.name)
	fill(v, token, 0)
	header := map[string]string{}
	for _, r := range c.route.op.Responses {
		for _, h := range r.Headers {
			if slices.Contains([]string{"X-Auth-Token", "X-Access-Token", "X-Token", "Authorization"}, h) && r.Good() {
				header[h] = token
			}
		}
	}
	for _, scheme := range c.server.cfg.Document.Schemes {
		if scheme.Type == "apiKey" && scheme.In == "cookie" {
			header["Set-Cookie"] = (&http.Cookie{Name: scheme.Key, Value: token, Path: "/", HttpOnly: true}).String()
		}
	}
	return header
}

func fill(v any, token string, depth int) {
	m, ok := v.(map[string]any)
	if !ok || depth > 2 {
		return
	}
	for name, of := range m {
		if _, isText := of.(string); isText && slices.Contains(tokens, plain(name)) {
			m[name] = token
		}
		if plain(name) == "tokentype" {
			m[name] = "bearer"
		}
		fill(of, token, depth+1)
	}
}

// finish writes an answer. One that does not fit its schema, because of what was sent, is replaced by drawn values.
func (c *call) finish(v any, header map[string]string) reply {
	r := c.route
	a := reply{status: r.status, header: header}
	if r.answer == nil || r.status == http.StatusNoContent || c.method == http.MethodHead {
		return a
	}
	body, err := json.Marshal(v)
	if err != nil || r.response != nil && r.response.Check(body) != nil {
		if body2, err := json.Marshal(sample.Value(r.answer, "", c.server.root.Text(r.op.Key()))); err == nil {
			body = body2
		}
	}
	a.body = body
	return a
}

// explained makes an answer about a problem, with its text where the schema has a place for it.
func explained(s *openapi.Schema, why string) []byte {
	v := sample.Value(s, "", draw.Key{}.Text("problem"))
	plainBody, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	if m, ok := v.(map[string]any); ok {
		for name, of := range m {
			if _, isText := of.(string); isText && slices.Contains([]string{"detail", "message", "error", "title", "description", "msg"}, plain(name)) && len(s.Property(name).Enum()) == 0 {
				m[name] = why
			}
		}
	}
	body, err := json.Marshal(v)
	if check, cerr := s.Compile(openapi.OfResponse); err != nil || cerr == nil && check.Check(body) != nil {
		return plainBody
	}
	return body
}
