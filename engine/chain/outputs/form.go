package outputs

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/scale"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
)

// Answer returns what the answers of a model, or the arguments of a tool, look like: in the short form or as a JSON Schema.
func Answer(n *doc.Node) *known.Shape {
	if s := n.Get("schema"); s.Kind() == doc.Map {
		return schema(s)
	}
	return form(n)
}

// types are the types of the short form, and those of JSON Schema.
var types = map[string]known.Kind{
	"string": known.Text, "bool": known.Truth, "int": known.Whole, "float": known.Number, "list": known.List,
	"boolean": known.Truth, "integer": known.Whole, "number": known.Number, "array": known.List, "object": known.Record,
}

func form(n *doc.Node) *known.Shape {
	switch n.Kind() {
	case doc.Map:
		if scale.Is(n) {
			return ofKind(known.Whole)
		}
		s := &known.Shape{Kind: known.Record, Fields: []known.Field{}}
		for _, e := range n.Entries() {
			name, optional := strings.CutSuffix(e.Key.Text(), "?")
			s.Fields = append(s.Fields, known.Field{Name: name, Of: form(e.Value), Optional: optional})
		}
		return s
	case doc.List:
		return &known.Shape{Values: scalars(n.List())}
	case doc.Scalar:
		if text, ok := n.Scalar().(string); ok {
			return ofKind(types[text])
		}
	case doc.Absent, doc.Null:
	}
	return nil
}

func ofKind(k known.Kind) *known.Shape {
	if k == known.Anything {
		return nil
	}
	return &known.Shape{Kind: k}
}

// scalars returns the values of nodes; nil if one of them is a list or a map.
func scalars(list []*doc.Node) (all []value.Value) {
	for _, n := range list {
		v := scalar(n)
		if v == nil {
			return nil
		}
		all = append(all, v)
	}
	return all
}

func scalar(n *doc.Node) value.Value {
	if n.Kind() != doc.Scalar {
		return nil
	}
	switch v := n.Scalar().(type) {
	case string:
		return starlark.String(v)
	case bool:
		return starlark.Bool(v)
	case int64:
		return starlark.MakeInt64(v)
	case float64:
		return starlark.Float(v)
	}
	return nil
}

// combining are the keywords of JSON Schema that may add fields, or other forms.
var combining = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas", "unevaluatedProperties", "propertyNames"}

// schema returns what a JSON Schema says, as far as it is a plain one.
func schema(n *doc.Node) *known.Shape {
	if n.Kind() != doc.Map || n.Get("$ref") != nil || n.Get("$dynamicRef") != nil {
		return nil
	}
	if list := n.Get("enum"); list.Kind() == doc.List {
		return &known.Shape{Values: scalars(list.List())}
	}
	of := n.Get("type")
	if of.Kind() != doc.Scalar {
		return nil
	}
	switch kind := types[of.Text()]; {
	case kind == known.List:
		return known.ListOf(schema(n.Get("items")))
	case kind == known.Record && n.Get("properties").Kind() == doc.Map:
		return object(n)
	default:
		return ofKind(kind)
	}
}

func object(n *doc.Node) *known.Shape {
	s := &known.Shape{Kind: known.Record, Fields: []known.Field{}}
	closed := n.Get("additionalProperties")
	s.Strict = closed.Kind() == doc.Scalar && closed.Scalar() == false
	for _, key := range combining {
		s.Strict = s.Strict && n.Get(key) == nil
	}
	s.Open = !s.Strict
	var required []value.Value
	if list := n.Get("required"); list.Kind() == doc.List {
		required = scalars(list.List())
	}
	for _, e := range n.Get("properties").Entries() {
		name := e.Key.Text()
		s.Fields = append(s.Fields, known.Field{Name: name, Of: schema(e.Value), Optional: !slices.Contains(required, value.Value(starlark.String(name)))})
	}
	return s
}

// Data returns what data of a file look like: the fields of its maps. Nothing is known of what expressions return.
func Data(n *doc.Node) *known.Shape {
	if n.Kind() != doc.Map {
		return nil
	}
	s := &known.Shape{Kind: known.Record, Fields: []known.Field{}}
	for _, e := range n.Entries() {
		s.Fields = append(s.Fields, known.Field{Name: e.Key.Text(), Of: Data(e.Value)})
	}
	return s
}
