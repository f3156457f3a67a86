package complete

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// schema is the part of a JSON Schema that describes keys and values.
type schema struct {
	Description       string
	Ref               string `json:"$ref"`
	Type              types
	Enum, Examples    []any
	Const             any
	Properties        map[string]*schema
	PatternProperties map[string]*schema
	Items             *schema
	Definitions       map[string]*schema
	AnyOf, OneOf      []*schema
	AllOf             []*schema
	If, Then          *schema
	AdditionalRaw     json.RawMessage `json:"additionalProperties"`

	additional *schema
	patterns   map[*regexp.Regexp]*schema
}

// types are the types of values: one, or a list.
type types []string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// Language is the scenario language, as its JSON Schema describes it. It is immutable and safe for concurrent use.
type Language struct{ schema *schema }

// New reads the JSON Schema of the scenario language.
func New(text []byte) (*Language, error) {
	l := &Language{&schema{}}
	if err := json.Unmarshal(text, l.schema); err != nil {
		return nil, err
	}
	return l, l.schema.prepare()
}

// prepare compiles patterns and reads the schemas of additional keys.
func (s *schema) prepare() (err error) {
	if s == nil {
		return nil
	}
	if len(s.AdditionalRaw) > 0 && s.AdditionalRaw[0] == '{' {
		if err = json.Unmarshal(s.AdditionalRaw, &s.additional); err != nil {
			return err
		}
	}
	s.patterns = map[*regexp.Regexp]*schema{}
	for pattern, of := range s.PatternProperties {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return err
		}
		s.patterns[re] = of
	}
	all := slices.Concat(s.AnyOf, s.OneOf, s.AllOf, []*schema{s.Items, s.If, s.Then, s.additional})
	for _, of := range []map[string]*schema{s.Properties, s.PatternProperties, s.Definitions} {
		all = append(all, slices.Collect(maps.Values(of))...)
	}
	for _, inner := range all {
		if err = inner.prepare(); err != nil {
			return err
		}
	}
	return nil
}

// reader finds the schemas of a text.
type reader struct {
	*Language
	*outline
}

// of returns the schemas of a node's value. They include those that depend on the values of its keys.
func (r *reader) of(n *node) []*schema {
	if n.parent == nil {
		return r.variants(r.schema, n, 0)
	}
	var all []*schema
	for _, s := range r.of(n.parent) {
		for _, child := range s.child(n) {
			all = append(all, r.variants(child, n, 0)...)
		}
	}
	return all
}

// child returns the schemas of a key or an item.
func (s *schema) child(n *node) (all []*schema) {
	if n.item {
		if s.Items != nil {
			all = append(all, s.Items)
		}
		return all
	}
	key := strings.ReplaceAll(n.key, mark, "")
	if p := s.Properties[key]; p != nil {
		return append(all, p)
	}
	for re, p := range s.patterns {
		if re.MatchString(key) {
			return append(all, p)
		}
	}
	if s.additional != nil {
		all = append(all, s.additional)
	}
	return all
}

// variants returns a schema with all schemas that also apply to a value.
func (r *reader) variants(s *schema, n *node, depth int) (all []*schema) {
	const deepest = 8
	if s == nil || depth > deepest {
		return nil
	}
	all = []*schema{s}
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		all = append(all, r.variants(r.schema.Definitions[name], n, depth+1)...)
	}
	for _, v := range slices.Concat(s.AnyOf, s.OneOf) {
		all = append(all, r.variants(v, n, depth+1)...)
	}
	var open []*schema // branches of other kinds
	chosen := false
	for _, v := range s.AllOf {
		switch {
		case v.If == nil:
			all = append(all, r.variants(v, n, depth+1)...)
		case r.holds(v.If, n):
			all = append(all, r.variants(v.Then, n, depth+1)...)
			chosen = true
		default:
			open = append(open, v.Then)
		}
	}
	if len(open) > 0 && !chosen {
		all = append(all, common(open))
	}
	return all
}

