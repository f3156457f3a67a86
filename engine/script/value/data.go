package value

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/script/meter"
	"go.starlark.net/starlark"
)

// These constants limit data from any source: large enough for any service answer, too small to exhaust memory. A
// weight approximates memory: 32 for each value and one for each byte of a string.
const (
	maxWeight   = 32 << 20 // of one value, and bytes of its JSON text
	valueWeight = 32
	maxDataBits = 1 << 15 // of an int
)

// Data returns v as immutable data for an output, memory or a message. Dicts and lazy objects become records; tuples,
// sets and ranges become lists; times become strings; Missing becomes None; integral floats become ints. The result is
// the same as DecodeJSON(AppendJSON(v)), and Data fails where that fails.
func Data(v Value) (Value, error) {
	c := converter{left: maxWeight}
	return c.value(v, 0)
}

// Weighed is implemented by Fields that know the weight of their data.
type Weighed interface {
	Fields
	// Weight returns the weight, as defined by the function [Weight].
	Weight() int
}

// Weight returns roughly how many bytes data take in memory. The data behind a [Lazy] value weigh nothing unless it is
// Weighed, because they are stored elsewhere.
func Weight(v Value) int {
	switch v := v.(type) {
	case starlark.String:
		return valueWeight + len(v)
	case *Record:
		if v.weight > 0 {
			return valueWeight + int(v.weight)
		}
		n := valueWeight
		for _, x := range v.known().values {
			n += Weight(x)
		}
		return n
	case *starlark.List:
		n := valueWeight
		for x := range v.Elements() {
			n += Weight(x)
		}
		return n
	case *Lazy:
		if w, ok := v.fields.(Weighed); ok {
			return valueWeight + w.Weight()
		}
	}
	return valueWeight
}

type converter struct {
	left    int       // remaining weight
	deepest int       // level of the deepest list or record so far
	shapes  [4]*Shape // shape of the last dict on each of the first levels, because the dicts of a list are usually alike
}

// spend subtracts weight from the remaining weight.
func (c *converter) spend(weight int) error {
	if c.left -= weight; c.left < 0 {
		return errHeavy
	}
	return nil
}

// value converts v at nesting level depth.
func (c *converter) value(v Value, depth int) (Value, error) {
	if err := c.spend(valueWeight); err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case starlark.NoneType, starlark.Bool:
		return v, nil
	case starlark.String:
		if err := c.spend(len(x)); err != nil {
			return nil, err
		}
		if utf8.ValidString(string(x)) {
			return v, nil
		}
		return starlark.String(Valid(string(x))), nil
	case starlark.Int:
		return v, checkInt(x)
	case starlark.Float:
		if err := CheckFloat(float64(x)); err != nil {
			return nil, err
		}
		return number(float64(x)), nil
	case MissingType:
		return starlark.None, nil
	case Time:
		return starlark.String(x.iso()), nil
	case *Record:
		if x.weight > 0 { // already data: nothing to convert, but its size counts
			if depth+int(x.height) > meter.MaxDepth {
				return nil, meter.ErrTooDeep
			}
			c.deepest = max(c.deepest, depth+int(x.height))
			return v, c.spend(int(x.weight))
		}
	}
	if depth == meter.MaxDepth {
		return nil, meter.ErrTooDeep
	}
	c.deepest = max(c.deepest, depth+1)
	return c.composite(v, depth+1)
}

// composite converts a value with elements at level depth.
func (c *converter) composite(v Value, depth int) (Value, error) {
	switch v := v.(type) {
	case *Record:
		if slices.ContainsFunc(v.fieldNames(), func(name string) bool { return !utf8.ValidString(name) }) {
			return c.record(v.Names(), slices.Clone(v.values), depth)
		}
		return c.shaped(v.shape, slices.Clone(v.values), depth)
	case *Lazy:
		names := slices.Clone(v.fields.Names())
		values := make([]Value, len(names))
		for i, name := range names {
			x, err := v.Attr(name)
			if err != nil {
				return nil, within(name, err)
			}
			values[i] = x
		}
		return c.record(names, values, depth)
	case *starlark.Dict:
		return c.dict(v, depth)
	case starlark.Callable, starlark.Bytes:
		return nil, notData(v, nil)
	case starlark.Iterable:
		return c.list(v, depth)
	}
	return nil, notData(v, nil)
}

