package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// builtin calls a library function that works on strings only and builds nothing large except long ints.
func (m *machine) builtin(f *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (value.Value, error) {
	for _, v := range args {
		if text, ok := v.(starlark.String); ok {
			if err := m.Work(len(text)); err != nil {
				return nil, err
			}
		}
	}
	v, err := f.CallInternal(nil, args, kwargs)
	if err == nil {
		err = m.ChargeResult(v)
	}
	return v, err
}

// method calls a method of Starlark's own types after charging its cost. Records have no methods.
func (m *machine) method(b *starlark.Builtin, a args, kw kwargs) (value.Value, error) {
	var err error
	switch recv := b.Receiver().(type) {
	case starlark.String:
		a, err = m.chargeString(string(recv), b.Name(), a, kw)
	case *starlark.List:
		if v, done, err := listMethod(&m.Meter, recv, b.Name(), a, kw); done || err != nil {
			return v, err
		}
	case *starlark.Dict:
		if b.Name() == "update" {
			return starlark.None, updateDict(&m.Meter, "update", recv, a, kw)
		}
		err = chargeDict(&m.Meter, recv, b.Name(), a)
	case *starlark.Set:
		err = chargeSet(&m.Meter, recv, b.Name(), a)
	}
	if err != nil {
		return nil, err
	}
	return b.CallInternal(nil, a, kw)
}

// chargeString charges a method of a string, and returns safe arguments.
func (m *machine) chargeString(s, name string, a args, kw kwargs) (args, error) {
	if err := m.Work(len(s)); err != nil {
		return nil, err
	}
	text := func(i int) string {
		if i < len(a) {
			t, _ := starlark.AsString(a[i])
			return t
		}
		return ""
	}
	switch name {
	case "capitalize", "lower", "title", "upper":
		return a, m.Charge(3 * len(s)) // a letter may grow from one byte to three
	case "strip", "lstrip", "rstrip":
		return a, m.Work((len(s) + 1) * len(text(0)))
	case "startswith", "endswith":
		if t, ok := first(a).(starlark.Tuple); ok {
			for _, x := range t {
				part, _ := starlark.AsString(x)
				err := m.Step(1)
				if err == nil {
					err = m.Work(min(len(part), len(s)))
				}
				if err != nil {
					return nil, err
				}
			}
		}
	case "split", "rsplit":
		return chargeSplit(&m.Meter, s, a)
	case "splitlines":
		return a, m.ChargeMany(strings.Count(s, "\n")+1, 3*meter.ElemSize)
	case "partition", "rpartition":
		return a, m.Charge(8 * meter.ElemSize)
	case "replace":
		return a, chargeReplace(&m.Meter, s, a)
	case "join":
		return a, chargeJoin(&m.Meter, s, first(a))
	case "format":
		return m.formatArgs(s, a, kw)
	}
	return a, nil
}

// first returns the first argument, or nil.
func first(a args) value.Value {
	if len(a) == 0 {
		return nil
	}
	return a[0]
}

// chargeSplit charges the parts, and keeps the library from allocating room for more parts than there are bytes.
func chargeSplit(m *meter.Meter, s string, a args) (args, error) {
	parts := len(s)/2 + 1
	if sep, ok := starlark.AsString(valueOr(first(a))); ok && sep != "" {
		parts = strings.Count(s, sep) + 1
	}
	if len(a) > 1 {
		if n, ok := a[1].(starlark.Int); ok && n.Sign() >= 0 {
			most, small := n.Int64()
			if !small || most > int64(len(s)) {
				most = int64(len(s))
				a = args{a[0], starlark.MakeInt64(most)}
			}
			parts = min(parts, int(most)+1)
		}
	}
	return a, m.ChargeMany(parts, 3*meter.ElemSize)
}

// valueOr returns None for nil.
func valueOr(v value.Value) value.Value {
	if v == nil {
		return starlark.None
	}
	return v
}

// chargeReplace charges the result of s.replace(old, new, count).
func chargeReplace(m *meter.Meter, s string, a args) error {
	if len(a) < 2 {
		return nil
	}
	from, ok := starlark.AsString(a[0])
	to, also := starlark.AsString(a[1])
	if !ok || !also {
		return nil
	}
	n := strings.Count(s, from)
	if len(a) > 2 {
		if most, err := starlark.AsInt32(a[2]); err == nil && most >= 0 {
			n = min(n, most)
		}
	}
	if err := m.Charge(len(s)); err != nil {
		return err
	}
	return m.ChargeMany(n, max(len(to)-len(from), 0))
}

// chargeJoin charges the result of sep.join(v).
func chargeJoin(m *meter.Meter, sep string, v value.Value) error {
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return nil
	}
	return m.Each(seq, func(x value.Value) error {
		s, _ := starlark.AsString(x)
		return m.Charge(len(s) + len(sep))
	})
}

