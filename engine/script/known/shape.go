// Package known tells what is known of values before a run: which fields a record has, and what an expression returns. Nothing is known of
// most values, and nothing is reported of those.
package known

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/script/value"
)

// Shape is what is known of a value. Nothing is known of a nil shape.
type Shape struct {
	Kind   Kind
	Values []value.Value // all that it can be; nil is anything of its kind
	Fields []Field       // of a record
	Open   bool          // the record may have other fields
	Strict bool          // as what is wanted: a record with other fields does not fit
	Item   *Shape        // of a list
	Any    []*Shape      // it is one of these, which of them is not known; the rest of the shape is empty
	Each   bool          // each of Any occurs
	At     Place         // where an expression writes it
	Called bool          // At is the call of the function that writes it
}

// Field is a field of a record.
type Field struct {
	Name     string
	Of       *Shape
	Optional bool  // the record may lack it
	At       Place // of its name, where an expression writes it
}

// Place is a position in an expression, from 1; the zero value is unknown.
type Place struct{ Line, Col int }

// Kind is the kind of a value.
type Kind string

// Kinds of values. A whole number is also a number.
const (
	Anything Kind = ""
	Text     Kind = "a text"
	Truth    Kind = "true or false"
	Whole    Kind = "a whole number"
	Number   Kind = "a number"
	List     Kind = "a list"
	Record   Kind = "a record"
	Dict     Kind = "a dict" // a record to be, with methods instead of fields
	None     Kind = "None"
)

// RecordOf returns the shape of a record with these fields and no others.
func RecordOf(names ...string) *Shape {
	s := &Shape{Kind: Record}
	for _, n := range names {
		s.Fields = append(s.Fields, Field{Name: n})
	}
	return s
}

// ListOf returns the shape of a list.
func ListOf(item *Shape) *Shape { return &Shape{Kind: List, Item: item} }

// One returns the shape of a value that is one of several. Nothing is known of it if nothing is known of one of them.
func One(of ...*Shape) *Shape {
	if len(of) == 0 || slices.Contains(of, nil) {
		return nil
	}
	if len(of) == 1 {
		return of[0]
	}
	return &Shape{Any: of}
}

// Constant returns the shape of a value.
func Constant(v value.Value) *Shape {
	s := &Shape{Values: []value.Value{v}}
	switch v := v.(type) {
	case starlark.String:
		s.Kind = Text
	case starlark.Bool:
		s.Kind = Truth
	case starlark.Int:
		s.Kind = Whole
	case starlark.Float:
		s.Kind = Number
	case starlark.NoneType:
		s.Kind = None
	case *value.Record:
		s.Kind, s.Values = Record, nil
		for name, of := range v.All() {
			s.Fields = append(s.Fields, Field{Name: name, Of: Constant(of)})
		}
	default:
		return nil
	}
	return s
}

// Data returns the shape of a value once it is data, in which dicts are records.
func (s *Shape) Data() *Shape {
	if s == nil {
		return nil
	}
	out := *s
	if out.Kind == Dict {
		out.Kind = Record
	}
	out.Item, out.Fields, out.Any = s.Item.Data(), slices.Clone(s.Fields), slices.Clone(s.Any)
	for i := range out.Fields {
		out.Fields[i].Of = s.Fields[i].Of.Data()
	}
	for i, one := range s.Any {
		out.Any[i] = one.Data()
	}
	return &out
}

// Items returns the shape of the elements of a list.
func (s *Shape) Items() *Shape {
	switch {
	case s == nil:
		return nil
	case s.Any != nil:
		all := make([]*Shape, len(s.Any))
		for i, one := range s.Any {
			all[i] = one.Items()
		}
		return One(all...)
	}
	return s.Item
}

// Field returns the shape of a field. ok is false if the value certainly has no such field.
func (s *Shape) Field(name string) (of *Shape, ok bool) {
	switch {
	case s == nil:
		return nil, true
	case s.Any != nil:
		var all []*Shape
		for _, one := range s.Any {
			if of, has := one.Field(name); has {
				all, ok = append(all, of), true
			}
		}
		return One(all...), ok
	case s.Kind != Record:
		return nil, true
	}
	for _, f := range s.Fields {
		if f.Name == name {
			return f.Of, true
		}
	}
	return nil, s.Open
}

// Names returns the names of the known fields.
func (s *Shape) Names() (names []string) {
	if s == nil {
		return nil
	}
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	for _, one := range s.Any {
		for _, n := range one.Names() {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// Once returns a function that calls f the first time only. Until f returns, nothing is known.
func Once(f func() *Shape) func() *Shape {
	var s *Shape
	var called bool
	return func() *Shape {
		if !called {
			called = true
			s = f()
		}
		return s
	}
}
