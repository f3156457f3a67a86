package value

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/throng-sim/throng/engine/suggest"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Field is a name and its value.
type Field struct {
	Name  string
	Value Value
}

// Shape is the ordered field names of records. Records with the same names share one, so that a record stores only its
// values.
type Shape struct {
	names []string
	index atomic.Pointer[map[string]int] // built at the first lookup, for wide shapes only
}

// narrow is the width up to which a scan over the names beats a map.
const narrow = 12

// NewShape returns the shape of records with these names, which must be distinct.
func NewShape(names ...string) *Shape { return &Shape{names: names} }

// Record returns a record of this shape. The values are in the order of the names, frozen, and owned by the record.
func (s *Shape) Record(values ...Value) *Record {
	if len(values) != len(s.names) {
		panic(fmt.Sprintf("value: %d values for a shape of %d names", len(values), len(s.names)))
	}
	for _, v := range values {
		v.Freeze()
	}
	return &Record{shape: s, values: values}
}

// Of is Record with a copy of a few values, which the caller keeps.
func (s *Shape) Of(values ...Value) *Record {
	switch len(values) {
	case 1:
		r := &struct {
			Record
			room [1]Value
		}{}
		return s.fill(&r.Record, r.room[:], values)
	case 2, 3:
		r := &room{}
		return s.fill(&r.Record, r.few[:len(values):len(values)], values)
	}
	return s.Record(slices.Clone(values)...)
}

// room is memory for a record of a few values.
type room struct {
	Record
	few [3]Value
}

// Rooms is memory for a few records, which its owner uses again once nothing refers to them. A nil Rooms has none.
type Rooms struct {
	rooms [4]room
	used  int
}

// Of is [Shape.Of] with a record in the memory, if there is room.
func (r *Rooms) Of(s *Shape, values ...Value) *Record {
	if r == nil || r.used == len(r.rooms) || len(values) > len(r.rooms[0].few) {
		return s.Of(values...)
	}
	in := &r.rooms[r.used]
	r.used++
	return s.fill(&in.Record, in.few[:len(values):len(values)], values)
}

// Clear makes the memory of all records free.
func (r *Rooms) Clear() {
	clear(r.rooms[:r.used])
	r.used = 0
}

// fill makes r the record of this shape with a copy of the values, in a room for them.
func (s *Shape) fill(r *Record, room, values []Value) *Record {
	if len(values) != len(s.names) {
		panic(fmt.Sprintf("value: %d values for a shape of %d names", len(values), len(s.names)))
	}
	for i, v := range values {
		v.Freeze()
		room[i] = v
	}
	r.shape, r.values = s, room
	return r
}

// find returns the place of a name, or -1.
func (s *Shape) find(name string) int {
	if len(s.names) <= narrow {
		for i, n := range s.names {
			if n == name {
				return i
			}
		}
		return -1
	}
	index := s.index.Load()
	if index == nil {
		m := make(map[string]int, len(s.names))
		for i, n := range s.names {
			m[n] = i
		}
		index = &m
		s.index.Store(index) // two goroutines may both build it: the maps are equal
	}
	if i, ok := (*index)[name]; ok {
		return i
	}
	return -1
}

// Record is an ordered, immutable set of named values: a JSON object in expressions. Its attributes are its fields and
// nothing else, so x.items is the field items; x["k"], in, len, ==, iteration over the names and dict(x) work as for a
// dict. The zero value is an empty record.
type Record struct {
	shape  *Shape
	values []Value
	weight int32                  // total weight, or 0 unless every value came from Data or DecodeJSON
	height int16                  // nesting depth, if there is a weight
	unread atomic.Pointer[unread] // nil if shape and values are known
}

// known returns the record once its shape and values are known.
func (r *Record) known() *Record {
	if u := r.unread.Load(); u != nil {
		r.read(u)
	}
	return r
}

var (
	emptyShape  = NewShape()
	emptyRecord = newData(emptyShape, nil, 1, 1)
)

// NewRecord returns a record with these fields in order. For repeated names the last value counts, at the position of
// the first. The values are frozen.
func NewRecord(fields ...Field) *Record {
	names, values := make([]string, 0, len(fields)), make([]Value, 0, len(fields))
	for _, f := range fields {
		names, values = append(names, f.Name), append(values, f.Value)
	}
	names, values = distinct(names, values)
	return NewShape(names...).Record(values...)
}

