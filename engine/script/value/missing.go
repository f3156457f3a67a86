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

func (MissingType) String() string                 { return "missing" }
func (MissingType) Type() string                   { return "missing" }
func (MissingType) Freeze()                        {}
func (MissingType) Truth() starlark.Bool           { return false }
func (MissingType) Hash() (uint32, error)          { return 0, errors.New("unhashable type: missing") }
func (MissingType) Attr(string) (Value, error)     { return Missing, nil }
func (MissingType) AttrNames() []string            { return nil }
func (MissingType) Get(Value) (Value, bool, error) { return Missing, true, nil }
func (MissingType) Iterate() starlark.Iterator     { return &namesIterator{} }
func (MissingType) Len() int                       { return 0 }
func (MissingType) Has(Value) (bool, error)        { return false, nil }

var (
	_ starlark.Container = MissingType{}
	_ starlark.Mapping   = MissingType{}
)