// dict converts a dict. It collects names only if they differ from those of the last dict on its level.
func (c *converter) dict(d *starlark.Dict, depth int) (Value, error) {
	n := d.Len()
	var last *Shape
	if depth <= len(c.shapes) {
		last = c.shapes[depth-1]
	}
	var names []string // nil while the names match the last dict's
	if last == nil || len(last.names) != n {
		names = make([]string, 0, n)
	}
	values := make([]Value, n)
	iter := d.Iterate()
	defer iter.Done()
	var k Value
	for i := 0; iter.Next(&k); i++ {
		name, ok := starlark.AsString(k)
		if !ok {
			return nil, notData(d, k)
		}
		if names == nil && last.names[i] != name {
			names = append(make([]string, 0, n), last.names[:i]...)
		}
		if names != nil {
			names = append(names, name)
		}
		var err error
		if values[i], _, err = d.Get(k); err != nil {
			return nil, err
		}
	}
	if names == nil {
		return c.shaped(last, values, depth)
	}
	v, err := c.record(names, values, depth)
	if r, ok := v.(*Record); ok && depth <= len(c.shapes) {
		c.shapes[depth-1] = r.shape
	}
	return v, err
}

// record converts the values in place and takes ownership of both slices.
func (c *converter) record(names []string, values []Value, depth int) (Value, error) {
	weight, height, err := c.fields(names, values, depth)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return emptyRecord, nil
	}
	for i, name := range names {
		names[i] = Valid(name)
	}
	names, values = distinct(names, values)
	return newData(NewShape(names...), values, weight, height), nil
}

// shaped converts the values in place and takes ownership of them; the names of the shape are already valid.
func (c *converter) shaped(s *Shape, values []Value, depth int) (Value, error) {
	if len(values) == 0 {
		return emptyRecord, nil
	}
	weight, height, err := c.fields(s.names, values, depth)
	if err != nil {
		return nil, err
	}
	return newData(s, values, weight, height), nil
}

// fields converts the values of a record in place. It returns the record's weight including its names, and its nesting
// depth.
func (c *converter) fields(names []string, values []Value, depth int) (weight, height int, err error) {
	outer, before := c.deepest, c.left
	c.deepest = depth
	for i, x := range values {
		y, err := c.value(x, depth)
		if err == nil {
			err = c.spend(len(names[i]))
		}
		if err != nil {
			return 0, 0, within(names[i], err)
		}
		values[i] = y
	}
	weight, height = before-c.left, c.deepest-depth+1
	c.deepest = max(c.deepest, outer)
	return weight, height, nil
}

// list converts any sequence.
func (c *converter) list(v starlark.Iterable, depth int) (Value, error) {
	n := starlark.Len(v)
	if n > c.left/valueWeight {
		return nil, errHeavy
	}
	elems := make([]Value, 0, max(n, 0))
	iter := v.Iterate()
	defer iter.Done()
	var x Value
	for i := 0; iter.Next(&x); i++ {
		y, err := c.value(x, depth)
		if err != nil {
			return nil, within(strconv.Itoa(i), err)
		}
		elems = append(elems, y)
	}
	return NewList(elems), nil
}

// newData returns a record that holds only data, with its weight and nesting depth.
func newData(shape *Shape, values []Value, weight, height int) *Record {
	return &Record{shape: shape, values: values, weight: int32(weight), height: int16(height)}
}

var errHeavy = meter.TooBig("more than %d MB of data", maxWeight>>20)

// notData is the error for a type that is not data, or for a dict with an unusable key.
func notData(v, key Value) error {
	if key != nil {
		return NewError(fmt.Sprintf("a dict with the key %s is not data", Shown(key)), "the keys must be strings")
	}
	return fmt.Errorf("%s is not data", v.Type())
}

// CheckFloat refuses NaN and the infinities.
func CheckFloat(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v is not a number that data can hold", f)
	}
	return nil
}

// checkInt refuses ints of thousands of digits.
func checkInt(v starlark.Int) error {
	if _, ok := v.Int64(); ok {
		return nil
	}
	if bits := v.BigInt().BitLen(); bits > maxDataBits {
		return meter.TooBig("an int of %d bits", bits)
	}
	return nil
}

// number returns the canonical form of a float: an int if it is integral and exactly representable. So 2.0, 2 and 2e0
// are the same data.
func number(f float64) Value {
	if f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
		return starlark.MakeInt64(int64(f))
	}
	return starlark.Float(f)
}

// Valid replaces each byte that is not UTF-8 by U+FFFD, like encoding/json.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
