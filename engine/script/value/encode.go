package value

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/script/meter"
	"go.starlark.net/starlark"
)

// AppendJSON appends v as JSON. Floats are the shortest decimal that reads back the same (2.0 is 2), names keep their
// order, and only required characters are escaped. It fails for values that are not data: functions, NaN, infinities,
// dicts with keys that are not strings, values that contain themselves or exceed 200 levels, and texts over 32 MB.
func AppendJSON(dst []byte, v Value) ([]byte, error) {
	e := encoder{out: dst, limit: len(dst) + maxWeight}
	err := e.value(v, 0)
	return e.out, err
}

// ShortJSON returns the JSON text of a small number or a truth value, and nil for all others. All callers share the text, which must not
// be changed.
func ShortJSON(v Value) []byte {
	switch v := v.(type) {
	case starlark.Int:
		if n, ok := v.Uint64(); ok && n < uint64(len(shortInts)) {
			return shortInts[n]
		}
	case starlark.Bool:
		if v {
			return trueText
		}
		return falseText
	}
	return nil
}

var (
	trueText, falseText = []byte("true"), []byte("false")
	shortInts           = func() (all [256][]byte) {
		for i := range all {
			all[i] = strconv.AppendInt(nil, int64(i), 10)
		}
		return all
	}()
)

// AppendJSONWithin is AppendJSON within the limits of an evaluation. It charges steps; the caller charges the bytes.
func AppendJSONWithin(dst []byte, v Value, m *meter.Meter) ([]byte, error) {
	e := encoder{out: dst, limit: len(dst) + m.Left(), meter: m}
	err := e.value(v, 0)
	return e.out, err
}

type encoder struct {
	out   []byte
	limit int
	meter *meter.Meter // charged for each value with elements, unless it is nil
}

// value appends v at nesting level depth.
func (e *encoder) value(v Value, depth int) error {
	if len(e.out) > e.limit {
		return meter.TooBig("JSON text too long")
	}
	switch v := v.(type) {
	case starlark.String:
		if room := e.limit - len(e.out); len(v) > room || len(v) > room/maxEscaped && quotedSize(string(v)) > room {
			return meter.TooBig("JSON text too long")
		}
		e.out = appendQuoted(e.out, string(v))
	case starlark.Int:
		return e.int(v)
	case starlark.Float:
		return e.float(float64(v))
	case starlark.Bool:
		e.out = strconv.AppendBool(e.out, bool(v))
	case starlark.NoneType, MissingType:
		e.out = append(e.out, "null"...)
	case Time:
		e.out = appendQuoted(e.out, v.iso())
	default:
		if depth == meter.MaxDepth {
			return meter.ErrTooDeep
		}
		if e.meter != nil {
			if err := e.meter.Step(2); err != nil {
				return err
			}
		}
		return e.composite(v, depth+1)
	}
	return nil
}

// int appends an int of any size that data may have.
func (e *encoder) int(v starlark.Int) error {
	if n, ok := v.Int64(); ok {
		e.out = strconv.AppendInt(e.out, n, 10)
		return nil
	}
	if err := checkInt(v); err != nil {
		return err
	}
	e.out = v.BigInt().Append(e.out, 10)
	return nil
}

// float appends a finite float.
func (e *encoder) float(f float64) error {
	if err := CheckFloat(f); err != nil {
		return err
	}
	e.out = appendFloat(e.out, f)
	return nil
}