// distinct removes repeated names in place: the last value at the first position.
func distinct(names []string, values []Value) ([]string, []Value) {
	if len(names) <= narrow {
		n := 0
		for i, name := range names {
			if j := slices.Index(names[:n], name); j >= 0 {
				values[j] = values[i]
				continue
			}
			names[n], values[n] = name, values[i]
			n++
		}
		return names[:n], values[:n]
	}
	at := make(map[string]int, len(names))
	n := 0
	for i, name := range names {
		if j, ok := at[name]; ok {
			values[j] = values[i]
			continue
		}
		at[name] = n
		names[n], values[n] = name, values[i]
		n++
	}
	return names[:n], values[:n]
}

// fieldNames returns the names without copying them.
func (r *Record) fieldNames() []string {
	if r.known().shape == nil {
		return nil
	}
	return r.shape.names
}

// Field returns the value of a field, and whether the field exists.
func (r *Record) Field(name string) (Value, bool) {
	if r.known().shape != nil {
		if i := r.shape.find(name); i >= 0 {
			return r.values[i], true
		}
	}
	return nil, false
}

// At returns the i-th field.
func (r *Record) At(i int) Field { return Field{r.known().shape.names[i], r.values[i]} }

// Names returns the field names in order.
func (r *Record) Names() []string { return slices.Clone(r.fieldNames()) }

// All iterates over the fields in order.
func (r *Record) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i, v := range r.known().values {
			if !yield(r.shape.names[i], v) {
				return
			}
		}
	}
}

// Len returns the number of fields.
func (r *Record) Len() int { return len(r.known().values) }

// String returns the record in the syntax of a Starlark dict, cut off after about a megabyte.
func (r *Record) String() string { return quoted(r) }

// Type is "record".
func (r *Record) Type() string { return "record" }

// Freeze does nothing: records are immutable.
func (r *Record) Freeze() {}

// Truth reports whether the record has fields.
func (r *Record) Truth() starlark.Bool { return r.Len() > 0 }

// Hash fails: a record cannot be a key.
func (r *Record) Hash() (uint32, error) { return 0, errors.New("unhashable type: record") }

// Attr implements Starlark's x.name.
func (r *Record) Attr(name string) (Value, error) {
	if v, ok := r.Field(name); ok {
		return v, nil
	}
	return nil, noField(r.Type(), name, r.fieldNames())
}

// AttrNames returns a copy, because Starlark's dir sorts the slice.
func (r *Record) AttrNames() []string { return r.Names() }

// Get implements Starlark's x["name"] and "name" in x.
func (r *Record) Get(key Value) (Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok {
		return nil, false, fmt.Errorf("the fields of a %s have names, got %s", r.Type(), key.Type())
	}
	v, ok := r.Field(name)
	return v, ok, nil
}

// Iterate yields the names, as iterating over a dict yields its keys.
func (r *Record) Iterate() starlark.Iterator { return &namesIterator{names: r.fieldNames()} }

// Items returns the fields as pairs, for dict(x) and f(**x).
func (r *Record) Items() []starlark.Tuple {
	items := make([]starlark.Tuple, r.Len())
	for i, v := range r.values {
		items[i] = starlark.Tuple{starlark.String(r.shape.names[i]), v}
	}
	return items
}

// CompareSameType compares records as sets of fields, ignoring order. Only == and != are defined.
func (r *Record) CompareSameType(op syntax.Token, y Value, depth int) (bool, error) {
	return sameFields(op, r, y, depth)
}

type namesIterator struct{ names []string }

func (it *namesIterator) Next(p *Value) bool {
	if len(it.names) == 0 {
		return false
	}
	*p = starlark.String(it.names[0])
	it.names = it.names[1:]
	return true
}

func (it *namesIterator) Done() {}

// NewList returns a frozen list. It takes ownership of elems.
func NewList(elems []Value) *starlark.List {
	l := starlark.NewList(elems)
	l.Freeze()
	return l
}

// noField is the error for a missing field, with the nearest name and some existing names.
func noField(typeName, name string, names []string) error {
	const shown = 12
	problem := fmt.Sprintf("%s has no field %q", typeName, name)
	hint := suggest.Hint(name, names)
	if hint != "" {
		hint += " "
	} else if use := insteadOf[name]; use != "" {
		return NewError(problem, "data has fields, not methods: write "+use)
	}
	switch {
	case len(names) == 0:
		hint += "it has no fields"
	case len(names) > shown:
		hint += fmt.Sprintf("it has %s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	default:
		hint += "it has " + strings.Join(names, ", ")
	}
	return NewError(problem, hint)
}

// insteadOf maps methods of dicts to their equivalents for data.
var insteadOf = map[string]string{
	"get": `get(x, "name", default)`, "keys": "keys(x)", "items": "dict(x).items()", "values": "dict(x).values()",
}

var (
	_ Object              = (*Record)(nil)
	_ starlark.Comparable = (*Record)(nil)
)
