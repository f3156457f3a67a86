package apimock

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine/openapi"
)

// api is what the mock knows of a document.
type api struct {
	routes    map[string]*route
	resources map[string]*resource // by the path of the collection
}

// role is what an operation does.
type role uint8

const (
	other role = iota
	create
	list
	read
	update
	remove
)

// route is an operation and what the mock does for it.
type route struct {
	op       *openapi.Operation
	role     role
	resource *resource // of all roles but other
	status   int
	answer   *openapi.Schema // nil for an answer without a body
	at       []string        // where the answer has the item, or the list
	public   bool            // it may be a login

	once     sync.Once
	response *openapi.Validator // nil if the schema cannot be compiled
	request  *openapi.Validator
	bodyID   string // the property of the body that identifies an item; "" without one
}

// compile compiles the schemas when the operation is first called.
func (r *route) compile() {
	r.once.Do(func() {
		if r.answer != nil {
			r.response, _ = r.answer.Compile(openapi.OfResponse) // an answer that cannot be checked is sent as it is
		}
		if r.op.Body == nil {
			return
		}
		if r.resource != nil {
			r.bodyID = r.resource.idOf(jsonOf(r.op.Body))
		}
		for _, m := range r.op.Body.Media {
			if m.Schema != nil {
				r.request, _ = m.Schema.Compile(openapi.OfRequest)
				return
			}
		}
	})
}

func newAPI(d *openapi.Document) *api {
	a := &api{routes: map[string]*route{}, resources: map[string]*resource{}}
	for _, op := range d.Operations {
		if path, name := above(op.Path); name != "" && a.resources[path] == nil {
			r := &resource{path: path, name: name}
			for _, p := range op.Parameters {
				if p.In == "path" && p.Name == name {
					r.param = p.Schema
				}
			}
			if r.param != nil && len(r.param.Enum()) > 0 {
				continue // one of a few, not of many
			}
			a.resources[path] = r
		}
	}
	for _, op := range d.Operations {
		a.describe(op)
	}
	for _, op := range d.Operations {
		a.routes[op.Key()] = a.route(op)
	}
	return a
}

// above returns the path of the collection and the name of the parameter of a path that ends in one.
func above(path string) (collection, name string) {
	i := strings.LastIndexByte(path, '/')
	last := path[i+1:]
	if i < 0 || !strings.HasPrefix(last, "{") || !strings.HasSuffix(last, "}") || strings.Count(last, "{") > 1 {
		return "", ""
	}
	return path[:i], last[1 : len(last)-1]
}

// success returns the first good answer, a 201 of a POST before others.
func success(op *openapi.Operation) (status int, schema *openapi.Schema) {
	status = 200
	found := false
	for _, r := range op.Responses {
		code, err := strconv.Atoi(strings.ReplaceAll(r.Status, "X", "0"))
		if err != nil || code/100 != 2 || found && code != 201 {
			continue
		}
		found, status, schema = true, code, nil
		if m := openapi.JSON(r.Media); m != nil {
			schema = m.Schema
		}
	}
	if !found {
		for _, r := range op.Responses {
			if m := openapi.JSON(r.Media); r.Status == "default" && m != nil {
				schema = m.Schema
			}
		}
	}
	return status, schema
}

// describe learns what a collection contains from the answers of its operations.
func (a *api) describe(op *openapi.Operation) {
	path, _ := above(op.Path)
	r := a.resources[path]
	_, schema := success(op)
	if schema == nil || op.Method == "DELETE" {
		return
	}
	if r == nil {
		if r = a.resources[op.Path]; r == nil {
			return
		}
		if op.Method == "GET" {
			at, items := listAt(schema)
			if at == nil {
				return
			}
			schema = items
		}
	}
	if of, id := r.itemIn(schema); id != "" && (r.schema == nil || len(of.Properties()) > len(r.schema.Properties())) {
		r.schema, r.id = of, id
	}
}

