package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
)

// translate makes an OpenAPI 3 document of a Swagger 2 document, one operation at a time. Definitions stay as they are: what the two
// versions have in common is all that is read of them.
func (d *Document) translate(root *node) {
	t := &translator{document: d, root: root, components: &openapi3.Components{}}
	t.old.Definitions = map[string]*openapi2.SchemaRef{}
	t.shared()
	out := *root
	out.members = []member{
		{"info", root.get("info")},
		{"security", root.get("security")},
		{"definitions", root.get("definitions")},
		{"servers", t.servers()},
		{"paths", t.paths()},
		{"components", t.section(
			member{"schemas", root.get("definitions")},
			member{"parameters", made(t, t.components.Parameters)},
			member{"requestBodies", made(t, t.components.RequestBodies)},
			member{"responses", made(t, t.components.Responses)},
			member{"securitySchemes", made(t, t.components.SecuritySchemes)},
		)},
	}
	d.main.root = &out
}

type translator struct {
	document   *Document
	root       *node
	old        openapi2.T
	components *openapi3.Components
}

func (t *translator) section(members ...member) *node {
	return &node{kind: object, file: t.document.main, members: slices.DeleteFunc(members, func(m member) bool { return m.value == nil })}
}

// servers are the addresses of a Swagger document.
func (t *translator) servers() *node {
	list := &node{kind: array, file: t.document.main}
	base := "/" + strings.Trim(t.root.get("basePath").text(), "/")
	add := func(address string) {
		text := &node{file: t.document.main, value: address}
		list.items = append(list.items, t.section(member{"url", text}))
	}
	host := t.root.get("host").text()
	switch schemes := t.root.get("schemes").texts(); {
	case host == "" && base == "/":
	case host == "":
		add(base)
	case len(schemes) == 0:
		add("https://" + host + base)
	default:
		for _, s := range schemes {
			add(s + "://" + host + base)
		}
	}
	return list
}

// shared translates what operations share.
func (t *translator) shared() {
	t.old.Consumes, t.old.Produces = t.root.get("consumes").texts(), t.root.get("produces").texts()
	t.components.Schemas = openapi3.Schemas{}
	for name := range t.root.get("definitions").all() { // the translation looks up whether a reference is a definition
		t.old.Definitions[name] = &openapi2.SchemaRef{Value: &openapi2.Schema{}}
	}
	t.old.Parameters, t.components.Parameters = map[string]*openapi2.Parameter{}, openapi3.ParametersMap{}
	t.components.RequestBodies = openapi3.RequestBodies{}
	for name, p := range decoded[openapi2.Parameter](t, "parameters") {
		parameter, body, _, err := openapi2conv.ToV3Parameter(t.components, p, t.old.Consumes)
		switch {
		case err != nil:
			t.ignored("parameters", name, err)
			continue
		case body != nil:
			t.components.RequestBodies[name] = body
		case parameter != nil:
			t.components.Parameters[name] = parameter
		}
		t.old.Parameters[name] = p
	}
	t.components.Responses = openapi3.ResponseBodies{}
	for name, r := range decoded[openapi2.Response](t, "responses") {
		response, err := openapi2conv.ToV3Response(r, t.old.Produces)
		if err != nil {
			t.ignored("responses", name, err)
			continue
		}
		t.components.Responses[name] = response
	}
	t.components.SecuritySchemes = openapi3.SecuritySchemes{}
	for name, s := range decoded[openapi2.SecurityScheme](t, "securityDefinitions") {
		scheme, err := openapi2conv.ToV3SecurityScheme(s)
		if err != nil {
			t.ignored("securityDefinitions", name, err)
			continue
		}
		t.components.SecuritySchemes[name] = scheme
	}
}

func (t *translator) ignored(section, name string, err error) {
	t.document.problem(nil, t.root.get(section).get(name), "%q of `%s` is ignored: %s", short(name), section, firstLine(err))
}

// decoded decodes the members of a section, each by itself.
func decoded[T any](t *translator, section string) map[string]*T {
	all := map[string]*T{}
	for name, n := range t.root.get(section).all() {
		v := new(T)
		if err := decode(n.plain(), v); err != nil {
			t.ignored(section, name, err)
			continue
		}
		all[name] = v
	}
	return all
}

func decode(plain, to any) error {
	text, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// paths translates all operations.
func (t *translator) paths() *node {
	raw := t.root.get("paths")
	if !raw.is(object) {
		return raw
	}
	out := *raw
	out.members = nil
	for template, item := range raw.all() {
		followed, err := t.document.deref(item)
		if err != nil || !followed.is(object) {
			out.members = append(out.members, member{template, item}) // reported like any other
			continue
		}
		path := *followed
		path.members = nil
		for method, op := range operationsOf(followed) {
			n, err := t.operation(method, op, followed.get("parameters"))
			if err != nil {
				t.document.note(Problem{
					Operation: strings.ToUpper(method) + " " + short(template), Line: int(op.line), Col: int(op.col), Text: firstLine(err), LeftOut: true,
				})
				continue
			}
			n.line, n.col = op.line, op.col
			path.members = append(path.members, member{method, n})
		}
		out.members = append(out.members, member{template, &path})
	}
	return &out
}

// operation translates one operation. The library panics on some that are wrong.
func (t *translator) operation(method string, op, parameters *node) (n *node, err error) {
	defer func() {
		if v := recover(); v != nil {
			n, err = nil, fmt.Errorf("it cannot be translated to OpenAPI 3: %v", v)
		}
	}()
	plain := map[string]any{method: op.plain()}
	if parameters != nil {
		plain["parameters"] = parameters.plain()
	}
	var item openapi2.PathItem
	if err := decode(plain, &item); err != nil {
		return nil, err
	}
	translated, err := openapi2conv.ToV3PathItem(&t.old, t.components, &item, t.old.Consumes)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(translated)
	if err != nil {
		return nil, err
	}
	path, err := parse(text, t.document.main, func(int32, int32, string) {})
	if err != nil {
		return nil, err
	}
	if n = path.get(method); n == nil {
		return nil, fmt.Errorf("%s cannot be translated to OpenAPI 3", strings.ToUpper(method))
	}
	if list := path.get("parameters"); list != nil {
		n.members = append(n.members, member{"parameters", merged(list, n.get("parameters"))})
		n = n.keep(func(string) bool { return true })
		slices.Reverse(n.members) // the last one counts
	}
	settle(n, op.line, op.col)
	return n, nil
}

// merged joins two lists.
func merged(a, b *node) *node {
	c := *a
	c.items = append(slices.Clone(a.items), b.list()...)
	return &c
}

// settle sets the position of translated nodes to that of their operation.
func settle(n *node, line, col int32) {
	n.line, n.col = line, col
	for _, v := range n.all() {
		settle(v, line, col)
	}
	for _, item := range n.items {
		settle(item, line, col)
	}
}

// made writes a section of the translation as a node, in alphabetical order.
func made[V any, M ~map[string]V](t *translator, section M) *node {
	out := t.section()
	for _, name := range slices.Sorted(maps.Keys(section)) {
		text, err := json.Marshal(section[name])
		if err != nil {
			continue
		}
		if n, err := parse(text, t.document.main, func(int32, int32, string) {}); err == nil {
			out.members = append(out.members, member{name, n})
		}
	}
	return out
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return short(line)
}
