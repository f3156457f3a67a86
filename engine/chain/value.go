package chain

import (
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// Value is data of a file with expressions in it: a scalar, a list or a map of such.
type Value interface {
	Eval(c Contexts) (script.Value, error)
}

// Contexts gives each expression of a value what it evaluates with; field is its place, such as json.product_id. A
// context is done with before the next is asked for.
type Contexts interface {
	Context(field string) *script.Context
}

// Value reads data with expressions that may use names. field is its place in the step, and part of its draws. An
// absent node gives nil.
func (r *Reader) Value(n *doc.Node, field string, names []string) Value {
	return (&reader{Reader: r, names: names}).value(n, field)
}

// constValue is data without expressions, or with such as always give the same; nil stands for a mistake.
type constValue struct{ v script.Value }

// scalarValue is a template; field names it in the draws of its expressions.
type scalarValue struct {
	field string
	text  *script.Template
}

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
		items := n.List()
		values := make([]Value, len(items))
		for i, item := range items {
			values[i] = r.value(item, field+"["+itoa(i)+"]")
		}
		if fixed, ok := constants(values); ok {
			return constValue{script.NewList(fixed)}
		}
		return listValue(values)
	case doc.Map:
		var names []string
		var values []Value
		for _, e := range n.Entries() {
			name := e.Key.Text()
			names = append(names, name)
			values = append(values, r.value(e.Value, field+"."+name))
		}
		m := mapValue{script.NewShape(names...), values}
		if fixed, ok := constants(values); ok {
			return constValue{m.shape.Record(fixed...)}
		}
		return m
	default:
		return r.scalar(n, field)
	}
}

// constants returns the values if all of them are always the same.
func constants(values []Value) ([]script.Value, bool) {
	fixed := make([]script.Value, len(values))
	for i, v := range values {
		c, ok := v.(constValue)
		if !ok || c.v == nil {
			return nil, false
		}
		fixed[i] = c.v
	}
	return fixed, true
}

func (r *reader) scalar(n *doc.Node, field string) Value {
	switch s := n.Scalar().(type) {
	case int64:
		return constValue{starlark.MakeInt64(s)}
	case float64:
		return constValue{starlark.Float(s)}
	case bool:
		return constValue{starlark.Bool(s)}
	}
	t := r.template(n)
	if t == nil {
		return constValue{} // a mistake, which is reported
	}
	if v := fixed(t); v != nil {
		return constValue{v}
	}
	return scalarValue{field, t}
}

// fixed is the value of a template that is always the same, else nil. That of a plain text is known even where the
// functions have mistakes and nothing can be evaluated.
func fixed(t *script.Template) script.Value {
	if v, ok := t.Const(); ok {
		return v
	}
	if !strings.Contains(t.Source(), "${") {
		return starlark.String(t.Source())
	}
	return nil
}

func (c constValue) Eval(Contexts) (script.Value, error) { return c.v, nil }

func (s scalarValue) Eval(c Contexts) (script.Value, error) { return s.text.Eval(c.Context(s.field)) }

func (l listValue) Eval(c Contexts) (script.Value, error) {
	values, err := evalAll(l, c)
	if err != nil {
		return nil, err
	}
	return script.NewList(values), nil
}

func (m mapValue) Eval(c Contexts) (script.Value, error) {
	values, err := evalAll(m.values, c)
	if err != nil {
		return nil, err
	}
	return m.shape.Record(values...), nil
}

func evalAll(all []Value, c Contexts) ([]script.Value, error) {
	values := make([]script.Value, len(all))
	for i, v := range all {
		var err error
		if values[i], err = v.Eval(c); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// text evaluates a template to what stands in a text.
func text(t Contexts, tmpl *script.Template, field string) (string, error) {
	v, err := tmpl.Eval(t.Context(field))
	if err != nil {
		return "", err
	}
	return script.Text(v)
}