// itemIn finds the object with the identifier in a schema: itself, or one of its properties.
func (r *resource) itemIn(s *openapi.Schema) (*openapi.Schema, string) {
	if id := r.idOf(s); id != "" {
		return s, id
	}
	for _, p := range s.Properties() {
		if p.Schema.Type() == "object" {
			if id := r.idOf(p.Schema); id != "" {
				return p.Schema, id
			}
		}
	}
	return nil, ""
}

func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// idOf returns the property of an object that identifies it, or "".
func (r *resource) idOf(s *openapi.Schema) string {
	noun := strings.TrimSuffix(plain(r.path[strings.LastIndexByte(r.path, '/')+1:]), "s")
	names := []string{plain(r.name), "id", noun + "id", "uuid", "key", "slug", "code"}
	if plain(r.name) == "id" {
		names = names[1:]
	}
	for _, want := range names {
		for _, p := range s.Properties() {
			if t := p.Schema.Type(); plain(p.Name) == want && t != "object" && t != "array" {
				return p.Name
			}
		}
	}
	return ""
}

// listAt returns where a schema has its list, and the schema of the items; at is nil if it has none.
func listAt(s *openapi.Schema) (at []string, items *openapi.Schema) {
	if s.Type() == "array" {
		return []string{}, s.Items()
	}
	for _, p := range s.Properties() {
		if p.Schema.Type() == "array" {
			if at != nil {
				return nil, nil
			}
			at, items = []string{p.Name}, p.Schema.Items()
		}
	}
	return at, items
}

// route decides what an operation does.
func (a *api) route(op *openapi.Operation) *route {
	r := &route{op: op, public: op.Public()}
	r.status, r.answer = success(op)
	path, name := above(op.Path)
	if name != "" && a.resources[path] != nil {
		r.resource = a.resources[path]
		switch op.Method {
		case "GET", "HEAD":
			r.role = read
		case "PUT", "PATCH", "POST":
			r.role = update
		case "DELETE":
			r.role = remove
		}
		r.at = r.resource.whereIn(r.answer)
		return r
	}
	if r.resource = a.resources[op.Path]; r.resource == nil {
		return a.byItems(r)
	}
	switch op.Method {
	case "POST":
		r.role, r.at = create, r.resource.whereIn(r.answer)
	case "GET", "HEAD":
		if at, _ := listAt(r.answer); at != nil {
			r.role, r.at = list, at
		}
	case "PUT", "PATCH":
		if body := jsonOf(op.Body); body != nil && r.resource.idOf(body) != "" {
			r.role, r.at = update, r.resource.whereIn(r.answer)
		}
	}
	return r
}

// byItems lets a GET that returns things of a collection list them: GET /pet/findByStatus.
func (a *api) byItems(r *route) *route {
	at, items := listAt(r.answer)
	if r.op.Method != "GET" || at == nil || strings.Contains(r.op.Path, "{") {
		return r
	}
	for _, of := range a.resources {
		if of.schema.Same(items) && !strings.Contains(of.path, "{") && (r.resource == nil || of.path < r.resource.path) {
			r.role, r.at, r.resource = list, at, of
		}
	}
	return r
}

func jsonOf(body *openapi.Body) *openapi.Schema {
	if body == nil {
		return nil
	}
	if m := openapi.JSON(body.Media); m != nil {
		return m.Schema
	}
	return nil
}

// whereIn returns where a schema has the item; nil if it does not.
func (r *resource) whereIn(s *openapi.Schema) []string {
	if s == nil {
		return nil
	}
	if r.idOf(s) != "" {
		return []string{}
	}
	for _, p := range s.Properties() {
		if p.Schema.Type() == "object" && r.idOf(p.Schema) != "" {
			return []string{p.Name}
		}
	}
	return nil
}

// parents returns the collections that a path leads through, without its own, from the top.
func (a *api) parents(path string) []*resource {
	var all []*resource
	for i := range path {
		if path[i] != '}' || i == len(path)-1 {
			continue
		}
		if above, name := above(path[:i+1]); name != "" && a.resources[above] != nil && a.resources[above].id != "" {
			all = append(all, a.resources[above])
		}
	}
	return slices.Clip(all)
}
