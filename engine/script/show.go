package script

import (
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// show implements repr(v), or str(v) if quote is false.
func (m *machine) show(v value.Value, quote bool) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		if !quote {
			return string(v), nil
		}
	case starlark.Bytes:
		if !quote {
			if err := m.Charge(3 * len(v)); err != nil {
				return "", err
			}
			return value.Valid(string(v)), nil
		}
	case starlark.Int:
		if _, small := v.Int64(); !small {
			bits := v.BigInt().BitLen()
			if err := m.Work(bits / 64 * (bits / 64) * 8); err != nil {
				return "", err
			}
		}
	}
	text, err := value.AppendRepr(m.text[:0], v, &m.Meter)
	m.text = text[:0]
	if err == nil {
		err = m.Charge(len(text))
	}
	return string(text), err
}

// shown is a value that has already been converted to text.
type shown struct {
	value.Value
	text string
}

func (s shown) String() string { return s.text }

// showable returns v in a form that is safe for Starlark's own formatting: scalars as they are, the rest as text.
func (m *machine) showable(v value.Value) (value.Value, error) {
	switch v.(type) {
	case starlark.String, starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType:
		return v, nil
	}
	text, err := m.show(v, true)
	return shown{v, text}, err
}

// textSize returns the maximum length of a showable value's text that has not been charged yet.
func textSize(v value.Value) int {
	const (
		shortest = 24  // of a small int, and of a float in most forms
		longest  = 320 // of 1e308 with all its digits
		perDigit = 2   // bits; three in octal, and it is copied
	)
	switch v := v.(type) {
	case starlark.String:
		return value.MaxQuoted * len(v)
	case starlark.Int:
		if _, small := v.Int64(); !small {
			return v.BigInt().BitLen()/perDigit + shortest
		}
	case starlark.Float:
		if v >= 1e18 || v <= -1e18 {
			return longest
		}
	case shown:
		return 0
	}
	return shortest
}

// interpolate implements format % x.
func (m *machine) interpolate(format starlark.String, x value.Value) (value.Value, error) {
	var arg value.Value
	var fields *showableFields
	switch v := x.(type) {
	case starlark.Tuple:
		t := make(starlark.Tuple, len(v))
		for i, e := range v {
			s, err := m.showable(e)
			if err != nil {
				return nil, err
			}
			if err := m.Charge(textSize(s)); err != nil {
				return nil, err
			}
			t[i] = s
		}
		arg = t
	case value.MissingType:
		arg = shown{v, v.String()}
	case starlark.Mapping:
		fields = &showableFields{Mapping: v, m: m}
		arg = fields
	default:
		s, err := m.showable(x)
		if err != nil {
			return nil, err
		}
		if err := m.Charge(textSize(s)); err != nil {
			return nil, err
		}
		arg = s
	}
	if err := m.Charge(len(format)); err != nil {
		return nil, err
	}
	v, err := starlark.Binary(syntax.PERCENT, format, arg)
	if fields != nil && fields.err != nil {
		return nil, fields.err
	}
	return v, err
}

// showableFields is a mapping that charges its values and converts them to text on demand.
type showableFields struct {
	starlark.Mapping
	m   *machine
	err error
}

// Get implements %(name)s.
func (f *showableFields) Get(key value.Value) (value.Value, bool, error) {
	v, found, err := f.Mapping.Get(key)
	if err != nil {
		f.err = err // the library treats it as a missing key
	}
	if err != nil || !found {
		return v, found, err
	}
	s, err := f.m.showable(v)
	if err == nil {
		err = f.m.Charge(textSize(s))
	}
	if err != nil {
		f.err = err
		return starlark.None, true, nil
	}
	return s, true, nil
}

func (f *showableFields) String() string {
	text, err := f.m.show(f.Mapping, true)
	if err != nil {
		f.err = err
	}
	return text
}
