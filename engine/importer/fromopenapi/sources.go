package fromopenapi

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/openapi"
)

// need is an input of an operation that another operation may return.
type need struct {
	of       *operation
	in       string // path, query, header or body
	at       string // the place in the body: items[].product_id; else the name
	name     string
	resource string // what it identifies: product
	above    string // the path of the collection: /baskets; "" outside of a path
	schema   *openapi.Schema
	required bool
	from     *source
	self     bool // a name that identifies what the operation itself is about
}

// missing says what a need lacks.
func (n *need) missing() string {
	if n.from == nil {
		return "no operation returns " + n.name + "."
	}
	return "it needs " + n.name + " of " + n.from.of.Key() + ", which is not in it."
}

// source is a field of an answer, or a value that was sent.
type source struct {
	of    *operation
	field string
	plain string // the field without case and separators
	owner string // what the field belongs to: basket
	kind  string // its type; "" if unknown
	path  string
	wrap  string
	list  bool
	depth int
	sent  bool // the field is one of the request
	made  bool // it is the identifier in the path of a PUT that creates
}

// owned reports whether the journey created what the source identifies.
func (s *source) owned() bool {
	return s != nil && !s.list && (s.of.role == create || s.of.role == register)
}

// value returns the value that a source has.
func (s *source) value(example any) importer.Value {
	if s.sent {
		return s.of.values[s.field]
	}
	return importer.Value{From: &importer.From{Step: s.of.Key(), Path: s.path, Wrap: s.wrap, Example: example}}
}

// sourceIndex finds sources by the name of the field and by what it belongs to.
type sourceIndex struct {
	byField map[string][]*source
	byOwner map[string][]*source
	links   map[string]*source // by operation and parameter
}

const (
	maxSourceDepth = 3
	maxSources     = 200 // of an operation
)

// binder finds the sources of needs.
type binder struct{ *builder }

// bind finds a source for each need. Operations become usable when all of their needs have sources that are usable.
func (b binder) bind() {
	b.index = sourceIndex{map[string][]*source{}, map[string][]*source{}, map[string]*source{}}
	for _, o := range b.ops {
		b.findNeeds(o)
	}
	waiting := slices.Clone(b.ops)
	const rounds = 20
	for range rounds {
		var ready, rest []*operation
		for _, o := range waiting {
			if b.satisfied(o) {
				ready = append(ready, o)
			} else {
				rest = append(rest, o)
			}
		}
		if len(ready) == 0 {
			if ready = b.naming(waiting); ready == nil {
				break
			}
			rest = slices.DeleteFunc(rest, func(o *operation) bool { return o == ready[0] })
		}
		for _, o := range ready {
			b.add(o)
		}
		waiting = rest
	}
	for _, o := range b.ops { // sources that were added later may be better
		for _, n := range o.needs {
			if n.chosen() {
				continue
			}
			old := n.from
			n.from = nil
			if s := b.best(n); s != nil && !b.dependsOn(s.of, o, 0) {
				n.from = s
			} else {
				n.from = old
			}
		}
	}
}

// dependsOn reports whether an operation needs another, directly or not.
func (b binder) dependsOn(o, on *operation, depth int) bool {
	if o == on || depth > 30 {
		return true
	}
	return slices.ContainsFunc(o.needs, func(n *need) bool { return n.from != nil && n.from.of != o && b.dependsOn(n.from.of, on, depth+1) })
}

// satisfied binds the required needs of an operation, and reports whether all have a source.
func (b binder) satisfied(o *operation) bool {
	found := make([]*source, len(o.needs))
	for i, n := range o.needs {
		if n.chosen() {
			found[i] = n.from
		} else if found[i] = b.best(n); found[i] == nil && n.required {
			return false
		}
	}
	for i, n := range o.needs {
		n.from = found[i]
	}
	return true
}

// best returns the best source of a need so far, or nil.
func (b binder) best(n *need) *source {
	if s := b.index.links[n.of.Key()+" "+n.name]; s != nil {
		return s
	}
	var best *source
	most := 0
	lists := [][]*source{b.index.byOwner[n.resource]}
	if !slices.Contains(identifiers, plain(n.name)) { // a field called id says nothing without what it belongs to
		lists = append(lists, b.index.byField[plain(n.name)])
	}
	for _, list := range lists {
		for _, s := range list {
			if score := n.score(s); score > most {
				best, most = s, score
			}
		}
	}
	return best
}

// identifiers are fields that identify what they belong to, the best first.
var identifiers = []string{"id", "uuid", "guid", "key", "slug", "code", "number", "name"}

