package journey

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
)

// place is where a request has a value.
type place int

const (
	inPath place = iota
	inQuery
	inHeader
	inBody
)

// slot is a value of a request.
type slot struct {
	place place
	name  string // of the field; of a path segment, what it probably identifies: product_id
	at    string // position in the request, the same in two recordings
	text  string
	value *importer.Value
	done  bool
}

// call is a request on its way to a step.
type call struct {
	*request
	index    int
	service  int
	segments []string         // of the path, unescaped
	shape    []string         // the same, with {id} for what looks like an ID
	path     []importer.Value // of the segments
	slots    []*slot
	step     importer.Step
	files    []importer.File // uploads
	bearer   *credential
	dropped  bool
}

// newCall reads a request into a step with literal values, and lists these.
func newCall(r *request, index, service int) *call {
	c := &call{request: r, index: index, service: service}
	c.step = importer.Step{Use: true, Service: service, Method: r.Method, Group: pageName(r.Page), Title: r.Title, Follow: r.follow, Notes: r.notes}
	c.readPath()
	c.readQuery()
	c.readBody()
	c.readHeaders()
	return c
}

// pageName returns the title of a page. If that is a URL, its query is left out, which may contain credentials.
func pageName(title string) string {
	if strings.Contains(title, "://") {
		title, _, _ = strings.Cut(title, "?")
		title, _, _ = strings.Cut(title, "#")
	}
	return title
}

func (c *call) readPath() {
	for s := range strings.SplitSeq(strings.TrimPrefix(c.url.EscapedPath(), "/"), "/") {
		plain, err := url.PathUnescape(s)
		if err != nil {
			plain = s
		}
		c.segments = append(c.segments, plain)
		c.path = append(c.path, importer.Value{Literal: s})
	}
	before := ""
	for i, s := range c.segments {
		name := "id"
		if before != "" {
			name = strings.Join(words(before), "_") + "_id"
		}
		if looksDynamic(s) {
			c.shape = append(c.shape, "{id}")
		} else {
			c.shape = append(c.shape, s)
			before = s
		}
		c.slots = append(c.slots, &slot{place: inPath, name: name, at: "path." + itoa(i), text: s, value: &c.path[i]})
	}
}

// looksDynamic reports whether a segment of a path looks like an ID.
func looksDynamic(s string) bool {
	if variable.MatchString(s) {
		return true
	}
	s = strings.TrimSuffix(s, path.Ext(s))
	if plain.MatchString(s) {
		return false
	}
	return digits.MatchString(s) || uuidText.MatchString(s) || isID(s) || isRandom(s) || idSegment.MatchString(s)
}

// idSegment matches what people use as IDs: ord_12, A-1001, usr12345, o-1.
var idSegment = regexp.MustCompile(`^(?:[A-Za-z]{1,8}[-_.]?[0-9]{2,}[A-Za-z0-9-]*|[A-Za-z]{1,8}[-_][0-9])$`)

var variable = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

func (c *call) readQuery() {
	c.step.Query = readForm(c.url.RawQuery)
	c.pairs(inQuery, "query.", c.step.Query)
}

// pairs lists the values of pairs. Names may occur more than once.
func (c *call) pairs(in place, at string, all []importer.Pair) {
	counts := make(map[string]int)
	for i := range all {
		name := all[i].Name
		c.values(in, name, at+name+"."+itoa(counts[name]), &all[i].Value)
		counts[name]++
	}
}

// values lists the literals of a value.
func (c *call) values(in place, name, at string, v *importer.Value) {
	switch {
	case v.Fields != nil:
		for i := range *v.Fields {
			p := &(*v.Fields)[i]
			c.values(in, p.Name, at+"."+p.Name, &p.Value)
		}
	case v.Items != nil:
		for i := range *v.Items {
			c.values(in, singular(name), at+"["+itoa(i)+"]", &(*v.Items)[i])
		}
	default:
		if text, ok := textOf(v.Literal); ok && text != "" {
			c.slots = append(c.slots, &slot{place: in, name: name, at: at, text: text, value: v})
		}
	}
}

// textOf returns a number or a text as text; of other values it reports false.
func textOf(literal any) (string, bool) {
	switch v := literal.(type) {
	case string:
		return v, true
	case int64, float64:
		text, err := json.Marshal(v)
		return string(text), err == nil
	}
	return "", false
}

// readForm reads a query or a form in the order of its fields.
func readForm(text string) []importer.Pair {
	var all []importer.Pair
	for part := range strings.SplitSeq(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		all = withPair(all, unescaped(name), unescaped(value))
	}
	return all
}

