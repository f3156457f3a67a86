package openapi

import (
	"fmt"
	"slices"
	"sync"
)

// Schema describes a value. The parts of allOf are joined, and the first form of oneOf and anyOf that is not null counts. A schema may
// contain itself: callers that follow properties and items must bound the depth.
type Schema struct {
	// Name is the name of the schema in the document: "Basket"; "" for one without a name.
	Name string

	document *Document
	node     *node   // where it stands, references followed
	parts    []*node // the node and everything it is put together from

	listing    sync.Once
	properties []Property // once they were listed
}

// maxParts bounds how many schemas one is put together from.
const maxParts = 200

// schema reads a schema, once. It is an error if the schema itself is not there; parts of it that are missing are skipped.
func (d *Document) schema(raw *node) (*Schema, error) {
	if known, ok := d.schemas.Load(raw); ok {
		return known.(*Schema), nil //nolint:forcetypeassert // it has nothing else
	}
	n, name, err := d.named(raw)
	if err != nil {
		return nil, err
	}
	if _, ok := n.value.(bool); !n.is(object) && !ok {
		return nil, fmt.Errorf("it is %s, not an object", n.what())
	}
	s := &Schema{Name: name, document: d, node: n}
	s.collect(n)
	known, _ := d.schemas.LoadOrStore(raw, s)
	return known.(*Schema), nil //nolint:forcetypeassert // it has nothing else
}