// score says how well a source fits; 0 if it does not.
func (n *need) score(s *source) int {
	if s.of == n.of || n.schema.Type() != "" && s.kind != "" && !compatible(n.schema.Type(), s.kind) {
		return 0
	}
	score := 0
	field, name := s.plain, plain(n.name)
	rest := strings.TrimPrefix(name, n.resource)
	distinct := !slices.Contains(identifiers, name)
	switch {
	case distinct && field == name && (!n.self || s.owner == n.resource || !strings.HasSuffix(name, "name")):
		score = 60
	case s.owner == n.resource && rest != "" && field == rest, s.owner == n.resource && field == name:
		score = 50
	case s.owner == n.resource && (field == "id" || field == n.resource+"id" || field == "uuid") && (rest == "" || slices.Contains(identifiers[:4], rest)):
		score = 45
	default:
		return 0
	}
	if s.owner == n.resource {
		score += 10
	}
	switch {
	case n.above != "" && (s.of.Path == n.above || s.made && collection(s.of.Path) == n.above) && s.of.role == create:
		score += 40
	case s.of.role == create || s.of.role == register:
		score += 20
	case s.of.role == list && (n.above == "" || s.of.Path == n.above):
		score += 10
	}
	if s.sent && !s.made {
		score -= 15
	}
	if s.list {
		score -= 5
	}
	return max(score-3*s.depth, 1)
}

func compatible(a, b string) bool {
	numeric := func(t string) bool { return t == "integer" || t == "number" }
	return a == b || numeric(a) && numeric(b)
}

// add makes the fields of an operation's answer available.
func (b binder) add(o *operation) {
	if o.role == remove || o.role == logout || o.role == login {
		return
	}
	b.links(o)
	count := 0
	b.fields(o, o.answer, source{of: o, owner: o.owner()}, &count)
	if n := o.named(); n != nil {
		b.index.put(n.from)
	}
	if o.role != create && o.role != register || o.body == nil {
		return
	}
	for _, p := range o.body.Schema.Properties() { // what was sent can be used again if it does not change in a session
		if v, ok := b.stable(p); ok {
			o.values[p.Name] = v
			b.index.put(&source{of: o, field: p.Name, owner: o.owner(), kind: p.Schema.Type(), sent: true, depth: 1})
		}
	}
}

// owner is what the answer of an operation describes.
func (o *operation) owner() string {
	if o.answer != nil && o.answer.Name != "" && o.role != list {
		if t := thing(o.answer.Name); t != "" && !listOf(o.answer) && (strings.Contains(o.resource, t) || endsInParameter(o.Path) || o.role == create || o.role == register) {
			return t
		}
	}
	return o.resource
}

func (x *sourceIndex) put(s *source) {
	const most = 500 // with one name
	s.plain = plain(s.field)
	if k := s.plain; len(x.byField[k]) < most {
		x.byField[k] = append(x.byField[k], s)
	}
	if len(x.byOwner[s.owner]) < most {
		x.byOwner[s.owner] = append(x.byOwner[s.owner], s)
	}
}

// fields adds the fields of a schema.
func (b binder) fields(o *operation, s *openapi.Schema, at source, count *int) {
	if s == nil || at.depth > maxSourceDepth {
		return
	}
	if s.Type() == "array" {
		if at.list {
			return
		}
		at.list, at.wrap = true, "pick(%s)"
		if name := s.Items(); name != nil && name.Name != "" {
			at.owner = thing(name.Name)
		} else {
			at.owner = singular(at.owner)
		}
		b.fields(o, s.Items(), at, count)
		return
	}
	for _, p := range s.Properties() {
		if *count++; *count > maxSources || p.Schema == nil || p.Schema.WriteOnly() {
			continue
		}
		next := at
		next.extend(p.Name)
		switch kind := p.Schema.Type(); kind {
		case "object", "array":
			next.depth++
			next.owner = singular(p.Name)
			if kind == "object" && p.Schema.Name != "" {
				next.owner = thing(p.Schema.Name)
			}
			b.fields(o, p.Schema, next, count)
		default:
			next.field, next.kind = p.Name, kind
			b.index.put(&next)
			if at.owner != o.resource && (at.depth == 0 && !at.list || at.depth <= 1 && at.list && o.role == list) { // its schema may have another name
				same := next
				same.owner = o.resource
				b.index.put(&same)
			}
		}
	}
}

// extend adds a field to the path of a source.
func (s *source) extend(name string) {
	access := "[" + strconv.Quote(name) + "]"
	if isName(name) {
		access = "." + name
	}
	switch {
	case s.wrap != "":
		s.wrap += strings.ReplaceAll(access, "%", "%%")
	case s.path == "" && slices.Contains([]string{"status", "headers", "body"}, name):
		s.path = ".body" + access // a step has fields of these names
	default:
		s.path += access
	}
}

func isName(name string) bool {
	return name != "" && !isKeyword(name) && !notWord.MatchString(name) && (name[0] < '0' || name[0] > '9')
}

