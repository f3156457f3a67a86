package script

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

func all(m *machine, a args, kw kwargs) (value.Value, error) {
	return until(&m.Meter, "all", false, a, kw)
}

func anyOf(m *machine, a args, kw kwargs) (value.Value, error) {
	return until(&m.Meter, "any", true, a, kw)
}

var errFound = errors.New("found")

// until returns want if one of the elements has this truth value, else the opposite.
func until(m *meter.Meter, name string, want starlark.Bool, a args, kw kwargs) (value.Value, error) {
	seq, err := sequence(name, a, kw)
	if err != nil {
		return nil, err
	}
	err = m.Each(seq, func(v value.Value) error {
		if v.Truth() == want {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return want, nil
	}
	return !want, err
}

// toList implements list(x).
func toList(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(a)+len(kw) == 0 {
		return starlark.NewList(nil), m.Charge(meter.ListSize)
	}
	seq, err := sequence("list", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.Collect(seq, meter.ElemSize)
	return starlark.NewList(elems), err
}

// toTuple implements tuple(x).
func toTuple(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(a)+len(kw) == 0 {
		return starlark.Tuple(nil), nil
	}
	seq, err := sequence("tuple", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.Collect(seq, meter.ElemSize)
	return starlark.Tuple(elems), err
}

// toSet implements set(x).
func toSet(m *machine, a args, kw kwargs) (value.Value, error) {
	if err := m.Charge(meter.DictSize); err != nil {
		return nil, err
	}
	set := new(starlark.Set)
	if len(a)+len(kw) == 0 {
		return set, nil
	}
	seq, err := sequence("set", a, kw)
	if err != nil {
		return nil, err
	}
	return set, m.Each(seq, func(v value.Value) error { return m.Add(set, v) })
}

// toDict implements dict(x, name=value).
func toDict(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(a) > 1 {
		return nil, fmt.Errorf("dict: got %d arguments, want at most 1", len(a))
	}
	if err := m.Charge(meter.DictSize); err != nil {
		return nil, err
	}
	d := new(starlark.Dict)
	return d, updateDict(&m.Meter, "dict", d, a, kw)
}

// namesPerStep is how many names of arguments are compared in one step.
const namesPerStep = 32

// updateDict implements dict and dict.update: the items of a mapping or pairs, then named arguments.
func updateDict(m *meter.Meter, name string, d *starlark.Dict, a args, kw kwargs) error {
	if len(a) > 1 {
		return fmt.Errorf("%s: got %d arguments, want at most 1", name, len(a))
	}
	if len(a) == 1 {
		if err := updateItems(m, name, d, a[0]); err != nil {
			return err
		}
	}
	for i, pair := range kw {
		if slices.ContainsFunc(kw[:i], func(p starlark.Tuple) bool { return p[0] == pair[0] }) {
			return fmt.Errorf("%s: duplicate keyword arg: %v", name, pair[0])
		}
		if err := m.Step(1 + i/namesPerStep); err != nil {
			return err
		}
		if err := m.Insert(d, pair[0], pair[1]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// updateItems adds the items of a mapping, or the pairs of a sequence.
func updateItems(m *meter.Meter, name string, d *starlark.Dict, from value.Value) error {
	if table, ok := from.(starlark.IterableMapping); ok {
		if table == value.Value(d) {
			return nil
		}
		return m.Each(table, func(k value.Value) error {
			v, _, err := table.Get(k)
			if err == nil {
				err = m.Insert(d, k, v)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	seq, ok := from.(starlark.Iterable)
	if !ok {
		return fmt.Errorf("%s: got %s, want iterable", name, from.Type())
	}
	i := -1
	return m.Each(seq, func(v value.Value) error {
		i++
		n := starlark.Len(v)
		if _, ok := v.(starlark.Iterable); !ok {
			return fmt.Errorf("%s: dictionary update sequence element #%d is not iterable (%s)", name, i, v.Type())
		}
		if n != 2 {
			return fmt.Errorf("%s: dictionary update sequence element #%d has length %d, want 2", name, i, n)
		}
		pair, err := spread(v, 2)
		if err == nil {
			err = m.Insert(d, pair[0], pair[1])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

// toBytes implements bytes(x).
func toBytes(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(a) == 1 {
		if err := m.Charge(3 * max(starlark.Len(a[0]), 0)); err != nil {
			return nil, err
		}
	}
	return library("bytes", a, kw)
}

// enumerate implements enumerate(x, start).
func enumerate(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(a) > 0 {
		n := max(starlark.Len(a[0]), 0)
		if seq, ok := a[0].(starlark.Iterable); ok && starlark.Len(seq) < 0 {
			if err := m.Each(seq, func(value.Value) error { n++; return nil }); err != nil {
				return nil, err
			}
		}
		if err := m.ChargeMany(n, 8*meter.ElemSize); err != nil {
			return nil, err
		}
	}
	return library("enumerate", a, kw)
}

// zip implements zip(x, y, …): as many rows as the shortest argument has elements.
func zip(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(kw) > 0 {
		return nil, errors.New("zip does not accept keyword arguments")
	}
	columns := make([][]value.Value, len(a))
	rows := 0
	for i, v := range a {
		seq, ok := v.(starlark.Iterable)
		if !ok {
			return nil, fmt.Errorf("zip: argument #%d is not iterable: %s", i+1, v.Type())
		}
		elems, err := m.Collect(seq, 3*meter.ElemSize)
		if err != nil {
			return nil, err
		}
		columns[i] = elems
		if i == 0 || len(elems) < rows {
			rows = len(elems)
		}
	}
	if err := m.ChargeMany(rows, meter.ListSize); err != nil {
		return nil, err
	}
	out := make([]value.Value, rows)
	for r := range out {
		row := make(starlark.Tuple, len(columns))
		for c := range columns {
			row[c] = columns[c][r]
		}
		out[r] = row
	}
	return starlark.NewList(out), nil
}

// reversed implements reversed(x).
func reversed(m *machine, a args, kw kwargs) (value.Value, error) {
	seq, err := sequence("reversed", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.Collect(seq, meter.ElemSize)
	slices.Reverse(elems)
	return starlark.NewList(elems), err
}

// sorted implements sorted(x, key, reverse). It is stable, and stops at the first error.
func sorted(m *machine, a args, kw kwargs) (value.Value, error) {
	var seq starlark.Iterable
	var key starlark.Callable
	var reverse bool
	if err := starlark.UnpackArgs("sorted", a, kw, "iterable", &seq, "key?", &key, "reverse?", &reverse); err != nil {
		return nil, err
	}
	elems, err := m.Collect(seq, 3*meter.ElemSize)
	if err != nil {
		return nil, err
	}
	type item struct{ key, value value.Value }
	items := make([]item, len(elems))
	for i, v := range elems {
		items[i] = item{v, v}
		if key != nil {
			if items[i].key, err = m.call(key, v); err != nil {
				return nil, err
			}
		}
	}
	sort.SliceStable(items, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		var ordered bool
		if err == nil {
			err = m.Step(1)
		}
		if err == nil {
			ordered, err = less(&m.Meter, items[i].key, items[j].key)
		}
		return ordered
	})
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		elems[i] = it.value
	}
	return starlark.NewList(elems), nil
}

func biggest(m *machine, a args, kw kwargs) (value.Value, error)  { return m.extreme("max", a, kw) }
func smallest(m *machine, a args, kw kwargs) (value.Value, error) { return m.extreme("min", a, kw) }

// extreme implements min and max: of the elements of one argument or of several, with an optional key.
func (m *machine) extreme(name string, a args, kw kwargs) (value.Value, error) {
	var key starlark.Callable
	if len(a) == 0 {
		return nil, fmt.Errorf("%s requires at least one positional argument", name)
	}
	if len(kw) > 0 {
		if err := starlark.UnpackArgs(name, nil, kw, "key?", &key); err != nil {
			return nil, err
		}
	}
	seq := starlark.Iterable(a)
	if len(a) == 1 {
		var ok bool
		if seq, ok = a[0].(starlark.Iterable); !ok {
			return nil, fmt.Errorf("%s: %s value is not iterable", name, a[0].Type())
		}
	}
	var best, bestKey value.Value
	err := m.Each(seq, func(v value.Value) error {
		k := v
		var err error
		if key != nil {
			if k, err = m.call(key, v); err != nil {
				return err
			}
		}
		better := best == nil
		if !better && name == "max" {
			better, err = less(&m.Meter, bestKey, k)
		} else if !better {
			better, err = less(&m.Meter, k, bestKey)
		}
		if better {
			best, bestKey = v, k
		}
		return err
	})
	if err == nil && best == nil {
		err = fmt.Errorf("%s: argument is an empty sequence", name)
	}
	return best, err
}
