package chain

import (
	"slices"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// Value is data of a file with expressions in it: a scalar, a list or a map of such.
type Value interface {
	Eval(c Contexts) (script.Value, error)
}

// Contexts gives each expression of a value what it evaluates with; field is its place, such as json.product_id.
type Contexts interface {
	Context(field string) *script.Context
}

// Value reads data with expressions that may use names. field is its place in the step, and part of its draws. An
// absent node gives nil.
func (r *Reader) Value(n *doc.Node, field string, names []string) Value {
	return (&reader{Reader: r, names: names}).value(n, field)
}

// scalarValue is a template; field names it in the draws of its expressions.
type scalarValue struct {
	field string
	text  *script.Template
}

type constValue struct{ v script.Value }

type listValue []Value

type mapValue struct {
	shape  *script.Shape
	values []Value
}

func (r *reader) value(n *doc.Node, field string) Value {
	switch n.Kind() {
	case doc.Absent:
		return nil
	case doc.Null:
		return constValue{starlark.None}
	case doc.List:
		list := listValue{}
		for i, item := range n.List() {
			list = append(list, r.value(item, field+"["+itoa(i)+"]"))
		}
		return list
	case doc.Map:
		var names []string
		var values []Value
		for _, e := range n.Entries() {
			name := e.Key.Text()
			names = append(names, name)
			values = append(values, r.value(e.Value, field+"."+name))
		}
		return mapValue{script.NewShape(names...), values}
	default:
		return r.scalar(n, field)
	}
}

func (r *reader) scalar(n *doc.Node, field string) Value {
	switch s := n.Scalar().(type) {
	case int64:
		return constValue{starlark.MakeInt64(s)}
	case float64:
		return constValue{starlark.Float(s)}
	case bool:
		return constValue{starlark.Bool(s)}
	default:
		return scalarValue{field, r.template(n)}
	}
}

func (c constValue) Eval(Contexts) (script.Value, error) { return c.v, nil }

func (s scalarValue) Eval(c Contexts) (script.Value, error) { return s.text.Eval(c.Context(s.field)) }

func (l listValue) Eval(c Contexts) (script.Value, error) {
	values := make([]script.Value, len(l))
	for i, v := range l {
		var err error
		if values[i], err = v.Eval(c); err != nil {
			return nil, err
		}
	}
	return script.NewList(values), nil
}

func (m mapValue) Eval(c Contexts) (script.Value, error) {
	values, err := listValue(m.values).Eval(c)
	if err != nil {
		return nil, err
	}
	list := values.(*starlark.List)
	return m.shape.Record(slices.Collect(list.Elements())...), nil
}