// withPair adds a pair. A name that occurs more than once has a list of values.
func withPair(all []importer.Pair, name, text string) []importer.Pair {
	value := importer.Value{Literal: text}
	i := slices.IndexFunc(all, func(p importer.Pair) bool { return p.Name == name })
	if i < 0 {
		return append(all, importer.Pair{Name: name, Value: value})
	}
	old := &all[i].Value
	if old.Items == nil {
		*old = importer.Value{Items: &[]importer.Value{*old}}
	}
	*old.Items = append(*old.Items, value)
	return all
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

var (
	// browserHeaders are beginnings of headers that browsers, proxies and tracing libraries add, or that Throng sets itself.
	browserHeaders = strings.Fields(`accept-encoding accept-language accept-charset alt-used authority baggage b3 cache-control connection
		content-encoding content-length cookie dnt expect forwarded host http2-settings idempotency-key if-modified-since if-none-match keep-alive
		newrelic pragma priority proxy- purpose range referer save-data sec- sentry-trace te traceparent tracestate trailer transfer-encoding
		upgrade user-agent uber-trace-id via x-amzn-trace-id x-b3- x-chrome- x-client-data x-cloud-trace x-correlation-id x-datadog- x-forwarded-
		x-real-ip x-request-id x-requested-by-browser postman-token viewport-width device-memory downlink rtt`)
	usualAccept = regexp.MustCompile(`^(?:\*/\*|text/html|image/|text/css|application/signed|$)`)
)

func (c *call) readHeaders() {
	for _, h := range c.Request.Headers {
		name := strings.ToLower(h.Name)
		switch {
		case name == "authorization":
			c.bearer = newCredential(h.Value)
			continue
		case slices.ContainsFunc(browserHeaders, func(p string) bool { return name == p || strings.HasSuffix(p, "-") && strings.HasPrefix(name, p) }):
			if name != "referer" || !c.hasField("csrfmiddlewaretoken") {
				continue
			}
		case name == "accept" && usualAccept.MatchString(h.Value):
			continue
		case name == "origin" && !c.isForm():
			continue
		case name == "content-type": // see below
			continue
		}
		value := h.Value
		if name == "referer" {
			value, _, _ = strings.Cut(value, "?")
		}
		name = http.CanonicalHeaderKey(h.Name)
		if i := slices.IndexFunc(c.step.Headers, func(p importer.Pair) bool { return p.Name == name }); i >= 0 {
			value = fmt.Sprint(c.step.Headers[i].Value.Literal, ", ", value)
			c.step.Headers = slices.Delete(c.step.Headers, i, i+1)
		}
		c.step.Headers = append(c.step.Headers, importer.Pair{Name: name, Value: importer.Value{Literal: value}})
	}
	if c.step.Body != nil && !c.usualType() {
		c.step.Headers = append(c.step.Headers, importer.Pair{Name: "Content-Type", Value: importer.Value{Literal: c.Request.Type}})
	}
	c.pairs(inHeader, "header.", c.step.Headers)
}

// isForm reports whether the request is one that a plain HTML form can send. Servers check the origin of those.
func (c *call) isForm() bool {
	kind := c.kind()
	return c.Method == http.MethodPost && (kind == "application/x-www-form-urlencoded" || kind == "multipart/form-data" || kind == "text/plain")
}

func (c *call) hasField(name string) bool {
	return strings.Contains(c.Request.Body, name) || slices.ContainsFunc(c.Request.Parts, func(p exchange.Part) bool { return p.Name == name })
}

// kind returns the content type of the request's body, without parameters.
func (c *call) kind() string {
	kind, _, _ := strings.Cut(strings.ToLower(c.Request.Type), ";")
	return strings.TrimSpace(kind)
}

// usualType reports whether the body gets its content type without a header.
func (c *call) usualType() bool {
	kind := c.kind()
	switch c.step.Body.Kind {
	case importer.JSON:
		return kind == "application/json" || kind == ""
	case importer.Text:
		return kind == "text/plain" || kind == ""
	default:
		return true
	}
}

func (c *call) readBody() {
	m := &c.Request
	if c.Method == http.MethodGet || c.Method == http.MethodHead || m.Body == "" && len(m.Parts) == 0 {
		if m.Binary {
			c.note("The body of the request is not text and was not imported.")
		}
		return
	}
	if m.Cut {
		c.note("The body of the request is longer than what was recorded.")
	}
	body := &importer.Body{}
	kind := c.kind()
	switch {
	case kind == "multipart/form-data":
		body.Kind = importer.Multipart
		c.readParts(body)
	case kind == "application/x-www-form-urlencoded" && m.Body != "" && !strings.ContainsAny(m.Body[:1], "{[<"):
		body.Kind, body.Pairs = importer.Form, readForm(m.Body)
	case m.Body == "":
		body.Kind = importer.Form
		for _, p := range m.Parts {
			body.Pairs = withPair(body.Pairs, p.Name, p.Value)
		}
	default:
		value, ok := readJSON(m.Body)
		if ok && (strings.Contains(kind, "json") || kind == "") {
			body.Kind, body.Value = importer.JSON, value
		} else {
			body.Kind, body.Type, body.Value = importer.Text, m.Type, importer.Value{Literal: m.Body}
		}
	}
	c.step.Body = body
	c.pairs(inBody, "body.", body.Pairs)
	if body.Kind != importer.Text {
		c.values(inBody, "", "json", &body.Value)
	} else {
		c.slots = append(c.slots, &slot{place: inBody, name: "body", at: "body", text: m.Body, value: &body.Value})
	}
}

// readParts reads a multipart body. Missing contents of files are noted.
func (c *call) readParts(body *importer.Body) {
	parts := c.Request.Parts
	contents := make(map[string]string)
	if _, with, err := mime.ParseMediaType(c.Request.Type); err == nil && with["boundary"] != "" && c.Request.Body != "" {
		r := multipart.NewReader(strings.NewReader(c.Request.Body), with["boundary"])
		var read []exchange.Part
		for {
			p, err := r.NextPart()
			if err != nil {
				break
			}
			text, err := io.ReadAll(p)
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				break
			}
			read = append(read, exchange.Part{Name: p.FormName(), Value: string(text), File: p.FileName(), Type: p.Header.Get("Content-Type")})
		}
		if len(read) > 0 {
			parts = read
		}
	}
	for _, p := range parts {
		if p.File == "" {
			body.Pairs = withPair(body.Pairs, p.Name, p.Value)
			continue
		}
		name := path.Base(strings.ReplaceAll(p.File, `\`, "/"))
		contents[name] = p.Value
		body.Files = append(body.Files, importer.Upload{Field: p.Name, Name: name, Type: p.Type, File: name})
	}
	for _, f := range body.Files {
		if contents[f.File] == "" {
			c.note("The recording has no contents of the uploaded file " + shorten(f.File) + ". A text stands in for it: replace that file in the folder.")
			contents[f.File] = "This text stands in for " + f.File + ", whose contents were not recorded.\n"
		}
	}
	c.uploads(contents)
}

// uploads keeps the contents of uploaded files for the draft.
func (c *call) uploads(contents map[string]string) {
	for name, text := range contents {
		if text != "" {
			c.files = append(c.files, importer.File{Name: name, Text: []byte(text)})
		}
	}
	slices.SortFunc(c.files, func(a, b importer.File) int { return strings.Compare(a.Name, b.Name) })
}

func (c *call) note(text string) {
	if !slices.Contains(c.step.Notes, text) {
		c.step.Notes = append(c.step.Notes, text)
	}
}

// readJSON reads a JSON text with its fields in order.
func readJSON(text string) (importer.Value, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return importer.Value{}, false
	}
	_, err = d.Token()
	return v, errors.Is(err, io.EOF)
}

var errDeep = errors.New("the JSON text is nested too deep")

func readValue(d *json.Decoder, depth int) (importer.Value, error) {
	const deepest = 200
	token, err := d.Token()
	if err != nil || depth > deepest {
		return importer.Value{}, errors.Join(err, errDeepIf(depth > deepest))
	}
	switch t := token.(type) {
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return importer.Value{Literal: n}, nil
		}
		f, err := t.Float64()
		return importer.Value{Literal: f}, err
	case json.Delim:
		if t == '[' {
			items := []importer.Value{}
			for d.More() {
				v, err := readValue(d, depth+1)
				if err != nil {
					return v, err
				}
				items = append(items, v)
			}
			_, err := d.Token()
			return importer.Value{Items: &items}, err
		}
		fields := []importer.Pair{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return importer.Value{}, err
			}
			v, err := readValue(d, depth+1)
			if err != nil {
				return v, err
			}
			text, _ := name.(string)
			fields = append(fields, importer.Pair{Name: text, Value: v})
		}
		_, err := d.Token()
		return importer.Value{Fields: &fields}, err
	case nil:
		return importer.Value{}, nil
	}
	return importer.Value{Literal: token}, nil
}

func errDeepIf(deep bool) error {
	if deep {
		return errDeep
	}
	return nil
}

// isJSON reports whether an answer is a JSON text, by its first byte: content types are often wrong.
func isJSON(m *exchange.Message) bool {
	head := bytes.TrimLeft([]byte(m.Body[:min(len(m.Body), 64)]), " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}
