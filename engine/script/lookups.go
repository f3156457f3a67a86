package script

import (
	"errors"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// jsonEncode implements json.encode(x): AppendJSON within the limits of the evaluation.
func jsonEncode(m *machine, a args, kw kwargs) (value.Value, error) {
	v, err := one("json.encode", a, kw)
	if err != nil {
		return nil, err
	}
	text, err := value.AppendJSONWithin(m.text[:0], v, &m.Meter)
	m.text = text[:0]
	if err == nil {
		err = m.Charge(len(text))
	}
	return starlark.String(text), err
}

// jsonDecode implements json.decode(text, default=…): DecodeJSON within the limits of the evaluation. The result is
// data, including records.
func jsonDecode(m *machine, a args, kw kwargs) (value.Value, error) {
	var text string
	var fallback value.Value
	if err := starlark.UnpackArgs("json.decode", a, kw, "x", &text, "default?", &fallback); err != nil {
		return nil, err
	}
	if err := m.Work(4 * len(text)); err != nil {
		return nil, err
	}
	if err := m.Charge(len(text)); err != nil {
		return nil, err
	}
	v, err := value.DecodeJSONWithin([]byte(text), m.Left()/3)
	if err != nil {
		if fallback != nil && !errors.Is(err, meter.ErrTooBig) {
			return fallback, nil
		}
		return nil, err
	}
	return v, m.Charge(3 * value.Weight(v))
}

// get implements get(x, key, default=None). It returns the default if x has no such key or the value is Missing. x may
// be Missing or None itself.
func get(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(kw) == 0 {
		switch len(a) {
		case 2:
			return m.find(a[0], a[1], starlark.None)
		case 3:
			return m.find(a[0], a[1], a[2])
		}
	}
	var x, key value.Value
	var fallback value.Value = starlark.None
	if err := starlark.UnpackArgs("get", a, kw, "x", &x, "key", &key, "default?", &fallback); err != nil {
		return nil, err
	}
	return m.find(x, key, fallback)
}

// find is get.
func (m *machine) find(x, key, fallback value.Value) (value.Value, error) {
	var v value.Value
	switch x := x.(type) {
	case value.MissingType, starlark.NoneType:
	case *value.Record:
		if name, ok := starlark.AsString(key); ok {
			v, _ = x.Field(name)
		}
	case starlark.Mapping:
		n := 0
		if _, isText := key.(starlark.String); !isText { // texts do not collide, and counting the names of an object takes long
			n = starlark.Len(x)
		}
		if err := m.ChargeLookup(key, n); err != nil {
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
		if at, err := position(x, key); err == nil {
			v = x.Index(at)
		}
	case starlark.HasAttrs:
		if name, ok := starlark.AsString(key); ok && slices.Contains(x.AttrNames(), name) {
			return x.Attr(name)
		}
	default:
		return nil, fmt.Errorf("get: %s has no fields", x.Type())
	}
	if v == nil || v == value.Missing {
		return fallback, nil
	}
	return v, nil
}

// keys implements keys(x): the names of an object or the keys of a dict.
func keys(m *machine, a args, kw kwargs) (value.Value, error) {
	v, err := one("keys", a, kw)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case value.MissingType:
		return value.NewList(nil), nil
	case starlark.IterableMapping:
		elems, err := m.Collect(v, meter.ElemSize)
		return starlark.NewList(elems), err
	case value.Time:
		names := v.AttrNames()
		elems := make([]value.Value, len(names))
		for i, name := range names {
			elems[i] = starlark.String(name)
		}
		return starlark.NewList(elems), m.ChargeMany(meter.ElemSize, len(elems))
	}
	return nil, fmt.Errorf("keys: %s has no fields", v.Type())
}