// named follows references and returns the name of the component that they lead to.
func (d *Document) named(raw *node) (n *node, name string, err error) {
	n = raw
	for range maxChain {
		ref := n.get("$ref").text()
		if ref == "" {
			return n, name, nil
		}
		if name == "" {
			name = lastSegment(ref)
		}
		if n, err = d.follow(ref, n.file); err != nil {
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("%q refers to itself", short(raw.get("$ref").text()))
}

func lastSegment(ref string) string {
	for i := len(ref) - 1; i >= 0; i-- {
		if ref[i] == '/' || ref[i] == '#' {
			return ref[i+1:]
		}
	}
	return ref
}

// collect adds a node and what it is put together from.
func (s *Schema) collect(n *node) {
	if n == nil || len(s.parts) >= maxParts || slices.Contains(s.parts, n) {
		return
	}
	s.parts = append(s.parts, n)
	for _, raw := range n.get("allOf").list() {
		if part, name, err := s.document.named(raw); err == nil {
			if s.Name == "" && len(n.get("allOf").items) == 1 {
				s.Name = name
			}
			s.collect(part)
		}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for _, raw := range n.get(key).list() {
			part, name, err := s.document.named(raw)
			if err != nil || part.get("type").text() == "null" {
				continue
			}
			if s.Name == "" {
				s.Name = name
			}
			s.collect(part)
			break
		}
	}
}

// find returns the first value of a keyword.
func (s *Schema) find(key string) *node {
	if s == nil {
		return nil
	}
	for _, p := range s.parts {
		if v := p.get(key); v != nil {
			return v
		}
	}
	return nil
}

// Type returns the type: object, array, string, integer, number, boolean or null; "" if the schema does not say.
func (s *Schema) Type() string {
	for _, t := range s.find("type").texts() {
		if t != "null" {
			return t
		}
	}
	switch {
	case s == nil:
		return ""
	case s.find("properties") != nil:
		return "object"
	case s.find("items") != nil:
		return "array"
	case s.find("pattern") != nil || s.find("minLength") != nil:
		return "string"
	}
	if values := s.Enum(); len(values) > 0 {
		return typeOf(values[0])
	}
	return ""
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "number"
	}
	return ""
}

// Format returns the format: date-time, email, uuid, …
func (s *Schema) Format() string { return s.find("format").text() }

// Pattern returns the regular expression that a text must match.
func (s *Schema) Pattern() string { return s.find("pattern").text() }

// Media returns the content type of what a text contains.
func (s *Schema) Media() string { return s.find("contentMediaType").text() }

// Enum returns the values that are allowed; nil for any. A constant is a list of one.
func (s *Schema) Enum() []any {
	if c := s.find("const"); c != nil {
		return []any{c.plain()}
	}
	var all []any
	for _, v := range s.find("enum").list() {
		if v.value != nil || v.kind != scalar {
			all = append(all, v.plain())
		}
	}
	return all
}

// Examples returns the examples of the schema.
func (s *Schema) Examples() []any {
	var all []any
	if e := s.find("example"); e != nil {
		all = append(all, e.plain())
	}
	for _, e := range s.find("examples").list() {
		all = append(all, e.plain())
	}
	return all
}

// Default returns the default; nil if there is none.
func (s *Schema) Default() any { return s.find("default").plain() }

// ReadOnly reports whether only answers contain the value.
func (s *Schema) ReadOnly() bool { return s.find("readOnly").truth() }

// WriteOnly reports whether only requests contain the value.
func (s *Schema) WriteOnly() bool { return s.find("writeOnly").truth() }

// Range returns the bounds of a number, each nil if there is none, and the number that it must be a multiple of. An exclusive bound is
// moved inwards: by one for whole numbers, by a hundredth for others.
func (s *Schema) Range() (least, most, step *float64) {
	least, most, step = s.find("minimum").number(), s.find("maximum").number(), s.find("multipleOf").number()
	by := 0.01
	if s.Type() == "integer" {
		by = 1
	}
	if x := s.find("exclusiveMinimum"); x.truth() && least != nil {
		*least += by
	} else if f := x.number(); f != nil {
		*f += by
		least = f
	}
	if x := s.find("exclusiveMaximum"); x.truth() && most != nil {
		*most -= by
	} else if f := x.number(); f != nil {
		*f -= by
		most = f
	}
	return least, most, step
}

// Length returns how long a text must be and may be; most is -1 for any length.
func (s *Schema) Length() (least, most int) {
	return max(s.find("minLength").count(), 0), s.find("maxLength").count()
}

// Count returns how many items a list must have and may have; most is -1 for any number.
func (s *Schema) Count() (least, most int) {
	return max(s.find("minItems").count(), 0), s.find("maxItems").count()
}

// Unique reports whether the items of a list must differ.
func (s *Schema) Unique() bool { return s.find("uniqueItems").truth() }

// Items returns the schema of the items of a list, or nil.
func (s *Schema) Items() *Schema {
	items := s.find("items")
	if items == nil {
		if prefix := s.find("prefixItems").list(); len(prefix) > 0 {
			items = prefix[0]
		}
	}
	if items == nil {
		return nil
	}
	of, err := s.document.schema(items)
	if err != nil {
		return nil
	}
	return of
}

// Property is a property of an object.
type Property struct {
	Name     string
	Required bool
	Schema   *Schema // nil if it cannot be read
}

// Properties returns the properties of an object, those that are required first, otherwise in the order of the document. The caller
// must not change the list.
func (s *Schema) Properties() []Property {
	if s == nil {
		return nil
	}
	s.listing.Do(func() { s.properties = s.list() })
	return s.properties
}

func (s *Schema) list() []Property {
	required := map[string]bool{}
	for _, p := range s.parts {
		for _, name := range p.get("required").list() {
			required[name.text()] = true
		}
	}
	var first, rest []Property
	seen := map[string]bool{}
	for _, p := range s.parts {
		for name, raw := range p.get("properties").all() {
			if seen[name] {
				continue
			}
			seen[name] = true
			of, err := s.document.schema(raw)
			if err != nil {
				of = nil
			}
			if required[name] {
				first = append(first, Property{name, true, of})
			} else {
				rest = append(rest, Property{name, false, of})
			}
		}
	}
	return append(first, rest...)
}

// Property returns the schema of a property, or nil.
func (s *Schema) Property(name string) *Schema {
	if s == nil {
		return nil
	}
	for _, p := range s.parts {
		if raw := p.get("properties").get(name); raw != nil {
			if of, err := s.document.schema(raw); err == nil {
				return of
			}
		}
	}
	return nil
}

// Values returns the schema of the values of an object whose keys are free, or nil.
func (s *Schema) Values() *Schema {
	raw := s.find("additionalProperties")
	if !raw.is(object) {
		return nil
	}
	of, err := s.document.schema(raw)
	if err != nil {
		return nil
	}
	return of
}

// Empty reports whether the schema says nothing about the value.
func (s *Schema) Empty() bool {
	return s == nil || s.Type() == "" && len(s.parts) == 1 && s.node.get("oneOf") == nil && s.node.get("anyOf") == nil && s.node.get("not") == nil
}

// Same reports whether two schemas are the same one of the document.
func (s *Schema) Same(other *Schema) bool { return s != nil && other != nil && s.node == other.node }
