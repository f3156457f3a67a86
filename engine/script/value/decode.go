package value

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/script/meter"
	"go.starlark.net/starlark"
)

// MaxDigits limits the length of a number in JSON, and so the bits of an int.
const MaxDigits = 9000

// DecodeJSON reads one JSON value. Objects become records that keep the order of names (the last value of a repeated
// name counts). Arrays become frozen lists. Integral numbers become ints of any size (1.0 and 1e3 too, up to 2^53),
// other numbers floats. Invalid UTF-8 and lone surrogates become U+FFFD. A syntax error is a *JSONError.
func DecodeJSON(data []byte) (Value, error) { return DecodeJSONWithin(data, maxWeight) }

// DecodeJSONWithin is DecodeJSON with a maximum [Weight].
func DecodeJSONWithin(data []byte, weight int) (Value, error) { return decode(data, weight, false) }

// DecodeJSONLater is DecodeJSON, but it keeps data: the fields of objects inside are read when they are first used. Most answers have
// far more of them than anything uses. The caller must not change data.
func DecodeJSONLater(data []byte) (Value, error) { return decode(data, maxWeight, true) }

func decode(data []byte, weight int, later bool) (Value, error) {
	if len(data) > maxWeight {
		return nil, meter.TooBig("JSON of more than %d MB", maxWeight>>20)
	}
	if n, ok := shortInt(data); ok && weight >= valueWeight {
		return starlark.MakeInt(n), nil
	}
	d := decoders.Get().(*decoder)
	d.data, d.at, d.left, d.deepest, d.later = data, 0, weight, 0, later
	if !later {
		d.preallocate()
	}
	v, err := d.value(0, 0)
	if d.space(); err == nil && d.at < len(d.data) {
		err = d.unexpected("after the value")
	}
	d.release()
	if err != nil {
		return nil, err
	}
	return v, nil
}

