package script

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// binary applies an operator after charging its cost. Numbers come first because they are the common case.
func (m *machine) binary(op syntax.Token, x, y value.Value) (value.Value, error) {
	switch a := x.(type) {
	case starlark.Int:
		switch b := y.(type) {
		case starlark.Int:
			return ints(&m.Meter, op, a, b)
		case starlark.Float:
			return starlark.Binary(op, x, y)
		}
	case starlark.Float:
		if b, ok := y.(starlark.Float); ok {
			switch op {
			case syntax.PLUS:
				return a + b, nil
			case syntax.MINUS:
				return a - b, nil
			case syntax.STAR:
				return a * b, nil
			default:
			}
		}
		return starlark.Binary(op, x, y)
	}
	switch op {
	case syntax.IN, syntax.NOT_IN:
		found, err := contains(&m.Meter, y, x)
		return starlark.Bool(found == (op == syntax.IN)), err
	case syntax.PERCENT:
		if format, ok := x.(starlark.String); ok {
			return m.interpolate(format, y)
		}
	case syntax.PLUS:
		if err := m.Charge(sizeOf(x) + sizeOf(y)); err != nil {
			return nil, err
		}
	case syntax.STAR:
		if err := chargeRepeat(&m.Meter, x, y); err != nil {
			return nil, err
		}
	case syntax.PIPE, syntax.AMP, syntax.CIRCUMFLEX, syntax.MINUS:
		if err := chargeUnion(&m.Meter, x, y); err != nil {
			return nil, err
		}
	default:
	}
	v, err := starlark.Binary(op, x, y)
	if err != nil && (x == value.Missing || y == value.Missing) {
		err = value.NewError(err.Error(), missingHint)
	}
	return v, err
}

// ints applies an operator to two ints: directly while both fit into a word, else charged by the length of the result.
func ints(m *meter.Meter, op syntax.Token, a, b starlark.Int) (value.Value, error) {
	x, small := a.Int64()
	y, alsoSmall := b.Int64()
	if small && alsoSmall {
		switch op {
		case syntax.PLUS:
			return a.Add(b), nil
		case syntax.MINUS:
			return a.Sub(b), nil
		case syntax.STAR:
			return a.Mul(b), nil
		case syntax.PERCENT, syntax.SLASHSLASH:
			if x >= 0 && y > 0 && x <= math.MaxInt32 && y <= math.MaxInt32 {
				if op == syntax.PERCENT {
					return starlark.MakeInt64(x % y), nil
				}
				return starlark.MakeInt64(x / y), nil
			}
		default:
		}
		return starlark.Binary(op, a, b)
	}
	xbits, ybits := a.BigInt().BitLen(), b.BigInt().BitLen()
	bits, work := max(xbits, ybits)+1, xbits+ybits
	switch op {
	case syntax.STAR:
		bits, work = xbits+ybits, xbits/64*(ybits/64)*8
	case syntax.SLASHSLASH, syntax.PERCENT:
		work += xbits / 64 * (ybits / 64) * 8
	case syntax.LTLT:
		bits = xbits + 512 // Starlark's own limit for shifts
	default:
	}
	if bits > maxBits {
		return nil, meter.TooBig("an int of more than %d bits", maxBits)
	}
	if err := m.Work(work); err != nil {
		return nil, err
	}
	if err := m.Charge(bits / 8); err != nil {
		return nil, err
	}
	return starlark.Binary(op, a, b)
}

// update applies the operator of an augmented assignment: += and |= change lists and dicts in place.
func (m *machine) update(op syntax.Token, x, y value.Value) (value.Value, error) {
	switch list, ok := x.(*starlark.List); {
	case ok && op == syntax.PLUS:
		if seq, ok := y.(starlark.Iterable); ok {
			if err := extend(&m.Meter, list, seq); err != nil {
				return nil, inPlace(err)
			}
			return list, nil
		}
	case op == syntax.PIPE:
		d, ok := x.(*starlark.Dict)
		e, also := y.(*starlark.Dict)
		if !ok || !also {
			break
		}
		if d == e {
			return d, nil
		}
		for k, v := range e.Entries() {
			if err := m.Insert(d, k, v); err != nil {
				return nil, inPlace(err)
			}
		}
		return d, nil
	}
	return m.binary(op, x, y)
}

// inPlace rewords the error of += and |= on a frozen value in terms of the operator instead of append and insert.
func inPlace(err error) error {
	if rest, ok := strings.CutPrefix(err.Error(), "cannot append to "); ok {
		return value.NewError("cannot apply += to "+rest, "data is immutable: x = x + [y] makes a new list")
	}
	if rest, ok := strings.CutPrefix(err.Error(), "cannot insert into "); ok {
		return value.NewError("cannot apply |= to "+rest, "data is immutable: x = x | {...} makes a new dict")
	}
	return err
}

