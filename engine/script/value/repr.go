package value

import (
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine/script/meter"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// AppendRepr appends v as Starlark source writes it, within the limits of an evaluation. It charges steps; the caller
// charges the bytes.
func AppendRepr(dst []byte, v Value, m *meter.Meter) ([]byte, error) {
	p := printer{out: dst, limit: len(dst) + m.Left(), meter: m}
	err := p.value(v)
	return p.out, err
}

// printer writes values as Starlark source does, up to a limit.
type printer struct {
	out   []byte
	limit int
	path  []Value      // open lists and dicts: a value that contains itself is written as ...
	meter *meter.Meter // charged for each value with elements, unless it is nil
}

var errTextTooLong = meter.TooBig("the text of a value is too long")

// value appends one value.
func (p *printer) value(v Value) error {
	if len(p.out) > p.limit {
		return errTextTooLong
	}
	switch v := v.(type) {
	case starlark.String:
		if len(v) > (p.limit-len(p.out))/MaxQuoted {
			return errTextTooLong
		}
		p.out = append(p.out, syntax.Quote(string(v), false)...)
		return nil
	case starlark.Bytes:
		if len(v) > (p.limit-len(p.out))/MaxQuoted {
			return errTextTooLong
		}
		p.out = append(p.out, syntax.Quote(string(v), true)...)
		return nil
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set, Object:
		return p.composite(v)
	case *starlark.Builtin:
		if r := v.Receiver(); r != nil {
			p.out = fmt.Appendf(p.out, "<built-in method %s of %s value>", v.Name(), r.Type())
			return nil
		}
	case starlark.Iterable: // the letters of a string show all of it; a range is short
		if v.Type() != "range" && !fewer(v, (p.limit-len(p.out))/MaxQuoted) {
			return errTextTooLong
		}
	}
	p.out = append(p.out, v.String()...)
	return nil
}

// MaxQuoted is the maximum number of bytes of one quoted byte: \xff.
const MaxQuoted = 4

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
	if len(p.path) == meter.MaxDepth {
		return meter.ErrTooDeep
	}
	if p.meter != nil {
		if err := p.meter.Step(1 + len(p.path)/4); err != nil {
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

// quoted is the String of objects, cut off where it gets long.
func quoted(o Object) string { return shortly(o, 1<<20) }

// shortly returns the text of a value, cut off after limit bytes. Unlike the library's String, its cost is bounded for
// any value.
func shortly(v Value, limit int) string {
	p := printer{limit: limit}
	if err := p.value(v); err != nil {
		return Shorten(string(p.out[:min(len(p.out), limit)])+"…", limit)
	}
	return Shorten(string(p.out), limit)
}

// Shown returns the text of a value for an error, cut off, at bounded cost.
func Shown(v Value) string { return shortly(v, shortText) }

// shortText is the maximum length of a value in an error.
const shortText = 200

// Shorten returns at most n bytes of a text, with an ellipsis if it was longer.
func Shorten(text string, n int) string {
	if len(text) <= n+len("…") {
		return text
	}
	return Valid(text[:n]) + "…"
}
