package mock

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/mock/fraction"
)

// fixed reads enum and const. It ignores values of another type.
func (r *schemaReader) fixed(n node, types []string) *form {
	var values []json.RawMessage
	if n.has("enum") && !r.into(n, "enum", "a list", &values) {
		return r.form(formNothing)
	}
	if value, ok := n.members["const"]; ok {
		r.doubtful = r.doubtful || n.has("enum")
		values = []json.RawMessage{value}
	}
	for word := range n.members {
		r.doubtful = r.doubtful || constraints[word] && word != "enum" && word != "const" && word != "type"
	}
	s := r.form(formValue)
	for _, value := range values {
		if len(types) == 0 || slices.ContainsFunc(types, func(kind string) bool { return isOf(value, kind) }) {
			s.values = append(s.values, string(value))
		}
	}
	if len(s.values) == 0 {
		return r.problem(n.at, "no value of 'enum' or 'const' is of the type")
	}
	return s
}

// isOf reports whether a JSON value is of a type.
func isOf(value json.RawMessage, kind string) bool {
	switch kindOf(value) {
	case "an object":
		return kind == "object"
	case "an array":
		return kind == "array"
	case "a string":
		return kind == "string"
	case "a boolean":
		return kind == "boolean"
	case "null":
		return kind == "null"
	default:
		n, err := fraction.Read(string(value))
		return kind == "number" || kind == "integer" && err == nil && n.IsInt()
	}
}

func (r *schemaReader) object(n node) *form {
	s := r.form(formObject)
	var required []string
	r.into(n, "required", "a list of strings", &required)
	names, schemas, ok := r.properties(n)
	if !ok {
		return s
	}
	for i, name := range names {
		text := string(encode(name))
		inner := r.read(schemas[i], n.at+"/properties/"+name, n.depth+1)
		s.fields = append(s.fields, field{text, inner, slices.Contains(required, name)})
		if r.strict && !slices.Contains(required, name) {
			r.problem(n.at, "'required' must contain every key in properties. Missing '%s'", name)
		}
	}
	extra := r.additional(n)
	for _, name := range required {
		if !slices.Contains(names, name) {
			names = append(names, name)
			s.fields = append(s.fields, field{string(encode(name)), extra, true})
		}
	}
	if len(names) == 0 && n.has("additionalProperties") && string(n.members["additionalProperties"]) != "true" {
		s.extra = extra
	}
	return s
}

// additional reads the schema of members without a schema of their own.
func (r *schemaReader) additional(n node) *form {
	raw, ok := n.members["additionalProperties"]
	if r.strict && string(raw) != "false" {
		r.problem(n.at, "'additionalProperties' must be present and false")
	}
	if !ok {
		return r.anything()
	}
	return r.read(raw, n.at+"/additionalProperties", n.depth+1)
}

// properties reads names and schemas in the order of the file. The last of two with the same name counts.
func (r *schemaReader) properties(n node) (names []string, schemas []json.RawMessage, ok bool) {
	var members map[string]json.RawMessage
	if !n.has("properties") {
		return nil, nil, true
	}
	if !r.into(n, "properties", "an object", &members) {
		return nil, nil, false
	}
	d := json.NewDecoder(bytes.NewReader(n.members["properties"]))
	_, err := d.Token() // the brace
	for err == nil && d.More() {
		var name json.Token
		var skipped json.RawMessage
		if name, err = d.Token(); err != nil {
			break
		}
		if text := name.(string); !slices.Contains(names, text) {
			names, schemas = append(names, text), append(schemas, members[text])
		}
		err = d.Decode(&skipped)
	}
	return names, schemas, err == nil
}

func (r *schemaReader) array(n node) *form {
	s := r.form(formArray)
	s.least, s.most = r.sizes(n, "minItems", "maxItems")
	var unique bool
	r.into(n, "uniqueItems", "a boolean", &unique)
	r.doubtful = r.doubtful || unique
	if n.has("items") {
		s.items = r.read(n.members["items"], n.at+"/items", n.depth+1)
	} else {
		s.items = r.anything()
	}
	if s.least > s.most {
		return r.problem(n.at, "'minItems' is larger than 'maxItems'")
	}
	return s
}

// sizes reads the bounds of a size. The default upper bound is schemaSize.
func (r *schemaReader) sizes(n node, leastWord, mostWord string) (least, most int) {
	most = schemaSize
	if least = r.size(n, leastWord, 0); least > schemaSize {
		r.problem(n.at, "'%s' is %d; the mock supports up to %d", leastWord, least, schemaSize)
		return 0, most
	}
	return least, min(most, r.size(n, mostWord, schemaSize))
}

