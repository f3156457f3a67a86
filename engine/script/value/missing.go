package value

import (
	"errors"

	"go.starlark.net/starlark"
)

// Missing is the output of a step that did not run. It is falsy and empty, its fields and indexes are Missing too, and
// it is null in JSON and empty in texts.
var Missing Value = MissingType{}

// MissingType is the type of Missing, for type switches.
type MissingType struct{}

// String returns "missing".
func (MissingType) String() string { return "missing" }

// Type is "missing".
func (MissingType) Type() string { return "missing" }

// Freeze does nothing: Missing is immutable.
func (MissingType) Freeze() {}

// Truth is false.
func (MissingType) Truth() starlark.Bool { return false }

// Hash fails: Missing cannot be a key.
func (MissingType) Hash() (uint32, error) { return 0, errors.New("unhashable type: missing") }

// Attr returns Missing for every name.
func (MissingType) Attr(string) (Value, error) { return Missing, nil }

// AttrNames returns no names.
func (MissingType) AttrNames() []string { return nil }

// Get returns Missing for every key.
func (MissingType) Get(Value) (Value, bool, error) { return Missing, true, nil }

// Iterate iterates over nothing.
func (MissingType) Iterate() starlark.Iterator { return &namesIterator{} }

// Len is 0.
func (MissingType) Len() int { return 0 }

// Has reports false: nothing is in Missing.
func (MissingType) Has(Value) (bool, error) { return false, nil }

var (
	_ starlark.Container = MissingType{}
	_ starlark.Mapping   = MissingType{}
)
