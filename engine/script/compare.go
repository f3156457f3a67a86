package script

import (
	"errors"
	"strings"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

var errCompareDeep = errors.New("comparison exceeded maximum recursion depth")

// compare applies == != < <= > or >=. It differs from Starlark in three ways: each pair of elements costs a step, so
// values with shared parts cannot take unbounded time; ints and floats are compared without allocating; and records,
// lazy objects and dicts with the same fields are equal.
func compare(m *meter.Meter, op syntax.Token, x, y value.Value, depth int) (bool, error) {
	switch a := x.(type) {
	case starlark.String:
		if b, ok := y.(starlark.String); ok {
			if op == syntax.EQL || op == syntax.NEQ {
				if len(a) != len(b) {
					return op == syntax.NEQ, nil
				}
			}
			if err := m.Work(min(len(a), len(b))); err != nil {
				return false, err
			}
			return ordered(op, strings.Compare(string(a), string(b))), nil
		}
	case starlark.Bytes:
		if b, ok := y.(starlark.Bytes); ok {
			if err := m.Work(min(len(a), len(b))); err != nil {
				return false, err
			}
		}
	case starlark.Int:
		switch b := y.(type) {
		case starlark.Int:
			n, err := a.Cmp(b, 1)
			return ordered(op, n), err
		case starlark.Float:
			if n, ok := a.Int64(); ok && -1<<53 <= n && n <= 1<<53 && b == b {
				return ordered(op, sign(float64(n), float64(b))), nil
			}
		}
	case starlark.Float:
		switch b := y.(type) {
		case starlark.Float:
			if a == a && b == b {
				return ordered(op, sign(float64(a), float64(b))), nil
			}
		case starlark.Int:
			if n, ok := b.Int64(); ok && -1<<53 <= n && n <= 1<<53 && a == a {
				return ordered(op, sign(float64(a), float64(n))), nil
			}
		}
	case starlark.Bool, starlark.NoneType:
	default:
		return compareParts(m, op, x, y, depth)
	}
	ok, err := starlark.Compare(op, x, y)
	if err != nil {
		err = incomparable(m, err, x, y)
	}
	return ok, err
}

const missingHint = "the output of a step that did not run is missing, and so is an empty cell of a population; " +
	"test it first, or use get(x, \"name\", default)"

// incomparable adds the usual cause to Starlark's error.
func incomparable(m *meter.Meter, err error, x, y value.Value) error {
	hint := ""
	for _, v := range []value.Value{x, y} {
		switch v.(type) {
		case value.MissingType:
			hint = missingHint
		case starlark.String:
			hint = "int(x) and float(x) convert a string to a number"
		}
	}
	return value.NewError(err.Error(), hint)
}

// sign compares two numbers that are not NaN.
func sign(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ordered applies a comparison to the result of ordering two values.
func ordered(op syntax.Token, n int) bool {
	switch op {
	case syntax.EQL:
		return n == 0
	case syntax.NEQ:
		return n != 0
	case syntax.LT:
		return n < 0
	case syntax.LE:
		return n <= 0
	case syntax.GT:
		return n > 0
	default:
		return n >= 0
	}
}

// compareParts compares lists, tuples, mappings and sets.
func compareParts(m *meter.Meter, op syntax.Token, x, y value.Value, depth int) (bool, error) {
	if depth > meter.MaxDepth {
		return false, errCompareDeep
	}
	if err := m.Step(1); err != nil {
		return false, err
	}
	equality := op == syntax.EQL || op == syntax.NEQ
	switch a := x.(type) {
	case *starlark.List:
		if b, ok := y.(*starlark.List); ok {
			return compareSequences(m, op, a, b, depth)
		}
	case starlark.Tuple:
		if b, ok := y.(starlark.Tuple); ok {
			return compareSequences(m, op, a, b, depth)
		}
	case *starlark.Set:
		if b, ok := y.(*starlark.Set); ok {
			if err := m.ChargeTables(a, b); err != nil {
				return false, err
			}
			return starlark.Compare(op, a, b)
		}
	case *starlark.Dict, value.Object:
		b, ok := mapping(y)
		if ok && equality {
			same, err := sameMapping(m, x.(starlark.IterableMapping), b, depth)
			return same == (op == syntax.EQL), err
		}
		if !ok && equality {
			return op == syntax.NEQ, nil
		}
	case value.MissingType:
		if equality {
			return (y == value.Missing) == (op == syntax.EQL), nil
		}
	}
	ok, err := starlark.Compare(op, x, y)
	if err != nil {
		err = incomparable(m, err, x, y)
	}
	return ok, err
}

// mapping returns v if it has names or keys: dicts, records and lazy objects compare with each other.
func mapping(v value.Value) (starlark.IterableMapping, bool) {
	switch v := v.(type) {
	case *starlark.Dict:
		return v, true
	case value.Object:
		return v, true
	}
	return nil, false
}

// compareSequences orders lists and tuples by their first different elements, then by length.
func compareSequences(m *meter.Meter, op syntax.Token, x, y starlark.Indexable, depth int) (bool, error) {
	n := min(x.Len(), y.Len())
	if x.Len() != y.Len() && (op == syntax.EQL || op == syntax.NEQ) {
		return op == syntax.NEQ, nil
	}
	for i := range n {
		if err := m.Step(1); err != nil {
			return false, err
		}
		a, b := x.Index(i), y.Index(i)
		same, err := compare(m, syntax.EQL, a, b, depth+1)
		if err != nil {
			return false, err
		}
		if same {
			continue
		}
		switch op {
		case syntax.EQL:
			return false, nil
		case syntax.NEQ:
			return true, nil
		default:
			return compare(m, op, a, b, depth+1)
		}
	}
	return ordered(op, x.Len()-y.Len()), nil
}

// sameMapping reports whether x and y have the same keys with equal values, in any order.
func sameMapping(m *meter.Meter, x, y starlark.IterableMapping, depth int) (bool, error) {
	if starlark.Len(x) != starlark.Len(y) {
		return false, nil
	}
	iter := x.Iterate()
	defer iter.Done()
	var key value.Value
	for iter.Next(&key) {
		if err := m.Step(1); err != nil {
			return false, err
		}
		if err := m.ChargeLookup(key, 2*starlark.Len(x)); err != nil {
			return false, err
		}
		if _, isName := key.(starlark.String); !isName {
			if _, isDict := y.(*starlark.Dict); !isDict {
				return false, nil
			}
		}
		b, found, err := y.Get(key)
		if err != nil || !found {
			return false, err
		}
		a, found, err := x.Get(key)
		if err != nil || !found {
			return false, err
		}
		if same, err := compare(m, syntax.EQL, a, b, depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// less orders values for sorted, min and max.
func less(m *meter.Meter, x, y value.Value) (bool, error) { return compare(m, syntax.LT, x, y, 0) }
