package value

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/script/meter"
)

// unread is the text of a record whose fields have not been read.
type unread struct {
	text []byte // with its braces
	in   place
}

// shortObject is the length of an object in bytes up to which its fields are read immediately.
const shortObject = 48

// unread passes over an object and returns a record that reads its fields when they are used.
func (d *decoder) unread(depth int, in place) (Value, error) {
	start, deepest, before := d.at, d.deepest, d.left
	if d.space(); d.at < len(d.data) && d.data[d.at] == '}' {
		d.at++
		return emptyRecord, nil
	}
	d.at, d.deepest = start, depth
	if err := d.passObject(depth); err != nil {
		return nil, err
	}
	if d.at-start < shortObject {
		d.at, d.deepest, d.left, d.later = start, deepest, before, false
		v, err := d.object(depth, in)
		d.later = true
		return v, err
	}
	r := &struct {
		Record
		unread
	}{unread: unread{d.data[start-1 : d.at], in}}
	r.weight, r.height = int32(before-d.left+1), int16(d.deepest-depth+1)
	r.Record.unread.Store(&r.unread)
	d.deepest = max(d.deepest, deepest)
	return &r.Record, nil
}

// reading are locks for records whose fields are read.
var reading [64]sync.Mutex

// read reads the fields of a record. It is safe for concurrent use.
//
//go:noinline
func (r *Record) read(u *unread) {
	lock := &reading[u.in%place(len(reading))]
	lock.Lock()
	defer lock.Unlock()
	if r.unread.Load() == nil {
		return
	}
	d := decoders.Get().(*decoder)
	d.data, d.at, d.left, d.deepest, d.later = u.text, 1, maxWeight, 0, true
	shape, values, err := d.fields(1, u.in)
	d.release()
	if err != nil {
		panic(fmt.Sprintf("value: text that was read before: %v", err))
	}
	r.shape, r.values = shape, values
	u.text = nil
	r.unread.Store(nil)
}

// pass passes over a value at nesting level depth. It counts and finds mistakes exactly as value does.
func (d *decoder) pass(depth int) error {
	if d.left -= valueWeight; d.left < 0 {
		return d.tooHeavy()
	}
	d.space()
	if d.at >= len(d.data) {
		return d.unexpected("where a value should be")
	}
	switch c := d.data[d.at]; {
	case c == '"':
		start := d.at + 1
		if d.passText() {
			d.left -= d.at - 1 - start
			return nil
		}
		s, err := d.text()
		d.left -= len(s)
		return err
	case c == '{' || c == '[':
		if depth == meter.MaxDepth {
			return d.tooDeep()
		}
		d.at++
		d.deepest = max(d.deepest, depth+1)
		if c == '{' {
			return d.passObject(depth + 1)
		}
		return d.passArray(depth + 1)
	case c == '-' || '0' <= c && c <= '9':
		if d.passNumber() {
			return nil
		}
		_, err := d.number()
		return err
	case c == 't':
		return d.word("true")
	case c == 'f':
		return d.word("false")
	case c == 'n':
		return d.word("null")
	}
	return d.unexpected("where a value should be")
}

// passArray passes over the elements of a list and its closing bracket.
func (d *decoder) passArray(depth int) error {
	if d.space(); d.at < len(d.data) && d.data[d.at] == ']' {
		d.at++
		return nil
	}
	for {
		if err := d.pass(depth); err != nil {
			return err
		}
		d.space()
		if d.at >= len(d.data) {
			return d.unexpected("in a list")
		}
		switch d.data[d.at] {
		case ',':
			d.at++
		case ']':
			d.at++
			return nil
		default:
			return d.unexpected("in a list, want , or ]")
		}
	}
}

// passObject passes over the fields of an object and its closing brace.
func (d *decoder) passObject(depth int) error {
	if d.space(); d.at < len(d.data) && d.data[d.at] == '}' {
		d.at++
		return nil
	}
	for {
		if d.space(); d.at >= len(d.data) || d.data[d.at] != '"' {
			return d.unexpected("where a name should be")
		}
		if !d.passText() {
			if _, err := d.text(); err != nil {
				return err
			}
		}
		if d.space(); d.at >= len(d.data) || d.data[d.at] != ':' {
			return d.unexpected("after a name, want :")
		}
		d.at++
		if err := d.pass(depth); err != nil {
			return err
		}
		if d.space(); d.at >= len(d.data) {
			return d.unexpected("in an object")
		}
		switch d.data[d.at] {
		case ',':
			d.at++
		case '}':
			d.at++
			return nil
		default:
			return d.unexpected("in an object, want , or }")
		}
	}
}

// plain are the bytes of a string that stand for themselves.
var plain = func() (p [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		p[c] = c != '"' && c != '\\'
	}
	return p
}()

// passText passes over a string of ASCII without escapes. It returns false, at the same offset, if the text is something else.
func (d *decoder) passText() bool {
	rest := d.data[d.at+1:]
	for i, c := range rest {
		if !plain[c] {
			if c != '"' {
				return false
			}
			d.at += i + 2
			return true
		}
	}
	return false
}

// passNumber passes over a number of a few digits without an exponent. It returns false, at the same offset, if the text is something else.
func (d *decoder) passNumber() bool {
	const most = 15
	rest := d.data[d.at:]
	if rest[0] == '-' {
		rest = rest[1:]
	}
	n := digits(rest)
	if n == 0 || n > 1 && rest[0] == '0' {
		return false
	}
	if rest = rest[n:]; len(rest) > 0 && rest[0] == '.' {
		after := digits(rest[1:])
		if after == 0 {
			return false
		}
		n, rest = n+after, rest[1+after:]
	}
	if n > most || len(rest) > 0 && rest[0]|0x20 == 'e' {
		return false
	}
	d.at = len(d.data) - len(rest)
	return true
}

// digits returns how many digits a text begins with.
func digits(text []byte) int {
	for i, c := range text {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(text)
}