// extend appends the elements of a sequence to a list.
func extend(m *meter.Meter, list *starlark.List, seq starlark.Iterable) error {
	if other, ok := seq.(*starlark.List); ok {
		n := other.Len() // x += x doubles x only once
		for i := range n {
			if err := m.Charge(2 * meter.ElemSize); err != nil {
				return err
			}
			if err := list.Append(other.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return m.Each(seq, func(v value.Value) error {
		if err := m.Charge(2 * meter.ElemSize); err != nil {
			return err
		}
		return list.Append(v)
	})
}

// sizeOf returns the memory of a shallow copy of a value.
func sizeOf(v value.Value) int {
	switch v := v.(type) {
	case starlark.String:
		return len(v)
	case starlark.Bytes:
		return len(v)
	case *starlark.List:
		return meter.ListSize + meter.ElemSize*v.Len()
	case starlark.Tuple:
		return meter.ListSize + meter.ElemSize*len(v)
	}
	return 0
}

// chargeRepeat charges text * n and list * n, on either side.
func chargeRepeat(m *meter.Meter, x, y value.Value) error {
	n, ok := y.(starlark.Int)
	if !ok {
		if n, ok = x.(starlark.Int); !ok {
			return nil
		}
		x = y
	}
	times, small := n.Int64()
	size := sizeOf(x)
	switch {
	case size == 0 || small && times <= 1:
		return m.Charge(size)
	case !small || times > math.MaxInt32:
		return m.Charge(-1)
	}
	return m.ChargeMany(int(times), size)
}

// chargeUnion charges an operator on two sets or two dicts that builds a new one.
func chargeUnion(m *meter.Meter, x, y value.Value) error {
	for _, v := range []value.Value{x, y} {
		switch v.(type) {
		case *starlark.Dict, *starlark.Set:
		default:
			return nil
		}
	}
	return m.ChargeTables(x.(starlark.Iterable), y.(starlark.Iterable))
}

// contains implements x in y.
func contains(m *meter.Meter, y, x value.Value) (bool, error) {
	switch y := y.(type) {
	case value.MissingType:
		return false, nil
	case *value.Record:
		name, ok := x.(starlark.String)
		if err := m.Work(len(name)); err != nil {
			return false, err
		}
		if ok {
			_, ok = y.Field(string(name))
		}
		return ok, nil
	case *value.Lazy:
		if list := value.AsList(y); list != nil {
			return among(m, list.Len(), list.Index, x)
		}
		_, found, err := y.Get(x)
		return found, err
	case starlark.String:
		if err := m.Work(len(y)); err != nil {
			return false, err
		}
	case starlark.Bytes:
		if err := m.Work(len(y)); err != nil {
			return false, err
		}
	case *starlark.List:
		return among(m, y.Len(), y.Index, x)
	case starlark.Tuple:
		return among(m, len(y), y.Index, x)
	case *starlark.Dict, *starlark.Set:
		if err := m.ChargeLookup(x, starlark.Len(y)); err != nil {
			return false, err
		}
	}
	v, err := starlark.Binary(syntax.IN, x, y)
	return v == starlark.True, err
}

// among looks for x among n elements.
func among(m *meter.Meter, n int, at func(int) value.Value, x value.Value) (bool, error) {
	for i := range n {
		if err := m.Step(1); err != nil {
			return false, err
		}
		if same, err := compare(m, syntax.EQL, at(i), x, 0); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// index implements x[y].
func (m *machine) index(x, y value.Value) (value.Value, error) {
	switch a := x.(type) {
	case value.Object:
		if name, ok := y.(starlark.String); ok {
			return a.Attr(string(name))
		}
		if list := value.AsList(a); list != nil {
			return m.index(list, y)
		}
		_, _, err := a.Get(y)
		return nil, err
	case value.MissingType:
		return value.Missing, nil
	case starlark.Mapping:
		if err := m.ChargeLookup(y, starlark.Len(a)); err != nil {
			return nil, err
		}
		v, found, err := a.Get(y)
		if err == nil && !found {
			return nil, m.noKey(a, y)
		}
		return v, err
	case starlark.Indexable:
		at, err := position(a, y)
		if err != nil {
			return nil, err
		}
		return a.Index(at), nil
	}
	return nil, fmt.Errorf("unhandled index operation %s[%s]", x.Type(), y.Type())
}

// noKey is the error for a missing key of a dict.
func (m *machine) noKey(d value.Value, key value.Value) error {
	text, err := m.show(key, true)
	if err != nil {
		return err
	}
	hint := ""
	if d, ok := d.(*starlark.Dict); ok && d.Len() <= 100 {
		if name, ok := starlark.AsString(key); ok {
			var names []string
			for _, k := range d.Keys() {
				if s, ok := starlark.AsString(k); ok {
					names = append(names, s)
				}
			}
			if near := suggest.Nearest(name, names); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
		}
	}
	return value.NewError(fmt.Sprintf("key %s not in %s", text, d.Type()), hint)
}

// position returns the element of x that the index y selects; a negative index counts from the end.
func position(x starlark.Indexable, y value.Value) (int, error) {
	i, err := starlark.AsInt32(y)
	if err != nil {
		return 0, fmt.Errorf("%s index: %w", x.Type(), err)
	}
	n := x.Len()
	switch {
	case 0 <= i && i < n:
		return i, nil
	case -n <= i && i < 0:
		return i + n, nil
	case n == 0:
		return 0, fmt.Errorf("index %d out of range: empty %s", i, x.Type())
	}
	return 0, fmt.Errorf("%s index %d out of range [%d:%d]", x.Type(), i, -n, n-1)
}

// setIndex implements x[y] = v.
func setIndex(m *meter.Meter, x, y, v value.Value) error {
	switch x := x.(type) {
	case *starlark.Dict:
		return m.Insert(x, y, v)
	case starlark.HasSetIndex:
		at, err := position(x, y)
		if err != nil {
			return err
		}
		return x.SetIndex(at, v)
	case value.Object:
		return value.NewError("a record is immutable", "build a new dict: dict(x)")
	}
	return fmt.Errorf("%s value does not support item assignment", x.Type())
}

// slice implements x[lo:hi:step].
func slice(m *meter.Meter, x, lo, hi, step value.Value) (value.Value, error) {
	if list := value.AsList(x); list != nil {
		x = list
	}
	seq, ok := x.(starlark.Sliceable)
	if !ok {
		if x == value.Missing {
			return value.Missing, nil
		}
		return nil, fmt.Errorf("invalid slice operand %s", x.Type())
	}
	n, by := seq.Len(), 1
	if step != starlark.None {
		var err error
		if by, err = starlark.AsInt32(step); err != nil {
			return nil, fmt.Errorf("invalid slice step: %w", err)
		}
		if by == 0 {
			return nil, errors.New("zero is not a valid slice step")
		}
	}
	// A backward slice starts at the last element and ends before the first.
	start, end, lowest := 0, n, 0
	if by < 0 {
		start, end, lowest = n-1, -1, -1
	}
	highest := n + lowest
	if err := bound(lo, n, lowest, highest, &start); err != nil {
		return nil, fmt.Errorf("invalid start index: %w", err)
	}
	if err := bound(hi, n, lowest, highest, &end); err != nil {
		return nil, fmt.Errorf("invalid end index: %w", err)
	}
	if (by > 0) == (end < start) {
		end = start
	}
	size := 0
	switch x.(type) {
	case starlark.String, starlark.Bytes:
		if by != 1 { // otherwise the result shares the string's memory
			size = 1
		}
	case *starlark.List, starlark.Tuple:
		size = meter.ElemSize
	}
	if err := m.Charge(meter.ListSize + max(end-start, start-end)*size); err != nil {
		return nil, err
	}
	return seq.Slice(start, end, by), nil
}

// bound sets *at to an index into n elements, counted from the end if negative, unless the operand is None.
func bound(v value.Value, n, lowest, highest int, at *int) error {
	if v == starlark.None {
		return nil
	}
	i, err := starlark.AsInt32(v)
	if err != nil {
		return err
	}
	if i < 0 {
		i += n
	}
	*at = max(lowest, min(i, highest))
	return nil
}

// attr implements x.name, except for the fields of a record, which the caller handles first.
func attr(x value.Value, name string) (value.Value, error) {
	a, ok := x.(starlark.HasAttrs)
	if !ok {
		hint := ""
		if x == starlark.None {
			hint = fmt.Sprintf("get(x, %q) returns a default instead", name)
		}
		return nil, noAttr(x, name, hint)
	}
	v, err := a.Attr(name)
	if v != nil || err != nil {
		return v, err
	}
	if d, ok := x.(*starlark.Dict); ok {
		if _, found, _ := d.Get(starlark.String(name)); found {
			return nil, noAttr(x, name, fmt.Sprintf("a dict made here has keys, not fields: x[%q]", name))
		}
	}
	if near := suggest.Nearest(name, a.AttrNames()); near != "" {
		return nil, noAttr(x, name, fmt.Sprintf("did you mean .%s?", near))
	}
	return nil, noAttr(x, name, "")
}

// noAttr is the error for an unknown x.name.
func noAttr(x value.Value, name, hint string) error {
	return value.NewError(fmt.Sprintf("%s has no .%s field or method", x.Type(), name), hint)
}
