package expr

import (
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// Value is data of a file with expressions: a scalar, a list or a map.
type Value interface {
	Eval(c Contexts) (value.Value, error)
}

// Contexts returns the context for each expression of a value; field is its position, such as json.product_id. A
// context is valid until the next call.
type Contexts interface {
	Context(field string) *script.Context
}

// Const is data without expressions, or with constant ones; nil stands for an error.
type Const struct{ V value.Value }

// scalarValue is a template; field names its draws.
type scalarValue struct {
	field string
	text  *script.Template
}

type listValue []Value

type mapValue struct {
	shape  *value.Shape
	values []Value
}

// Data compiles a value of data: constants, templates and expressions, at any depth.
func (r *Compiler) Data(n *doc.Node, field string) Value {
	switch n.Kind() {
	case doc.Absent:
		return nil
	case doc.Null:
		return Const{starlark.None}
	case doc.List:
		items := n.List()
		values := make([]Value, len(items))
		for i, item := range items {
			values[i] = r.Data(item, field+"["+strconv.Itoa(i)+"]")
		}
		if fixed, ok := constants(values); ok {
			return Const{value.NewList(fixed)}
		}
		return listValue(values)
	case doc.Map:
		var names []string
		var values []Value
		for _, e := range n.Entries() {
			name := e.Key.Text()
			names = append(names, name)
			values = append(values, r.Data(e.Value, field+"."+name))
		}
		m := mapValue{value.NewShape(names...), values}
		if fixed, ok := constants(values); ok {
			return Const{m.shape.Record(fixed...)}
		}
		return m
	default:
		return r.scalar(n, field)
	}
}

// constants returns the values if all of them are constant.
func constants(values []Value) ([]value.Value, bool) {
	fixed := make([]value.Value, len(values))
	for i, v := range values {
		c, ok := v.(Const)
		if !ok || c.V == nil {
			return nil, false
		}
		fixed[i] = c.V
	}
	return fixed, true
}

func (r *Compiler) scalar(n *doc.Node, field string) Value {
	switch s := n.Scalar().(type) {
	case int64:
		return Const{starlark.MakeInt64(s)}
	case float64:
		return Const{starlark.Float(s)}
	case bool:
		return Const{starlark.Bool(s)}
	}
	t := r.Text(n)
	if t == nil {
		return Const{} // an error, already reported
	}
	if v := Fixed(t); v != nil {
		return Const{v}
	}
	return scalarValue{field, t}
}

// Fixed returns the value of a constant template, else nil. Plain text is known even if the functions have errors and
// nothing can be evaluated.
func Fixed(t *script.Template) value.Value {
	if v, ok := t.Const(); ok {
		return v
	}
	if !strings.Contains(t.Source(), "${") {
		return starlark.String(t.Source())
	}
	return nil
}

// Eval returns the constant.
func (c Const) Eval(Contexts) (value.Value, error) { return c.V, nil }

func (s scalarValue) Eval(c Contexts) (value.Value, error) { return s.text.Eval(c.Context(s.field)) }

func (l listValue) Eval(c Contexts) (value.Value, error) {
	values, err := evalAll(l, c)
	if err != nil {
		return nil, err
	}
	return value.NewList(values), nil
}

func (m mapValue) Eval(c Contexts) (value.Value, error) {
	values, err := evalAll(m.values, c)
	if err != nil {
		return nil, err
	}
	return m.shape.Record(values...), nil
}

func evalAll(all []Value, c Contexts) ([]value.Value, error) {
	values := make([]value.Value, len(all))
	for i, v := range all {
		var err error
		if values[i], err = v.Eval(c); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Text evaluates a template to text.
func Text(t Contexts, tmpl *script.Template, field string) (string, error) {
	v, err := tmpl.Eval(t.Context(field))
	if err != nil {
		return "", err
	}
	return value.Text(v)
}
