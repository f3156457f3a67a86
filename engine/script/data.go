package script

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// What data may be, wherever it comes from: enough for any answer of a service, too little for a bomb. A weight is
// about what a value takes in memory: 32 for each value and one for each byte of a text.
const (
	maxDepth    = 200      // levels of lists and records
	maxWeight   = 32 << 20 // of one piece of data, and bytes of its JSON text
	valueWeight = 32
	maxDataBits = 1 << 15 // of an int
)

// Data returns v as immutable data, as an output, memory or message keeps it: dicts and lazy objects become records,
// tuples, sets and ranges lists, times texts, Missing None, integral floats ints. It is what reading back AppendJSON's
// text would give, and fails where that would.
func Data(v Value) (Value, error) {
	c := converter{left: maxWeight}
	return c.value(v, 0)
}

// Weighed are Fields that know what their data weigh.
type Weighed interface {
	Fields
	// Weight is as [Weight] has it.
	Weight() int
}

// Weight is about how many bytes data take in memory. What [Lazy] shows weighs nothing unless it is Weighed: it is
// kept elsewhere.
func Weight(v Value) int {
	switch v := v.(type) {
	case starlark.String:
		return valueWeight + len(v)
	case *Record:
		if v.weight > 0 {
			return valueWeight + int(v.weight)
		}
		n := valueWeight
		for _, x := range v.values {
			n += Weight(x)
		}
		return n
	case *starlark.List:
		n := valueWeight
		for x := range v.Elements() {
			n += Weight(x)
		}
		return n
	case *lazy:
		if w, ok := v.fields.(Weighed); ok {
			return valueWeight + w.Weight()
		}
	}
	return valueWeight
}

type converter struct {
	left    int       // weight that may still be used
	deepest int       // level of the deepest list or record so far
	shapes  [4]*Shape // of the last dict on each of the first levels: those of a list are mostly alike
}

// spend takes weight off what is left.
func (c *converter) spend(weight int) error {
	if c.left -= weight; c.left < 0 {
		return errHeavy
	}
	return nil
}

// value converts v, which is depth levels deep.
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
		return starlark.String(valid(string(x))), nil
	case starlark.Int:
		return v, checkInt(x)
	case starlark.Float:
		if err := checkFloat(float64(x)); err != nil {
			return nil, err
		}
		return number(float64(x)), nil
	case missing:
		return starlark.None, nil
	case moment:
		return starlark.String(x.iso()), nil
	case *Record:
		if x.weight > 0 { // data already, however large: nothing to convert, but its size counts
			if depth+int(x.height) > maxDepth {
				return nil, errDeep
			}
			c.deepest = max(c.deepest, depth+int(x.height))
			return v, c.spend(int(x.weight))
		}
	}
	if depth == maxDepth {
		return nil, errDeep
	}
	c.deepest = max(c.deepest, depth+1)
	return c.composite(v, depth+1)
}

// composite converts what has elements, at level depth.
func (c *converter) composite(v Value, depth int) (Value, error) {
	switch v := v.(type) {
	case *Record:
		if slices.ContainsFunc(v.names(), func(name string) bool { return !utf8.ValidString(name) }) {
			return c.record(v.Names(), slices.Clone(v.values), depth)
		}
		return c.shaped(v.shape, slices.Clone(v.values), depth)
	case *lazy:
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

// dict converts a dict. Its names are collected only if they are not those of the last one on its level.
func (c *converter) dict(d *starlark.Dict, depth int) (Value, error) {
	n := d.Len()
	var last *Shape
	if depth <= len(c.shapes) {
		last = c.shapes[depth-1]
	}
	var names []string // nil while they are those of the last one
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

// record converts the values in place and takes both slices.
func (c *converter) record(names []string, values []Value, depth int) (Value, error) {
	weight, height, err := c.fields(names, values, depth)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return emptyRecord, nil
	}
	for i, name := range names {
		names[i] = valid(name)
	}
	names, values = distinct(names, values)
	return newData(NewShape(names...), values, weight, height), nil
}

// shaped converts the values in place and takes them; the names of the shape are valid.
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

// fields converts the values of a record in place, and returns what it weighs with its names and how many levels it has.
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

// newData returns a record that holds nothing but data, with what it weighs and how many levels it has.
func newData(shape *Shape, values []Value, weight, height int) *Record {
	return &Record{shape: shape, values: values, weight: int32(weight), height: int16(height)}
}

var errHeavy = tooBig("more than %d MB of data", maxWeight>>20)

// notData is the error for a type that data cannot hold, or for a dict because of one of its keys.
func notData(v, key Value) error {
	if key != nil {
		return &problem{fmt.Sprintf("a dict with the key %s is not data", Shown(key)), "the keys must be strings"}
	}
	return fmt.Errorf("%s is not data", v.Type())
}

// checkFloat refuses NaN and the infinities.
func checkFloat(f float64) error {
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
		return tooBig("an int of %d bits", bits)
	}
	return nil
}

// number is the canonical form of a float as data: an int if it is integral and exact as one. So 2.0, 2 and 2e0 are
// the same data, whichever of them a service sends.
func number(f float64) Value {
	if f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
		return starlark.MakeInt64(int64(f))
	}
	return starlark.Float(f)
}

// valid replaces each byte that is not UTF-8 by U+FFFD, as encoding/json does.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