// shortInt returns the number that a few digits are.
func shortInt(data []byte) (n int, ok bool) {
	const most = 9
	if len(data) == 0 || len(data) > most || data[0] == '0' && len(data) > 1 {
		return 0, false
	}
	for _, c := range data {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// decoders are pooled together with the shapes that they saw last, because the answers of a service are usually alike.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// release returns the decoder to the pool, unless it grew large, and drops its references to the document.
func (d *decoder) release() {
	const room = 4096
	if cap(d.stack) > room || cap(d.names) > room || cap(d.buf) > 64<<10 {
		return
	}
	clear(d.stack)
	clear(d.names)
	d.data, d.stack, d.names, d.records, d.values = nil, d.stack[:0], d.names[:0], nil, nil
	decoders.Put(d)
}

var emptyList = NewList(nil)

type decoder struct {
	data    []byte
	at      int
	left    int // remaining weight
	deepest int // level of the deepest list or object so far
	later   bool

	stack  []Value  // values of the open lists and objects
	names  []string // names of the open objects that differ from the guessed shape
	shapes shapes
	buf    []byte

	// Preallocated for a short document, to avoid one allocation per value.
	records []Record
	values  []Value
}

const (
	// maxSpare limits preallocation, because braces and commas inside strings count too.
	maxSpare = 64
	// maxPreallocated is the length in bytes up to which a document gets preallocated slices. Keeping one of its records
	// keeps all of them in memory, with their strings, regardless of the record's own weight.
	maxPreallocated = 4 << 10
)

// preallocate sets aside memory for the records and lists of a short document, estimated from its braces and commas.
func (d *decoder) preallocate() {
	if len(d.data) > maxPreallocated {
		return
	}
	objects := bytes.Count(d.data, []byte{'{'})
	if objects < 2 {
		return
	}
	d.records = make([]Record, min(objects, maxSpare))
	d.values = make([]Value, min(objects+bytes.Count(d.data, []byte{'['})+bytes.Count(d.data, []byte{','}), 4*maxSpare))
}

// JSONError is a syntax error in a JSON text, Offset bytes from its beginning.
type JSONError struct {
	Offset  int
	Problem string
}

func (e *JSONError) Error() string { return fmt.Sprintf("JSON at offset %d: %s", e.Offset, e.Problem) }

// errorf returns an error at the current offset.
func (d *decoder) errorf(format string, args ...any) error {
	return &JSONError{d.at, fmt.Sprintf(format, args...)}
}

// unexpected returns the error for the character at the current offset, or for the end of the text.
func (d *decoder) unexpected(where string) error {
	if d.at >= len(d.data) {
		return d.errorf("unexpected end %s", where)
	}
	r, _ := utf8.DecodeRune(d.data[d.at:])
	return d.errorf("unexpected %q %s", r, where)
}

// tooHeavy and tooDeep are functions to keep the stack frames of the recursive readers small.

//go:noinline
func (d *decoder) tooHeavy() error { return meter.TooBig("JSON at offset %d: %s", d.at, errHeavy) }

//go:noinline
func (d *decoder) tooDeep() error {
	return meter.TooBig("JSON at offset %d: nested deeper than %d levels", d.at, meter.MaxDepth)
}

// space skips white space.
func (d *decoder) space() {
	for d.at < len(d.data) {
		switch d.data[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// value reads a value at nesting level depth, in a place.
func (d *decoder) value(depth int, in place) (Value, error) {
	if d.left -= valueWeight; d.left < 0 {
		return nil, d.tooHeavy()
	}
	d.space()
	if d.at >= len(d.data) {
		return nil, d.unexpected("where a value should be")
	}
	switch c := d.data[d.at]; {
	case c == '"':
		s, err := d.text()
		d.left -= len(s)
		return starlark.String(s), err
	case c == '{' || c == '[':
		if depth == meter.MaxDepth {
			return nil, d.tooDeep()
		}
		d.at++
		d.deepest = max(d.deepest, depth+1)
		switch {
		case c == '[':
			return d.array(depth+1, in)
		case d.later && depth > 0:
			return d.unread(depth+1, in)
		}
		return d.object(depth+1, in)
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	case c == 't':
		return starlark.True, d.word("true")
	case c == 'f':
		return starlark.False, d.word("false")
	case c == 'n':
		return starlark.None, d.word("null")
	}
	return nil, d.unexpected("where a value should be")
}

// word reads true, false or null.
func (d *decoder) word(w string) error {
	if !bytes.HasPrefix(d.data[d.at:], []byte(w)) {
		return d.errorf("want %s", w)
	}
	d.at += len(w)
	return nil
}

// array reads the elements of a list and its closing bracket.
func (d *decoder) array(depth int, in place) (Value, error) {
	if d.space(); d.at < len(d.data) && d.data[d.at] == ']' {
		d.at++
		return emptyList, nil
	}
	base := len(d.stack)
	for {
		v, err := d.value(depth, in)
		if err != nil {
			return nil, err
		}
		d.stack = append(d.stack, v)
		d.space()
		if d.at >= len(d.data) {
			return nil, d.unexpected("in a list")
		}
		switch d.data[d.at] {
		case ',':
			d.at++
		case ']':
			d.at++
			return NewList(d.pop(base)), nil
		default:
			return nil, d.unexpected("in a list, want , or ]")
		}
	}
}

// pop removes the values above base from the stack and returns them in a new slice.
func (d *decoder) pop(base int) []Value {
	n := len(d.stack) - base
	if n > len(d.values) {
		d.values = make([]Value, n)
	}
	values := d.values[:n:n]
	d.values = d.values[n:]
	copy(values, d.stack[base:])
	clear(d.stack[base:])
	d.stack = d.stack[:base]
	return values
}

// object reads the fields of an object as a record.
func (d *decoder) object(depth int, in place) (Value, error) {
	if d.space(); d.at < len(d.data) && d.data[d.at] == '}' {
		d.at++
		return emptyRecord, nil
	}
	outer, before := d.deepest, d.left
	d.deepest = depth
	shape, values, err := d.fields(depth, in)
	if err != nil {
		return nil, err
	}
	r := d.record()
	r.shape, r.values, r.weight, r.height = shape, values, int32(before-d.left+1), int16(d.deepest-depth+1)
	d.deepest = max(d.deepest, outer)
	return r, nil
}

// fields reads the fields of an object that has some, and its closing brace. While their names match an object seen earlier in the same
// place, in order, it allocates no names, and it shares that shape at the end.
func (d *decoder) fields(depth int, in place) (*Shape, []Value, error) {
	var guess *Shape
	same := true
	base, first := len(d.stack), len(d.names)
	for n := 0; ; n++ {
		if d.space(); d.at >= len(d.data) || d.data[d.at] != '"' {
			return nil, nil, d.unexpected("where a name should be")
		}
		if n == 0 {
			guess = d.shapes.like(in, d.data[d.at+1:])
		}
		if same && n < len(guess.names) && d.sameName(guess.names[n]) {
			d.at += len(guess.names[n]) + 2
		} else {
			if same {
				same = false
				d.names = append(d.names, guess.names[:n]...)
			}
			name, err := d.text()
			if err != nil {
				return nil, nil, err
			}
			d.names = append(d.names, name)
		}
		if d.space(); d.at >= len(d.data) || d.data[d.at] != ':' {
			return nil, nil, d.unexpected("after a name, want :")
		}
		d.at++
		v, err := d.value(depth, in.field(n))
		if err != nil {
			return nil, nil, err
		}
		d.stack = append(d.stack, v)
		if d.space(); d.at >= len(d.data) {
			return nil, nil, d.unexpected("in an object")
		}
		switch d.data[d.at] {
		case ',':
			d.at++
			continue
		case '}':
			d.at++
		default:
			return nil, nil, d.unexpected("in an object, want , or }")
		}
		values := d.pop(base)
		if !same || n+1 < len(guess.names) {
			if same {
				d.names = append(d.names, guess.names[:n+1]...)
			}
			guess, values = d.shape(first, values)
			d.shapes.keep(in, guess)
		}
		return guess, values, nil
	}
}

// shape removes the names from first on, and returns their shape together with the values.
func (d *decoder) shape(first int, values []Value) (*Shape, []Value) {
	names := slices.Clone(d.names[first:])
	clear(d.names[first:])
	d.names = d.names[:first]
	names, values = distinct(names, values)
	return NewShape(names...), values
}

// record returns an empty record.
func (d *decoder) record() *Record {
	if len(d.records) == 0 {
		return new(Record)
	}
	r := &d.records[0]
	d.records = d.records[1:]
	return r
}

// sameName reports whether the name at the current offset is this one, written without escapes.
func (d *decoder) sameName(name string) bool {
	rest := d.data[d.at+1:]
	return len(rest) > len(name) && rest[len(name)] == '"' && string(rest[:len(name)]) == name &&
		plainName(name)
}

// plainName reports whether a name needs no escapes in JSON.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// text reads a string.
func (d *decoder) text() (string, error) {
	start := d.at + 1
	ascii := true
	for i := start; i < len(d.data); i++ {
		switch c := d.data[i]; {
		case c == '"':
			d.at = i + 1
			if ascii {
				return string(d.data[start:i]), nil
			}
			return Valid(string(d.data[start:i])), nil
		case c == '\\':
			return d.escaped(start, i)
		case c < ' ':
			d.at = i
			return "", d.errorf("control character %q in a string", c)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	d.at = len(d.data)
	return "", d.errorf("unexpected end in a string")
}

var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escaped reads the rest of a string from its first backslash.
func (d *decoder) escaped(start, i int) (string, error) {
	buf := append(d.buf[:0], d.data[start:i]...)
	defer func() { d.buf = buf[:0] }()
	for i < len(d.data) {
		switch c := d.data[i]; {
		case c == '"':
			d.at = i + 1
			return Valid(string(buf)), nil
		case c < ' ':
			d.at = i
			return "", d.errorf("control character %q in a string", c)
		case c != '\\':
			buf = append(buf, c)
			i++
		case i+1 < len(d.data) && d.data[i+1] == 'u':
			r, n := unicodeEscape(d.data[i:])
			if n == 0 {
				d.at = i
				return "", d.errorf("\\u wants four hexadecimal digits")
			}
			buf = utf8.AppendRune(buf, r)
			i += n
		case i+1 < len(d.data) && escapes[d.data[i+1]] != 0:
			buf = append(buf, escapes[d.data[i+1]])
			i += 2
		default:
			d.at = i
			return "", d.errorf("unknown escape in a string")
		}
	}
	d.at = len(d.data)
	return "", d.errorf("unexpected end in a string")
}

// unicodeEscape reads \uXXXX, or a surrogate pair of two, and returns its length, or 0 if it is malformed.
func unicodeEscape(b []byte) (rune, int) {
	r := hex4(b)
	if r < 0 {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// hex4 reads the four digits of \uXXXX, or returns -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