func (r *schemaReader) size(n node, word string, usual int) int {
	var size float64
	if !r.into(n, word, "a number", &size) {
		return usual
	}
	if size < 0 || size != math.Trunc(size) {
		r.problem(n.at, "'%s' is %v; it must be a whole number of at least 0", word, size)
		return usual
	}
	return int(min(size, 2*schemaSize))
}

func (r *schemaReader) textual(n node) *form {
	s := r.form(formText)
	s.text = &textRule{}
	s.text.least, s.text.most = r.sizes(n, "minLength", "maxLength")
	r.into(n, "format", "a string", &s.text.format)
	var pattern string
	if r.into(n, "pattern", "a string", &pattern) {
		if err := s.text.follow(pattern); err != nil {
			return r.problem(n.at, "'pattern': %s", err)
		}
	}
	if s.text.least > s.text.most {
		return r.problem(n.at, "'minLength' is larger than 'maxLength'")
	}
	return s
}

// follow makes the text match a pattern.
func (t *textRule) follow(pattern string) (err error) {
	if t.match, err = regexp.Compile(pattern); err != nil {
		return errors.New("the mock does not support look-around or back references")
	}
	t.tree, err = syntax.Parse(pattern, syntax.Perl)
	return err
}

func (r *schemaReader) numeric(n node, whole bool) *form {
	s := r.form(formNumber)
	s.number = &numberRule{whole: whole}
	s.number.least, s.number.most = r.fraction(n, "minimum"), r.fraction(n, "maximum")
	if open := r.fraction(n, "exclusiveMinimum"); open != nil && (s.number.least == nil || open.Cmp(s.number.least) >= 0) {
		s.number.least, s.number.openLeast = open, true
	}
	if open := r.fraction(n, "exclusiveMaximum"); open != nil && (s.number.most == nil || open.Cmp(s.number.most) <= 0) {
		s.number.most, s.number.openMost = open, true
	}
	s.number.multipleOf = r.fraction(n, "multipleOf")
	if m := s.number.multipleOf; m != nil && m.Sign() <= 0 {
		return r.problem(n.at, "'multipleOf' must be larger than 0")
	}
	if err := s.number.settle(); err != nil {
		return r.problem(n.at, "%s", err)
	}
	return s
}

// fraction reads a number; nil if absent.
func (r *schemaReader) fraction(n node, word string) *big.Rat {
	var text json.Number
	if raw := n.members[word]; raw != nil && raw[0] == '"' {
		r.problem(n.at, "'%s' is %s; it must be a number", word, strconv.Quote(string(raw)))
		return nil
	}
	if !r.into(n, word, "a number", &text) {
		return nil
	}
	value, err := fraction.Read(string(text))
	if err != nil {
		r.problem(n.at, "'%s': %s", word, err)
	}
	return value
}

// ref reads the target of a pointer within the schema, once.
func (r *schemaReader) ref(n node) *form {
	var pointer string
	if !r.into(n, "$ref", "a string", &pointer) {
		return r.form(formNothing)
	}
	s := r.byRef[pointer]
	if s != nil {
		return s
	}
	target, ok := lookUp(r.whole, pointer)
	if !ok {
		return r.problem(n.at, "'$ref' %q does not exist in the schema; use a pointer such as #/$defs/NAME", pointer)
	}
	s = r.form(formChoice)
	r.byRef[pointer] = s // the target may refer to itself
	s.choices = []*form{r.read(target, pointer, n.depth+1)}
	return s
}

// lookUp follows a JSON pointer in a fragment (RFC 6901).
func lookUp(raw json.RawMessage, pointer string) (json.RawMessage, bool) {
	if pointer == "#" {
		return raw, true
	}
	path, ok := strings.CutPrefix(pointer, "#/")
	if !ok || strings.ContainsRune(path, '%') {
		return nil, false
	}
	for step := range strings.SplitSeq(path, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) == nil {
			raw, ok = members[step]
		} else {
			raw, ok = element(raw, step)
		}
		if !ok {
			return nil, false
		}
	}
	return raw, true
}

// element returns an element of a list, by its number.
func element(raw json.RawMessage, step string) (json.RawMessage, bool) {
	var list []json.RawMessage
	i, err := parseCount(step)
	if err != nil || json.Unmarshal(raw, &list) != nil || i >= len(list) {
		return nil, false
	}
	return list[i], true
}
