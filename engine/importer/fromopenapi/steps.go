package fromopenapi

import (
	"bytes"
	"image"
	"image/png"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/openapi"
)

// steps writes the operations as steps of the draft.
func (b *builder) steps() {
	for _, o := range b.ops {
		s := b.request(o, &values{builder: b, of: o, signing: o.role == login})
		s.Use, s.Against = o.use, o.against
		for _, n := range o.needs {
			if n.from != nil && n.from.sent && n.from.of != o && !slices.Contains(s.After, n.from.of.Key()) {
				s.After = append(s.After, n.from.of.Key())
			}
		}
		signer{b}.sign(o, &s)
		b.draft.Steps = append(b.draft.Steps, s)
	}
}

// request makes the step of an operation, without what it signs in with.
func (b *builder) request(o *operation, v *values) importer.Step {
	s := importer.Step{ID: o.Key(), Name: o.name, Title: strings.TrimSpace(o.Summary), Group: o.group, Method: o.Method}
	s.Path = b.path(o, v)
	b.parameters(o, v, &s)
	s.Body = b.body(o, v, &s)
	s.Expect = expect(o)
	s.Check = b.options.File != "" && !o.answer.Empty()
	return s
}

// expect returns the good statuses of an operation; nil for any.
func expect(o *operation) []int {
	var codes []int
	for _, r := range o.Responses {
		if !r.Good() {
			continue
		}
		code, err := strconv.Atoi(r.Status)
		if err != nil { // 2XX
			return nil
		}
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// path returns the path with the values of its parameters.
func (b *builder) path(o *operation, v *values) importer.Value {
	var parts []importer.Value
	rest := o.Path
	for {
		before, after, found := strings.Cut(rest, "{")
		name, more, closed := strings.Cut(after, "}")
		if !found || !closed {
			break
		}
		if before != "" {
			parts = append(parts, text(escapedPath(before)))
		}
		parts = append(parts, b.parameter(o, v, "path", name))
		rest = more
	}
	if rest != "" {
		parts = append(parts, text(escapedPath(rest)))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return importer.Value{Parts: parts}
}

// escapedPath escapes what a path cannot contain as it is.
func escapedPath(path string) string {
	return (&url.URL{Path: path}).EscapedPath()
}

// parameter returns the value of a parameter.
func (b *builder) parameter(o *operation, v *values, in, name string) importer.Value {
	i := slices.IndexFunc(o.Parameters, func(p openapi.Parameter) bool { return p.In == in && p.Name == name })
	if i < 0 {
		return importer.Value{Open: &importer.Open{Name: name, Candidates: []string{"a parameter"}}}
	}
	p := o.Parameters[i]
	if n := o.needAt(in, name); n != nil {
		of := v.needed(n, p.Schema, name, p.Example)
		if in == "path" && of.Literal != nil {
			return text(url.PathEscape(plainText(of.Literal)))
		}
		return of
	}
	if p.Schema.Type() == "array" && p.Schema.Items() != nil {
		return v.scalar(p.Schema.Items(), name, nil)
	}
	if d := p.Schema.Default(); d != nil && isScalar(d) && p.In == "query" {
		return importer.Value{Literal: d}
	}
	of := v.scalar(p.Schema, name, p.Example)
	if in == "path" && of.Literal != nil {
		return text(url.PathEscape(plainText(of.Literal)))
	}
	return of
}

func plainText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return jsonText(v)
}

// ownHeaders are headers that requests have anyway.
var ownHeaders = []string{"accept", "content-type", "authorization", "idempotency-key", "host", "user-agent", "content-length", "connection"}

// parameters adds the required parameters in the query and the headers. Credentials of a login by GET are required too.
func (b *builder) parameters(o *operation, v *values, s *importer.Step) {
	for _, p := range o.Parameters {
		credential := o.role == login && (slices.Contains(userNames[:7], plain(p.Name)) || slices.Contains(passwordNames, plain(p.Name)))
		if !p.Required && !credential {
			continue
		}
		switch {
		case p.In == "query":
			s.Query = append(s.Query, importer.Pair{Name: p.Name, Value: b.parameter(o, v, "query", p.Name)})
		case p.In == "header" && !slices.Contains(ownHeaders, strings.ToLower(p.Name)) && !b.isKey(p.Name):
			s.Headers = append(s.Headers, importer.Pair{Name: p.Name, Value: b.parameter(o, v, "header", p.Name)})
		case p.In == "cookie" && !b.isKey(p.Name):
			s.Notes = append(s.Notes, "It needs the cookie "+p.Name+".")
		}
	}
}

// isKey reports whether a header or cookie belongs to a way to sign in.
func (b *builder) isKey(name string) bool {
	return slices.ContainsFunc(b.document.Schemes, func(s openapi.Scheme) bool { return s.Type == "apiKey" && strings.EqualFold(s.Key, name) })
}

// body makes the body of a request; nil for none.
func (b *builder) body(o *operation, v *values, s *importer.Step) *importer.Body {
	if o.body == nil {
		return nil
	}
	kind := strings.ToLower(o.body.Type)
	if o.body.Schema == nil {
		s.Notes = append(s.Notes, "The document does not say what the body contains.")
	}
	switch {
	case openapi.IsJSON(kind) || kind == "*/*":
		return &importer.Body{Kind: importer.JSON, Value: v.make(o.body.Schema, "", "", o.body.Example, 0)}
	case strings.HasPrefix(kind, "application/x-www-form-urlencoded"):
		return &importer.Body{Kind: importer.Form, Pairs: v.pairs(o.body)}
	case strings.HasPrefix(kind, "multipart/form-data"):
		return &importer.Body{Kind: importer.Multipart, Pairs: v.pairs(o.body), Files: v.files}
	case strings.HasPrefix(kind, "text/"):
		return &importer.Body{Kind: importer.Text, Type: o.body.Type, Value: v.text(o.body.Schema, "text", o.body.Example)}
	}
	example, _ := o.body.Example.(string)
	return &importer.Body{Kind: importer.Text, Type: o.body.Type, Value: importer.Value{Open: &importer.Open{Name: "the body", Example: example, Candidates: []string{"a text of type " + o.body.Type}}}}
}

// pairs makes the fields of a form. Files are put into v.files.
func (v *values) pairs(m *openapi.Media) []importer.Pair {
	v.files = nil
	var pairs []importer.Pair
	made := v.object(m.Schema, "", m.Example, 0)
	for _, p := range *made.Fields {
		field := m.Schema.Property(p.Name)
		if field.Type() == "array" && field.Items().Format() == "binary" {
			field = field.Items()
		}
		switch {
		case field.Format() == "binary" || field.Media() != "" && field.Type() == "string":
			v.files = append(v.files, v.upload(p.Name, field))
		case p.Value.Fields != nil || p.Value.Items != nil:
			pairs = append(pairs, importer.Pair{Name: p.Name, Value: flattened(p.Value)})
		default:
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// flattened makes a value of a form of a list or object: the first item, or nothing.
func flattened(v importer.Value) importer.Value {
	if v.Items != nil && len(*v.Items) > 0 && (*v.Items)[0].Fields == nil {
		return (*v.Items)[0]
	}
	return importer.Value{Open: &importer.Open{Candidates: []string{"a list or an object as a text"}}}
}

// upload adds a small file to the scenario and sends it.
func (v *values) upload(field string, s *openapi.Schema) importer.Upload {
	name, kind := "upload.txt", "text/plain"
	content := []byte("A file to upload, from Throng.\n")
	if containsAny(plain(field), "image", "picture", "photo", "avatar", "logo") || strings.HasPrefix(s.Media(), "image/") || v.of != nil && containsAny(plain(v.of.Path), "image", "picture", "photo", "avatar") {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err == nil {
			name, kind, content = "upload.png", "image/png", b.Bytes()
		}
	}
	if !slices.ContainsFunc(v.draft.Files, func(f importer.File) bool { return f.Name == name }) {
		v.draft.Files = append(v.draft.Files, importer.File{Name: name, Text: content})
	}
	return importer.Upload{Field: field, Name: name, Type: kind, File: name}
}
