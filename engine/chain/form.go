package chain

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// form is what a value of an answer must be: of a type, one of some, or a record of further forms.
type form struct {
	kind    string // string, bool, int, float or list; "" is one of choices, or a record
	choices []any
	types   []string // of the choices, as JSON Schema calls them
	fields  []formField
}

type formField struct {
	name     string
	form     *form
	optional bool
}

// jsonTypes are what JSON Schema calls the types of a shape.
var jsonTypes = map[string]string{"string": "string", "bool": "boolean", "int": "integer", "float": "number", "list": "array"}

// formOf reads a map of names with a type or, as a list, what the value is one of, or a further map; a name that ends
// with a question mark may be missing.
func formOf(n *doc.Node) *form {
	f := &form{}
	for _, e := range n.Entries() {
		name, optional := strings.CutSuffix(e.Key.Text(), "?")
		if CheckName(e.Key, name, "a field of an answer"); name == "" {
			e.Key.Errorf(NameHint, "a field without a name")
		}
		if slices.ContainsFunc(f.fields, func(other formField) bool { return other.name == name }) {
			e.Key.Errorf("", "%s stands there twice", name)
		}
		f.fields = append(f.fields, formField{name, valueForm(e.Value), optional})
	}
	return f
}

func valueForm(n *doc.Node) *form {
	switch n.Kind() {
	case doc.Map:
		return formOf(n)
	case doc.List:
		return choiceForm(n)
	case doc.Absent, doc.Null, doc.Scalar:
	}
	name := n.Text()
	if _, ok := jsonTypes[name]; !ok && name != "" {
		n.Errorf("string, bool, int, float, list, a list of choices, or a map", "%s is no type of an answer", name)
	}
	return &form{kind: name}
}

// choiceForm is one of some values.
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
		n.Errorf("`[yes, no, maybe]`", "one of nothing")
	}
	return f
}

// choiceType is the type of a choice, as JSON Schema calls it; "" is that it cannot be one.
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

// schemas makes the schema that a model is shown, where all names are required and what may be missing may be null, as
// services that hold a model to a schema want it; and the one that is checked, where it may be missing too, and more
// than was asked for does no harm.
func (f *form) schemas() (sent, check map[string]any) {
	switch {
	case f.choices != nil:
		sent = map[string]any{"enum": f.choices} // services that hold a model to a schema want to know the types too
		switch len(f.types) {
		case 0:
		case 1:
			sent["type"] = f.types[0]
		default:
			sent["type"] = f.types
		}
		return sent, sent
	case f.kind == "list": // of texts, as the model is told; others are taken too
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}}, map[string]any{"type": "array"}
	case f.kind != "":
		sent = map[string]any{}
		if kind, ok := jsonTypes[f.kind]; ok { // else it is a mistake
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

func orNull(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
}

// properties are those of a schema in the order of the file, in which a model writes them.
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

// fits reports whether data are of the form; of choices, only texts are known here.
func (f *form) fits(v script.Value) bool {
	switch f.kind {
	case "string":
		_, ok := v.(starlark.String)
		return ok
	case "bool":
		_, ok := v.(starlark.Bool)
		return ok
	case "int":
		_, ok := v.(starlark.Int)
		return ok
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
	r, ok := v.(*script.Record)
	if !ok {
		return false
	}
	for _, field := range f.fields {
		x, there := r.Field(field.name)
		switch {
		case field.optional && (!there || x == starlark.None):
		case !there || !field.form.fits(x):
			return false
		}
	}
	return true
}
