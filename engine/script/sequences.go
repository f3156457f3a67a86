package script

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"go.starlark.net/starlark"
)

// collect returns the elements of a sequence and charges size for each of them.
func (m *machine) collect(seq starlark.Iterable, size int) ([]Value, error) {
	n := max(starlark.Len(seq), 0)
	if err := m.chargeMany(n, size); err != nil {
		return nil, err
	}
	if err := m.charge(listSize); err != nil {
		return nil, err
	}
	out := make([]Value, 0, n)
	err := m.each(seq, func(v Value) error {
		if len(out) >= n {
			if err := m.charge(2 * size); err != nil {
				return err
			}
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

func all(m *machine, a args, kw kwargs) (Value, error)   { return m.until("all", false, a, kw) }
func anyOf(m *machine, a args, kw kwargs) (Value, error) { return m.until("any", true, a, kw) }

var errFound = errors.New("found")

// until returns want if one of the elements has this truth value, else the opposite.
func (m *machine) until(name string, want starlark.Bool, a args, kw kwargs) (Value, error) {
	seq, err := sequence(name, a, kw)
	if err != nil {
		return nil, err
	}
	err = m.each(seq, func(v Value) error {
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
func toList(m *machine, a args, kw kwargs) (Value, error) {
	if len(a)+len(kw) == 0 {
		return starlark.NewList(nil), m.charge(listSize)
	}
	seq, err := sequence("list", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.collect(seq, wordSize)
	return starlark.NewList(elems), err
}

// toTuple implements tuple(x).
func toTuple(m *machine, a args, kw kwargs) (Value, error) {
	if len(a)+len(kw) == 0 {
		return starlark.Tuple(nil), nil
	}
	seq, err := sequence("tuple", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.collect(seq, wordSize)
	return starlark.Tuple(elems), err
}

// toSet implements set(x).
func toSet(m *machine, a args, kw kwargs) (Value, error) {
	if err := m.charge(dictSize); err != nil {
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
	return set, m.each(seq, func(v Value) error { return m.add(set, v) })
}

// toDict implements dict(x, name=value).
func toDict(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) > 1 {
		return nil, fmt.Errorf("dict: got %d arguments, want at most 1", len(a))
	}
	if err := m.charge(dictSize); err != nil {
		return nil, err
	}
	d := new(starlark.Dict)
	return d, m.updateDict("dict", d, a, kw)
}

// updateDict implements dict and dict.update: the items of a mapping or pairs, then named arguments.
func (m *machine) updateDict(name string, d *starlark.Dict, a args, kw kwargs) error {
	if len(a) > 1 {
		return fmt.Errorf("%s: got %d arguments, want at most 1", name, len(a))
	}
	if len(a) == 1 {
		if err := m.updateItems(name, d, a[0]); err != nil {
			return err
		}
	}
	for i, pair := range kw {
		if slices.ContainsFunc(kw[:i], func(p starlark.Tuple) bool { return p[0] == pair[0] }) {
			return fmt.Errorf("%s: duplicate keyword arg: %v", name, pair[0])
		}
		if err := m.step(1 + i/alikePerOne); err != nil {
			return err
		}
		if err := m.insert(d, pair[0], pair[1]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// updateItems adds the items of a mapping, or the pairs of a sequence.
func (m *machine) updateItems(name string, d *starlark.Dict, from Value) error {
	if table, ok := from.(starlark.IterableMapping); ok {
		if table == Value(d) {
			return nil
		}
		return m.each(table, func(k Value) error {
			v, _, err := table.Get(k)
			if err == nil {
				err = m.insert(d, k, v)
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
	return m.each(seq, func(v Value) error {
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
			err = m.insert(d, pair[0], pair[1])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

// toBytes implements bytes(x).
func toBytes(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) == 1 {
		if err := m.charge(3 * max(starlark.Len(a[0]), 0)); err != nil {
			return nil, err
		}
	}
	return library("bytes", a, kw)
}

// enumerate implements enumerate(x, start).
func enumerate(m *machine, a args, kw kwargs) (Value, error) {
	if len(a) > 0 {
		n := max(starlark.Len(a[0]), 0)
		if seq, ok := a[0].(starlark.Iterable); ok && starlark.Len(seq) < 0 {
			if err := m.each(seq, func(Value) error { n++; return nil }); err != nil {
				return nil, err
			}
		}
		if err := m.chargeMany(n, 8*wordSize); err != nil {
			return nil, err
		}
	}
	return library("enumerate", a, kw)
}

// zip implements zip(x, y, …): as many rows as the shortest argument has elements.
func zip(m *machine, a args, kw kwargs) (Value, error) {
	if len(kw) > 0 {
		return nil, errors.New("zip does not accept keyword arguments")
	}
	columns := make([][]Value, len(a))
	rows := 0
	for i, v := range a {
		seq, ok := v.(starlark.Iterable)
		if !ok {
			return nil, fmt.Errorf("zip: argument #%d is not iterable: %s", i+1, v.Type())
		}
		elems, err := m.collect(seq, 3*wordSize)
		if err != nil {
			return nil, err
		}
		columns[i] = elems
		if i == 0 || len(elems) < rows {
			rows = len(elems)
		}
	}
	if err := m.chargeMany(rows, listSize); err != nil {
		return nil, err
	}
	out := make([]Value, rows)
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
func reversed(m *machine, a args, kw kwargs) (Value, error) {
	seq, err := sequence("reversed", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := m.collect(seq, wordSize)
	slices.Reverse(elems)
	return starlark.NewList(elems), err
}

// sorted implements sorted(x, key, reverse). It is stable, and stops at the first error.
func sorted(m *machine, a args, kw kwargs) (Value, error) {
	var seq starlark.Iterable
	var key starlark.Callable
	var reverse bool
	if err := starlark.UnpackArgs("sorted", a, kw, "iterable", &seq, "key?", &key, "reverse?", &reverse); err != nil {
		return nil, err
	}
	elems, err := m.collect(seq, 3*wordSize)
	if err != nil {
		return nil, err
	}
	type item struct{ key, value Value }
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
		var less bool
		if err == nil {
			err = m.step(1)
		}
		if err == nil {
			less, err = m.less(items[i].key, items[j].key)
		}
		return less
	})
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		elems[i] = it.value
	}
	return starlark.NewList(elems), nil
}

func biggest(m *machine, a args, kw kwargs) (Value, error)  { return m.extreme("max", a, kw) }
func smallest(m *machine, a args, kw kwargs) (Value, error) { return m.extreme("min", a, kw) }

// extreme implements min and max: of the elements of one argument or of several, with an optional key.
func (m *machine) extreme(name string, a args, kw kwargs) (Value, error) {
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
	var best, bestKey Value
	err := m.each(seq, func(v Value) error {
		k := v
		var err error
		if key != nil {
			if k, err = m.call(key, v); err != nil {
				return err
			}
		}
		better := best == nil
		if !better && name == "max" {
			better, err = m.less(bestKey, k)
		} else if !better {
			better, err = m.less(k, bestKey)
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