// links adds the links of the document.
func (b binder) links(o *operation) {
	for _, r := range o.Responses {
		if !r.Good() {
			continue
		}
		for _, l := range r.Links {
			for name, expression := range l.Parameters {
				if i := strings.IndexByte(name, '.'); i >= 0 && slices.Contains([]string{"path", "query", "header", "cookie"}, name[:i]) {
					name = name[i+1:]
				}
				s := linked(o, name, expression)
				if s == nil {
					continue
				}
				if key := l.Operation + " " + name; b.index.links[key] == nil {
					b.index.links[key] = s
				}
			}
		}
	}
}

// linked returns the source that a runtime expression of a link names, or nil.
func linked(o *operation, name, expression string) *source {
	s := &source{of: o, field: name}
	if pointer, ok := strings.CutPrefix(expression, "$response.body#/"); ok {
		for token := range strings.SplitSeq(pointer, "/") {
			if isNumber(token) {
				s.path += "[" + token + "]"
				continue
			}
			s.extend(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		}
		return s
	}
	header, ok := strings.CutPrefix(expression, "$response.header.")
	if !ok {
		return nil
	}
	s.path = `.headers[` + strconv.Quote(strings.ToLower(header)) + `]`
	return s
}

// findNeeds collects the inputs of an operation that identify something.
func (b binder) findNeeds(o *operation) {
	for _, p := range o.Parameters {
		n := &need{of: o, in: p.In, at: p.Name, name: p.Name, schema: p.Schema, required: p.Required}
		switch {
		case p.In == "path":
			n.resource, n.above = inPath(o.Path, p.Name)
			n.self = true
			if len(p.Schema.Enum()) > 0 {
				continue
			}
		case p.In == "query" && refersTo(p.Name) != "" && p.Required:
			n.resource = refersTo(p.Name)
		default:
			continue
		}
		o.needs = append(o.needs, n)
	}
	if o.body != nil {
		b.bodyNeeds(o, o.body.Schema, "", 0)
	}
}

// inPath returns what a parameter in a path identifies, and the path of its collection.
func inPath(path, name string) (resource, above string) {
	before, _, _ := strings.Cut(path, "{"+name+"}")
	above = strings.TrimSuffix(before, "/")
	if l := literals(above); len(l) > 0 && strings.HasSuffix(before, "/") {
		resource = singular(l[len(l)-1])
	}
	if of := refersTo(name); of != "" && (resource == "" || !strings.Contains(resource, of)) && !strings.HasSuffix(above, "}") {
		if resource == "" || of != "" && plain(name) != "id" {
			resource = cmp.Or(of, resource)
		}
	}
	return resource, above
}

// notReferences are names that look like references to something of the backend.
var notReferences = []string{"client", "external", "correlation", "request", "trace", "tax", "device", "transaction", "idempotency", "vat", "national", "message", "span", "app", "tracking", "facebook", "google", "apple"}

// refersTo returns what a name refers to: product of product_id and productId; "" if it is not a reference.
func refersTo(name string) string {
	words := strings.Split(importer.Identifier(name), "_")
	if len(words) < 2 || !slices.Contains([]string{"id", "ids", "uuid", "guid"}, words[len(words)-1]) {
		return ""
	}
	of := words[len(words)-2]
	if slices.Contains(notReferences, words[0]) {
		return ""
	}
	return singular(of)
}

const maxBodyDepth = 4

// bodyNeeds collects the references in a body.
func (b binder) bodyNeeds(o *operation, s *openapi.Schema, at string, depth int) {
	if s == nil || depth > maxBodyDepth {
		return
	}
	if s.Type() == "array" {
		b.bodyNeeds(o, s.Items(), at+"[]", depth+1)
		return
	}
	for _, p := range s.Properties() {
		if p.Schema == nil || p.Schema.ReadOnly() {
			continue
		}
		place := strings.TrimPrefix(at+"."+p.Name, ".")
		of := refersTo(p.Name)
		if o.role == update && depth == 0 && p.Name == "id" && len(o.needs) == 0 && !endsInParameter(o.Path) {
			of = o.resource // PUT /pet has the identifier in the body
		}
		switch {
		case of != "" && len(p.Schema.Enum()) == 0:
			schema := p.Schema
			if schema.Type() == "array" {
				schema = schema.Items()
			}
			o.needs = append(o.needs, &need{of: o, in: "body", at: place, name: p.Name, resource: of, schema: schema, required: p.Required})
		case p.Required:
			b.bodyNeeds(o, p.Schema, place, depth+1)
		}
	}
}

// needAt returns the need at a place of the body or among the parameters, or nil.
func (o *operation) needAt(in, at string) *need {
	i := slices.IndexFunc(o.needs, func(n *need) bool { return n.in == in && n.at == at })
	if i < 0 {
		return nil
	}
	return o.needs[i]
}
