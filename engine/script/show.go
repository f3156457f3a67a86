package script

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// printer writes values as Starlark source does, up to a limit.
type printer struct {
	out   []byte
	limit int
	path  []Value // open lists and dicts: a value that contains itself is written as ...
	m     *machine
}

var errTextTooLong = tooBig("the text of a value is too long")

// value appends one value.
func (p *printer) value(v Value) error {
	if len(p.out) > p.limit {
		return errTextTooLong
	}
	switch v := v.(type) {
	case starlark.String:
		if len(v) > (p.limit-len(p.out))/maxQuoted {
			return errTextTooLong
		}
		p.out = append(p.out, syntax.Quote(string(v), false)...)
		return nil
	case starlark.Bytes:
		if len(v) > (p.limit-len(p.out))/maxQuoted {
			return errTextTooLong
		}
		p.out = append(p.out, syntax.Quote(string(v), true)...)
		return nil
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set, object:
		return p.composite(v)
	case *starlark.Builtin:
		if r := v.Receiver(); r != nil {
			p.out = fmt.Appendf(p.out, "<built-in method %s of %s value>", v.Name(), r.Type())
			return nil
		}
	case starlark.Iterable: // the letters of a string show all of it; a range is short
		if v.Type() != "range" && !fewer(v, (p.limit-len(p.out))/maxQuoted) {
			return errTextTooLong
		}
	}
	p.out = append(p.out, v.String()...)
	return nil
}

// maxQuoted is the maximum number of bytes of one quoted byte: \xff.
const maxQuoted = 4

// fewer reports whether a sequence has at most n elements.
func fewer(seq starlark.Iterable, n int) bool {
	if have := starlark.Len(seq); have >= 0 {
		return have <= n
	}
	iter := seq.Iterate()
	defer iter.Done()
	var v Value
	for iter.Next(&v) {
		if n--; n < 0 {
			return false
		}
	}
	return true
}

// composite appends a value with elements.
func (p *printer) composite(v Value) error {
	if len(p.path) == maxDepth {
		return errDeep
	}
	if p.m != nil {
		if err := p.m.step(1 + len(p.path)/4); err != nil {
			return err
		}
	}
	switch v.(type) {
	case *starlark.List, *starlark.Dict:
		if slices.Contains(p.path, v) {
			if _, ok := v.(*starlark.List); ok {
				p.out = append(p.out, "[...]"...)
			} else {
				p.out = append(p.out, "{...}"...)
			}
			return nil
		}
		p.path = append(p.path, v)
	default:
		p.path = append(p.path, nil)
	}
	defer func() { p.path = p.path[:len(p.path)-1] }()
	switch v := v.(type) {
	case *starlark.List:
		return p.sequence("[", "]", v)
	case starlark.Tuple:
		if len(v) == 1 {
			return p.sequence("(", ",)", v)
		}
		return p.sequence("(", ")", v)
	case *starlark.Set:
		return p.sequence("set([", "])", v)
	default:
		return p.mapping(v.(starlark.IterableMapping))
	}
}

// sequence appends elements between brackets.
func (p *printer) sequence(opening, closing string, seq starlark.Iterable) error {
	p.out = append(p.out, opening...)
	iter := seq.Iterate()
	defer iter.Done()
	var v Value
	for i := 0; iter.Next(&v); i++ {
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		if err := p.value(v); err != nil {
			return err
		}
	}
	p.out = append(p.out, closing...)
	return nil
}

// mapping appends names or keys with their values.
func (p *printer) mapping(d starlark.IterableMapping) error {
	p.out = append(p.out, '{')
	iter := d.Iterate()
	defer iter.Done()
	var k Value
	for i := 0; iter.Next(&k); i++ {
		v, _, err := d.Get(k)
		if err != nil {
			return err
		}
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		if err := p.value(k); err != nil {
			return err
		}
		p.out = append(p.out, ": "...)
		if v == nil {
			v = Missing
		}
		if err := p.value(v); err != nil {
			return err
		}
	}
	p.out = append(p.out, '}')
	return nil
}

// show implements repr(v), or str(v) if quote is false.
func (m *machine) show(v Value, quote bool) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		if !quote {
			return string(v), nil
		}
	case starlark.Bytes:
		if !quote {
			if err := m.charge(3 * len(v)); err != nil {
				return "", err
			}
			return valid(string(v)), nil
		}
	case starlark.Int:
		if _, small := v.Int64(); !small {
			bits := v.BigInt().BitLen()
			if err := m.work(bits / 64 * (bits / 64) * 8); err != nil {
				return "", err
			}
		}
	}
	p := printer{out: m.text[:0], limit: m.left(), m: m}
	err := p.value(v)
	m.text = p.out[:0]
	if err == nil {
		err = m.charge(len(p.out))
	}
	return string(p.out), err
}

// quoted is the String of objects, cut off where it gets long.
func quoted(o object) string { return shortly(o, 1<<20) }

// shortly returns the text of a value, cut off after limit bytes. Unlike the library's String, its cost is bounded for
// any value.
func shortly(v Value, limit int) string {
	p := printer{limit: limit}
	if err := p.value(v); err != nil {
		return cut(string(p.out[:min(len(p.out), limit)])+"…", limit)
	}
	return cut(string(p.out), limit)
}

// Shown returns the text of a value for an error, cut off, at bounded cost.
func Shown(v Value) string { return shortly(v, shortText) }

// shortText is the maximum length of a value in an error.
const shortText = 200

// cut returns at most n bytes of a text, with an ellipsis if it was longer.
func cut(text string, n int) string {
	if len(text) <= n+len("…") {
		return text
	}
	return valid(text[:n]) + "…"
}

// shown is a value that has already been converted to text.
type shown struct {
	Value
	text string
}

func (s shown) String() string { return s.text }

// showable returns v in a form that is safe for Starlark's own formatting: scalars as they are, the rest as text.
func (m *machine) showable(v Value) (Value, error) {
	switch v.(type) {
	case starlark.String, starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType:
		return v, nil
	}
	text, err := m.show(v, true)
	return shown{v, text}, err
}

// textSize returns the maximum length of a showable value's text that has not been charged yet.
func textSize(v Value) int {
	const (
		shortest = 24  // of a small int, and of a float in most forms
		longest  = 320 // of 1e308 with all its digits
		perDigit = 2   // bits; three in octal, and it is copied
	)
	switch v := v.(type) {
	case starlark.String:
		return maxQuoted * len(v)
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
func (m *machine) interpolate(format starlark.String, x Value) (Value, error) {
	var arg Value
	var fields *showableFields
	switch v := x.(type) {
	case starlark.Tuple:
		t := make(starlark.Tuple, len(v))
		for i, e := range v {
			s, err := m.showable(e)
			if err != nil {
				return nil, err
			}
			if err := m.charge(textSize(s)); err != nil {
				return nil, err
			}
			t[i] = s
		}
		arg = t
	case missing:
		arg = shown{v, v.String()}
	case starlark.Mapping:
		fields = &showableFields{Mapping: v, m: m}
		arg = fields
	default:
		s, err := m.showable(x)
		if err != nil {
			return nil, err
		}
		if err := m.charge(textSize(s)); err != nil {
			return nil, err
		}
		arg = s
	}
	if err := m.charge(len(format)); err != nil {
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
func (f *showableFields) Get(key Value) (Value, bool, error) {
	v, found, err := f.Mapping.Get(key)
	if err != nil {
		f.err = err // the library treats it as a missing key
	}
	if err != nil || !found {
		return v, found, err
	}
	s, err := f.m.showable(v)
	if err == nil {
		err = f.m.charge(textSize(s))
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
