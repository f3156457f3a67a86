package script

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Fields is an object whose fields are computed on demand. Implementations must be safe for the goroutine that
// evaluates; values must be frozen.
type Fields interface {
	// Field returns the value of a field, or nil if it does not exist.
	Field(name string) (Value, error)
	// Names returns all names in order. The caller must not change the slice.
	Names() []string
}

// Listed is an object that was received as a list: indexes, slices, loops and draws use the list's elements, and names
// use its fields.
type Listed interface {
	Fields
	// List returns the frozen elements, or nil for a plain object.
	List() *starlark.List
}

// List returns the elements of a list, or of a Listed object, or nil.
func List(v Value) *starlark.List {
	switch v := v.(type) {
	case *starlark.List:
		return v
	case *lazy:
		return v.list()
	}
	return nil
}

// Lazy shows f to expressions as an object that behaves like a Record; typeName is its type in error messages.
func Lazy(typeName string, f Fields) Value { return &lazy{typeName, f} }

type lazy struct {
	typeName string
	fields   Fields
}

func (l *lazy) String() string        { return quoted(l) }
func (l *lazy) Type() string          { return l.typeName }
func (l *lazy) Freeze()               {}
func (l *lazy) Truth() starlark.Bool  { return true }
func (l *lazy) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: %s", l.typeName) }

// Len returns the number of names, or of elements of a Listed object.
func (l *lazy) Len() int {
	if list := l.list(); list != nil {
		return list.Len()
	}
	return len(l.fields.Names())
}

// list is [Listed.List], or nil for a plain object.
func (l *lazy) list() *starlark.List {
	if of, ok := l.fields.(Listed); ok {
		return of.List()
	}
	return nil
}

// field is Fields.Field with errors of nested evaluations marked.
func (l *lazy) field(name string) (Value, error) {
	v, err := l.fields.Field(name)
	if err != nil {
		return nil, foreignError(name, err)
	}
	return v, nil
}

// Attr is Starlark's x.name.
func (l *lazy) Attr(name string) (Value, error) {
	v, err := l.field(name)
	if v == nil && err == nil {
		return nil, noField(l.typeName, name, l.fields.Names())
	}
	return v, err
}

func (l *lazy) AttrNames() []string { return slices.Clone(l.fields.Names()) }

// Get is Starlark's x["name"].
func (l *lazy) Get(key Value) (Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok {
		return nil, false, fmt.Errorf("the fields of %s have names, got %s", l.typeName, key.Type())
	}
	v, err := l.field(name)
	return v, v != nil, err
}

// Iterate iterates over the names, or over the elements of a Listed object.
func (l *lazy) Iterate() starlark.Iterator {
	if list := l.list(); list != nil {
		return list.Iterate()
	}
	return &namesIterator{names: l.fields.Names()}
}

// Items implements dict(x) and f(**x).
func (l *lazy) Items() []starlark.Tuple {
	names := l.fields.Names()
	items := make([]starlark.Tuple, 0, len(names))
	for _, name := range names {
		v, err := l.field(name)
		if err != nil || v == nil { // Items cannot fail, so fields that cannot be computed are missing
			v = Missing
		}
		items = append(items, starlark.Tuple{starlark.String(name), v})
	}
	return items
}

func (l *lazy) CompareSameType(op syntax.Token, y Value, depth int) (bool, error) {
	return sameFields(op, l, y, depth)
}

// object is the common interface of records and lazy objects.
type object interface {
	starlark.HasAttrs
	starlark.IterableMapping
	starlark.Sequence
}

var (
	_ object = (*Record)(nil)
	_ object = (*lazy)(nil)
)

// namesOf returns the names of an object without copying them.
func namesOf(o object) []string {
	switch o := o.(type) {
	case *Record:
		return o.names()
	case *lazy:
		return o.fields.Names()
	}
	return o.AttrNames()
}

// sameFields compares objects outside an evaluation, under Starlark's own depth limit.
func sameFields(op syntax.Token, x object, y Value, depth int) (bool, error) {
	if op != syntax.EQL && op != syntax.NEQ {
		return false, fmt.Errorf("%s %s %s not implemented", x.Type(), op, y.Type())
	}
	o, ok := y.(object)
	if !ok || o.Len() != x.Len() {
		return op == syntax.NEQ, nil
	}
	for _, name := range namesOf(x) {
		a, err := x.Attr(name)
		if err != nil {
			return false, err
		}
		b, found, err := o.Get(starlark.String(name))
		if err != nil {
			return false, err
		}
		if !found {
			return op == syntax.NEQ, nil
		}
		same, err := starlark.EqualDepth(a, b, depth-1)
		if err != nil {
			return false, err
		}
		if !same {
			return op == syntax.NEQ, nil
		}
	}
	return op == syntax.EQL, nil
}

// Missing is the output of a step that did not run. It is falsy and empty, its fields and indexes are Missing too, and
// it is null in JSON and empty in texts.
var Missing Value = missing{}

type missing struct{}

func (missing) String() string                 { return "missing" }
func (missing) Type() string                   { return "missing" }
func (missing) Freeze()                        {}
func (missing) Truth() starlark.Bool           { return false }
func (missing) Hash() (uint32, error)          { return 0, errors.New("unhashable type: missing") }
func (missing) Attr(string) (Value, error)     { return Missing, nil }
func (missing) AttrNames() []string            { return nil }
func (missing) Get(Value) (Value, bool, error) { return Missing, true, nil }
func (missing) Iterate() starlark.Iterator     { return &namesIterator{} }
func (missing) Len() int                       { return 0 }
func (missing) Has(Value) (bool, error)        { return false, nil }

var (
	_ starlark.Container = missing{}
	_ starlark.Mapping   = missing{}
)
