package shape

import (
	"encoding/json"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/scale"
	"github.com/throng-sim/throng/engine/script/value"
)

// form is the expected form of a value: a type, a choice, or a record of further forms.
type form struct {
	kind    string // string, bool, int, float or list; "" is a choice or a record
	scale   bool   // an int from low to high
	choices []any
	types   []string // JSON Schema type of the choices
	fields  []formField

	low, high int
}

type formField struct {
	name     string
	form     *form
	optional bool
}

// jsonTypes maps the types of a shape to those of JSON Schema.
var jsonTypes = map[string]string{"string": "string", "bool": "boolean", "int": "integer", "float": "number", "list": "array"}

// formOf reads a map of names. Each has a type, a list of choices, a scale or a nested map; a name that ends with a question
// mark is optional.
func formOf(n *doc.Node) *form {
	f := &form{}
	for _, e := range n.Entries() {
		name, optional := strings.CutSuffix(e.Key.Text(), "?")
		if expr.CheckName(e.Key, name, "a field of an answer"); name == "" {
			e.Key.Errorf(expr.NameHint, "a field without a name")
		}
		if slices.ContainsFunc(f.fields, func(other formField) bool { return other.name == name }) {
			e.Key.Errorf("", "%s is defined twice", name)
		}
		f.fields = append(f.fields, formField{name, valueForm(e.Value), optional})
	}
	return f
}

func valueForm(n *doc.Node) *form {
	switch n.Kind() {
	case doc.Map:
		if scale.Is(n) {
			low, high := scale.Read(n)
			return &form{kind: "int", scale: true, low: low, high: high}
		}
		return formOf(n)
	case doc.List:
		return choiceForm(n)
	case doc.Absent, doc.Null, doc.Scalar:
	}
	name := n.Text()
	if _, ok := jsonTypes[name]; !ok && name != "" {
		n.Errorf("string, bool, int, float, list, a list of choices, {from: 1, to: 5}, or a map", "%s is not a type of an answer", name)
	}
	return &form{kind: name}
}

// choiceForm reads a choice of values.
func choiceForm(n *doc.Node) *form {
	f := &form{choices: []any{}}
	for _, item := range n.List() {
		kind := choiceType(item)
		if kind == "" {
			item.Errorf("`[yes, no, maybe]`", "a choice is a text, a number, true or false")
			continue
		}
		f.choices = append(f.choices, item.Scalar())
		if !slices.Contains(f.types, kind) {
			f.types = append(f.types, kind)
		}
	}
	if len(n.List()) == 0 {
		n.Errorf("`[yes, no, maybe]`", "the list of choices is empty")
	}
	return f
}

// choiceType returns the JSON Schema type of a choice, or "" if it cannot be one.
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

// schemas returns two schemas. In the first, shown to the model, every name is required and optional fields may be
// null, as services with strict schemas expect. The second, used for checking, allows missing optional fields and
// additional ones.
func (f *form) schemas() (sent, check map[string]any) {
	switch {
	case f.choices != nil:
		sent = map[string]any{"enum": f.choices} // strict schemas need the types too
		switch len(f.types) {
		case 0:
		case 1:
			sent["type"] = f.types[0]
		default:
			sent["type"] = f.types
		}
		return sent, sent
	case f.scale:
		return f.scaleSchemas()
	case f.kind == "list": // the model is asked for strings; other types are accepted
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}}, map[string]any{"type": "array"}
	case f.kind != "":
		sent = map[string]any{}
		if kind, ok := jsonTypes[f.kind]; ok { // otherwise it is an error
			sent["type"] = kind
		}
		return sent, sent
	}
	var sentFields, checkFields properties
	all, needed := []string{}, []string{}
	for _, field := range f.fields {
		a, b := field.form.schemas()
		if field.optional {
			a, b = orNull(a), orNull(b)
		} else {
			needed = append(needed, field.name)
		}
		all = append(all, field.name)
		sentFields, checkFields = append(sentFields, property{field.name, a}), append(checkFields, property{field.name, b})
	}
	sent = map[string]any{"type": "object", "properties": sentFields, "required": all, "additionalProperties": false}
	return sent, map[string]any{"type": "object", "properties": checkFields, "required": needed}
}

// mostListed is how many values of a scale are listed for the model.
const mostListed = 100

// scaleSchemas lists the values for the model: some services that enforce schemas do not know bounds.
func (f *form) scaleSchemas() (sent, check map[string]any) {
	check = map[string]any{"type": "integer", "minimum": f.low, "maximum": f.high}
	if f.high-f.low >= mostListed {
		return check, check
	}
	var values []int
	for v := f.low; v <= f.high; v++ {
		values = append(values, v)
	}
	return map[string]any{"type": "integer", "enum": values}, check
}

func orNull(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
}

// properties keeps the properties of a schema in file order, the order in which a model writes them.
type properties []property

type property struct {
	name   string
	schema map[string]any
}

// MarshalJSON implements json.Marshaler.
func (p properties) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, one := range p {
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

// Fits reports whether data match the form; only string choices are known here.
func (f *form) Fits(v value.Value) bool {
	switch f.kind {
	case "string":
		_, ok := v.(starlark.String)
		return ok
	case "bool":
		_, ok := v.(starlark.Bool)
		return ok
	case "int":
		n, ok := v.(starlark.Int)
		at, small := n.Int64()
		return ok && (!f.scale || small && int64(f.low) <= at && at <= int64(f.high))
	case "float":
		_, whole := v.(starlark.Int)
		_, ok := v.(starlark.Float)
		return ok || whole
	case "list":
		_, ok := v.(*starlark.List)
		return ok
	}
	if f.choices != nil {
		text, ok := v.(starlark.String)
		return ok && slices.Contains(f.choices, any(string(text)))
	}
	r, ok := v.(*value.Record)
	if !ok {
		return false
	}
	for _, field := range f.fields {
		x, there := r.Field(field.name)
		switch {
		case field.optional && (!there || x == starlark.None):
		case !there || !field.form.Fits(x):
			return false
		}
	}
	return true
}
