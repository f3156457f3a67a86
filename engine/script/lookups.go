package script

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
)

// jsonEncode implements json.encode(x): AppendJSON within the limits of the evaluation.
func jsonEncode(m *machine, a args, kw kwargs) (Value, error) {
	v, err := one("json.encode", a, kw)
	if err != nil {
		return nil, err
	}
	e := encoder{out: m.text[:0], limit: m.left(), m: m}
	err = e.value(v, 0)
	m.text = e.out[:0]
	if err == nil {
		err = m.charge(len(e.out))
	}
	return starlark.String(e.out), err
}

// jsonDecode implements json.decode(text, default=…): DecodeJSON within the limits of the evaluation. The result is
// data, including records.
func jsonDecode(m *machine, a args, kw kwargs) (Value, error) {
	var text string
	var fallback Value
	if err := starlark.UnpackArgs("json.decode", a, kw, "x", &text, "default?", &fallback); err != nil {
		return nil, err
	}
	if err := m.work(4 * len(text)); err != nil {
		return nil, err
	}
	if err := m.charge(len(text)); err != nil {
		return nil, err
	}
	limit := m.left() / 3
	v, err := decodeJSON([]byte(text), limit)
	if err != nil {
		if fallback != nil && !errors.Is(err, ErrTooBig) {
			return fallback, nil
		}
		return nil, err
	}
	return v, m.charge(3 * Weight(v))
}

// get implements get(x, key, default=None). It returns the default if x has no such key or the value is Missing. x may
// be Missing or None itself.
func get(m *machine, a args, kw kwargs) (Value, error) {
	var x, key Value
	var fallback Value = starlark.None
	if len(kw) == 0 && (len(a) == 2 || len(a) == 3) {
		x, key = a[0], a[1]
		if len(a) == 3 {
			fallback = a[2]
		}
	} else if err := starlark.UnpackArgs("get", a, kw, "x", &x, "key", &key, "default?", &fallback); err != nil {
		return nil, err
	}
	var v Value
	switch x := x.(type) {
	case missing, starlark.NoneType:
	case *Record:
		if name, ok := starlark.AsString(key); ok {
			v, _ = x.Field(name)
		}
	case starlark.Mapping:
		if err := m.find(key, starlark.Len(x)); err != nil {
			return nil, err
		}
		found, ok, err := x.Get(key)
		if err != nil {
			return nil, err
		}
		if ok {
			v = found
		}
	case starlark.Indexable:
		if i, err := starlark.AsInt32(key); err == nil {
			if i < 0 {
				i += x.Len()
			}
			if 0 <= i && i < x.Len() {
				v = x.Index(i)
			}
		}
	case starlark.HasAttrs:
		if name, ok := starlark.AsString(key); ok && slices.Contains(x.AttrNames(), name) {
			return x.Attr(name)
		}
	default:
		return nil, fmt.Errorf("get: %s has no fields", x.Type())
	}
	if v == nil || v == Missing {
		return fallback, nil
	}
	return v, nil
}

// keys implements keys(x): the names of an object or the keys of a dict.
func keys(m *machine, a args, kw kwargs) (Value, error) {
	v, err := one("keys", a, kw)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case missing:
		return emptyList, nil
	case starlark.IterableMapping:
		elems, err := m.collect(v, wordSize)
		return starlark.NewList(elems), err
	case moment:
		return toList(m, args{starlark.NewList(texts(momentFields))}, nil)
	}
	return nil, fmt.Errorf("keys: %s has no fields", v.Type())
}

// texts returns Go strings as values.
func texts(list []string) []Value {
	out := make([]Value, len(list))
	for i, s := range list {
		out[i] = starlark.String(s)
	}
	return out
}
