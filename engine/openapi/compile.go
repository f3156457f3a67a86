package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Direction is where a document goes: properties that are only read or only written are not required in the other direction.
type Direction bool

// The directions.
const (
	OfResponse Direction = false
	OfRequest  Direction = true
)

// Validator checks JSON documents against a schema. It is safe for concurrent use.
type Validator struct{ compiled *jsonschema.Schema }

// noLoader is a loader that loads nothing.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not in the document", url)
}

// bundleName is the address of a compiled schema. It is never requested.
const bundleName = "https://schema.invalid/openapi"

// Compile makes a validator of a schema. References that lead nowhere, and keywords with values of a wrong type, are left out, so that
// the rest is checked.
func (s *Schema) Compile(to Direction) (*Validator, error) {
	b := &bundle{document: s.document, to: to, numbers: map[*node]int{}}
	root := b.ref(s.node)
	defs := map[string]any{}
	for i := 0; i < len(b.queue); i++ {
		if i > maxBundled {
			return nil, fmt.Errorf("the schema consists of more than %d others", maxBundled)
		}
		defs[strconv.Itoa(i)] = b.schema(b.queue[i])
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(bundleName, map[string]any{"$ref": root, "$defs": defs}); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(bundleName)
	if err != nil {
		return nil, errors.New(describe(err))
	}
	return &Validator{compiled}, nil
}

// maxBundled bounds how many schemas one refers to.
const maxBundled = 20_000

// bundle collects a schema and all that it refers to.
type bundle struct {
	document *Document
	to       Direction
	numbers  map[*node]int
	queue    []*node
}

func (b *bundle) ref(n *node) string {
	i, ok := b.numbers[n]
	if !ok {
		i = len(b.queue)
		b.numbers[n] = i
		b.queue = append(b.queue, n)
	}
	return "#/$defs/" + strconv.Itoa(i)
}

// Keywords by what their values are.
var (
	subschemas   = []string{"not", "if", "then", "else", "items", "contains", "propertyNames", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"}
	schemaLists  = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaMaps   = []string{"properties", "patternProperties", "dependentSchemas"}
	countsOf     = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
	numbersOf    = []string{"minimum", "maximum"}
	schemaTypes  = []string{"string", "number", "integer", "boolean", "object", "array", "null"}
	neverChecked = true // what `true` says as a schema
)

// schema writes a schema as JSON Schema 2020-12.
func (b *bundle) schema(n *node) any {
	if v, ok := n.value.(bool); ok && n.is(scalar) {
		return v
	}
	if !n.is(object) {
		return neverChecked
	}
	out := map[string]any{}
	if ref := n.get("$ref").text(); ref != "" {
		to, err := b.document.follow(ref, n.file)
		if err != nil {
			return neverChecked
		}
		out["$ref"] = b.ref(to)
		if b.document.old { // keywords next to a reference do not count
			return out
		}
	}
	b.nested(n, out)
	b.values(n, out)
	if b.document.old && (n.get("nullable").truth() || n.get("x-nullable").truth()) {
		return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, out}}
	}
	return out
}

// nested writes the keywords that contain schemas.
func (b *bundle) nested(n *node, out map[string]any) {
	for _, key := range subschemas {
		if v := n.get(key); v.is(object) || v.is(scalar) && v.value == true || v.is(scalar) && v.value == false {
			out[key] = b.schema(v)
		}
	}
	for _, key := range schemaLists {
		var list []any
		for _, item := range n.get(key).list() {
			list = append(list, b.schema(item))
		}
		if len(list) > 0 {
			out[key] = list
		}
	}
	for _, key := range schemaMaps {
		members := map[string]any{}
		for name, v := range n.get(key).all() {
			if key == "patternProperties" && !compiles(name) {
				continue
			}
			members[name] = b.schema(v)
		}
		if len(members) > 0 {
			out[key] = members
		}
	}
}