// common returns the keys that all schemas have.
func common(all []*schema) *schema {
	out := &schema{Properties: map[string]*schema{}}
	for name, p := range all[0].Properties {
		if !slices.ContainsFunc(all, func(s *schema) bool { return s.Properties[name] == nil }) {
			out.Properties[name] = p
		}
	}
	return out
}

// holds reports whether a condition on the keys of a map is true.
func (r *reader) holds(s *schema, n *node) bool {
	for name, p := range s.Properties {
		if p.Const != nil && r.value(n.get(name)) != p.Const {
			return false
		}
	}
	if len(s.AnyOf) == 0 {
		return true
	}
	return slices.ContainsFunc(s.AnyOf, func(v *schema) bool { return r.holds(v, n) })
}

// about returns the first description among schemas, as a sentence.
func about(all []*schema) string {
	for _, s := range all {
		if s.Description != "" {
			return strings.ToUpper(s.Description[:1]) + s.Description[1:] + "."
		}
	}
	return ""
}

// keys returns the keys that schemas define, by name, with the schemas of their values.
func (r *reader) keys(all []*schema) map[string][]*schema {
	keys := map[string][]*schema{}
	for _, s := range all {
		for name, p := range s.Properties {
			if name == "type" && s.Properties["kind"] != nil { // another word for kind
				continue
			}
			keys[name] = append(keys[name], r.variants(p, &node{}, 0)...)
		}
	}
	return keys
}

// blocks returns the words of the named blocks that schemas define: step, chain.
func blocks(all []*schema) (words []string) {
	for _, s := range all {
		for pattern := range s.PatternProperties {
			if word, _, ok := strings.Cut(strings.TrimPrefix(pattern, "^"), `\s`); ok && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	slices.Sort(words)
	return words
}

// takes reports whether one of the schemas allows a type.
func takes(all []*schema, of string) bool {
	return slices.ContainsFunc(all, func(s *schema) bool { return slices.Contains(s.Type, of) })
}

// Key is a key and its description.
type Key struct{ Name, About string }

// Explain describes the key at a position, and lists the keys that are allowed in it or next to it. Lines and columns count from 1.
func (l *Language) Explain(text string, line, col int) (path []string, what string, others []Key) {
	p := locate(text, offset(text, line, col))
	r := &reader{l, p.outline}
	n := p.node
	if n == nil { // a brace, or a key without a value
		n = p.around()
	}
	for n.parent != nil && (n.item || n.key == mark) {
		n = n.parent
	}
	if n.parent == nil {
		return nil, "A scenario defines the agents, the services they call and the steps they execute.", r.listed(r.of(n))
	}
	all := r.of(n)
	if path = keysOf(n); len(all) == 0 {
		if free(n) {
			return path, "Data of the scenario.", nil
		}
		return path, "Unknown key.", r.listed(r.of(n.parent))
	}
	if others = r.listed(all); len(others) == 0 {
		others = r.listed(r.of(n.parent))
	}
	return path, about(all), others
}

// keysOf returns the keys from the root to a node, without the items of lists.
func keysOf(n *node) []string {
	return slices.DeleteFunc(path(n), func(key string) bool { return key == "" })
}

// around returns the innermost node that the cursor is in.
func (p *place) around() *node {
	n := p.root
	for {
		i := slices.IndexFunc(n.children, func(c *node) bool {
			return c.from <= p.at && p.at < max(c.valTo, c.keyTo+2) || c.from <= p.at && p.at < c.to
		})
		if i < 0 {
			return n
		}
		n = n.children[i]
	}
}

func (r *reader) listed(all []*schema) (keys []Key) {
	known := r.keys(all)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		keys = append(keys, Key{name, strings.TrimSuffix(about(known[name]), ".")})
	}
	return keys
}

// offset returns the byte offset of a position, which it clamps to the text. Lines and columns count from 1, columns in characters.
func offset(text string, line, col int) int {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	for i := range text[at:] {
		if col--; col <= 0 || text[at+i] == '\n' {
			return at + i
		}
	}
	return len(text)
}

// position returns the line and column of an offset.
func position(text string, at int) (line, col int) {
	before := text[:at]
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}
