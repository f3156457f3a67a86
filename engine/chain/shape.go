package chain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/fit"
	"github.com/throng-sim/throng/engine/script"
)

// answerShape is what an answer of a model must be.
type answerShape struct {
	sent   json.RawMessage // the schema that the model is shown
	strict bool            // it is of the kind that services can hold a model to
	check  *fit.Schema     // what is good enough
}

// answerShape reads a shape: names with a type or, as a list, what the value is one of, or a further shape; a name that
// ends with a question mark may be missing. Or, under schema, a JSON Schema.
func (r *reader) answerShape(n *doc.Node) *answerShape {
	if n.Kind() != doc.Map {
		n.Errorf("`{shop: bool, reason: string}`", "the shape of an answer is a map of names")
		return nil
	}
	var sent, check map[string]any
	if s := n.Get("schema"); s.Kind() == doc.Map {
		n.Fields("schema")
		var ok bool
		if sent, ok = plain(s).(map[string]any); !ok {
			return nil
		}
		if sent["type"] != "object" {
			s.Errorf("`type: object`, with what is asked for under `properties`", "an answer is an object")
		}
		check = sent
	} else {
		if len(n.Entries()) == 0 {
			n.Errorf("`{shop: bool, reason: string}`", "a shape without names")
		}
		sent, check = objectSchema(n)
	}
	a := &answerShape{strict: n.Get("schema").Kind() != doc.Map}
	var err error
	if a.sent, err = json.Marshal(sent); err != nil {
		n.Errorf("", "%v", err)
		return nil
	}
	tight, err := json.Marshal(check)
	if err == nil {
		a.check, err = fit.Compile(tight)
	}
	if err != nil {
		n.Errorf("https://json-schema.org says what it can be", "it is no JSON Schema: %v", err)
		return nil
	}
	return a
}

// scalarTypes are the types of a shape by their names.
var scalarTypes = map[string]string{"string": "string", "bool": "boolean", "int": "integer", "float": "number"}

// objectSchema makes the schema that a model is shown, where all names are required and what may be missing may be null,
// as services that hold a model to a schema want it; and the one that is checked, where it may be missing too.
func objectSchema(n *doc.Node) (sent, check map[string]any) {
	sentFields, checkFields := fields{}, fields{}
	var all, needed []string
	for _, e := range n.Entries() {
		name, optional := strings.CutSuffix(e.Key.Text(), "?")
		if CheckName(e.Key, name, "a field of an answer"); name == "" {
			e.Key.Errorf(NameHint, "a field without a name")
		}
		a, b := fieldSchema(e.Value)
		if optional {
			a, b = orNull(a), orNull(b)
		} else {
			needed = append(needed, name)
		}
		if slices.Contains(all, name) {
			e.Key.Errorf("", "%s stands there twice", name)
		}
		all = append(all, name)
		sentFields, checkFields = append(sentFields, field{name, a}), append(checkFields, field{name, b})
	}
	object := func(f fields, required []string) map[string]any {
		if required == nil {
			required = []string{}
		}
		return map[string]any{"type": "object", "properties": f, "required": required, "additionalProperties": false}
	}
	return object(sentFields, all), object(checkFields, needed)
}

func fieldSchema(n *doc.Node) (sent, check map[string]any) {
	switch n.Kind() {
	case doc.Map:
		return objectSchema(n)
	case doc.List:
		s := choiceSchema(n)
		return s, s
	case doc.Absent, doc.Null, doc.Scalar:
	}
	name := n.Text()
	if name == "list" { // of texts, as the model is told; others are taken too
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}}, map[string]any{"type": "array"}
	}
	kind, ok := scalarTypes[name]
	if !ok && name != "" {
		n.Errorf("string, bool, int, float, list, a list of choices, or a map", "%s is no type of an answer", name)
	}
	s := map[string]any{}
	if ok {
		s["type"] = kind
	}
	return s, s
}

// choiceSchema is one of some values. Services that hold a model to a schema want to know their types too.
func choiceSchema(n *doc.Node) map[string]any {
	choices, types := []any{}, []string{}
	for _, item := range n.List() {
		kind := choiceType(item)
		if kind == "" {
			item.Errorf("`[yes, no, maybe]`", "a choice is a text, a number, true or false")
			continue
		}
		choices = append(choices, item.Scalar())
		if !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	if len(n.List()) == 0 {
		n.Errorf("`[yes, no, maybe]`", "one of nothing")
	}
	switch len(types) {
	case 0:
		return map[string]any{}
	case 1:
		return map[string]any{"enum": choices, "type": types[0]}
	}
	return map[string]any{"enum": choices, "type": types}
}

// choiceType is the type of a choice; "" is that it cannot be one.
func choiceType(n *doc.Node) string {
	if n.Kind() != doc.Scalar {
		return ""
	}
	switch n.Scalar().(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case nil:
		return ""
	default:
		return "integer"
	}
}

func orNull(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
}

// fields are the properties of a schema in the order of the file, in which a model writes them.
type fields []field

type field struct {
	name   string
	schema map[string]any
}

// MarshalJSON implements json.Marshaler.
func (f fields) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, one := range f {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(one.schema)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), schema...)
	}
	return append(out, '}'), nil
}

// plain is data of a file without expressions.
func plain(n *doc.Node) any {
	switch n.Kind() {
	case doc.Map:
		m := map[string]any{}
		for _, e := range n.Entries() {
			m[e.Key.Text()] = plain(e.Value)
		}
		return m
	case doc.List:
		list := []any{}
		for _, item := range n.List() {
			list = append(list, plain(item))
		}
		return list
	case doc.Null, doc.Absent:
		return nil
	default:
		return n.Scalar()
	}
}

// mostLooked bounds the places in which a document is looked for.
const mostLooked = 100

// document finds the JSON document in what a model wrote: it may stand in a fence, or between words. Of several it is
// the longest.
func document(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return text
	}
	best, rest := "", text
	for range mostLooked {
		from := strings.IndexByte(rest, '{')
		if from < 0 {
			break
		}
		rest = rest[from:]
		var found json.RawMessage
		if err := json.NewDecoder(strings.NewReader(rest)).Decode(&found); err != nil {
			rest = rest[1:]
			continue
		}
		if rest = rest[len(found):]; len(found) > len(best) {
			best = string(found)
		}
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if best != "" || from < 0 || to < from {
		return cmp.Or(best, text)
	}
	return text[from : to+1] // what is wrong with it can be said
}

// read takes the answer out of what a model wrote. Its error says to the model what is wrong.
func (a *answerShape) read(text string) (script.Value, error) {
	found := document(text)
	if err := a.check.Check([]byte(found)); err != nil {
		return nil, err
	}
	return script.DecodeJSON([]byte(found))
}

// accept checks a value that stands in for an answer.
func (a *answerShape) accept(v script.Value) error {
	text, err := script.AppendJSON(nil, v)
	if err != nil {
		return err
	}
	if err := a.check.Check(text); err != nil {
		return engine.Fail(engine.Script, "otherwise does not fit the answer: %w", err)
	}
	return nil
}

// instruction tells a model about the shape in words, where its service cannot hold it to one.
func (a *answerShape) instruction() string {
	return fmt.Sprintf("Answer with one JSON document that fits this JSON Schema, and nothing else:\n%s", a.sent)
}
