package value

import (
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

// Counted is an object that knows the length of some of its lists without computing them.
type Counted interface {
	Fields
	// Count returns the number of elements of a field; false if it is not known.
	Count(name string) (int, bool)
}

// Length returns the number of elements of a field of x; false unless x is a Counted object that knows it.
func Length(x Value, field string) (int, bool) {
	l, ok := x.(*Lazy)
	if !ok {
		return 0, false
	}
	of, ok := l.fields.(Counted)
	if !ok {
		return 0, false
	}
	return of.Count(field)
}

// AsList returns the elements of a list, or of a Listed object, or nil.
func AsList(v Value) *starlark.List {
	switch v := v.(type) {
	case *starlark.List:
		return v
	case *Lazy:
		return v.list()
	}
	return nil
}

// Lazy is an object in expressions that behaves like a Record, with fields that are computed on demand.
type Lazy struct {
	typeName string
	fields   Fields
}

// NewLazy returns an object with the fields f; typeName is its type in error messages.
func NewLazy(typeName string, f Fields) *Lazy { return &Lazy{typeName, f} }

// String returns the object in the syntax of a Starlark dict, cut off after about a megabyte.
func (l *Lazy) String() string { return quoted(l) }

// Type is the name given to NewLazy.
func (l *Lazy) Type() string { return l.typeName }

// Freeze does nothing: the fields are frozen.
func (l *Lazy) Freeze() {}

// Truth is true.
func (l *Lazy) Truth() starlark.Bool { return true }

// Hash fails: an object cannot be a key.
func (l *Lazy) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: %s", l.typeName) }

// Len returns the number of names, or of elements of a Listed object.
func (l *Lazy) Len() int {
	if list := l.list(); list != nil {
		return list.Len()
	}
	return len(l.fields.Names())
}

// list is [Listed.List], or nil for a plain object.
func (l *Lazy) list() *starlark.List {
	if of, ok := l.fields.(Listed); ok {
		return of.List()
	}
	return nil
}

// field is Fields.Field with a LookupError.
func (l *Lazy) field(name string) (Value, error) {
	v, err := l.fields.Field(name)
	if err != nil {
		return nil, LookupError(name, err)
	}
	return v, nil
}

func (l *Lazy) fieldNames() []string { return l.fields.Names() }

// Attr is Starlark's x.name.
func (l *Lazy) Attr(name string) (Value, error) {
	v, err := l.field(name)
	if v == nil && err == nil {
		return nil, noField(l.typeName, name, l.fields.Names())
	}
	return v, err
}

// AttrNames returns a copy, because Starlark's dir sorts the slice.
func (l *Lazy) AttrNames() []string { return slices.Clone(l.fields.Names()) }

// Get is Starlark's x["name"].
func (l *Lazy) Get(key Value) (Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok {
		return nil, false, fmt.Errorf("the fields of %s have names, got %s", l.typeName, key.Type())
	}
	v, err := l.field(name)
	return v, v != nil, err
}

// Iterate iterates over the names, or over the elements of a Listed object.
func (l *Lazy) Iterate() starlark.Iterator {
	if list := l.list(); list != nil {
		return list.Iterate()
	}
	return &namesIterator{names: l.fields.Names()}
}

// Items implements dict(x) and f(**x).
func (l *Lazy) Items() []starlark.Tuple {
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

// CompareSameType compares objects as sets of fields, ignoring order. Only == and != are defined.
func (l *Lazy) CompareSameType(op syntax.Token, y Value, depth int) (bool, error) {
	return sameFields(op, l, y, depth)
}

// Object is a Record or a Lazy object.
type Object interface {
	starlark.HasAttrs
	starlark.IterableMapping
	starlark.Sequence

	fieldNames() []string // names without a copy
}

var (
	_ Object              = (*Lazy)(nil)
	_ starlark.Comparable = (*Lazy)(nil)
)

// sameFields compares objects outside an evaluation, under Starlark's own depth limit.
func sameFields(op syntax.Token, x Object, y Value, depth int) (bool, error) {
	if op != syntax.EQL && op != syntax.NEQ {
		return false, fmt.Errorf("%s %s %s not implemented", x.Type(), op, y.Type())
	}
	o, ok := y.(Object)
	if !ok || o.Len() != x.Len() {
		return op == syntax.NEQ, nil
	}
	for _, name := range x.fieldNames() {
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
