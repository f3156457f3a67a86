package mock

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/internal/fit"
)

const (
	schemaDepth  = 64     // levels of a schema
	schemaShapes = 5000   // parts of a schema
	schemaSize   = 50_000 // largest minimum of an array's items or a text's characters
	schemasKept  = 256
)

// schema is a JSON Schema in a form that documents can be made from.
type schema struct {
	root *form
	// check validates documents if the form does not guarantee a match.
	check *fit.Schema
}

// schemas caches schemas by their text. The zero value is empty.
type schemas struct {
	mu    sync.Mutex
	known map[string]*schema
}

// of returns the schema of a response format.
func (s *schemas) of(f format) (*schema, *apiError) {
	key := fmt.Sprint(f.strict) + string(f.schema)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known[key]; known != nil {
		return known, nil
	}
	read, err := readSchema(f.schema, f.strict)
	if err != nil {
		return nil, invalid(f.param, "", "Invalid schema for response_format '%s': %s", f.name, err)
	}
	if s.known == nil || len(s.known) >= schemasKept {
		s.known = map[string]*schema{}
	}
	s.known[key] = read
	return read, nil
}

// fitting returns a document that fits a schema.
func (s *schemas) fitting(raw json.RawMessage, key draw.Key, t *talk) (string, error) {
	of, no := s.of(format{schema: raw, param: "tools"})
	if no != nil {
		return "", errors.New(no.Message)
	}
	return of.document(key, t)
}

// schemaError is an error in a schema and its place.
type schemaError struct{ at, problem string }

func (e *schemaError) Error() string { return "In " + e.at + ": " + e.problem }

// schemaReader converts a schema into forms.
type schemaReader struct {
	whole    json.RawMessage
	strict   bool
	doubtful bool             // documents need a check
	byRef    map[string]*form // forms of $ref
	forms    []*form
	problems []error
}

// readSchema reads a schema. The error names everything that is wrong with it.
func readSchema(raw json.RawMessage, strict bool) (*schema, error) {
	r := &schemaReader{whole: raw, strict: strict, byRef: map[string]*form{}}
	root := r.read(raw, "#", 0)
	if strict && root.kind != formObject && len(r.problems) == 0 {
		r.problem("#", "the root of a strict schema must be an object, not a choice and not a $ref")
	}
	settleDepths(r.forms)
	if root.depth == endless && len(r.problems) == 0 {
		r.problem("#", "no finite document matches")
	}
	if err := errors.Join(r.problems...); err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	s := &schema{root: root}
	if r.doubtful {
		check, err := fit.Compile(raw)
		if err != nil {
			return nil, err
		}
		s.check = check
	}
	return s, nil
}

func (r *schemaReader) problem(at, format string, args ...any) *form {
	r.problems = append(r.problems, &schemaError{at, fmt.Sprintf(format, args...)})
	return r.form(formNothing)
}

func (r *schemaReader) form(kind formKind) *form {
	s := &form{kind: kind}
	r.forms = append(r.forms, s)
	return s
}

// constraints are the keywords that restrict documents. The value tells whether forms support them.
var constraints = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`$ref anyOf oneOf allOf type enum const properties required additionalProperties items
		minItems maxItems uniqueItems minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf`) {
		all[word] = true
	}
	for word := range strings.FieldsSeq(`not if then else patternProperties propertyNames minProperties maxProperties unevaluatedProperties
		unevaluatedItems contains minContains maxContains prefixItems additionalItems dependentRequired dependentSchemas dependencies
		$dynamicRef $recursiveRef $anchor $dynamicAnchor $recursiveAnchor`) {
		all[word] = false
	}
	return all
}()

// node is one schema within a schema.
type node struct {
	at      string
	depth   int
	members map[string]json.RawMessage
}

