package script

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// method calls a method of Starlark's own types after charging its cost. Records have no methods.
func (m *machine) method(b *starlark.Builtin, a args, kw kwargs) (Value, error) {
	var err error
	switch recv := b.Receiver().(type) {
	case starlark.String:
		a, err = m.chargeString(string(recv), b.Name(), a, kw)
	case *starlark.List:
		if v, done, err := m.listMethod(recv, b.Name(), a, kw); done || err != nil {
			return v, err
		}
	case *starlark.Dict:
		if b.Name() == "update" {
			return starlark.None, m.updateDict("update", recv, a, kw)
		}
		err = m.chargeDict(recv, b.Name(), a)
	case *starlark.Set:
		err = m.chargeSet(recv, b.Name(), a)
	}
	if err != nil {
		return nil, err
	}
	return b.CallInternal(nil, a, kw)
}

// chargeString charges a method of a string, and returns safe arguments.
func (m *machine) chargeString(s, name string, a args, kw kwargs) (args, error) {
	if err := m.work(len(s)); err != nil {
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
		return a, m.charge(3 * len(s)) // a letter may grow from one byte to three
	case "strip", "lstrip", "rstrip":
		return a, m.work((len(s) + 1) * len(text(0)))
	case "startswith", "endswith":
		if t, ok := first(a).(starlark.Tuple); ok {
			for _, x := range t {
				part, _ := starlark.AsString(x)
				if err := m.step(1 + min(len(part), len(s))/bytesPerStep); err != nil {
					return nil, err
				}
			}
		}
	case "split", "rsplit":
		return m.chargeSplit(s, a)
	case "splitlines":
		return a, m.chargeMany(strings.Count(s, "\n")+1, 3*wordSize)
	case "partition", "rpartition":
		return a, m.charge(8 * wordSize)
	case "replace":
		return a, m.chargeReplace(s, a)
	case "join":
		return a, m.chargeJoin(s, first(a))
	case "format":
		return m.formatArgs(s, a, kw)
	}
	return a, nil
}

// first returns the first argument, or nil.
func first(a args) Value {
	if len(a) == 0 {
		return nil
	}
	return a[0]
}

// chargeSplit charges the parts, and keeps the library from allocating room for more parts than there are bytes.
func (m *machine) chargeSplit(s string, a args) (args, error) {
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
	return a, m.chargeMany(parts, 3*wordSize)
}

// valueOr returns None for nil.
func valueOr(v Value) Value {
	if v == nil {
		return starlark.None
	}
	return v
}

// chargeReplace charges the result of s.replace(old, new, count).
func (m *machine) chargeReplace(s string, a args) error {
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
	if err := m.charge(len(s)); err != nil {
		return err
	}
	return m.chargeMany(n, max(len(to)-len(from), 0))
}

// chargeJoin charges the result of sep.join(v).
func (m *machine) chargeJoin(sep string, v Value) error {
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return nil
	}
	return m.each(seq, func(x Value) error {
		s, _ := starlark.AsString(x)
		return m.charge(len(s) + len(sep))
	})
}

// formatArgs converts the arguments of s.format to text, and charges each placeholder that may show one of them.
func (m *machine) formatArgs(s string, a args, kw kwargs) (args, error) {
	longest := 0
	show := func(v Value) (Value, error) {
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
	if err := m.charge(len(s)); err != nil {
		return nil, err
	}
	return a, m.chargeMany(strings.Count(s, "{"), longest)
}

// listMethod charges a method of a list. Methods that compare elements are implemented here, so that their cost is
// bounded.
func (m *machine) listMethod(l *starlark.List, name string, a args, kw kwargs) (v Value, done bool, err error) {
	switch name {
	case "append":
		return nil, false, m.charge(2 * wordSize)
	case "insert":
		if err := m.work(wordSize * l.Len()); err != nil {
			return nil, false, err
		}
		return nil, false, m.charge(2 * wordSize)
	case "pop", "clear":
		return nil, false, m.work(wordSize * l.Len())
	case "extend":
		if seq, ok := first(a).(starlark.Iterable); ok && len(a) == 1 && len(kw) == 0 {
			if err := m.extend(l, seq); err != nil {
				return nil, true, fmt.Errorf("extend: %w", err)
			}
			return starlark.None, true, nil
		}
	case "index", "remove":
		if len(a) == 0 {
			return nil, false, nil
		}
		for i := range l.Len() {
			same, err := m.compare(syntax.EQL, l.Index(i), a[0], 0)
			if err != nil {
				return nil, true, err
			}
			if same { // the library finds it immediately, or later if start says so
				return nil, false, m.work(wordSize * l.Len())
			}
		}
	}
	return nil, false, nil
}

// chargeDict charges a method of a dict. updateDict implements update.
func (m *machine) chargeDict(d *starlark.Dict, name string, a args) error {
	switch name {
	case "get", "pop":
		if len(a) > 0 {
			return m.find(a[0], d.Len())
		}
	case "setdefault":
		if len(a) == 0 {
			return nil
		}
		if err := m.find(a[0], d.Len()); err != nil {
			return err
		}
		if _, found, err := d.Get(a[0]); found || err != nil {
			return nil // the library reports unhashable keys
		}
		if err := m.grew(a[0], d.Len()+1); err != nil {
			return err
		}
		return m.charge(entrySize)
	case "items":
		return m.chargeMany(d.Len(), 5*wordSize)
	case "keys", "values":
		return m.chargeMany(d.Len(), wordSize)
	case "clear":
		return m.step(d.Len())
	}
	return nil
}

// chargeSet charges a method of a set.
func (m *machine) chargeSet(s *starlark.Set, name string, a args) error {
	switch name {
	case "add":
		if len(a) == 0 {
			return nil
		}
		if err := m.find(a[0], s.Len()); err != nil {
			return err
		}
		if err := m.charge(entrySize); err != nil {
			return err
		}
		if found, err := s.Has(a[0]); found || err != nil {
			return nil // the library reports unhashable elements
		}
		return m.grew(a[0], s.Len()+1)
	case "remove", "discard":
		if len(a) > 0 {
			return m.find(a[0], s.Len())
		}
		return nil
	case "pop", "clear":
		return m.step(s.Len())
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
	return m.chargeTables(tables...)
}
