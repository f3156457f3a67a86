// Package decision holds what a model and a rule answered to the same question, and draws the sessions that are asked both.
package decision

import (
	"encoding/json"
	"slices"
	"strings"
)

// By is whose answer a session used.
type By byte

const (
	// Model means that the session used the answer of a model.
	Model By = iota
	// Rule means that the session used the answer of the rule.
	Rule
)

// Pair is the answers of a model and of the rule that can replace it, in one session. Answers are the JSON of their [Labels], with sorted
// names, so that equal answers have equal bytes. An answer that was not asked for, or has no labels, is empty.
type Pair struct {
	Model []byte `cbor:"1,keyasint,omitempty"`
	Rule  []byte `cbor:"2,keyasint,omitempty"`
	Used  By     `cbor:"3,keyasint,omitempty"`
	// Failed is the class of the error for which the model has no answer; "" if it has one or was not asked.
	Failed string `cbor:"4,keyasint,omitempty"`
	// Seen is the agent's memory at that moment as a JSON object of its texts, numbers and truth values; empty without any.
	Seen []byte `cbor:"5,keyasint,omitempty"`
}

// Both reports whether model and rule have answered.
func (p *Pair) Both() bool { return len(p.Model) > 0 && len(p.Rule) > 0 }

// Aside follows the path of a step in the journal, for the call of a model whose answer the session does not use.
const Aside = "~shadow"

// Limits of what a pair holds.
const (
	// MostLabel is how many bytes an answer without a shape may have to count as a label.
	MostLabel = 40
	// MostBytes is how many bytes the labels of an answer, or what an agent remembers, may have. More is left out.
	MostBytes = 2000
)

// Labels returns the parts of an answer that can be compared: truth values, numbers, and texts that are one of several choices. answer is
// JSON, and schema is its JSON Schema. Free texts and lists are left out. It returns nil if there are no labels, or more than MostBytes.
func Labels(answer, schema []byte) []byte {
	var v, s any
	if json.Unmarshal(answer, &v) != nil || json.Unmarshal(schema, &s) != nil {
		return nil
	}
	v, ok := labels(v, s)
	if !ok {
		return nil
	}
	return encoded(v)
}

// TextLabel returns the label of an answer without a shape; nil if it is empty, or a longer text.
func TextLabel(text string) []byte {
	if text = strings.TrimSpace(text); text == "" || len(text) > MostLabel {
		return nil
	}
	return encoded(text)
}

// Plain returns a JSON object of the texts, numbers and truth values of fields; nil without any, or if it has more than MostBytes. Texts
// longer than a label are left out.
func Plain(fields map[string]json.RawMessage) []byte {
	kept := map[string]any{}
	for name, text := range fields {
		var v any
		if json.Unmarshal(text, &v) != nil {
			continue
		}
		switch x := v.(type) {
		case bool, float64:
			kept[name] = x
		case string:
			if len(x) <= MostLabel {
				kept[name] = x
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return encoded(kept)
}

// encoded returns JSON with sorted names.
func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil || len(text) > MostBytes {
		return nil
	}
	return text
}

// labels returns the labels of a value; false if it has none.
func labels(v, schema any) (any, bool) {
	switch v := v.(type) {
	case bool, float64:
		return v, true
	case string:
		return v, chooses(schema)
	case map[string]any:
		kept := map[string]any{}
		for name, field := range v {
			if of, ok := labels(field, property(schema, name)); ok {
				kept[name] = of
			}
		}
		return kept, len(kept) > 0
	}
	return nil, false
}

// property returns the schema of a field, or nil.
func property(schema any, name string) any {
	s, _ := schema.(map[string]any)
	fields, _ := s["properties"].(map[string]any)
	return fields[name]
}

// chooses reports whether a schema lists the texts that it allows.
func chooses(schema any) bool {
	s, _ := schema.(map[string]any)
	if s["enum"] != nil || s["const"] != nil {
		return true
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if all, _ := s[key].([]any); slices.ContainsFunc(all, chooses) {
			return true
		}
	}
	return false
}

// HasLabels reports whether answers of a JSON Schema can have labels.
func HasLabels(schema []byte) bool {
	var s any
	return json.Unmarshal(schema, &s) == nil && labeled(s)
}

func labeled(schema any) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	if chooses(s) {
		return true
	}
	if fields, ok := s["properties"].(map[string]any); ok {
		for _, field := range fields {
			if labeled(field) {
				return true
			}
		}
		return false
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if all, _ := s[key].([]any); slices.ContainsFunc(all, labeled) {
			return true
		}
	}
	return typed(s["type"])
}

// typed reports whether a type of JSON Schema is, or contains, one whose values are labels.
func typed(t any) bool {
	switch t := t.(type) {
	case string:
		return t == "boolean" || t == "integer" || t == "number"
	case []any:
		return slices.ContainsFunc(t, typed)
	}
	return false
}

// Filled returns an answer in which the required texts and lists that a JSON Schema has and the labels do not have are empty.
func Filled(answer, schema []byte) []byte {
	var v, s any
	if json.Unmarshal(answer, &v) != nil || json.Unmarshal(schema, &s) != nil {
		return answer
	}
	fill(v, s)
	text, err := json.Marshal(v)
	if err != nil {
		return answer
	}
	return text
}

func fill(v, schema any) {
	object, _ := v.(map[string]any)
	s, _ := schema.(map[string]any)
	needed, _ := s["required"].([]any)
	for _, one := range needed {
		name, _ := one.(string)
		of, _ := property(schema, name).(map[string]any)
		if _, has := object[name]; has || object == nil {
			continue
		}
		switch of["type"] {
		case "string":
			object[name] = ""
		case "array":
			object[name] = []any{}
		case "object":
			object[name] = map[string]any{}
		}
		if _, optional := of["anyOf"]; optional {
			object[name] = nil
		}
	}
	for name, field := range object {
		fill(field, property(schema, name))
	}
}