// read makes the form of the schema at a JSON pointer.
func (r *schemaReader) read(raw json.RawMessage, at string, depth int) *form {
	if depth > schemaDepth || len(r.forms) > schemaShapes {
		return r.problem(at, "the schema has more than %d levels or %d parts", schemaDepth, schemaShapes)
	}
	switch string(raw) {
	case "true":
		return r.anything()
	case "false":
		return r.form(formNothing)
	}
	n := node{at: at, depth: depth}
	if err := json.Unmarshal(raw, &n.members); err != nil || n.members == nil {
		return r.problem(at, "a schema must be an object, not %s", kindOf(raw))
	}
	for _, word := range slices.Sorted(maps.Keys(n.members)) {
		if known, constrains := constraints[word]; constrains && !known {
			r.problem(at, "the mock does not support '%s'", word)
		}
	}
	if _, based := n.members["$id"]; based && depth > 0 {
		return r.problem(at, "'$id' is allowed at the root only")
	}
	for _, word := range []string{"$ref", "anyOf", "oneOf", "allOf"} {
		if _, ok := n.members[word]; ok {
			return r.combined(n, word)
		}
	}
	return r.plain(n)
}

// anything returns the form of an unrestricted value: a text.
func (r *schemaReader) anything() *form {
	s := r.form(formText)
	s.text = &textRule{most: schemaSize}
	return s
}

// combined reads a schema that combines others.
func (r *schemaReader) combined(n node, word string) *form {
	for _, other := range slices.Sorted(maps.Keys(n.members)) {
		if constraints[other] && other != word {
			return r.problem(n.at, "the mock does not support '%s' next to '%s'", other, word)
		}
	}
	if word == "$ref" {
		return r.ref(n)
	}
	var branches []json.RawMessage
	if !r.into(n, word, "a list of schemas", &branches) {
		return r.form(formNothing)
	}
	if len(branches) == 0 || word == "allOf" && len(branches) > 1 {
		return r.problem(n.at, "'%s' has %d schemas; it needs at least 1, and 'allOf' exactly 1", word, len(branches))
	}
	r.doubtful = r.doubtful || word == "oneOf"
	s := r.form(formChoice)
	for i, branch := range branches {
		s.choices = append(s.choices, r.read(branch, fmt.Sprintf("%s/%s/%d", n.at, word, i), n.depth+1))
	}
	return s
}

// into decodes the value of a keyword, if it is present and of the right type.
func (r *schemaReader) into(n node, word, want string, into any) bool {
	raw, ok := n.members[word]
	if !ok {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil || string(raw) == "null" {
		r.problem(n.at, "'%s' is %s; it must be %s", word, kindOf(raw), want)
		return false
	}
	return true
}

// has reports whether a schema has one of the keywords.
func (n node) has(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { _, ok := n.members[word]; return ok })
}

// plain reads a schema that does not combine others.
func (r *schemaReader) plain(n node) *form {
	types := r.types(n)
	if n.has("enum", "const") {
		return r.fixed(n, types)
	}
	if len(types) == 0 {
		return r.untyped(n)
	}
	if len(types) == 1 {
		return r.typed(n, types[0])
	}
	s := r.form(formChoice)
	for _, one := range types {
		s.choices = append(s.choices, r.typed(n, one))
	}
	return s
}

// types reads one type or a list of them.
func (r *schemaReader) types(n node) (types []string) {
	if raw := n.members["type"]; raw != nil && raw[0] == '[' {
		r.into(n, "type", "a list of strings", &types)
		if len(types) == 0 {
			r.problem(n.at, "'type' is an empty list")
		}
		return types
	}
	var one string
	if r.into(n, "type", "a string or a list of strings", &one) {
		types = append(types, one)
	}
	return types
}

// untyped reads a schema without a type. Its keywords imply the type.
func (r *schemaReader) untyped(n node) *form {
	switch {
	case n.has("properties", "required", "additionalProperties"):
		return r.typed(n, "object")
	case n.has("items", "minItems", "maxItems", "uniqueItems"):
		return r.typed(n, "array")
	case n.has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
		return r.typed(n, "number")
	default:
		return r.typed(n, "string")
	}
}

func (r *schemaReader) typed(n node, kind string) *form {
	switch kind {
	case "object":
		return r.object(n)
	case "array":
		return r.array(n)
	case "string":
		return r.textual(n)
	case "number", "integer":
		return r.numeric(n, kind == "integer")
	case "boolean":
		return r.oneOfValues("true", "false")
	case "null":
		return r.oneOfValues("null")
	default:
		return r.problem(n.at, "unknown type '%s'; use object, array, string, number, integer, boolean or null", kind)
	}
}

func (r *schemaReader) oneOfValues(values ...string) *form {
	s := r.form(formValue)
	s.values = values
	return s
}