// values writes the other keywords.
func (b *bundle) values(n *node, out map[string]any) {
	types := slices.DeleteFunc(n.get("type").texts(), func(t string) bool { return !slices.Contains(schemaTypes, t) })
	slices.Sort(types)
	if types = slices.Compact(types); len(types) > 0 && len(types) == max(len(n.get("type").list()), 1) {
		list := make([]any, len(types))
		for i, t := range types {
			list[i] = t
		}
		out["type"] = list
	}
	if c := n.get("const"); c != nil {
		out["const"] = c.plain()
	}
	if e := n.get("enum"); e.is(array) && len(e.items) > 0 {
		out["enum"] = e.plain()
	}
	if p := n.get("pattern").text(); p != "" && compiles(p) {
		out["pattern"] = p
	}
	if n.get("uniqueItems").truth() {
		out["uniqueItems"] = true
	}
	for _, key := range countsOf {
		if c := n.get(key).count(); c >= 0 {
			out[key] = c
		}
	}
	for _, key := range numbersOf {
		exclusive := "exclusive" + strings.ToUpper(key[:1]) + key[1:]
		limit, x := n.get(key).number(), n.get(exclusive)
		switch {
		case limit != nil && x.truth():
			out[exclusive] = *limit
		case limit != nil:
			out[key] = *limit
		}
		if f := x.number(); f != nil {
			out[exclusive] = *f
		}
	}
	if f := n.get("multipleOf").number(); f != nil && *f > 0 {
		out["multipleOf"] = *f
	}
	b.required(n, out)
}

// required writes which properties must be there.
func (b *bundle) required(n *node, out map[string]any) {
	list := []any{}
	for _, item := range n.get("required").list() {
		name := item.text()
		if name == "" || slices.Contains(list, any(name)) {
			continue
		}
		if of, err := b.document.deref(n.get("properties").get(name)); err == nil {
			if b.to == OfRequest && of.get("readOnly").truth() || b.to == OfResponse && of.get("writeOnly").truth() {
				continue
			}
		}
		list = append(list, name)
	}
	if len(list) > 0 {
		out["required"] = list
	}
}

// compiles reports whether a regular expression is one of Go's. Others, with look-ahead, say, are not checked.
func compiles(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}

// Check returns what is wrong with a JSON document, or nil.
func (v *Validator) Check(document []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return errors.New("it is not a JSON document")
	}
	return v.CheckValue(value)
}

// CheckValue returns what is wrong with a value of maps, lists and scalars, or nil.
func (v *Validator) CheckValue(value any) error {
	err := v.compiled.Validate(value)
	if err == nil {
		return nil
	}
	return errors.New(describe(err))
}

const (
	mostFaults = 3   // of a document that are described
	mostText   = 200 // bytes of the description of a fault: a document may have long names
)

var english = message.NewPrinter(language.English)

// describe says where a document is wrong and what was expected. It repeats no text of the document other than names, and those of its
// schema.
func describe(err error) string {
	if of, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		err = of.Err
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return short(err.Error())
	}
	return strings.Join(faults(invalid, nil), "; ")
}

// faults lists what is wrong. Of alternatives the first one is described that got furthest.
func faults(e *jsonschema.ValidationError, all []string) []string {
	if len(all) >= mostFaults {
		return all
	}
	causes := e.Causes
	if len(causes) > 1 && isAlternative(e) {
		deepest := causes[0]
		for _, c := range causes {
			if depth(c) > depth(deepest) {
				deepest = c
			}
		}
		causes = []*jsonschema.ValidationError{deepest}
	}
	for _, cause := range causes {
		all = faults(cause, all)
	}
	if len(causes) > 0 {
		return all
	}
	problem := explain(e)
	if at := place(e.InstanceLocation); at != "" {
		problem = at + ": " + problem
	}
	if len(problem) > mostText {
		problem = strings.ToValidUTF8(problem[:mostText], "") + "…"
	}
	if slices.Contains(all, problem) {
		return all
	}
	return append(all, problem)
}

func isAlternative(e *jsonschema.ValidationError) bool {
	path := e.ErrorKind.KeywordPath()
	return len(path) > 0 && (path[len(path)-1] == "anyOf" || path[len(path)-1] == "oneOf")
}

// depth is how deep in the document the deepest fault lies. A fault of the type says the least.
func depth(e *jsonschema.ValidationError) int {
	most := 2 * len(e.InstanceLocation)
	if path := e.ErrorKind.KeywordPath(); len(e.Causes) == 0 && (len(path) == 0 || path[len(path)-1] != "type") {
		most++
	}
	for _, c := range e.Causes {
		most = max(most, depth(c))
	}
	return most
}

// place writes the place in a document as an expression would: items[2].price
func place(location []string) string {
	var b strings.Builder
	for _, token := range location {
		switch _, err := strconv.Atoi(token); {
		case err == nil:
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + short(token))
		default:
			b.WriteString(short(token))
		}
	}
	return b.String()
}