// appendFloat appends the shortest decimal. From 2^53 on it has an exponent, so that it reads back as a float.
func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // -0 too
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs <= 1<<53 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-3] == '-' && dst[n-2] == '0' { // 1e-07
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// composite appends a value with elements at level depth.
func (e *encoder) composite(v Value, depth int) error {
	switch v := v.(type) {
	case *Record:
		return e.record(v, depth)
	case *starlark.List:
		return e.sequence(v.Len(), v.Index, depth)
	case starlark.Tuple:
		return e.sequence(v.Len(), v.Index, depth)
	case *starlark.Dict:
		return e.dict(v, depth)
	case *Lazy:
		return e.lazy(v, depth)
	case starlark.Callable, starlark.Bytes:
		return notData(v, nil)
	case starlark.Iterable:
		return e.iterable(v, depth)
	}
	return notData(v, nil)
}

// name appends the i-th name of an object, with the comma before and the colon after.
func (e *encoder) name(i int, name string) {
	if i > 0 {
		e.out = append(e.out, ',')
	}
	e.out = append(appendQuoted(e.out, name), ':')
}

// record appends the fields in order.
func (e *encoder) record(r *Record, depth int) error {
	e.out = append(e.out, '{')
	for i, v := range r.known().values {
		e.name(i, r.shape.names[i])
		if err := e.value(v, depth); err != nil {
			return within(r.shape.names[i], err)
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// lazy computes the fields of an object and appends them.
func (e *encoder) lazy(l *Lazy, depth int) error {
	e.out = append(e.out, '{')
	for i, name := range l.fields.Names() {
		v, err := l.Attr(name)
		if err == nil {
			e.name(i, name)
			err = e.value(v, depth)
		}
		if err != nil {
			return within(name, err)
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// dict appends the entries in insertion order, like records.
func (e *encoder) dict(d *starlark.Dict, depth int) error {
	own := *e // the loop's body would move e itself to the heap, in every encoding
	err := own.entries(d, depth)
	*e = own
	return err
}

func (e *encoder) entries(d *starlark.Dict, depth int) error {
	e.out = append(e.out, '{')
	i := 0
	for k, v := range d.Entries() {
		name, ok := starlark.AsString(k)
		if !ok {
			return notData(d, k)
		}
		e.name(i, name)
		if err := e.value(v, depth); err != nil {
			return within(name, err)
		}
		i++
	}
	e.out = append(e.out, '}')
	return nil
}

// sequence appends n elements.
func (e *encoder) sequence(n int, at func(int) Value, depth int) error {
	e.out = append(e.out, '[')
	for i := range n {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.value(at(i), depth); err != nil {
			return within(strconv.Itoa(i), err)
		}
	}
	e.out = append(e.out, ']')
	return nil
}

// iterable appends sets and other sequences without an index.
func (e *encoder) iterable(v starlark.Iterable, depth int) error {
	e.out = append(e.out, '[')
	iter := v.Iterate()
	defer iter.Done()
	var x Value
	for i := 0; iter.Next(&x); i++ {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.value(x, depth); err != nil {
			return within(strconv.Itoa(i), err)
		}
	}
	e.out = append(e.out, ']')
	return nil
}

// within adds the path inside the value to an error, up to 200 names.
func within(name string, err error) error {
	if errors.Is(err, meter.ErrTooBig) {
		return err
	}
	return fmt.Errorf("in %s: %w", name, err)
}

// maxEscaped is the largest number of bytes that one byte of a string may take: \u0000.
const maxEscaped = 6

// quotedSize returns the maximum length of a text as a JSON string.
func quotedSize(s string) int {
	n := len(s) + 2
	for _, r := range s {
		switch {
		case r < ' ':
			n += maxEscaped - 1
		case r == '"' || r == '\\':
			n++
		case r == utf8.RuneError: // U+FFFD takes three bytes
			n += 2
		}
	}
	return n
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends a JSON string. It escapes only quotes, backslashes and control characters, and replaces invalid
// UTF-8 byte by byte.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n != 1 {
				i += n
				continue
			}
			dst = append(append(dst, s[from:i]...), "\uFFFD"...)
			i++
			from = i
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// Text formats a value for use inside a text: strings as they are, true and false, ints, the shortest decimals, RFC
// 3339 for times, JSON for lists and records, and nothing for None and Missing.
func Text(v Value) (string, error) {
	if s, ok := v.(starlark.String); ok {
		return string(s), nil
	}
	b, err := AppendText(nil, v)
	return string(b), err
}

// AppendText appends the Text of v.
func AppendText(dst []byte, v Value) ([]byte, error) {
	switch v := v.(type) {
	case starlark.String:
		return append(dst, v...), nil
	case starlark.NoneType, MissingType:
		return dst, nil
	case Time:
		return append(dst, v.iso()...), nil
	}
	return AppendJSON(dst, v)
}