// formatArgs converts the arguments of s.format to text, and charges each placeholder that may show one of them.
func (m *machine) formatArgs(s string, a args, kw kwargs) (args, error) {
	longest := 0
	show := func(v value.Value) (value.Value, error) {
		v, err := m.showable(v)
		if err != nil {
			return nil, err
		}
		size := textSize(v)
		if t, ok := v.(shown); ok {
			size = len(t.text)
		}
		longest = max(longest, size+64)
		return v, nil
	}
	a = slices.Clone(a)
	var err error
	for i := range a {
		if a[i], err = show(a[i]); err != nil {
			return nil, err
		}
	}
	for _, pair := range kw {
		if pair[1], err = show(pair[1]); err != nil {
			return nil, err
		}
	}
	if err := m.Charge(len(s)); err != nil {
		return nil, err
	}
	return a, m.ChargeMany(strings.Count(s, "{"), longest)
}

// listMethod charges a method of a list. Methods that compare elements are implemented here, so that their cost is
// bounded.
func listMethod(m *meter.Meter, l *starlark.List, name string, a args, kw kwargs) (v value.Value, done bool, err error) {
	switch name {
	case "append":
		return nil, false, m.Charge(2 * meter.ElemSize)
	case "insert":
		if err := m.Work(meter.ElemSize * l.Len()); err != nil {
			return nil, false, err
		}
		return nil, false, m.Charge(2 * meter.ElemSize)
	case "pop", "clear":
		return nil, false, m.Work(meter.ElemSize * l.Len())
	case "extend":
		if seq, ok := first(a).(starlark.Iterable); ok && len(a) == 1 && len(kw) == 0 {
			if err := extend(m, l, seq); err != nil {
				return nil, true, fmt.Errorf("extend: %w", err)
			}
			return starlark.None, true, nil
		}
	case "index", "remove":
		if len(a) == 0 {
			return nil, false, nil
		}
		for i := range l.Len() {
			same, err := compare(m, syntax.EQL, l.Index(i), a[0], 0)
			if err != nil {
				return nil, true, err
			}
			if same { // the library finds it immediately, or later if start says so
				return nil, false, m.Work(meter.ElemSize * l.Len())
			}
		}
	}
	return nil, false, nil
}

// chargeDict charges a method of a dict. updateDict implements update.
func chargeDict(m *meter.Meter, d *starlark.Dict, name string, a args) error {
	switch name {
	case "get", "pop":
		if len(a) > 0 {
			return m.ChargeLookup(a[0], d.Len())
		}
	case "setdefault":
		if len(a) == 0 {
			return nil
		}
		if err := m.ChargeLookup(a[0], d.Len()); err != nil {
			return err
		}
		if _, found, err := d.Get(a[0]); found || err != nil {
			return nil // the library reports unhashable keys
		}
		if err := m.CountKey(a[0], d.Len()+1); err != nil {
			return err
		}
		return m.Charge(meter.EntrySize)
	case "items":
		return m.ChargeMany(d.Len(), 5*meter.ElemSize)
	case "keys", "values":
		return m.ChargeMany(d.Len(), meter.ElemSize)
	case "clear":
		return m.Step(d.Len())
	}
	return nil
}

// chargeSet charges a method of a set.
func chargeSet(m *meter.Meter, s *starlark.Set, name string, a args) error {
	switch name {
	case "add":
		if len(a) == 0 {
			return nil
		}
		if err := m.ChargeLookup(a[0], s.Len()); err != nil {
			return err
		}
		if err := m.Charge(meter.EntrySize); err != nil {
			return err
		}
		if found, err := s.Has(a[0]); found || err != nil {
			return nil // the library reports unhashable elements
		}
		return m.CountKey(a[0], s.Len()+1)
	case "remove", "discard":
		if len(a) > 0 {
			return m.ChargeLookup(a[0], s.Len())
		}
		return nil
	case "pop", "clear":
		return m.Step(s.Len())
	case "difference", "intersection", "issubset", "issuperset", "symmetric_difference":
		if len(a) == 0 { // the library does not check
			return fmt.Errorf("%s: got 0 arguments, want 1", name)
		}
	}
	tables := []starlark.Iterable{s}
	for _, v := range a {
		if seq, ok := v.(starlark.Iterable); ok {
			tables = append(tables, seq)
		}
	}
	return m.ChargeTables(tables...)
}
